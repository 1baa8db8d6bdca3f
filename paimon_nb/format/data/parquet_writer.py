"""Writing Parquet data files with Java's physical types, names and field ids. docs/spec/format.md section 9."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet as pq

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.footer_patch import FooterPatch
from paimon_nb.format.data.int96 import INT96_ARROW, to_int96, with_int96_columns
from paimon_nb.format.data.parquet_geospatial import with_geospatial_types
from paimon_nb.format.data.schema_cast import null_mask, offsets_keys_and_items, offsets_of, without_hidden_nulls
from paimon_nb.format.data.shared_shredding import LAYOUT_OPTION
from paimon_nb.format.types import (
    Array,
    DataField,
    DataType,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Timestamp,
    arrow_type,
    is_geospatial,
    is_nano,
)
from paimon_nb.format.types.arrow_builders import fill_null
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.options.option import parse_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from paimon_nb.format.data.shared_shredding_writer import MapShredder

_CODECS = {"none": "none", "uncompressed": "none", "null": "none", "snappy": "snappy", "gzip": "gzip", "lz4": "lz4", "lz4_raw": "lz4", "zstd": "zstd", "zstandard": "zstd", "brotli": "brotli"}  # fmt: skip
_GROUP_ROWS, _GROUP_BYTES = 1 << 16, 4 << 20
"""Minimum rows and minimum bytes in memory of a row group: a lookup decodes a whole one, and a footer lists all."""
_GROUP_BYTES_MAX = 64 << 20
"""Maximum bytes in memory of a row group, unless file.block-size is smaller."""
_GROUP_ROWS_MAX = 1 << 20
_SLICE_ROWS = 1 << 16
_PAGE_ROWS = 5000
"""Rows of a page. A lookup decodes one page per column. A quarter of Java's number made scans no slower."""
_OPEN_PAGE_ROWS, _OPEN_PAGE_BYTES = 20_000, 1 << 20
"""Java's maximum rows of a page, and bytes of a page of one column; a page is encoded when it ends."""
_FEW_ROWS = 100
"""Below this number of rows, neither dictionaries nor a page index are written; both would slow small commits down."""
_SAMPLE_ROWS = 1 << 11
"""Number of rows whose repetition decides about a dictionary. With 20,000 distinct values in the file, 95 % of these
differ.
"""
_NESTED_BASE, _NESTED_STEP = 536870911, 1024


