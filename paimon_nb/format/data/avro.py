"""Reads and writes Avro data files, block by block. Times are passed as numbers, decimals as bytes."""

from __future__ import annotations

import decimal
import io
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.format.avro.container import BLOCK_BYTES, PACK, Blocks, BlockSink
from paimon_nb.format.data.avro_schema import avro_schema, entry_types, has_text_keys, plain_schema
from paimon_nb.format.data.schema_cast import offsets_keys_and_items, split_lists, without_columns
from paimon_nb.format.file_errors import BROKEN, broken_file, is_out_of_memory
from paimon_nb.format.types import (
    Array,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    arrow_schema,
    arrow_type,
)
from paimon_nb.format.types.arrow_builders import empty_table
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from paimon_nb.fs import FileIO

_CODECS = {"none": "null", "uncompressed": "null", "null": "null", "zstd": "zstandard", "zstandard": "zstandard", "snappy": "snappy", "deflate": "deflate", "gzip": "deflate", "zlib": "deflate", "bzip2": "bzip2", "xz": "xz"}  # fmt: skip
_MAX_BLOCK_BYTES = 1 << 30
"""Maximum uncompressed bytes of a block."""
_EXACT = decimal.Context(prec=60)
_Convert = Callable[[Any], Any]


class AvroReader:
    """One open file; columns are found by name. Its row groups are blocks."""

    def __init__(self, fs: FileIO, path: str, fields: Sequence[DataField], options: TableOptions | None = None) -> None:
        import fastavro

        self.path, self.fields = path, tuple(fields)
        self._source = fs.open(path)
        try:
            self._blocks = Blocks(self._source)
            schema = self._blocks.schema
            self._schema = fastavro.parse_schema(plain_schema(schema))
            record = next(b for b in schema if b != "null") if isinstance(schema, list) else schema
            names = {f["name"] for f in record["fields"]}
        except LookupError as error:
            self.close()
            raise UnsupportedFormat(
                f"{path}: unknown Avro codec {error}", hint="rewrite it with zstd", path=path
            ) from None
        except Exception as error:  # the parser raises anything for a broken header
            self.close()
            raise broken_file(self.path, error, "Avro") from None
        for f in fields:
            if f.name not in names:
                self.close()
                raise CorruptFile(path, f"it has no column {f.name!r}")
        self._counts: list[int] | None = None

    @property
    def num_rows(self) -> int:
        return sum(self.row_groups)

    @property
    def row_groups(self) -> list[int]:
        """Rows of each block."""
        if self._counts is None:
            try:
                self._counts = self._blocks.counts()
            except ValueError as error:
                raise broken_file(self.path, error, "Avro") from None
        return self._counts

    def read(self, groups: Sequence[int] | None = None) -> pa.Table:
        """All rows, or those of some blocks, in file order."""
        batches = list(self._tables_of_blocks(groups))
        if not batches:
            return empty_table(self.fields)
        return pa.concat_tables(batches)

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        """In batches of at most `rows` rows; about one batch is in memory."""
        for table in self._tables_of_blocks(groups, rows):
            yield from table.to_batches(rows)

    def close(self) -> None:
        self._source.close()

    def _tables_of_blocks(self, groups: Sequence[int] | None, rows: int = BATCH_ROWS) -> Iterator[pa.Table]:
        from fastavro import schemaless_reader

        selected = None if groups is None else set(groups)
        records: list[Any] = []
        blocks = self._blocks.plain(_MAX_BLOCK_BYTES, "block")
        for i in range(1 << 62):
            try:
                block = next(blocks, None)
                if block is not None and (selected is None or i in selected):
                    source = io.BytesIO(block[1])
                    records.extend(schemaless_reader(source, self._schema, None) for _ in range(block[0]))
                    if source.tell() != len(block[1]):
                        raise ValueError("a block holds more bytes than records")
            except Exception as error:  # the decoder raises anything for broken bytes
                raise broken_file(self.path, error, "Avro") from None
            if records and (block is None or len(records) >= rows):
                yield self._table_of_records(records)
                records = []
            if block is None:
                return

    def _table_of_records(self, records: list[Any]) -> pa.Table:
        if not self.fields:
            return without_columns(len(records))
        try:
            columns = []
            for f in self.fields:
                convert = _value_converter(f.type)
                values = [record[f.name] for record in records]
                if convert is not None:
                    values = [None if v is None else convert(v) for v in values]
                columns.append(pa.array(values, arrow_type(f.type)))
            return pa.Table.from_arrays(columns, schema=arrow_schema(self.fields, nullable=True))
        except BROKEN as error:
            if is_out_of_memory(error):
                raise broken_file(self.path, error) from None
            raise CorruptFile(self.path, f"its rows do not fit the schema ({error!s:.80})") from None


