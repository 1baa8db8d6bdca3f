"""Restores an earlier state as the newest snapshot; unlike a rollback it keeps the history. Source: docs/spec/merge-semantics.md
section 7.

Files that were deleted since then come back as copies with new names: an expiry, ours or Java's, deletes by name what
an old snapshot removed, and must not delete restored files.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitConflict
from paimon_nb.format.manifest import ADD, DELETE, DataFile, IndexEntry, ManifestEntry
from paimon_nb.table.read.live_files import index_entries, live_entries
from paimon_nb.table.write.publish.changes import Change
from paimon_nb.table.write.publish.publisher import SnapshotPublisher

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

_CHUNK = 8 << 20


def restore_as_latest(store: TableStore, target: Snapshot) -> int | None:
    """Commit the state of `target` as a new OVERWRITE snapshot. Returns its id; None if the state is already the same.

    Raises: CommitConflict: another commit came first; nothing changed.
    """
    now = store.latest()
    target_entries = {e.identity: e for e in live_entries(store, target)}
    present = {e.identity: e for e in live_entries(store, now)}
    same_index = index_entries(store, target) == index_entries(store, now)
    back = [e for key, e in target_entries.items() if key not in present]
    deleted = [replace(e, kind=DELETE) for key, e in present.items() if key not in target_entries]
    if not back and not deleted and same_index:
        return None
    made: list[str] = []
    try:
        copies = {e.file.file_name: _copy_data_file(store, e, made) for e in back}
        change = Change(
            kind="OVERWRITE",
            entries=(*deleted, *(replace(e, kind=ADD, file=copies[e.file.file_name]) for e in back)),
            new_index=tuple(_retarget_deletion_vectors(index_entries(store, target), copies)),
            base_snapshot=now.id if now else None,
            replaces_buckets=True,
            drops_index_of=None,
        )
        return SnapshotPublisher(store).publish(lambda latest: _refuse_if_not_latest(store, latest, now, change))
    except BaseException:
        for path in made:
            store.fs.delete(path)
        raise


def _refuse_if_not_latest(store: TableStore, latest: Snapshot | None, seen: Snapshot | None, change: Change) -> Change:
    if (latest.id if latest else None) != (seen.id if seen else None):
        raise CommitConflict(
            f"{store.name}: snapshot {latest.id if latest else None} was committed during the restore",
            hint="run the statement again on the new state",
            snapshot=latest.id if latest else None,
            path=store.root,
        )
    return change


def _copy_data_file(store: TableStore, entry: ManifestEntry, made: list[str]) -> DataFile:
    """Copies the data file and its sidecars to new names; appends each path to `made`."""
    file = entry.file
    extension = file.file_name.partition(".")[2]
    name = store.new_file_name("data", extension or None)
    source = store.data_path(entry.partition, entry.bucket, file)
    folder = source.rsplit("/", 1)[0]
    extras = tuple(extra.replace(file.file_name, name) for extra in file.extra_files)
    pairs = [(source, f"{folder}/{name}")]
    pairs += [(f"{folder}/{old}", f"{folder}/{new}") for old, new in zip(file.extra_files, extras, strict=True)]
    for old, new in pairs:
        made.append(new)
        _copy_to_restored_name(store, old, new)
    external = f"{folder}/{name}" if file.external_path else None
    return replace(file, file_name=name, extra_files=extras, external_path=external)


def _copy_to_restored_name(store: TableStore, source: str, target: str) -> None:
    with store.fs.open(source) as old, store.fs.create(target) as new:
        while chunk := old.read(_CHUNK):
            new.write(chunk)
        new.close()


def _retarget_deletion_vectors(entries: Iterable[IndexEntry], copies: dict[str, DataFile]) -> list[IndexEntry]:
    """Index entries with the deletion vectors of the copies."""
    out = []
    for entry in entries:
        ranges = entry.dv_ranges
        if ranges is not None:
            ranges = tuple(
                replace(r, data_file=copies[r.data_file].file_name) if r.data_file in copies else r for r in ranges
            )
        out.append(replace(entry, dv_ranges=ranges))
    return out
