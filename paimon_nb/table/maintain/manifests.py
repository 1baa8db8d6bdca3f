"""Manifests in order: joined on demand, and freed of files that somebody deleted under the table.

Source: behaviour reference, section 7 (Paimon `CompactManifestProcedure`, `RemoveUnexistingFilesAction`).
"""

from __future__ import annotations

from paimon_nb.format.manifest import ManifestEntry
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.options import table as opt
from paimon_nb.table.commit.change import Change
from paimon_nb.table.commit.commit import TableCommit
from paimon_nb.table.commit.live import live_entries, snapshot_manifests
from paimon_nb.table.commit.message import CommitMessage
from paimon_nb.table.store import TableStore


def compact_manifests(store: TableStore) -> int | None:
    """List the same files in as few manifests as can be. Returns the COMPACT snapshot's id; None: nothing to gain."""
    return TableCommit(store).publish(lambda latest: Change("COMPACT", joins_manifests=_pays(store, latest)))


def _pays(store: TableStore, latest: Snapshot | None) -> bool:
    if latest is None:
        return False
    target = store.options.get(opt.MANIFEST_TARGET_FILE_SIZE)
    small = [m for m in snapshot_manifests(store, latest) if m.num_deleted > 0 or m.file_size < target]
    return len(small) > 1


def missing_files(store: TableStore) -> list[ManifestEntry]:
    """Live entries whose data file is not there any more."""
    entries = live_entries(store, store.latest())
    return [e for e in entries if not store.fs.exists(store.data_path(e.partition, e.bucket, e.file))]


def remove_missing_files(store: TableStore, *, dry_run: bool = False) -> list[str]:
    """Take files that are gone out of the latest state, so that the rest can be read again. Returns their paths.

    The rows in them are lost; this only says so. Older snapshots still name the files.
    """
    snapshot = store.latest()
    gone = missing_files(store)
    if gone and not dry_run and snapshot is not None:
        messages = [
            CommitMessage(e.partition, e.bucket, e.total_buckets, deleted_files=(e.file,), base_snapshot=snapshot.id)
            for e in gone
        ]
        TableCommit(store).commit(messages)
    return [store.data_path(e.partition, e.bucket, e.file) for e in gone]
