"""Data evolution: the newer values of a column are in a separate file with the same row ids.

Source: Paimon 2 `DataEvolutionSplitGenerator`, `DataEvolutionSplitRead`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CorruptFile, ReadError
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore


def group_by_row_range(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files of one bucket, those of the same rows together and the newest of them first.

    Blob and vector files hold a column of some of those rows: large ones are rolled, each beginning with a row id of
    its own.

    Raises: CorruptFile: files overlap that do not hold the same rows.
    """
    groups: list[list[DataFile]] = [[f] for f in files if f.first_row_id is None]
    begin = end = 0
    whole: DataFile | None = None  # the first normal file of the group, which has its row count
    tracked = [f for f in files if f.first_row_id is not None]
    # Of files that begin with the same row the normal ones come first: they span the whole group.
    for file in sorted(tracked, key=lambda f: (f.first_row_id or 0, is_dedicated(f), -f.max_sequence, f.file_name)):
        first = file.first_row_id or 0
        if whole is None or first >= end:
            groups.append([file])
            whole, begin, end = file, first, first + file.row_count
            continue
        groups[-1].append(file)
        if is_dedicated(file):
            if first + file.row_count > end and not is_dedicated(whole):
                raise CorruptFile(file.file_name, f"its row ids end after those of {whole.file_name}")
        elif first != begin:
            raise CorruptFile(file.file_name, f"its row ids begin at {first}, inside the range of {whole.file_name}")
        elif file.row_count != whole.row_count:
            raise CorruptFile(file.file_name, f"it has {file.row_count} rows, where {whole.file_name} has "
                              f"{whole.row_count} beginning with the same one")  # fmt: skip
    return groups


def is_dedicated(file: DataFile) -> bool:
    """Whether it is a file for values of one large column (blobs, vectors), which may hold a part of a group's rows."""
    return file.file_name.endswith(".blob") or ".vector." in file.file_name


def anchor_file(group: Sequence[DataFile]) -> DataFile:
    """The file of a group whose name the group's deletion vector is stored under: the oldest normal one.

    It stays the same when newer values of columns are written. Source: Paimon 2 `DataEvolutionUtils`.
    """
    normal = [f for f in group if not is_dedicated(f)]
    return min(normal or group, key=lambda f: (f.max_sequence, f.file_name))


@dataclass(frozen=True, slots=True)
class FileRows:
    """Consecutive rows of one file."""

    file: DataFile
    begin: int
    """The first row, counted from the first row of the file."""
    end: int
    at: int
    """The place of the file's first row among the rows of the group."""
    older: tuple[FileRows, ...] = ()
    """The same rows in older `.blob` files, newest first: a `.blob` file may refer to an older value."""


@dataclass(frozen=True, slots=True)
class ColumnParts:
    """Columns that come from the same files, and the rows of these that make up the rows of the group."""

    fields: tuple[DataField, ...]
    rows: tuple[FileRows, ...]


def files_by_column(store: TableStore, group: Sequence[DataFile], fields: Sequence[DataField]) -> list[ColumnParts]:
    """The files to read the columns of a group from: of each column the newest values.

    A column that no file contains, for example because it was added later, is read from the oldest file, as NULL.

    Raises:
        CorruptFile: dedicated files of a column do not cover all rows of the group.
        ReadError: two `.blob` files have values of the same rows and the same sequence number.
    """
    whole = anchor_file(group)
    begin, count = whole.first_row_id or 0, whole.row_count
    held = {f.file_name: stored_field_ids(store, f) for f in group}
    columns: dict[tuple[FileRows, ...], list[DataField]] = {}
    for field in fields:
        normal = [f for f in group if not is_dedicated(f) and field.id in held[f.file_name]]
        dedicated = [f for f in group if is_dedicated(f) and field.id in held[f.file_name]]
        # A file without a list of its columns may leave out those that are in dedicated files.
        found = normal[0] if normal and not (dedicated and normal[0].write_cols is None) else None
        if found is None and dedicated:
            rows = newest_rows(dedicated, begin, count, field.name)
        else:
            found = found or (normal[0] if normal else whole)
            rows = (FileRows(found, 0, found.row_count, 0),)
        columns.setdefault(rows, []).append(field)
    return [ColumnParts(tuple(part), rows) for rows, part in columns.items()]


