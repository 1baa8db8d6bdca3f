"""Which rows of a scan a vector or full-text index answers for, and reading rows by their ids.

All other rows are searched one by one: those appended after an index was built, and those whose value was updated since.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from pyroaring import BitMap64

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.format.index.global_index import IndexFileSource, row_id_range, row_ids_as_array, row_ids_of
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.read.data_evolution import anchor_file
from paimon_nb.table.read.key_index import numbering
from paimon_nb.table.read.live_files import index_entries
from paimon_nb.table.read.plan.global_index import (
    INDEX_THREADS,
    IndexRange,
    has_row_id_range,
    index_ranges,
    key_index_ranges,
    row_ids_of_files,
    stale_row_ids,
)
from paimon_nb.table.read.plan.snapshot_scan import is_independent
from paimon_nb.table.read.predicate.evaluate import filter_rows
from paimon_nb.table.read.predicate.model import Constant
from paimon_nb.table.read.row_positions import one_split_per_file
from paimon_nb.table.read.side_by_side import map_in_threads
from paimon_nb.table.read.split.split_reader import load_deletion_vector, read_split

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    import pyarrow as pa

    from paimon_nb.format.manifest import IndexEntry
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan, Split
    from paimon_nb.table.read.store import TableStore


T = TypeVar("T")


def with_numbered_rows(plan: ScanPlan) -> ScanPlan:
    """The plan with files whose rows have numbers, if indexes of a primary-key table may be asked for them."""
    if all(f.first_row_id is not None for f in plan.files):
        return plan  # an index answered the condition already, or there are no files
    plain = all(
        s.branch is None and not s.waiting and not s.changes and not s.diff and s.origins is None for s in plan.splits
    )
    if plan.snapshot is None or not plain or not (plan.store.has_key_indexes and is_independent(plan.store)):
        return plan
    number = numbering(index_entries(plan.store, plan.snapshot), plan.files)

    def numbered(split: Split) -> Split:
        return replace(split, files=tuple(number(f) for f in split.files))

    return replace(plan, splits=tuple(map(numbered, plan.splits)))


@dataclass(frozen=True, slots=True)
class IndexedRows:
    """Rows that one index file answers for."""

    index: IndexRange
    entry: IndexEntry
    rows: BitMap64
    """Their ids."""

    def source(self, store: TableStore) -> IndexFileSource:
        return IndexFileSource(store.fs, store.index_path(self.entry), self.entry.file_size)

    def selected(self, rows: BitMap64) -> BitMap64 | None:
        """These of its rows, as positions in the index; None: all positions of the index."""
        if len(rows) == self.index.last - self.index.first + 1:
            return None
        return row_ids_of(row_ids_as_array(rows) - self.index.first)


@dataclass(frozen=True, slots=True)
class SearchedRows:
    """The rows of a scan by the way they are searched."""

    indexed: tuple[IndexedRows, ...]
    others: BitMap64
    """Row ids without an index. Rows of files that do not count their row ids are not among them."""
    how: str
    """In words, for EXPLAIN and the metadata of a result."""

    def without_index(self, why: str) -> SearchedRows:
        """The same rows, all to be searched without an index."""
        others = self.others.copy()
        for part in self.indexed:
            others |= part.rows
        return SearchedRows((), others, f"{why}; all rows are searched without an index")


def rows_by_index(plan: ScanPlan, field: DataField, kinds: Collection[str]) -> SearchedRows:
    """The rows that an index of these kinds on the column answers for, and the others. Reads metadata only."""
    store, files, all_rows = plan.store, plan.files, BitMap64()
    for split in plan.splits:
        all_rows |= (split.row_ids if split.row_ids is not None else row_ids_of_files(split.files)) or BitMap64()
    stored = sum(anchor_file(s.files).row_count for s in one_split_per_file(plan)) if store.evolves_data else 0
    found: list[IndexedRows] = []
    others = all_rows.copy()
    for index, entry in _index_files(plan, field, kinds):
        rows = row_id_range(index.first, index.last) & others
        rows -= stale_row_ids(store, index, files)
        if rows:
            found.append(IndexedRows(index, entry, rows))
            others -= rows
    if not found:
        return SearchedRows((), others, f"no index of {field.name}: all rows are searched without one")
    names = " and ".join(sorted({i.index.kind for i in found}))
    some = len(all_rows) - len(others)
    how = f"index {names} of {field.name} for {some} of {max(stored, len(all_rows))} rows"
    return SearchedRows(tuple(found), others, how + (f", {len(others)} are searched without it" if others else ""))


def _index_files(plan: ScanPlan, field: DataField, kinds: Collection[str]) -> Iterator[tuple[IndexRange, IndexEntry]]:
    store = plan.store
    if plan.snapshot is None or not store.options.get(opt.GLOBAL_INDEX_ENABLED):
        return
    if any(split.branch is not None for split in plan.splits):
        return  # row ids of two branches
    partitions = {s.partition for s in plan.splits}
    entries = (e for e in index_entries(store, plan.snapshot) if e.partition in partitions)
    if store.has_keys:
        ranges = key_index_ranges(entries, [field], kinds, plan.files)
    else:
        ranges = index_ranges(entries, [field], kinds) if store.evolves_data else []
    for index in ranges:
        # One, as these indexes are built: several are not of the whole range each. An empty one has no vectors.
        if len(index.files) == 1 and index.files[0].file_size:
            yield index, index.files[0]


def map_index_files(store: TableStore, work: Callable[[IndexedRows], T], parts: Sequence[IndexedRows]) -> list[T]:
    """`work` of each index file, in order; those of an object store side by side."""
    threads = INDEX_THREADS if store.fs.is_object_store else 1
    return map_in_threads(store.fs, work, parts, sum(p.entry.file_size for p in parts), threads)


def matching_row_ids(plan: ScanPlan, within: BitMap64) -> BitMap64:
    """Those of the row ids whose rows are not deleted and match the plan's condition."""
    if not within:
        return within
    store, predicate = plan.store, plan.predicate
    if predicate is None and not any(s.deletion_vectors for s in plan.splits):
        return within
    found = BitMap64()
    for split in one_split_per_file(plan):
        selected = _live_row_ids(store, split) & within
        if predicate is None:
            found |= selected
        elif selected:
            fields = [f for f in store.schema.fields if f.name in predicate.columns()]
            rows = rows_at_ids(store, split, [f.name for f in fields], selected)
            ids = filter_rows(predicate, rows, fields).column(ROW_ID_FIELD.name)
            found |= row_ids_of(to_numpy(ids))
    return found