def _value_converter(t: DataType) -> _Convert | None:
    """A function from the decoder's value to the value that Arrow takes for `t`; None if they are equal."""
    match t:
        case Decimal():
            scale = t.scale
            return lambda v: decimal.Decimal(int.from_bytes(v, "big", signed=True)).scaleb(-scale, _EXACT)
        case Array():
            element = _or_same(_value_converter(t.element))
            return lambda v: [None if x is None else element(x) for x in v]
        case Map() | Multiset():
            to_key, to_value = (_or_same(_value_converter(x)) for x in entry_types(t))
            if has_text_keys(t):
                return lambda v: [(k, None if x is None else to_value(x)) for k, x in v.items()]
            return lambda v: [(to_key(x["key"]), None if x["value"] is None else to_value(x["value"])) for x in v]
        case Row():
            fields = [(f.name, _or_same(_value_converter(f.type))) for f in t.fields]
            return lambda v: {n: None if v[n] is None else read(v[n]) for n, read in fields}
    return None


def _or_same(convert: _Convert | None) -> _Convert:
    return convert or (lambda v: v)


class AvroWriter:
    """One new file."""

    def __init__(self, sink: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        import fastavro

        name = options.raw.get("avro.codec", compression).lower()
        codec = _CODECS.get(name)
        if codec is None or codec not in PACK:
            raise UnsupportedFormat(
                f"file.compression {name!r} is not known for Avro",
                hint=f"use one of {', '.join(sorted(_CODECS))}", feature=name,
            )  # fmt: skip
        self._fields = tuple(fields)
        schema = avro_schema(self._fields)
        self._schema = fastavro.parse_schema(plain_schema(schema))
        level = options.get(opt.FILE_COMPRESSION_ZSTD_LEVEL) if codec == "zstandard" else None
        self._sink = BlockSink(sink, schema, codec, level)
        self._block = io.BytesIO()
        self._count = 0

    @property
    def pending_bytes(self) -> int:
        return self._block.tell()

    def write(self, table: pa.Table) -> None:
        from fastavro import schemaless_writer

        names = [f.name for f in self._fields]
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            columns = [_avro_values(batch.column(i), f.type) for i, f in enumerate(self._fields)]
            for values in zip(*columns, strict=True):
                schemaless_writer(self._block, self._schema, dict(zip(names, values, strict=True)))
                self._count += 1
                if self._block.tell() >= BLOCK_BYTES:
                    self._flush_block()

    def close(self) -> None:
        if self._count:
            self._flush_block()

    def abort(self) -> None:
        """Discard the rows of the open block."""
        self._block, self._count = io.BytesIO(), 0

    def _flush_block(self) -> None:
        self._sink.write(self._count, self._block.getvalue())
        self._block, self._count = io.BytesIO(), 0


def _avro_values(column: pa.Array, t: DataType) -> list[Any]:
    """Values as the encoder takes them: times and dates as numbers, so that every year is possible, decimals as bytes."""
    match t:
        case Timestamp() | LocalZonedTimestamp():
            return column.cast(pa.int64()).to_pylist()  # type: ignore[no-any-return]
        case Time():
            return column.cast(pa.int32()).to_pylist()  # type: ignore[no-any-return]
        case Decimal():
            return [None if v is None else _unscaled_bytes(v, t.scale) for v in column.to_pylist()]
        case Array():
            return split_lists(column, column.value_lengths().to_pylist(), _avro_values(column.flatten(), t.element))
        case Map() | Multiset():
            offsets, keys, items = offsets_keys_and_items(column)
            key, value = entry_types(t)
            pairs = list(zip(_avro_values(keys, key), _avro_values(items, value), strict=True))
            entries = split_lists(column, np.diff(offsets.to_numpy()).tolist(), pairs)
            if has_text_keys(t):
                return [None if v is None else dict(v) for v in entries]
            return [None if v is None else [{"key": k, "value": x} for k, x in v] for v in entries]
        case Row():
            children = [_avro_values(c, f.type) for c, f in zip(column.flatten(), t.fields, strict=True)]
            names = [f.name for f in t.fields]
            rows = zip(*children, strict=True) if children else [()] * len(column)
            valid = column.is_valid().to_pylist()
            return [dict(zip(names, row, strict=True)) if ok else None for row, ok in zip(rows, valid, strict=True)]
    if t.root == "DATE":
        return column.cast(pa.int32()).to_pylist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]


def _unscaled_bytes(value: decimal.Decimal, scale: int) -> bytes:
    """Java's BigInteger.toByteArray of the unscaled value: the minimum number of bytes in two's complement."""
    number = int(value.scaleb(scale, _EXACT))
    return number.to_bytes((number + (number < 0)).bit_length() // 8 + 1, "big", signed=True)
