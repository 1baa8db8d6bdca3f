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
from paimon_nb.table.commit.live_files import LIVE_FILES, BucketKey, entries_of
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
    store: TableStore, written: Collection[BucketKey] | None, touched: Collection[BucketKey]
) -> list[CommitMessage]:
    """Full compactions of buckets that a stream wrote to and does not write to now, as far as they are not compacted.

    Args:
        written: since its last full compaction; None: nobody knows, so each bucket may be one. touched: the buckets that its
            present commit compacts anyway.

    Returns: messages to be committed with the others. Files are written, nothing is published.
    """
    if written is not None and set(written) <= set(touched):
        return []
    buckets, _ = LIVE_FILES.at(store, store.latest())
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


def written_by(store: TableStore, user: str) -> set[BucketKey] | None:
    """The buckets that a stream wrote to, as its snapshots tell it from its last full compaction on; None: the ones that would
    tell are gone."""
    every, found = FullCompactions.of(store).every, set[BucketKey]()
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
    except (SnapshotNotFound, MissingFile):  # expired meanwhile
        return None
    return found if oldest == 1 else None
