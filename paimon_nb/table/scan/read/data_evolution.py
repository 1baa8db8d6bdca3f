"""Tables with data evolution: a column's newer values lie in a file of their own, beside the file whose rows they belong to.

Source: Paimon 1.3 `DataEvolutionSplitGenerator`, `DataEvolutionSplitRead`.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.manifest import DataFile
from paimon_nb.format.types import DataField
from paimon_nb.options import table as opt
from paimon_nb.table.store import TableStore


def evolves(store: TableStore) -> bool:
    """Whether files of this table may hold some columns of rows whose others lie elsewhere."""
    return not store.has_keys and bool(store.options.get(opt.DATA_EVOLUTION_ENABLED))


def same_rows(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """Files of one bucket, those of the same rows together and the newest of them first.

    Raises: CorruptFile: files overlap that do not hold the same rows.
    """
    groups: list[list[DataFile]] = [[f] for f in files if f.first_row_id is None]
    end = 0
    last: int | None = None
    tracked = [f for f in files if f.first_row_id is not None]
    for file in sorted(tracked, key=lambda f: (f.first_row_id or 0, -f.max_sequence)):
        first = file.first_row_id or 0
        if first == last:
            if file.row_count != groups[-1][0].row_count:
                raise CorruptFile(file.file_name, f"it has {file.row_count} rows, where {groups[-1][0].file_name} has "
                                  f"{groups[-1][0].row_count} beginning with the same one")  # fmt: skip
            groups[-1].append(file)
            continue
        if first < end:
            raise CorruptFile(file.file_name, f"its rows begin at {first}, inside those of {groups[-1][0].file_name}")
        groups.append([file])
        last, end = first, first + file.row_count
    return groups


def holders(
    store: TableStore, group: Sequence[DataFile], fields: Sequence[DataField]
) -> list[tuple[DataFile, tuple[DataField, ...]]]:
    """(file, columns to read from it): for each column the newest file that holds it, for one that none holds the oldest.

    The files come in the order of the group; those that nothing is read from are left out.
    """
    held = [_held(store, file) for file in group]
    chosen = {f.id: next((i for i, ids in enumerate(held) if f.id in ids), len(group) - 1) for f in fields}
    parts = [(file, tuple(f for f in fields if chosen[f.id] == i)) for i, file in enumerate(group)]
    return [(file, part) for file, part in parts if part]


def _held(store: TableStore, file: DataFile) -> set[int]:
    fields = store.schemas.get(file.schema_id).fields
    return {f.id for f in fields if file.write_cols is None or f.name in file.write_cols}
