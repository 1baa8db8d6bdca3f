"""Reads a few rows of a Parquet file, found by the values of some columns. Knows no table and no predicate.

Footers and the searched columns of row groups are cached, both bounded by bytes. Of the other columns, only the pages
around the rows are read: they are copied with a new footer into a file in memory, which Arrow decodes, whatever the
encoding. Source: parquet-format `parquet.thrift`, `PageIndex.md`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import field
from functools import cached_property
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet as pq

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.parquet_footer import Bounds, as_parquet, overlaps, read_footer, searchable_bounds
from paimon_nb.format.data.schema_evolution import to_logical_types
from paimon_nb.format.data.thrift_compact import (
    T_I32,
    T_I64,
    T_LIST,
    T_STRUCT,
    Struct,
    ThriftList,
    decode,
    encode_thrift_struct,
)
from paimon_nb.format.file_errors import BROKEN
from paimon_nb.format.types import DataField, arrow_schema
from paimon_nb.format.types.arrow_builders import empty_table, from_numpy, to_numpy
from paimon_nb.fs.file_cache import FileCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.data.pushdown import RowFilter
    from paimon_nb.fs import FileIO

_MAX_GROUPS = 2
"""If a value occurs in more row groups, the file is not sorted by it."""
_MAX_CHUNKS = 4000
"""Maximum number of column chunks of a footer to parse; files with more are read whole. A chunk takes 60 µs, once per
file.
"""
_CHUNKS_FOR_A_RANGE = 400
"""The same for a range: a scan reads many files, each of them once."""
_NEAR_ROWS, _MAX_RUNS = 10_000, 32
"""Rows that are nearer to each other are read together; rows in more places are read by row group."""
_BYTES_PER_FOOTER_BYTE = 30
# Field ids of parquet.thrift: FileMetaData, SchemaElement, RowGroup, ColumnChunk, ColumnMetaData, OffsetIndex, PageLocation.
_VERSION, _SCHEMA, _ROWS, _GROUPS, _CREATED_BY = 1, 2, 3, 4, 6
_NAME, _CHILDREN = 4, 5
_LIST_DEPTH = 3
"""Names in the path of the values of a list: column, `list`, `element`."""
_CHUNKS, _GROUP_BYTES, _GROUP_ROWS = 1, 2, 3
_CHUNK_OFFSET, _CHUNK_METADATA, _INDEX_OFFSET, _INDEX_LENGTH = 2, 3, 4, 5
_VALUES, _UNCOMPRESSED, _COMPRESSED, _DATA_OFFSET, _DICTIONARY_OFFSET = 5, 6, 7, 9, 11
_LAST_OF_HEAD = 4
_LOCATIONS, _OFFSET, _SIZE, _FIRST_ROW = 1, 1, 2, 3

Positions = np.ndarray[tuple[int], np.dtype[np.int64]]

_footers = FileCache(64 << 20)
_searched = FileCache(256 << 20)


def find_rows_by_page_index(
    fs: FileIO, path: str, fields: Sequence[DataField], keep: RowFilter, row_count: int | None = None
) -> pa.Table | None:
    """The rows that match the filter; None if the file's layout is not supported, and its reader must be used.

    Args:
        fields: columns to return, including the filter's.

    Raises:
        MissingFile, CorruptFile.
    """
    try:
        footer = _cached_footer(fs, path, row_count)
        matching_positions = _matching_positions(fs, path, footer, fields, keep)
        if footer is None or matching_positions is None:
            return None
        empty = empty_table(fields)
        parts = [_read_rows(fs, path, footer, group, rows, fields) for group, rows in matching_positions if len(rows)]
        return pa.concat_tables([empty, *parts])
    except BROKEN:
        return None  # its reader reports the error


def has_rows_by_page_index(
    fs: FileIO, path: str, fields: Sequence[DataField], keep: RowFilter, row_count: int | None = None
) -> bool:
    """Whether rows match the filter; also True if the file's layout is not supported. `fields`: the filter's columns."""
    try:
        matching_positions = _matching_positions(fs, path, _cached_footer(fs, path, row_count), fields, keep)
    except BROKEN:
        return True
    return matching_positions is None or any(len(rows) for _, rows in matching_positions)


def read_rows_by_page_index(
    fs: FileIO, path: str, fields: Sequence[DataField], positions: Positions, row_count: int | None = None
) -> pa.Table | None:
    """The rows at ascending positions; None if the file's layout is not supported or the rows are in too many places.

    Args:
        fields: columns to return.

    Raises:
        MissingFile, CorruptFile.
    """
    try:
        footer = _cached_footer(fs, path, row_count)
        if footer is None:
            return None
        ends = np.cumsum([footer.metadata.row_group(g).num_rows for g in range(footer.metadata.num_row_groups)])
        groups = np.searchsorted(ends, positions, "right")
        cuts = np.flatnonzero((np.diff(positions) > _NEAR_ROWS) | (np.diff(groups) > 0)) + 1
        if len(cuts) >= _MAX_RUNS:
            return None
        parts = [empty_table(fields)]
        for rows, group in zip(np.split(positions, cuts), groups[[0, *cuts]].tolist(), strict=True):
            first = int(ends[group - 1]) if group else 0
            parts.append(_read_rows(fs, path, footer, group, rows - first, fields))
        return pa.concat_tables(parts)
    except BROKEN:
        return None  # its reader reports the error


# -- what is kept


@dataclass
class _Footer:
    metadata: pq.FileMetaData
    data: bytes
    leaves: dict[str, int]
    """Column chunk index of each flat column, by name."""
    lists: dict[str, int]
    """Column chunk index of each column of lists of plain values, by name."""
    bounds: dict[str, list[Bounds]] = field(default_factory=dict)
    pages: dict[tuple[int, str], _Pages | None] = field(default_factory=dict)
    weight: int = 0

    @cached_property
    def rows(self) -> int:
        """Rows of all row groups."""
        return sum(self.metadata.row_group(g).num_rows for g in range(self.metadata.num_row_groups))

    @cached_property
    def tree(self) -> Struct:
        """FileMetaData, parsed when rows are fetched."""
        return decode(self.data)

    @cached_property
    def elements(self) -> dict[str, list[bytes]]:
        """The encoded schema elements of the flat columns and of those of lists."""
        return _encoded_columns(self.tree.list(_SCHEMA))

    def groups_overlapping(self, keep: RowFilter) -> list[int]:
        """Row groups whose statistics do not exclude the filter's spans."""
        known = [(span, self.bounds_of(column)) for column, span in keep.spans.items()]
        return [g for g in range(self.metadata.num_row_groups) if all(overlaps(s, b[g]) for s, b in known)]

    def root_with_children(self, children: int) -> Struct:
        """The root element of a schema with fewer columns."""
        root = Struct([list(f) for f in self.tree.list(_SCHEMA)[0].fields])
        root.put(_CHILDREN, T_I32, children)
        return root

    def bounds_of(self, column: str) -> list[Bounds]:
        """Minimum and maximum of each row group; None without statistics."""
        if column not in self.bounds:
            self.bounds |= searchable_bounds(self.data, self.metadata.schema, {column: self.leaves[column]})
        return self.bounds[column]


