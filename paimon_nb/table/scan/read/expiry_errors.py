"""Reports a file that is missing because its snapshot expired during a read as `SnapshotExpired`. Reads no rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paimon_nb.base.errors import MissingFile, SnapshotExpired
from paimon_nb.table.store import TableStore


@contextmanager
def translate_missing_files(store: TableStore, snapshot_id: int) -> Iterator[None]:
    """Context for reading files of the snapshot: raises `SnapshotExpired` if expiry explains a missing file, else
    `MissingFile`.

    A snapshot that a tag or a long-lived changelog retains loses its files for another reason.
    """
    try:
        yield
    except MissingFile as missing:
        earliest, latest = store.snapshots.earliest_id(), store.snapshots.latest_id()
        if earliest is None or snapshot_id >= earliest or _held(store, snapshot_id):
            raise
        raise SnapshotExpired(
            f"{store.name}: snapshot {snapshot_id} expired while it was read. Available: snapshots {earliest} to {latest}",
            hint="read again; for long reads create a tag or increase 'snapshot.time-retained'",
            wanted=snapshot_id,
            earliest=earliest,
            latest=latest,
            path=missing.facts["path"],
        ) from missing


def _held(store: TableStore, snapshot_id: int) -> bool:
    return snapshot_id in store.changelogs.ids() or any(
        store.tags.get(name).snapshot.id == snapshot_id for name in store.tags.names()
    )
