"""Data evolution: the newer values of a column are in a separate file with the same row ids.

Source: Paimon 2 `DataEvolutionSplitGenerator`, `DataEvolutionSplitRead`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.store import TableStore


def same_rows(files: Sequence[DataFile]) -> list[list[DataFile]]:
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


def anchor(group: Sequence[DataFile]) -> DataFile:
    """The file of a group whose name the group's deletion vector is stored under: the oldest normal one.

    It stays the same when newer values of columns are written. Source: Paimon 2 `DataEvolutionUtils`.
    """
    normal = [f for f in group if not is_dedicated(f)]
    return min(normal or group, key=lambda f: (f.max_sequence, f.file_name))


def files_by_column(
    store: TableStore, group: Sequence[DataFile], fields: Sequence[DataField]
) -> list[tuple[DataFile, tuple[DataField, ...]]]:
    """(file, columns to read from it): for each column the newest file that holds it, for one that none holds the oldest.

    The files come in the order of the group; those that nothing is read from are left out.
    """
    held = [_stored_field_ids(store, file) for file in group]
    oldest = list(group).index(anchor(group))
    newest_file = {f.id: next((i for i, ids in enumerate(held) if f.id in ids), oldest) for f in fields}
    parts = [(file, tuple(f for f in fields if newest_file[f.id] == i)) for i, file in enumerate(group)]
    return [(file, part) for file, part in parts if part]


def _stored_field_ids(store: TableStore, file: DataFile) -> set[int]:
    fields = store.schemas.get(file.schema_id).fields
    return {f.id for f in fields if file.write_cols is None or f.name in file.write_cols}