@dataclass(slots=True)
class _Pages:
    """Data pages of a column chunk."""

    first_rows: Positions
    offsets: Positions
    sizes: Positions
    dictionary: tuple[int, int] | None
    """Offset and bytes of the dictionary."""
    head: bytes
    """The first fields of the chunk's ColumnMetaData: type, encodings, path and codec."""
    values: int | None
    """Of the whole chunk of a column of lists, as the number of values in some pages is not known; None for a flat column."""


@dataclass(slots=True)
class _LookupRows:
    """Columns of one row group, decoded."""

    rows: pa.Table
    ordered: str | None
    """A column with ascending values."""

    def matching_positions(self, keep: RowFilter) -> Positions:
        """Positions of the matching rows."""
        low, high = 0, self.rows.num_rows
        if self.ordered is not None and self.ordered in keep.spans:
            low, high = _index_range(self.rows.column(self.ordered).chunk(0), *keep.spans[self.ordered])
        if low == high:
            return np.empty(0, np.int64)
        if keep.exact and keep.columns == (self.ordered,):
            return np.arange(low, high)
        mask = keep.matches(self.rows.slice(low, high - low))
        return np.flatnonzero(to_numpy(mask)) + low


def _cached_footer(fs: FileIO, path: str, row_count: int | None) -> _Footer | None:
    """None: the footer is too large to parse here, or has columns that Arrow does not read unchanged, or other rows than the
    manifest says.
    """
    found = _footers.get(fs, path, lambda: _read_footer(fs, path), lambda f: f.weight if f is not None else 64)
    return found if found is None or row_count is None or found.rows == row_count else None


