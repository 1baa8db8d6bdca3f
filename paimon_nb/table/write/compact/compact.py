"""Compaction on demand: plans independent tasks and runs each. `compact_table` commits nothing; the caller does.

The driver runs tasks inline; Spark runs the same `run_task` on executors (tasks and messages pickle).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import table as opt
from paimon_nb.options.support import Access
from paimon_nb.table.read.key_index import sources_of
from paimon_nb.table.read.live_files import by_bucket, index_entries, live_entries
from paimon_nb.table.read.plan.snapshot_scan import visible_levels
from paimon_nb.table.read.plan.time_travel import retry_on_expiry
from paimon_nb.table.read.side_by_side import map_in_threads
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write.bucket_compact.append import (
    compact_append_bucket,
    pick_append_auto,
    pick_append_full,
    pick_unaware_bucket_files,
)
from paimon_nb.table.write.bucket_compact.bucket import KeyBucket
from paimon_nb.table.write.bucket_compact.cluster import (
    cluster_files,
    idle_history_partitions,
    pick_cluster,
    uses_clustering,
)
from paimon_nb.table.write.bucket_compact.data_evolution import compact_row_ranges, pick_blob_files, pick_row_ranges
from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors
from paimon_nb.table.write.compact.postpone_bucket import compact_postponed
from paimon_nb.table.write.publish.abort import abort_messages
from paimon_nb.table.write.publish.changes import CommitMessage

if TYPE_CHECKING:
    from paimon_nb.format.manifest import DataFile, IndexEntry, ManifestEntry
    from paimon_nb.table.lsm.pick import Unit

_AT_ONCE = 4
"""Maximum number of buckets in parallel: memory is the limit on a large machine."""


Partitions = Collection[bytes] | Callable[[bytes], bool]
"""Serialized partitions, or a filter on them."""


@dataclass(frozen=True)
class CompactTask:
    """The work in one bucket (or, for bucket-unaware tables, one group of files)."""

    partition: bytes
    bucket: int
    total_buckets: int
    files: tuple[DataFile, ...]
    """Tables with keys or data evolution: all live files of the bucket. Otherwise: the files to merge."""
    unit: Unit | None
    """Key tables, and clustered tables: what to compact. None for a key table: only its indexes are built."""
    index: tuple[IndexEntry, ...]
    """Deletion vectors of the bucket, and indexes of a key table's columns."""
    base_snapshot: int

    @property
    def size(self) -> int:
        """Bytes that will be read."""
        return sum(f.file_size for f in (self.unit.files if self.unit else self.files))


def plan_compaction(
    store: TableStore,
    partitions: Partitions | None = None,
    *,
    full: bool = True,
    buckets: Collection[int] | None = None,
) -> list[CompactTask]:
    """Tasks for the latest snapshot, largest first; [] if there is nothing to do.

    Args:
        partitions: serialized partitions, or a test for them; None means all.
        full: everything to the max level (or merged); False: only what the strategy picks. Postponed rows first get
            their buckets, which are then compacted as after a write.
        buckets: only these; None means all.

    Raises: UnsupportedOperation, UnsupportedFormat: the table has options or columns that are not supported here.
    """
    store.check_supported(Access.COMPACT)
    store.check_writable_columns()
    snapshot = store.latest()
    if snapshot is None:
        return []
    store = store.at_newest_schema()
    index = index_entries(store, snapshot)
    tasks: list[CompactTask] = []
    live = by_bucket(live_entries(store, snapshot))
    # Postponed rows are merged into real buckets that are only known then: no other task may compact those.
    waiting = {partition for partition, bucket in live if bucket == POSTPONE_BUCKET}
    selected = select_partitions({partition for partition, _ in live}, partitions)
    history = (
        idle_history_partitions(store, {p: [e.file for e in entries] for (p, _), entries in live.items()}, selected)
        if partitions is not None and uses_clustering(store)
        else set()
    )
    for (partition, bucket), entries in live.items():
        if partition not in selected and partition not in history:
            continue
        if partition in waiting and bucket != POSTPONE_BUCKET:
            continue
        bucket_index = tuple(
            e for e in index
            if e.partition == partition and e.bucket == bucket
            and (e.index_type == "DELETION_VECTORS" or sources_of(e) is not None)
        )  # fmt: skip
        files = tuple(e.file for e in entries)
        total = entries[0].total_buckets
        for picked, unit in _choose_files(store, partition, bucket, files, bucket_index, full or partition in history):
            tasks.append(CompactTask(partition, bucket, total, picked, unit, bucket_index, snapshot.id))
    return sorted((t for t in tasks if buckets is None or t.bucket in buckets), key=lambda t: -t.size)


