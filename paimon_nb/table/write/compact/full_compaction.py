"""When a writer runs a full compaction: a batch job at each commit; a stream at each N-th, over all buckets it wrote
since.

Source: Paimon `flink/sink/GlobalFullCompactionSinkWrite.java`, `StoreSinkWrite.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import MissingFile, SnapshotNotFound
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import ADD, read_manifest_list
from paimon_nb.options import table as opt
from paimon_nb.options.write import CHANGELOG_PRODUCER_COMPACTION_INTERVAL
from paimon_nb.table.read.live_files import LIVE_FILES, BucketKey, entries_of
from paimon_nb.table.write.compact.compact import plan_compaction, run_tasks

if TYPE_CHECKING:
    from collections.abc import Collection

    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.publish.changes import CommitMessage


@dataclass(frozen=True, slots=True)
class FullCompactionSchedule:
    """Schedule of a stream's full compactions. Both None: never, only sizes trigger compaction."""

    every: int | None = None
    """Commits between two full compactions."""
    interval_ms: int | None = None
    """Time between two full compactions; takes precedence over `every`."""

    @classmethod
    def of(cls, store: TableStore) -> FullCompactionSchedule:
        """From the options: a number of commits, else a time, else each commit if the changelog depends on it."""
        o = store.options
        commits = o.get(opt.FULL_COMPACTION_DELTA_COMMITS)
        if o.write_only or not store.has_keys:
            return cls()
        if commits is not None:
            return cls(every=max(commits, 1))
        if o.has(CHANGELOG_PRODUCER_COMPACTION_INTERVAL):
            return cls(interval_ms=o.get(CHANGELOG_PRODUCER_COMPACTION_INTERVAL))
        return cls(every=1) if o.changelog_producer == "full-compaction" else cls()


def full_compact_idle_buckets(
    store: TableStore, written: Collection[BucketKey] | None, touched: Collection[BucketKey]
) -> list[CommitMessage]:
    """Full compactions of buckets that a stream wrote to earlier and does not write to now, unless already compacted.

    Args:
        written: since its last full compaction; None: unknown, so every bucket is a candidate. touched: the buckets
            that the current commit compacts anyway.

    Returns: messages to commit with the others. Writes files, publishes nothing.
    """
    if written is not None and set(written) <= set(touched):
        return []
    _, buckets, _ = LIVE_FILES.at_newest(store, store.latest())
    top = store.options.num_levels - 1
    low = {
        key
        for key, of in buckets.items()
        if key[1] >= 0
        and key not in touched
        and (written is None or key in written)
        and any(e.file.level != top for e in of.entries)
    }
    planned = plan_compaction(store, {partition for partition, _ in low}) if low else []
    return run_tasks(store, [task for task in planned if (task.partition, task.bucket) in low])


def buckets_written_by(store: TableStore, user: str) -> set[BucketKey] | None:
    """The buckets that a stream's snapshots since its last full compaction wrote to; None: those snapshots have expired."""
    every, found = FullCompactionSchedule.of(store).every, set[BucketKey]()
    newest, oldest = store.snapshots.latest_id() or 0, store.snapshots.earliest_id() or 1
    try:
        for snapshot_id in range(newest, oldest - 1, -1):
            snapshot = store.snapshots.get(snapshot_id)
            if snapshot.commit_user != user:
                continue
            if snapshot.commit_kind == "COMPACT":
                if every and snapshot.commit_identifier % every == 0:
                    return found
                continue
            manifests = read_manifest_list(store.fs, store.manifest_path(snapshot.delta_manifest_list))
            found |= {(e.partition, e.bucket) for e in entries_of(store, manifests) if e.kind == ADD}
    except (SnapshotNotFound, MissingFile):  # expired in the meantime
        return None
    return found if oldest == 1 else None