def _read_footer(fs: FileIO, path: str) -> _Footer | None:
    with fs.open(path) as source:
        data = read_footer(source)
    metadata = pq.read_metadata(pa.BufferReader(as_parquet(data)))
    schema = metadata.schema
    columns = [schema.column(i) for i in range(len(schema))]
    if len(columns) * metadata.num_row_groups > _MAX_CHUNKS or any(c.physical_type == "INT96" for c in columns):
        return None
    flat = {c.name: i for i, c in enumerate(columns) if c.path == c.name and not c.max_repetition_level}
    paths = [c.path.split(".") for c in columns]
    lists = {
        path[0]: i
        for i, (c, path) in enumerate(zip(columns, paths, strict=True))
        if len(path) == _LIST_DEPTH and c.max_repetition_level == 1 and sum(p[0] == path[0] for p in paths) == 1
    }
    return _Footer(metadata, data, flat, lists, weight=len(data) * _BYTES_PER_FOOTER_BYTE)


def _encoded_columns(elements: list[Struct]) -> dict[str, list[bytes]]:
    """The schema elements of the top-level columns, by name."""
    found: dict[str, list[bytes]] = {}

    def add(at: int, name: str | None) -> int:
        element = elements[at]
        if name is not None:
            found.setdefault(name, []).append(encode_thrift_struct(element))
        at += 1
        for _ in range(element.get(_CHILDREN) or 0):
            at = add(at, name or elements[at].get(_NAME).decode() if at < len(elements) else name)
        return at

    add(0, None)
    return found


# -- where the rows are


def _matching_positions(
    fs: FileIO, path: str, footer: _Footer | None, fields: Sequence[DataField], keep: RowFilter
) -> list[tuple[int, Positions]] | None:
    """(row group, positions in it); None: not supported."""
    if footer is None or not all(c in footer.leaves for c in keep.columns):
        return None
    if not keep.points and footer.metadata.num_columns * footer.metadata.num_row_groups > _CHUNKS_FOR_A_RANGE:
        return None
    groups = footer.groups_overlapping(keep)
    if len(groups) > _MAX_GROUPS:
        return None
    names = set(keep.columns)
    columns = [f for f in fields if f.name in names]
    return [(g, _searched_columns(fs, path, footer, g, columns).matching_positions(keep)) for g in groups]


def _searched_columns(fs: FileIO, path: str, footer: _Footer, group: int, columns: Sequence[DataField]) -> _LookupRows:
    def load_columns() -> _LookupRows:
        rows = _read_row_group_for_lookup(fs, path, footer, group, columns).combine_chunks()
        if rows.num_rows == 0:
            return _LookupRows(rows, None)
        sorted_column = next((f.name for f in columns if _can_binary_search(rows.column(f.name).chunk(0))), None)
        return _LookupRows(rows, sorted_column)

    cache_key_part = (group, *((f.name, f.type) for f in columns))
    return _searched.get(fs, path, load_columns, lambda s: s.rows.nbytes + 500, cache_key_part)


