"""Parquet data files. Physical types: format reference, section 9."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import parquet as pq

from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.format.data.memory import to_memory
from paimon_nb.format.types import Array, DataField, DataType, Map, Multiset, Row, arrow_schema, arrow_type
from paimon_nb.fs import FileIO
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

BROKEN = (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError)
"""What Arrow raises for broken bytes."""
ROWS_PER_GROUP = 1 << 20
_CODECS = {"none": "none", "uncompressed": "none", "null": "none", "snappy": "snappy", "gzip": "gzip", "lz4": "lz4", "lz4_raw": "lz4", "zstd": "zstd", "zstandard": "zstd", "brotli": "brotli"}  # fmt: skip
_NESTED_BASE, _NESTED_STEP = 536870911, 1024


class ParquetReader:
    """One open file; columns are found by name."""

    def __init__(self, fs: FileIO, path: str, fields: Sequence[DataField]) -> None:
        self.path, self.fields = path, tuple(fields)
        try:
            local = fs.local_path(path)
            source = fs.open(path)
            self.file = pq.ParquetFile(source, memory_map=local is not None, pre_buffer=local is None)
        except BROKEN as error:
            raise CorruptFile(path, f"not readable as Parquet ({error!s:.100})") from None
        names = set(self.file.schema_arrow.names)
        for f in fields:
            if f.name not in names:
                raise CorruptFile(path, f"it has no column {f.name!r}")

    @property
    def num_rows(self) -> int:
        return int(self.file.metadata.num_rows)

    @property
    def row_groups(self) -> list[int]:
        """Rows of each row group."""
        return [self.file.metadata.row_group(i).num_rows for i in range(self.file.metadata.num_row_groups)]

    def read(self, groups: Sequence[int] | None = None) -> pa.Table:
        """Rows of all or the given row groups, in file order."""
        try:
            names = [f.name for f in self.fields]
            if groups is None:
                table = self.file.read(names, use_threads=True)
            else:
                table = self.file.read_row_groups(list(groups), names, use_threads=True)
            return self._conformed(table)
        except BROKEN as error:
            raise CorruptFile(self.path, f"not readable as Parquet ({error!s:.100})") from None

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        """The same in pieces of at most `rows` rows; memory stays near one row group."""
        try:
            for batch in self.file.iter_batches(rows, row_groups=groups, columns=[f.name for f in self.fields]):
                yield from self._conformed(pa.Table.from_batches([batch])).to_batches()
        except BROKEN as error:
            raise CorruptFile(self.path, f"not readable as Parquet ({error!s:.100})") from None

    def _conformed(self, table: pa.Table) -> pa.Table:
        columns = [to_memory(table.column(f.name), f.type) for f in self.fields]
        return pa.Table.from_arrays(columns, schema=arrow_schema(self.fields, nullable=True))


class ParquetWriter:
    """One new file. `write` takes tables with exactly the columns of `fields`."""

    def __init__(self, sink: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        codec = _CODECS.get(compression)
        if codec is None:
            raise UnsupportedFormat(
                f"file.compression {compression!r} is not known for Parquet",
                hint=f"use one of {', '.join(sorted(_CODECS))}",
            )
        self.schema = file_schema(fields)
        dictionary = options.raw.get("parquet.enable.dictionary", "true").lower() != "false"
        block = options.get(opt.FILE_BLOCK_SIZE)
        self._group_bytes = block or 128 << 20
        level = options.get(opt.FILE_COMPRESSION_ZSTD_LEVEL) if codec == "zstd" else None
        self._writer = pq.ParquetWriter(
            sink, self.schema, compression=codec, compression_level=level, use_dictionary=dictionary,
            store_decimal_as_integer=True, use_deprecated_int96_timestamps=any(_has_nanos(f.type) for f in self.schema),
            write_time_adjusted_to_utc=True,
            store_schema=False, version="2.6", use_compliant_nested_type=True, data_page_version="1.0",
        )  # fmt: skip

    def write(self, table: pa.Table) -> None:
        """Append rows; long tables become several row groups."""
        table = pa.Table.from_arrays(
            [_nested_cast(c, f.type) for c, f in zip(table.columns, self.schema, strict=True)], schema=self.schema
        )
        rows = min(ROWS_PER_GROUP, max(1024, int(self._group_bytes / max(1.0, table.nbytes / max(1, table.num_rows)))))
        self._writer.write_table(table, row_group_size=rows)

    def close(self) -> None:
        self._writer.close()


def _has_nanos(t: pa.DataType) -> bool:
    """TIMESTAMP(7..9) must be INT96. Arrow then writes every timestamp of the file so, which Java reads as well."""
    if pa.types.is_timestamp(t):
        return bool(t.unit == "ns")
    return any(_has_nanos(t.field(i).type) for i in range(t.num_fields))


def _nested_cast(column: pa.ChunkedArray, t: pa.DataType) -> pa.ChunkedArray:
    return column if column.type == t else pa.chunked_array([_relabel(c, t) for c in column.chunks], type=t)


def _relabel(array: pa.Array, t: pa.DataType) -> pa.Array:
    """The same buffers under a type that differs in field metadata and nullability only."""
    if pa.types.is_nested(t):
        children = [array.field(i) for i in range(t.num_fields)] if pa.types.is_struct(t) else None
        if children is not None:
            return pa.StructArray.from_arrays(
                [_relabel(c, f.type) for c, f in zip(children, t, strict=True)], fields=list(t),
                mask=array.is_null() if array.null_count else None,
            )  # fmt: skip
    return array if array.type == t else array.cast(t)


def file_schema(fields: Sequence[DataField]) -> pa.Schema:
    """The Arrow schema of a new file, with Paimon's field ids and required or optional columns."""
    return pa.schema([_with_id(f.name, f.type, f.id) for f in fields])


def _with_id(name: str, t: DataType, field_id: int) -> pa.Field:
    return pa.field(name, _typed(t, field_id, 1), t.nullable, metadata={"PARQUET:field_id": str(field_id)})


def _typed(t: DataType, owner: int, depth: int) -> pa.DataType:
    """The Arrow type with ids on nested nodes; synthetic ids as Java makes them (format reference, section 9)."""
    up = _int32(_NESTED_BASE + owner * _NESTED_STEP + depth)
    down = _int32(_NESTED_BASE - owner * _NESTED_STEP - depth)
    match t:
        case Row():
            return pa.struct([_with_id(f.name, f.type, f.id) for f in t.fields])
        case Array():
            return pa.list_(_nested("element", t.element, owner, depth, up))
        case Map():
            key = _nested("key", t.key.with_nullable(False), owner, depth, down)
            return pa.map_(key, _nested("value", t.value, owner, depth, up))
        case Multiset():
            key = _nested("key", t.element.with_nullable(False), owner, depth, down)
            return pa.map_(key, pa.field("value", pa.int32(), False, {"PARQUET:field_id": str(up)}))
    return arrow_type(t)


def _nested(name: str, t: DataType, owner: int, depth: int, field_id: int) -> pa.Field:
    return pa.field(name, _typed(t, owner, depth + 1), t.nullable, metadata={"PARQUET:field_id": str(field_id)})


def _int32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)
