"""Reads data files of any format into Arrow tables of logical types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.base.registry import LazyRegistry
from paimon_nb.format.data.file_schema import ROW_KINDS, VALUE_KIND, format_of, is_compacted_changelog
from paimon_nb.format.data.parquet import ParquetReader
from paimon_nb.format.data.parquet_page_index import (
    find_rows_by_page_index,
    has_rows_by_page_index,
    read_rows_by_page_index,
)
from paimon_nb.format.file_errors import BROKEN, broken_file
from paimon_nb.format.types import DataField, is_opaque
from paimon_nb.format.types.arrow_builders import from_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from paimon_nb.format.data.pushdown import RowFilter
    from paimon_nb.fs import FileIO
    from paimon_nb.options import TableOptions

_WITH_DECLARED_ROWS = ("parquet", "orc", "avro")
ROW_POSITION = "_ROW_POSITION"
"""int64: the position of a row in its file, from 0, as in deletion vectors."""


class Reader(Protocol):
    """One open data file. `row_groups` means the units that a format can skip or read alone: row groups, stripes,
    blocks.
    """

    @property
    def num_rows(self) -> int: ...

    @property
    def row_groups(self) -> list[int]:
        """Number of rows of each unit."""
        ...

    def read(self, groups: Sequence[int] | None = None) -> pa.Table: ...

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]: ...

    def close(self) -> None: ...


READERS: LazyRegistry[Callable[[FileIO, str, Sequence[DataField], TableOptions | None], Reader]] = LazyRegistry(
    "file format",
    "paimon_nb.format.data",
    {
        "parquet": "parquet:ParquetReader",
        "orc": "orc:OrcReader",
        "avro": "avro:AvroReader",
        "json": "json_files:JsonReader",
        "csv": "csv_files:CsvReader",
        "blob": "blob:BlobReader",
        "lance": "lance_vortex:LanceReader",
        "vortex": "lance_vortex:VortexReader",
    },
)


_Rows = TypeVar("_Rows", "pa.Table", "pa.RecordBatch")


def open_data_file(
    fs: FileIO,
    path: str,
    fields: Sequence[DataField],
    options: TableOptions | None = None,
    row_count: int | None = None,
) -> Reader:
    """Open a reader of the given columns; the caller closes it. `row_count`: that of the manifest, if there is one.

    Raises:
        MissingFile, CorruptFile, UnsupportedFormat.
    """
    try:
        _check_readable(path, fields)
        reader = READERS.find(format_of(path))(_with_changelog_ranges(fs, path), path, fields, options)
    except BROKEN as error:
        raise broken_file(path, error) from None
    return _with_checked_row_count(reader, path, row_count)


def _with_checked_row_count(reader: Reader, path: str, row_count: int | None) -> Reader:
    """The reader of a file with as many rows as its manifest says. Raises CorruptFile: others, none of which is decoded."""
    if row_count is None:
        return reader
    try:
        found = max(reader.num_rows, sum(reader.row_groups) if isinstance(reader, ParquetReader) else 0)
        # Text files declare no number, and lines that are not rows are left out.
        if found > row_count or (found < row_count and format_of(path) in _WITH_DECLARED_ROWS):
            raise CorruptFile(path, f"it has {found:,} rows, where the manifest says {row_count:,}")
    except BaseException:
        reader.close()
        raise
    return reader


def _open_columns(
    fs: FileIO,
    path: str,
    fields: Sequence[DataField],
    columns: Sequence[str] | None,
    options: TableOptions | None,
    row_count: int | None = None,
) -> Reader:
    """A reader of some of a file's columns. CSV files have no names: their reader needs to know all columns."""
    if format_of(path) == "csv":
        from paimon_nb.format.data.csv_files import CsvReader

        return _with_checked_row_count(CsvReader(fs, path, fields, options, columns), path, row_count)
    return open_data_file(fs, path, _selected_fields(fields, columns), options, row_count)


def _with_changelog_ranges(fs: FileIO, path: str) -> FileIO:
    """`fs`, or for a compacted changelog file one that opens the range which the path means."""
    if not is_compacted_changelog(path):
        return fs
    from paimon_nb.format.data.compacted_changelog import ChangelogFileIO

    view: Any = ChangelogFileIO(fs)
    return view  # type: ignore[no-any-return]


def _check_readable(path: str, fields: Sequence[DataField]) -> None:
    """Raises UnsupportedFormat for a column whose type is not supported."""
    for field in fields:
        if is_opaque(field.type):
            raise UnsupportedFormat(
                f"column {field.name!r} is {field.type.bare()}, whose values are not read here",
                hint="select the other columns by name",
                column=field.name,
                feature=field.type.root,
                path=path,
            )