def _can_binary_search(values: pa.Array) -> bool:
    """Whether binary search finds values; only integers and strings, which Arrow and Python order alike."""
    t = values.type
    if values.null_count or not (pa.types.is_integer(t) or pa.types.is_string(t)):
        return False
    return not pc.any(pc.less(values.slice(1), values.slice(0, len(values) - 1))).as_py()


def _index_range(values: pa.Array, low: Any, high: Any) -> tuple[int, int]:
    """The index range of the values from `low` to `high`, both inclusive; None is unbounded."""
    begin, end = 0, len(values)
    if pa.types.is_integer(values.type):
        numbers = to_numpy(values)
        limits = np.iinfo(numbers.dtype)
        if low is not None:
            begin = end if low > limits.max else int(np.searchsorted(numbers, numbers.dtype.type(max(low, limits.min))))
        if high is not None:
            top = numbers.dtype.type(min(high, limits.max))
            end = 0 if high < limits.min else int(np.searchsorted(numbers, top, "right"))
    else:
        text = methodcaller("as_py")
        begin = begin if low is None else bisect_left(values, low, key=text)
        end = end if high is None else bisect_right(values, high, key=text)
    return begin, max(begin, end)


# -- the rows


def _read_rows(
    fs: FileIO, path: str, footer: _Footer, group: int, rows: Positions, fields: Sequence[DataField]
) -> pa.Table:
    """Rows of one row group, by their positions in it."""
    columns: dict[str, pa.ChunkedArray] = {}
    with fs.open(path) as source:
        selected = _pages_around(source, footer, group, rows, [f.name for f in fields])
        for first, count, names in _columns_by_row_range(selected):
            some = [f for f in fields if f.name in names]
            file = _page_file(source, footer, {f.name: selected[f.name] for f in some}, count)
            table = pq.ParquetFile(pa.BufferReader(file), page_checksum_verification=True).read(use_threads=False)
            found = _take_positions(to_logical_types(table, some, path), rows - first)
            columns |= dict(zip(found.column_names, found.columns, strict=True))
    rest = [f for f in fields if f.name not in columns]
    if rest:
        found = _take_positions(_read_row_group_for_lookup(fs, path, footer, group, rest), rows)
        columns |= dict(zip(found.column_names, found.columns, strict=True))
    return pa.table([columns[f.name] for f in fields], schema=arrow_schema(fields, nullable=True))


def _take_positions(table: pa.Table, rows: Positions) -> pa.Table:
    first, count = int(rows[0]), len(rows)
    if int(rows[-1]) - first == count - 1:
        return table.slice(first, count)
    return table.take(from_numpy(rows))


def _read_row_group_for_lookup(
    fs: FileIO, path: str, footer: _Footer, group: int, fields: Sequence[DataField]
) -> pa.Table:
    with fs.open(path) as source:
        file = pq.ParquetFile(source, metadata=footer.metadata, page_checksum_verification=True, pre_buffer=False)
        return to_logical_types(file.read_row_group(group, [f.name for f in fields], use_threads=False), fields, path)


@dataclass(slots=True)
class _Run:
    """Consecutive data pages that contain the rows."""

    first: int
    rows: int
    offset: int
    size: int
    chunk: _Pages


def _pages_around(source: Any, footer: _Footer, group: int, rows: Positions, names: Sequence[str]) -> dict[str, _Run]:
    """For each column, the pages from the first row's to the last row's; without columns that have no page index or are
    nested otherwise than as lists of plain values.
    """
    out = {}
    total = footer.metadata.row_group(group).num_rows
    for name in names:
        pages = _cached_pages(source, footer, group, name)
        if pages is None:
            continue
        at, last = np.searchsorted(pages.first_rows, [rows[0], rows[-1]], "right") - 1
        first, offset = int(pages.first_rows[at]), int(pages.offsets[at])
        end = int(pages.first_rows[last + 1]) if last + 1 < len(pages.first_rows) else total
        out[name] = _Run(first, end - first, offset, int(pages.offsets[last] + pages.sizes[last]) - offset, pages)
    return out


