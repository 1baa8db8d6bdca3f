"""When a writer compacts everything: a batch job with each commit, a stream with each N-th, and then all that it wrote since.

Source: Paimon `flink/sink/GlobalFullCompactionSinkWrite.java`, `StoreSinkWrite.java`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from paimon_nb.base.errors import MissingFile, SnapshotNotFound
from paimon_nb.format.manifest import ADD, read_manifest_list
from paimon_nb.options import table as opt
from paimon_nb.options.write import CHANGELOG_PRODUCER_COMPACTION_INTERVAL
from paimon_nb.table.commit.live import LIVE_FILES, BucketKey, entries_of
from paimon_nb.table.commit.message import CommitMessage
from paimon_nb.table.compact.compact import plan_compaction, run_tasks
from paimon_nb.table.store import TableStore


@dataclass(frozen=True, slots=True)
class FullCompactions:
    """When a stream compacts everything. Both None: never, sizes decide."""

    every: int | None = None
    """Commits from one to the next."""
    interval_ms: int | None = None
    """Time from one to the next; goes before `every`."""

    @classmethod
    def of(cls, store: TableStore) -> FullCompactions:
        """As the options say: a number of commits, else a time, else each commit where the changelog comes of it."""
        o = store.options
        commits = o.get(opt.FULL_COMPACTION_DELTA_COMMITS)
        if o.write_only or not store.has_keys:
            return cls()
        if commits is not None:
            return cls(every=max(commits, 1))
        if o.has(CHANGELOG_PRODUCER_COMPACTION_INTERVAL):
            return cls(interval_ms=o.get(CHANGELOG_PRODUCER_COMPACTION_INTERVAL))
        return cls(every=1) if o.changelog_producer == "full-compaction" else cls()


def compact_behind(
    store: TableStore, user: str, touched: Collection[BucketKey], since: int | None = None
) -> list[CommitMessage]:
    """Full compactions of what a writer wrote to other buckets than those of its present commit, as far as it is not compacted.

    Nothing has to be remembered for it, so a job that starts again leaves nothing out.

    Args:
        user: the writer. touched: the buckets that its present commit compacts anyway.
        since: a snapshot after which it is enough to look; None: all that are there.

    Returns: messages to be committed with the others. Files are written, nothing is published.
    """
    latest = store.latest()
    buckets, _ = LIVE_FILES.at(store, latest)
    top = store.options.num_levels - 1
    low = {
        key
        for key, of in buckets.items()
        if key[1] >= 0 and key not in touched and any(e.file.level != top for e in of.entries)
    }
    mine = _written(store, user, low, (since or 0) + 1) if low and latest is not None else set()
    if not mine:
        return []
    planned = plan_compaction(store, {partition for partition, _ in mine})
    return run_tasks(store, [task for task in planned if (task.partition, task.bucket) in mine])


def _written(store: TableStore, user: str, wanted: set[BucketKey], first: int) -> set[BucketKey]:
    """Those of the buckets that the user's snapshots from `first` on brought rows to."""
    newest, oldest = store.snapshots.latest_id() or 0, store.snapshots.earliest_id() or 1
    found: set[BucketKey] = set()
    for snapshot_id in range(newest, max(oldest, first) - 1, -1):
        try:
            snapshot = store.snapshots.get(snapshot_id)
            if snapshot.commit_user != user or snapshot.commit_kind == "COMPACT":
                continue
            added = entries_of(store, read_manifest_list(store.fs, store.manifest_path(snapshot.delta_manifest_list)))
            found |= {(e.partition, e.bucket) for e in added if e.kind == ADD} & wanted
        except (SnapshotNotFound, MissingFile):
            break  # expired meanwhile
        if found == wanted:
            break
    return found
