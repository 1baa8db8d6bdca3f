"""Sort compaction: rewrites rows in an order that lets reads skip files.

For append tables with `bucket` = -1, and for primary-key tables with dynamic buckets: there, keys of neighbouring rows
get the same bucket. The result is an OVERWRITE of the partitions that were read.
Source: docs/spec/merge-semantics.md section 4.1 (Paimon `SortCompactAction`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options.support import Access
from paimon_nb.table.read import read_split
from paimon_nb.table.read.live_files import index_entries, live_entries
from paimon_nb.table.read.plan.snapshot_scan import plan_snapshot, visible_levels
from paimon_nb.table.read.split.inline_blobs import as_stored
from paimon_nb.table.write.bucket_compact.append import append_rows, in_arrival_order
from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors
from paimon_nb.table.write.cluster import Order, sorted_rows
from paimon_nb.table.write.compact.compact import (
    Partitions,
    refuse_data_evolution,
    refuse_level0_rows,
    select_partitions,
)
from paimon_nb.table.write.data_file_writer import AppendFileWriter, FileTarget
from paimon_nb.table.write.publish.changes import CommitMessage
from paimon_nb.table.write.publish.overwrite import Overwrite

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.format.manifest import DataFile, IndexEntry, ManifestEntry
    from paimon_nb.table.read.store import TableStore


@dataclass(frozen=True)
class SortTask:
    """One partition to rewrite."""

    partition: bytes
    files: tuple[DataFile, ...]
    index: tuple[IndexEntry, ...]
    """Deletion vectors of the partition."""
    base_snapshot: int

    @property
    def size(self) -> int:
        """Bytes that will be read."""
        return sum(f.file_size for f in self.files)


def plan_sort(store: TableStore, partitions: Partitions | None = None) -> list[SortTask]:
    """One task per partition of the latest snapshot, largest first.

    Raises: UnsupportedOperation: the table's buckets depend on keys.
    """
    if store.bucket_option != -1 or store.schema.is_cross_partition:
        kind = "moves keys between partitions" if store.bucket_option == -1 else f"has bucket = {store.bucket_option}"
        raise UnsupportedOperation(
            f"{store.name} {kind}: the keys determine where its rows are stored, so they cannot be sorted",
            hint="sort compaction needs 'bucket' = '-1' and a primary key, if any, that contains the partition columns",
        )
    store.check_supported(Access.COMPACT)
    store.check_writable_columns()
    refuse_data_evolution(store)
    snapshot = store.latest()
    if snapshot is None:
        return []
    index = [e for e in index_entries(store, snapshot) if e.index_type == "DELETION_VECTORS"]
    files: dict[bytes, list[ManifestEntry]] = {}
    for entry in live_entries(store, snapshot):
        files.setdefault(entry.partition, []).append(entry)
    tasks = []
    selected = select_partitions(files, partitions)
    for partition, entries in files.items():
        if partition not in selected:
            continue
        refuse_level0_rows(store, entries)
        partition_index = tuple(e for e in index if e.partition == partition)
        tasks.append(
            SortTask(partition, tuple(in_arrival_order([e.file for e in entries])), partition_index, snapshot.id)
        )
    return sorted(tasks, key=lambda t: -t.size)


def run_sort(store: TableStore, task: SortTask, order: Order) -> list[CommitMessage]:
    """Rewrite one partition: writes files, publishes nothing."""
    store = store.at_newest_schema()
    if store.has_keys:
        return _sort_primary_key_partition(store, task, order)
    target = FileTarget(task.partition, 0)
    vectors = BucketVectors(store, task.partition, 0, task.index) if task.index else None
    with AppendFileWriter(store, target) as out:
        for table in sorted_rows(store, order, append_rows(store, target, task.files, vectors)):
            out.write(table)
        files = out.finish()
    message = CommitMessage(
        task.partition, 0, store.bucket_option, new_files=tuple(files), base_snapshot=task.base_snapshot
    )
    return [message]


def _sort_primary_key_partition(store: TableStore, task: SortTask, order: Order) -> list[CommitMessage]:
    """Merged rows with buckets assigned in the new order: each bucket is filled before the next begins."""
    from paimon_nb.table.write import TableWrite  # it knows the vectors of this table

    plan = plan_snapshot(store, store.snapshots.get(task.base_snapshot))
    merged = (read_split(as_stored(plan.store), split) for split in plan.splits if split.partition == task.partition)
    with TableWrite(store, overwrite=True, compact=visible_levels(store) is not None) as writing:
        for table in sorted_rows(store, order, merged):
            writing.write(table)
        messages = writing.prepare_commit()
    return [replace(m, base_snapshot=task.base_snapshot) for m in messages]


def sort_overwrite(store: TableStore, tasks: Iterable[SortTask]) -> Overwrite:
    """What the result replaces: exactly the files that were read. Rows that arrived in between are a conflict."""
    return Overwrite(
        dynamic=bool(store.schema.partition_keys), read_snapshot=max((t.base_snapshot for t in tasks), default=None)
    )