def _columns_by_row_range(pages: dict[str, _Run]) -> list[tuple[int, int, set[str]]]:
    """(first row, number of rows, columns) of pages over the same rows: all columns of a file have the same number of
    rows.
    """
    found: dict[tuple[int, int], set[str]] = {}
    for name, page in pages.items():
        found.setdefault((page.first, page.rows), set()).add(name)
    return [(first, rows, names) for (first, rows), names in found.items()]


def _cached_pages(source: Any, footer: _Footer, group: int, name: str) -> _Pages | None:
    key = (group, name)
    if key not in footer.pages:
        known = name in footer.leaves or name in footer.lists
        footer.pages[key] = (
            _read_pages(source, _column_chunk(footer, group, name), name in footer.lists) if known else None
        )
    return footer.pages[key]


def _read_pages(source: Any, chunk: Struct, of_lists: bool) -> _Pages | None:
    offset = chunk.get(_INDEX_OFFSET)
    if not offset:
        return None
    source.seek(offset)
    locations = decode(source.read(chunk.get(_INDEX_LENGTH))).list(_LOCATIONS)
    if not locations:
        return None
    numbers = np.array([[p.get(_FIRST_ROW), p.get(_OFFSET), p.get(_SIZE)] for p in locations], np.int64)
    metadata = chunk.struct(_CHUNK_METADATA)
    start = metadata.get(_DICTIONARY_OFFSET)
    dictionary = (start, int(numbers[0, 1]) - start) if start else None
    head = Struct([f for f in metadata.fields if f[0] <= _LAST_OF_HEAD])
    values = metadata.get(_VALUES) if of_lists else None
    return _Pages(numbers[:, 0], numbers[:, 1], numbers[:, 2], dictionary, encode_thrift_struct(head)[:-1], values)


def _column_chunk(footer: _Footer, group: int, name: str) -> Struct:
    at = footer.lists[name] if name in footer.lists else footer.leaves[name]
    return footer.tree.list(_GROUPS)[group].list(_CHUNKS)[at]


def _page_file(source: Any, footer: _Footer, pages: dict[str, _Run], rows: int) -> bytes:
    """A Parquet file with only these pages; all columns cover the same rows."""
    out = bytearray(b"PAR1")
    chunks = []
    for page in pages.values():
        start, dictionary = len(out), page.chunk.dictionary
        if dictionary is not None:
            source.seek(dictionary[0])
            out += source.read(dictionary[1])
        data = len(out)
        source.seek(page.offset)
        out += source.read(page.size)
        size = len(out) - start
        rest = [
            [_VALUES, T_I64, rows if page.chunk.values is None else page.chunk.values],
            [_UNCOMPRESSED, T_I64, size],
            [_COMPRESSED, T_I64, size],
            [_DATA_OFFSET, T_I64, data],
        ]
        if dictionary is not None:
            rest.append([_DICTIONARY_OFFSET, T_I64, start])
        column = page.chunk.head + encode_thrift_struct(Struct(rest), after=_LAST_OF_HEAD)
        chunks.append(Struct([[_CHUNK_OFFSET, T_I64, start], [_CHUNK_METADATA, T_STRUCT, column]]))
    group = Struct([[_CHUNKS, T_LIST, ThriftList(T_STRUCT, chunks)], [_GROUP_BYTES, T_I64, len(out)], [_GROUP_ROWS, T_I64, rows]])  # fmt: skip
    elements = [footer.root_with_children(len(pages)), *(e for name in pages for e in footer.elements[name])]
    fields = [
        [_VERSION, T_I32, footer.tree.get(_VERSION)], [_SCHEMA, T_LIST, ThriftList(T_STRUCT, elements)],
        [_ROWS, T_I64, rows], [_GROUPS, T_LIST, ThriftList(T_STRUCT, [group])],
        *(f for f in footer.tree.fields if f[0] == _CREATED_BY),
    ]  # fmt: skip
    return bytes(out) + as_parquet(encode_thrift_struct(Struct(fields)))[4:]
