"""Row groups that a planned read skips inside its files, by their statistics. Reads footers, no rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import SEQUENCE_FIELD, SEQUENCE_NUMBER
from paimon_nb.format.data.parquet import ParquetReader
from paimon_nb.format.data.read import open_data_file
from paimon_nb.table.read.predicate.evaluate import filter_on_file_columns
from paimon_nb.table.read.split.split_reader import pushable_predicate, schema_and_system

if TYPE_CHECKING:
    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan, Split

MAX_FILES = 200
"""Maximum number of footers to open."""


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Row groups of the files that a plan reads."""

    total: int
    matching: int
    rows: int
    """Rows of all row groups."""
    matching_rows: int
    files: int
    """Number of opened files; fewer than the plan's if it has very many."""


def row_groups(plan: ScanPlan, max_files: int = MAX_FILES) -> RowGroups:
    """Inspect the files of a plan like an inline read. Raises `MissingFile`, `CorruptFile`."""
    total = matching = rows = matching_rows = files = 0
    for split in plan.splits:
        for file in split.files:
            if files >= max_files:
                break
            sizes, matches = _inspect_row_group_pruning(plan, split, file)
            files += 1
            total, rows = total + len(sizes), rows + sum(sizes)
            matching, matching_rows = matching + len(matches), matching_rows + sum(sizes[i] for i in matches)
    return RowGroups(total, matching, rows, matching_rows, files)


def _inspect_row_group_pruning(plan: ScanPlan, split: Split, file: DataFile) -> tuple[list[int], list[int]]:
    """(rows of each row group, the row groups that are read)."""
    store = plan.store if split.branch is None else plan.store.on_branch(split.branch)
    stored = schema_and_system(store.schema_by_id(file.schema_id))
    path = store.data_path(split.partition, split.bucket, file)
    system = [SEQUENCE_FIELD] if store.has_keys else []
    reader = open_data_file(store.fs, path, system or stored[:1], store.options, file.row_count)
    try:
        sizes = reader.row_groups
        every = list(range(len(sizes)))
        condition = pushable_predicate(store, split, plan.predicate)
        vector = (split.deletion_vectors or {}).get(file.file_name)
        if condition is None or vector is not None or not isinstance(reader, ParquetReader):
            return sizes, every
        own = [f for f in stored if f.name not in (SEQUENCE_NUMBER,)]
        keep = filter_on_file_columns(condition, store.schema.fields, own)
        return sizes, every if keep is None else reader.groups_overlapping(keep.spans)
    finally:
        reader.close()