def rows_at_ids(store: TableStore, split: Split, columns: Sequence[str], selected: BitMap64) -> pa.Table:
    """The live rows of these ids, in the order of their ids, which are the last column.

    Args:
        split: one of `one_split_per_file`.
    """
    live = _live_row_ids(store, split)
    selected = selected & live
    rows = read_split(store, replace(split, row_ids=selected), columns, Constant(True))
    # The reader leaves out other rows only where that is faster.
    ids = row_ids_as_array(live if rows.num_rows == len(live) else selected)
    assert len(ids) == rows.num_rows
    rows = rows.append_column(ROW_ID_FIELD.name, from_numpy(ids))
    if rows.num_rows == len(selected):
        return rows
    return rows.filter(from_numpy(np.isin(ids, row_ids_as_array(selected))))


def _live_row_ids(store: TableStore, split: Split) -> BitMap64:
    """The ids of a split's rows that are not deleted; none for a file that does not count them."""
    file = anchor_file(split.files)
    if not has_row_id_range(file):
        return BitMap64()
    assert file.first_row_id is not None
    rows = row_id_range(file.first_row_id, file.first_row_id + file.row_count - 1)
    ref = (split.deletion_vectors or {}).get(file.file_name)
    if ref is not None:
        rows -= row_ids_of(load_deletion_vector(store, ref).positions() + file.first_row_id)
    return rows


def restricted_to(plan: ScanPlan, selected: BitMap64) -> ScanPlan:
    """The plan without files that have none of the row ids; a read may return other rows of the rest, too."""
    splits = []
    for split in one_split_per_file(plan):
        rows = row_ids_of_files(split.files)
        if rows is None:
            splits.append(split)
        elif rows & selected:
            splits.append(replace(split, row_ids=rows & selected))
    return replace(plan, splits=tuple(splits), predicate=plan.predicate or Constant(True))