def read_data_file(
    fs: FileIO,
    path: str,
    fields: Sequence[DataField],
    columns: Sequence[str] | None = None,
    row_positions: bool = False,
    options: TableOptions | None = None,
    keep: RowFilter | None = None,
    row_count: int | None = None,
) -> pa.Table:
    """The rows of a file in file order.

    Args:
        fields: the file's columns, in the schema with which it was written. columns: which of them, in which order.
        row_positions: adds `ROW_POSITION` as the last column. options:
        the table's options; some define how values are stored (`orc.timestamp-ltz.legacy.type`). None: Paimon's
        defaults. keep: returns only the rows that match; if these are few, little more than its own columns is decoded.
        Its columns must be among `columns`. Cannot be combined with `row_positions`. row_count: that of the manifest; a
        file with other rows is refused before it is decoded.

    Raises:
        MissingFile, CorruptFile, UnsupportedFormat.
    """
    try:
        selected = _selected_fields(fields, columns)
        _check_readable(path, selected)
        # For a range, an object store would get one request for each footer, which is then read again, and one per column.
        if (
            keep is not None
            and (keep.points or (keep.is_range and not fs.is_object_store))
            and format_of(path) == "parquet"
        ):
            found = find_rows_by_page_index(_with_changelog_ranges(fs, path), path, selected, keep, row_count)
            if found is not None:
                return _with_checked_row_kinds(found, path)
        reader = _open_columns(fs, path, fields, columns, options, row_count)
        try:
            if keep is not None:
                some = reader.read_where(keep) if isinstance(reader, ParquetReader) else keep.apply(reader.read())
                return _with_checked_row_kinds(some, path)
            table = _with_checked_row_kinds(reader.read(), path)
            if not row_positions:
                return table
            return table.append_column(ROW_POSITION, from_numpy(_row_positions(reader.row_groups, None)))
        finally:
            reader.close()
    except BROKEN as error:
        raise broken_file(path, error) from None


def may_have_rows(
    fs: FileIO, path: str, fields: Sequence[DataField], keep: RowFilter, row_count: int | None = None
) -> bool:
    """Whether a file contains rows that match the filter; also True if only reading the whole file can decide.

    Args:
        fields: the file's columns, including the filter's.

    Raises:
        MissingFile, CorruptFile.
    """
    try:
        if not keep.points or format_of(path) != "parquet":
            return True
        return has_rows_by_page_index(
            _with_changelog_ranges(fs, path), path, _selected_fields(fields, keep.columns), keep, row_count
        )
    except BROKEN as error:
        raise broken_file(path, error) from None


def iter_data_file(
    fs: FileIO,
    path: str,
    fields: Sequence[DataField],
    columns: Sequence[str] | None = None,
    rows: int = BATCH_ROWS,
    row_positions: bool = False,
    options: TableOptions | None = None,
    keep: RowFilter | None = None,
    row_count: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """The same in batches of at most `rows` rows; about one batch of the file is in memory."""
    try:
        reader = _open_columns(fs, path, fields, columns, options, row_count)
        try:
            if keep is not None:
                groups = reader.groups_with_matches(keep, rows) if isinstance(reader, ParquetReader) else None
                for batch in reader.batches(rows, groups):
                    _with_checked_row_kinds(batch, path)
                    yield from keep.apply(pa.Table.from_batches([batch])).to_batches()
                return
            positions = _row_positions(reader.row_groups, None) if row_positions else None
            done = 0
            for batch in reader.batches(rows):
                _with_checked_row_kinds(batch, path)
                if positions is None:
                    yield batch
                else:
                    yield batch.append_column(ROW_POSITION, from_numpy(positions[done : done + batch.num_rows]))
                done += batch.num_rows
        finally:
            reader.close()
    except BROKEN as error:
        raise broken_file(path, error) from None


def iter_rows_at(
    fs: FileIO,
    path: str,
    fields: Sequence[DataField],
    columns: Sequence[str],
    positions: np.ndarray,
    rows: int | None = None,
    options: TableOptions | None = None,
    row_count: int | None = None,
) -> Iterator[pa.Table]:
    """The rows of a file at ascending positions; row groups (ORC: stripes) without such rows are not decoded.

    Args:
        rows: of the file that are decoded at a time, at most; None: a whole row group.

    Raises:
        MissingFile, CorruptFile, UnsupportedFormat.
    """
    try:
        selected = _selected_fields(fields, columns)
        _check_readable(path, selected)
        if format_of(path) == "parquet" and not fs.is_object_store:
            found = read_rows_by_page_index(fs, path, selected, positions, row_count)
            if found is not None:
                yield found
                return
        reader = _open_columns(fs, path, fields, columns, options, row_count)
        try:
            sizes = reader.row_groups
            ends = np.cumsum(sizes)
            groups = sorted({int(g) for g in np.searchsorted(ends, positions, "right")})
            there, done = _row_positions(sizes, groups), 0
            for batch in reader.batches(rows or max(sizes, default=1), groups):
                _with_checked_row_kinds(batch, path)
                here = there[done : done + batch.num_rows]
                done += batch.num_rows
                yield pa.Table.from_batches([batch]).filter(from_numpy(np.isin(here, positions, assume_unique=True)))
        finally:
            reader.close()
    except BROKEN as error:
        raise broken_file(path, error) from None


def _with_checked_row_kinds(rows: _Rows, path: str) -> _Rows:
    """The same rows of a file of a key table. Raises CorruptFile: a row kind that is none, as of a file without checksums."""
    if VALUE_KIND in rows.schema.names and rows.num_rows:
        kinds = rows.column(VALUE_KIND)
        found = pc.min_max(kinds)
        if kinds.null_count or found["min"].as_py() < 0 or found["max"].as_py() >= len(ROW_KINDS):
            raise CorruptFile(path, f"{VALUE_KIND} of a row is not one of 0 to {len(ROW_KINDS) - 1}")
    return rows


def _row_positions(sizes: Sequence[int], groups: Sequence[int] | None) -> np.ndarray:
    if groups is None:
        return np.arange(sum(sizes), dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    parts = [np.arange(starts[g], starts[g + 1], dtype=np.int64) for g in groups]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _selected_fields(fields: Sequence[DataField], columns: Sequence[str] | None) -> Sequence[DataField]:
    if columns is None:
        return fields
    by_name = {f.name: f for f in fields}
    return [by_name[c] for c in columns]