class ParquetWriter:
    """One new file. `write` takes tables with the columns of `fields` in their logical types."""

    def __init__(self, sink: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        codec = _CODECS.get(compression)
        if codec is None:
            raise UnsupportedFormat(
                f"file.compression {compression!r} is not known for Parquet",
                hint=f"use one of {', '.join(sorted(_CODECS))}", feature=compression,
            )  # fmt: skip
        self._shredded, self.maps = _shredded_columns(fields, options), shredded_maps(fields, options)
        file_types = self._shredded | {name: m.type for name, m in self.maps.items()}
        self._fields = tuple(replace(f, type=file_types.get(f.name, f.type)) for f in fields)
        self._map_codec = compression
        self.schema = file_schema(self._fields)
        block = options.get(opt.FILE_BLOCK_SIZE)
        self._group_bytes = max(1, min(_GROUP_BYTES_MAX, block or _GROUP_BYTES_MAX))
        self._pending: list[pa.Table] = []
        self._pending_bytes = self._flushed_bytes = self._pending_rows = 0
        self._options = options
        self._inferred = _columns_to_infer(fields, options)
        changes = self._footer_changes()
        self._patch = FooterPatch(sink, changes) if changes else None
        self._sink = self._patch or sink
        raw = options.raw
        page = raw.get("parquet.page.size")
        self._dictionary = raw.get("parquet.enable.dictionary", "true").lower() != "false"
        self._settings: dict[str, Any] = {
            "compression": codec,
            "compression_level": options.get(opt.FILE_COMPRESSION_ZSTD_LEVEL) if codec == "zstd" else None,
            "write_statistics": self._ordered_paths() if self._patch else True,
            "data_page_size": parse_memory(page) if page else None, "write_page_checksum": True,
            "max_rows_per_page": _page_rows(raw.get("parquet.page.row.count.limit")),
            "store_decimal_as_integer": True, "write_time_adjusted_to_utc": True,
            "store_schema": False, "version": "2.6", "use_compliant_nested_type": True, "data_page_version": "1.0",
        }  # fmt: skip
        self._writer: pq.ParquetWriter | None = None

    def write(self, table: pa.Table) -> None:
        """Append rows; a row group ends when it is large enough, not with each call."""
        step = max(1, min(_SLICE_ROWS, int(self._group_bytes / max(1.0, table.nbytes / max(1, table.num_rows)))))
        for start in range(0, table.num_rows, step):
            part = table.slice(start, step)
            self._pending.append(part)
            self._pending_bytes += part.nbytes
            self._pending_rows += part.num_rows
            enough = self._pending_rows >= _GROUP_ROWS and self._pending_bytes >= _GROUP_BYTES
            if enough or self._pending_bytes >= self._group_bytes or self._pending_rows >= _GROUP_ROWS_MAX:
                self._write_row_group()

    @property
    def pending_bytes(self) -> int:
        """Estimated file size of the rows that are not in a row group yet.

        As in Java, the rows of the page that is not full yet count with their bytes in memory. That makes files with a small
        target size smaller, and a query can skip more of them.
        """
        if not self._pending_rows:
            return 0
        ratio = self._sink.tell() / self._flushed_bytes if self._flushed_bytes else 0.5
        open_page = self._pending_bytes * (self._pending_rows % _OPEN_PAGE_ROWS) // self._pending_rows
        open_page = min(open_page, _OPEN_PAGE_BYTES * len(self._fields))
        return int((self._pending_bytes - open_page) * ratio) + open_page

    def close(self) -> None:
        self._write_row_group()
        if self._patch is not None:
            self._patch.hold()
        writer = self._open_writer(pa.Table.from_batches([], self.schema))
        if self.maps:
            from paimon_nb.format.data.shared_shredding_writer import arrow_schema_entry

            writer.add_key_value_metadata(arrow_schema_entry(self._fields, self.maps, self._map_codec))
        writer.close()
        if self._patch is not None:
            self._patch.release()

    def _infer_shredded_columns(self, rows: pa.Table) -> None:
        from paimon_nb.format.data.variant_inference import inferred_columns

        self._shredded = inferred_columns(rows, self._inferred, self._options)
        self._inferred = []
        self._fields = tuple(replace(f, type=self._shredded.get(f.name, f.type)) for f in self._fields)
        self.schema = file_schema(self._fields)

    def _footer_changes(self) -> list[Callable[[bytes], bytes]]:
        """What Arrow's writer does not write itself, as changes of the footer."""
        changes: list[Callable[[bytes], bytes]] = []
        if any(f.type.contains_type(is_nano) for f in self._fields):
            changes.append(with_int96_columns)
        if any(f.type.contains_type(is_geospatial) for f in self._fields):
            changes.append(lambda footer: with_geospatial_types(footer, [f.type for f in self._fields]))
        return changes

    def _ordered_paths(self) -> list[str]:
        """Paths of the columns whose values have an order."""
        unordered = {f.name for f in self._fields if f.type.contains_type(is_geospatial)}
        return [
            path for path, t in _leaf_paths(self.schema) if t != INT96_ARROW and path.partition(".")[0] not in unordered
        ]

    def abort(self) -> None:
        """Discard the rows; nothing more is written."""
        self._pending, self._pending_bytes, self._pending_rows = [], 0, 0
        if self._writer is not None:
            self._writer.is_open = False  # otherwise pyarrow's finalizer writes a footer to the closed sink

    def _open_writer(self, first: pa.Table) -> pq.ParquetWriter:
        """Open the writer; the first row group decides about dictionaries."""
        if self._writer is None:
            few = first.num_rows <= _FEW_ROWS
            dictionary_columns = _repeating_columns(first) if self._dictionary and not few else False
            self._settings["write_page_index"] = not few
            self._writer = pq.ParquetWriter(
                self._sink, self.schema, use_dictionary=dictionary_columns, **self._settings
            )
        return self._writer

    def _write_row_group(self) -> None:
        if not self._pending:
            return
        rows = pa.concat_tables(self._pending)
        if self._inferred:
            self._infer_shredded_columns(rows)
        for name, t in self._shredded.items():
            rows = _with_shredded_column(rows, name, t)
        if self.maps:
            from paimon_nb.format.data.shared_shredding_writer import with_shredded_maps

            rows = with_shredded_maps(rows, self.maps)
        columns = [
            pa.chunked_array(
                [without_hidden_nulls(to_file_column(c, f.type, target.type)) for c in column.chunks], type=target.type
            )
            for column, f, target in zip(rows.columns, self._fields, self.schema, strict=True)
        ]
        table = pa.Table.from_arrays(columns, schema=self.schema)
        self._open_writer(table).write_table(table, row_group_size=max(1, table.num_rows))
        self._flushed_bytes += self._pending_bytes
        self._pending, self._pending_bytes, self._pending_rows = [], 0, 0


def _columns_to_infer(fields: Sequence[DataField], options: TableOptions) -> list[str]:
    """The VARIANT columns whose first values decide how they are shredded."""
    names = [f.name for f in fields if f.type.root == "VARIANT"]
    if not names or not options.get(opt.VARIANT_INFERSHREDDINGSCHEMA):
        return []
    from paimon_nb.format.data.variant_inference import infers_shredding

    return names if infers_shredding(options) else []


def _shredded_columns(fields: Sequence[DataField], options: TableOptions) -> dict[str, Row]:
    """The columns that `variant.shreddingSchema` names, with the types that they have in the file."""
    names = [f.name for f in fields if f.type.root == "VARIANT"]
    if not names or not options.has(opt.VARIANT_SHREDDINGSCHEMA):
        return {}
    from paimon_nb.format.data.variant_shredding import shredded_columns

    found = shredded_columns(options)
    return {n: found[n] for n in names if n in found}


def shredded_maps(fields: Sequence[DataField], options: TableOptions) -> dict[str, MapShredder]:
    """The MAP columns whose keys share columns of the file."""
    if not any(options.field(f.name, LAYOUT_OPTION) for f in fields if isinstance(f.type, Map)):
        return {}
    from paimon_nb.format.data.shared_shredding_writer import new_map_shredders

    return new_map_shredders(fields, options)


def _with_shredded_column(rows: pa.Table, name: str, t: Row) -> pa.Table:
    from paimon_nb.format.data.variant_shredding import shred

    chunks = [shred(c, t) for c in rows.column(name).chunks]
    index = rows.column_names.index(name)
    return rows.set_column(index, name, pa.chunked_array(chunks, type=arrow_type(t)))


def _page_rows(limit: str | None) -> int:
    """Maximum rows of a page: Java's option if it is set to a positive number."""
    return int(limit) if limit is not None and limit.isdecimal() and int(limit) else _PAGE_ROWS


def _repeating_columns(rows: pa.Table) -> list[str]:
    """Paths of the columns with repeated values, for which a dictionary pays off.

    A dictionary of nearly distinct values makes the file larger and takes twice as long to write. Arrow gives up only
    when the dictionary is full; Java decides after the first page.
    """
    sample = rows.slice(0, _SAMPLE_ROWS)
    dictionary_columns = []
    for path, t in _leaf_paths(rows.schema):
        nested = path not in sample.column_names
        if nested or t == INT96_ARROW or pc.count_distinct(sample.column(path)).as_py() <= 0.95 * sample.num_rows:
            dictionary_columns.append(path)
    return dictionary_columns


def to_file_column(array: pa.Array, t: DataType, target: pa.DataType) -> pa.Array:
    """Convert a logical column to the file's Arrow type: other field names, and INT96 as bytes."""
    if array.type == target and array.type.equals(target, check_metadata=True):
        return array
    match t:
        case Row():
            children = [
                to_file_column(c, f.type, g.type) for c, f, g in zip(array.flatten(), t.fields, target, strict=True)
            ]
            return pa.StructArray.from_arrays(children, fields=list(target), mask=null_mask(array))
        case Array():
            lengths = fill_null(array.value_lengths(), 0)
            values = to_file_column(array.flatten(), t.element, target.value_type)
            return pa.ListArray.from_arrays(offsets_of(lengths), values, type=target, mask=null_mask(array))
        case Map() | Multiset():
            offsets, keys, items = offsets_keys_and_items(array)
            keys = to_file_column(keys, t.key if isinstance(t, Map) else t.element, target.key_type)
            if isinstance(t, Map):
                items = to_file_column(items, t.value, target.item_type)
            return pa.MapArray.from_arrays(offsets, keys, items, type=target, mask=null_mask(array))
        case Timestamp() | LocalZonedTimestamp() if target == INT96_ARROW:
            return to_int96(array)
    return array.cast(target)


@lru_cache(maxsize=64)
def file_schema(fields: tuple[DataField, ...]) -> pa.Schema:
    """The Arrow schema of a new file, with Paimon's field ids and required or optional columns."""
    return pa.schema([_with_id(f.name, f.type, f.id) for f in fields])


def _with_id(name: str, t: DataType, field_id: int) -> pa.Field:
    return pa.field(
        name, _arrow_type_with_field_ids(t, field_id, 1), t.nullable, metadata={"PARQUET:field_id": str(field_id)}
    )


def _arrow_type_with_field_ids(t: DataType, owner: int, depth: int) -> pa.DataType:
    """The Arrow type with ids on nested nodes; synthetic ids are those of Java (docs/spec/format.md section 9)."""
    up, down = nested_ids(owner, depth)
    match t:
        case Row():
            return pa.struct([_with_id(f.name, f.type, f.id) for f in t.fields])
        case Array():
            return pa.list_(_nested_field("element", t.element, owner, depth, up))
        case Map():
            key = _nested_field("key", t.key.with_nullable(False), owner, depth, down)
            return pa.map_(key, _nested_field("value", t.value, owner, depth, up))
        case Multiset():
            key = _nested_field("key", t.element.with_nullable(False), owner, depth, down)
            return pa.map_(key, pa.field("value", pa.int32(), False, {"PARQUET:field_id": str(up)}))
        case Timestamp() | LocalZonedTimestamp() if t.precision > 6:
            return INT96_ARROW
    return arrow_type(t)


def nested_ids(owner: int, depth: int) -> tuple[int, int]:
    """Ids of the nested nodes of a column: of an ARRAY's elements and a MAP's values, and of a MAP's keys."""
    up = _check_int32(_NESTED_BASE + owner * _NESTED_STEP + depth)
    return up, _check_int32(_NESTED_BASE - owner * _NESTED_STEP - depth)


def _nested_field(name: str, t: DataType, owner: int, depth: int, field_id: int) -> pa.Field:
    return pa.field(
        name, _arrow_type_with_field_ids(t, owner, depth + 1), t.nullable, metadata={"PARQUET:field_id": str(field_id)}
    )


def _check_int32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _leaf_paths(schema: pa.Schema) -> Iterator[tuple[str, pa.DataType]]:
    for f in schema:
        yield from _leaf_paths_below(f.name, f.type)


def _leaf_paths_below(path: str, t: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """Parquet's paths of the primitive columns in a type."""
    if pa.types.is_struct(t):
        for f in t:
            yield from _leaf_paths_below(f"{path}.{f.name}", f.type)
    elif pa.types.is_map(t):
        yield from _leaf_paths_below(f"{path}.key_value.key", t.key_type)
        yield from _leaf_paths_below(f"{path}.key_value.value", t.item_type)
    elif pa.types.is_list(t):
        yield from _leaf_paths_below(f"{path}.list.element", t.value_type)
    else:
        yield path, t