def _choose_files(
    store: TableStore,
    partition: bytes,
    bucket: int,
    files: tuple[DataFile, ...],
    index: tuple[IndexEntry, ...],
    full: bool,
) -> list[tuple[tuple[DataFile, ...], Unit | None]]:
    """(files, unit) per task of one bucket."""
    if bucket == POSTPONE_BUCKET:
        return [(files, None)]
    if store.has_keys:
        # As Java's dedicated compaction: with full-compaction changelog, minor compactions produce changelog too.
        full = full or store.options.needs_full_compaction_each_time
        whole = KeyBucket(store, partition, bucket, files, index)
        unit = whole.pick_unit(full=full)
        return [(files, unit)] if unit or not whole.has_current_indexes() else []
    if store.evolves_data:
        return [(files, None)] if pick_row_ranges(store, files) or pick_blob_files(store, files) else []
    if uses_clustering(store):
        unit = pick_cluster(store, files, full=full)
        return [(unit.files, unit)] if unit else []
    vectors = BucketVectors(store, partition, bucket, index) if index else None
    if store.bucket_option > 0:
        # As in Java, a full compaction that finds nothing to do is followed by one of what is due.
        picked = (pick_append_full(store, files, vectors) if full else []) or pick_append_auto(store, files)
        return [(tuple(picked), None)] if picked else []
    groups = pick_unaware_bucket_files(store, files, full=full, vectors=vectors)
    if index and len(groups) > 1:
        groups = [[f for group in groups for f in group]]  # all buckets share one index file, so one task must own it
    return [(tuple(group), None) for group in groups]


def select_partitions(known: Iterable[bytes], partitions: Partitions | None) -> set[bytes]:
    """The selected partitions among `known`; None means all."""
    if partitions is None:
        return set(known)
    return {p for p in known if (partitions(p) if callable(partitions) else p in partitions)}


def refuse_level0_rows(store: TableStore, entries: Iterable[ManifestEntry]) -> None:
    """Raise `UnsupportedOperation` if a live file is on level 0 of a table whose reads skip level 0."""
    visible = visible_levels(store)
    waiting = [] if visible is None else [e for e in entries if not visible(e.file.level)]
    if waiting:
        raise UnsupportedOperation(
            f"{store.name}: {len(waiting)} files on level 0 are not compacted yet; rewriting would lose their rows",
            hint=f"CALL sys.compact('{store.name}') first (with options => 'write-only=false' if the table is write-only)",
            files=len(waiting),
        )


def refuse_data_evolution(store: TableStore) -> None:
    """Raises UnsupportedOperation for a table whose rows keep their order: their ids are counted in it."""
    if store.options.get(opt.DATA_EVOLUTION_ENABLED):
        raise UnsupportedOperation(
            f"{store.name} has 'data-evolution.enabled': its rows keep their ids, so they cannot be sorted",
            hint="CALL sys.compact without an order merges its files",
        )


def run_task(store: TableStore, task: CompactTask) -> list[CommitMessage]:
    """Run one task: writes files, publishes nothing."""
    store = store.at_newest_schema()
    if task.bucket == POSTPONE_BUCKET:
        return compact_postponed(store, task.partition, task.files, task.base_snapshot)
    message = CommitMessage(task.partition, task.bucket, task.total_buckets, base_snapshot=task.base_snapshot)
    if store.has_keys:
        bucket = KeyBucket(store, task.partition, task.bucket, task.files, task.index)
        result = bucket.build_indexes() if task.unit is None else bucket.compact(task.unit)
        return [result.attach_to(message)]
    vectors = BucketVectors(store, task.partition, task.bucket, task.index) if task.index else None
    if store.evolves_data:
        indexed = any(e.global_index is not None for e in index_entries(store, store.latest()))
        result = compact_row_ranges(store, message, task.files, vectors, column_sequences=indexed)
        return [result.attach_to(message)]
    if task.unit is not None:
        return [cluster_files(store, message, task.unit, vectors).attach_to(message)]
    return [compact_append_bucket(store, message, task.files, vectors).attach_to(message)]


def compact(
    store: TableStore,
    partitions: Partitions | None = None,
    *,
    full: bool = True,
    buckets: Collection[int] | None = None,
) -> list[CommitMessage]:
    """Plan and run everything in this process, or only `buckets`. Commit the messages with `TableCommit`.

    Buckets are compacted in parallel, one per core (at most 4); together they use one `write-buffer-size`.
    """
    return retry_on_expiry(
        store, lambda: run_tasks(store, plan_compaction(store, partitions, full=full, buckets=buckets))
    )


def run_tasks(store: TableStore, tasks: Sequence[CompactTask]) -> list[CommitMessage]:
    """Run tasks in parallel in this process. If one fails, all their files are deleted."""
    made: list[CommitMessage] = []
    at_once = max(1, min(os.cpu_count() or 1, _AT_ONCE, len(tasks)))
    shared = max(1, store.options.get(opt.WRITE_BUFFER_SIZE) // at_once)
    worker = store.copy({opt.WRITE_BUFFER_SIZE.key: f"{shared} b"}) if at_once > 1 else store

    def run_and_record(task: CompactTask) -> list[CommitMessage]:
        messages = run_task(worker, task)
        made.extend(messages)
        return messages

    try:
        size = sum(f.file_size for task in tasks for f in task.files)
        parts = map_in_threads(store.fs, run_and_record, tasks, size, at_once)
    except BaseException:
        abort_messages(store, made)  # the files of the other buckets are not needed then
        raise
    return [message for messages in parts for message in messages]


def idle_partitions(store: TableStore, idle_ms: int) -> set[bytes]:
    """Partitions that received no new file in the last `idle_ms` milliseconds."""
    newest: dict[bytes, int] = {}
    for entry in live_entries(store, store.latest()):
        newest[entry.partition] = max(entry.file.creation_time_ms or 0, newest.get(entry.partition, 0))
    limit = clock.local_now_ms() - idle_ms
    return {partition for partition, created in newest.items() if created < limit}
