"""New row ids for the partitions of a data-evolution table whose ids are not consecutive; only metadata is written.

Source: Paimon 2.1 `DataEvolutionRowIdReassigner`, `DataEvolutionRowIdAssignmentPlanner`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitConflict, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import index_entries, live_entries
from paimon_nb.table.write.maintenance.manifests import publish_manifests
from paimon_nb.table.write.publish.attempt import ManifestWriter
from paimon_nb.table.write.publish.head import newest_to_build_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paimon_nb.format.manifest import IndexEntry, ManifestEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

_ATTEMPTS = 3
Ranges = list[tuple[int, int]]
"""First and last row ids, ascending."""


@dataclass(frozen=True, slots=True)
class Reassigned:
    """What a call did. If no partition needed it: no files, and the snapshot is as before."""

    before: int
    """The snapshot from which the ids were taken."""
    snapshot: int | None
    """The new snapshot; None: nothing was changed."""
    first_row_id: int
    """The first new id, which was the next free one before."""
    next_row_id: int
    files: int = 0
    rows: int = 0
    index_files: int = 0
    skipped: str = ""
    """Why nothing was changed."""


@dataclass(frozen=True, slots=True)
class _NewIds:
    """The new first id of each range of old ids of a partition."""

    old: Ranges
    new: Sequence[int]

    def first_of(self, first: int, last: int) -> int | None:
        """The new id of `first`; None if the ids up to `last` are not in one range."""
        at = bisect_right(self.old, (first, 1 << 63)) - 1
        if at < 0 or last > self.old[at][1]:
            return None
        return self.new[at] + first - self.old[at][0]

    def overlaps(self, first: int, last: int) -> bool:
        return any(begin <= last and first <= end for begin, end in self.old)


def reassign_row_ids(store: TableStore, partitions: Callable[[bytes], bool] | None = None) -> Reassigned:
    """Give the rows of each partition whose ids have gaps new ids, consecutive and in the same order.

    Files and deletion vectors stay as they are. Global indexes move with their rows; one whose rows are not all in one range of
    ids is dropped.

    Args:
        partitions: which partitions; None: all.

    Raises:
        UnsupportedOperation: the table has no row ids, or a file contains the ids of its rows.
        CommitConflict: other commits came first, three times.
    """
    if not store.evolves_data:
        raise UnsupportedOperation(
            f"{store.name}: only tables with 'row-tracking.enabled' and 'data-evolution.enabled' have row ids to reassign",
            hint="the ids of other tables are in their files",
        )
    for _ in range(_ATTEMPTS):
        latest = newest_to_build_on(store)
        if latest is None or latest.next_row_id is None:
            raise UnsupportedOperation(f"{store.name}: the table has no rows", hint="INSERT rows first")
        done = _reassign(store, latest, latest.next_row_id, partitions)
        if done is not None:
            return done
    raise CommitConflict(
        f"{store.name}: other commits were published while row ids were reassigned",
        hint="run it again",
        path=store.root,
    )


def _reassign(
    store: TableStore, latest: Snapshot, first_free: int, partitions: Callable[[bytes], bool] | None
) -> Reassigned | None:
    """One attempt; None: another commit came first."""
    if not store.schema.partition_keys:
        return Reassigned(latest.id, None, first_free, first_free, skipped="table is not partitioned")
    entries = live_entries(store, latest)
    plan, next_row_id = _new_ids(store, entries, first_free, partitions)
    if not plan:
        return Reassigned(latest.id, None, first_free, first_free, skipped="row IDs are already partition-contiguous")
    changed = [_with_new_ids(e, plan.get(e.partition)) for e in entries]
    indexes, moved = _moved_indexes(index_entries(store, latest), plan)
    writer = ManifestWriter(store, latest)
    made = publish_manifests(
        store, latest, writer, writer.write_manifests(changed), "reassign-row-id",
        index_manifest=writer.write_index(indexes), next_row_id=next_row_id,
    )  # fmt: skip
    files = sum(old is not new for old, new in zip(entries, changed, strict=True))
    done = Reassigned(latest.id, made, first_free, next_row_id, files, next_row_id - first_free, moved)
    return None if made is None else done


def _new_ids(
    store: TableStore, entries: Iterable[ManifestEntry], first_free: int, partitions: Callable[[bytes], bool] | None
) -> tuple[dict[bytes, _NewIds], int]:
    """The new ids by partition, and the next free one after them."""
    ranges: dict[bytes, Ranges] = defaultdict(list)
    for entry in entries:
        if partitions is not None and not partitions(entry.partition):
            continue
        if entry.file.first_row_id is None or ROW_ID_FIELD.name in (entry.file.write_cols or ()):
            raise UnsupportedOperation(
                f"{store.name}: file {entry.file.file_name} contains the ids of its rows, which cannot be reassigned",
                hint="name other partitions",
            )
        first = entry.file.first_row_id
        ranges[entry.partition].append((first, first + entry.file.row_count - 1))
    longest = store.options.get(opt.DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT)
    selected = {}
    for partition, found in ranges.items():
        old = [r for run in _runs(_joined(found)) if not 0 < longest < run[-1][1] - run[0][0] + 1 for r in run]
        if len(_runs(old)) > 1:
            selected[partition] = old
    plan = {}
    for partition in sorted(selected, key=store.partition_order):
        new = []
        for first, last in selected[partition]:
            new.append(first_free)
            first_free += last - first + 1
        plan[partition] = _NewIds(selected[partition], new)
    return plan, first_free


def _joined(ranges: Ranges) -> Ranges:
    """The ranges with overlapping ones as one: files of the same rows. Adjacent ones stay apart."""
    joined: Ranges = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def _runs(ranges: Ranges) -> list[Ranges]:
    """Ranges without a gap between them."""
    runs: list[Ranges] = []
    for r in ranges:
        if runs and runs[-1][-1][1] + 1 == r[0]:
            runs[-1].append(r)
        else:
            runs.append([r])
    return runs


def _with_new_ids(entry: ManifestEntry, ids: _NewIds | None) -> ManifestEntry:
    first = entry.file.first_row_id
    new = None if ids is None or first is None else ids.first_of(first, first + entry.file.row_count - 1)
    return entry if new is None else replace(entry, file=replace(entry.file, first_row_id=new))


def _moved_indexes(entries: Iterable[IndexEntry], plan: dict[bytes, _NewIds]) -> tuple[list[IndexEntry], int]:
    """The index files, and how many have new ids. Those of rows that are not together any more are left out."""
    moved, count = [], 0
    for entry in entries:
        index, ids = dict(entry.global_index or ()), plan.get(entry.partition)
        if not index or ids is None:
            moved.append(entry)
            continue
        first, last = index["_ROW_RANGE_START"], index["_ROW_RANGE_END"]
        new = ids.first_of(first, last)
        if new is not None:
            index |= {"_ROW_RANGE_START": new, "_ROW_RANGE_END": new + last - first}
            moved.append(replace(entry, global_index=tuple(index.items())))
            count += 1
        elif not ids.overlaps(first, last):
            moved.append(entry)
    return moved, count