def newest_rows(files: Sequence[DataFile], begin: int, count: int, column: str) -> tuple[FileRows, ...]:
    """Rows of dedicated files that cover the `count` rows from row id `begin` once; newer files win."""
    cuts = _file_boundaries(files, begin, count)
    owners: list[list[DataFile]] = [[] for _ in cuts[1:]]
    for file in sorted(files, key=lambda f: (f.max_sequence, f.file_name), reverse=True):
        first = (file.first_row_id or 0) - begin
        for i, (low, high) in enumerate(pairwise(cuts)):
            if first <= low and high <= first + file.row_count:
                owners[i].append(file)
    rows: list[FileRows] = []
    for versions, (low, high) in zip(owners, pairwise(cuts), strict=True):
        if not versions:
            name = files[0].file_name
            raise CorruptFile(
                name, f"no file contains column {column!r} of row ids {begin + low} to {begin + high - 1}"
            )
        if len({f.max_sequence for f in versions}) < len(versions) and versions[0].file_name.endswith(".blob"):
            raise ReadError(
                f"column {column!r}: {len(versions)} files have values of row ids {begin + low} to {begin + high - 1} with the same sequence number: "
                f"{', '.join(f.file_name for f in versions)}",
                hint="select the other columns by name, or update this column of these rows", column=column,
            )  # fmt: skip
        newest, *older = (_rows_at(file, begin, low, high) for file in versions)
        found = replace(newest, older=tuple(older) if newest.file.file_name.endswith(".blob") else ())
        if rows and [r.file for r in _versions(rows[-1])] == [r.file for r in _versions(found)]:
            low = rows.pop().begin + newest.at
            newest, *older = (_rows_at(r.file, begin, low, high) for r in _versions(found))
            found = replace(newest, older=tuple(older))
        rows.append(found)
    return tuple(rows)


def _versions(rows: FileRows) -> tuple[FileRows, ...]:
    return rows, *rows.older


def _rows_at(file: DataFile, begin: int, low: int, high: int) -> FileRows:
    """The rows `low` to `high` of a group, in one of its files."""
    first = (file.first_row_id or 0) - begin
    return FileRows(file, low - first, high - first, first)


def _file_boundaries(files: Sequence[DataFile], begin: int, count: int) -> list[int]:
    """Where files begin and end among the rows of a group, with its own begin and end."""
    firsts = [(f.first_row_id or 0) - begin for f in files]
    ends = [first + f.row_count for first, f in zip(firsts, files, strict=True)]
    return sorted({0, count, *(at for at in (*firsts, *ends) if 0 < at < count)})


def holds_column(store: TableStore, file: DataFile, field: DataField) -> bool:
    """Whether a file is a normal one with values of the column."""
    return not is_dedicated(file) and field.id in stored_field_ids(store, file)


def stores_column(store: TableStore, group: Sequence[DataFile], field: DataField) -> bool:
    """Whether a file of the group has values of the column."""
    return any(field.id in stored_field_ids(store, file) for file in group)


def stored_field_ids(store: TableStore, file: DataFile) -> set[int]:
    """The ids of the columns that a file has values of."""
    fields = store.schemas.get(file.schema_id).fields
    return {f.id for f in fields if file.write_cols is None or f.name in file.write_cols}


def cut_at_same_rows(streams: Sequence[Iterator[pa.Table]], files: Sequence[DataFile]) -> Iterator[list[pa.Table]]:
    """Streams of the same rows, cut at the same rows. Raises CorruptFile: one of them has fewer."""
    heads: list[pa.Table | None] = [None] * len(streams)
    while True:
        for i, rows in enumerate(streams):
            head = heads[i]
            while head is None or head.num_rows == 0:
                head = next(rows, None)
                if head is None:
                    break
            heads[i] = head
        present = [h for h in heads if h is not None]
        if not present:
            return
        if len(present) < len(heads):
            raise CorruptFile(anchor_file(files).file_name, "files with columns of its rows have other numbers of rows")
        count = min(h.num_rows for h in present)
        yield [h.slice(0, count) for h in present]
        heads = [h.slice(count) for h in present]
