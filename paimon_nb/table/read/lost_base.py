"""Whether the newest snapshot belongs to the table's history, or a rollback had removed what it was built on before it was published.

A writer looks after its publish and withdraws such a snapshot (`was_overtaken`). If it is killed before that, the snapshot stays: it
names files that the rollback has deleted. Reads then begin with the snapshot before it, and the next writer deletes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from paimon_nb.base.errors import MissingFile, PaimonError
from paimon_nb.format.manifest import ADD, ManifestEntry, ManifestFile, read_manifest, read_manifest_list
from paimon_nb.format.snapshot.directory import EARLIEST, continues, read_hint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.snapshot import Snapshot, SnapshotDirectory
    from paimon_nb.fs import FileIO

_DEPTH = 3
"""How many snapshots below are looked at, until a known one; one on object stores, where each is a request."""


class _Table(Protocol):
    @property
    def fs(self) -> FileIO: ...
    @property
    def branch(self) -> str: ...
    @property
    def snapshots(self) -> SnapshotDirectory: ...
    def manifest_path(self, name: str) -> str: ...
    def data_path(self, partition: bytes, bucket: int, file: DataFile) -> str: ...


def snapshot_below_lost(table: _Table, snapshot: Snapshot, depth: int = _DEPTH) -> Snapshot | None:
    """The snapshot that the table is at, if `snapshot` does not belong to its history; None if it does, or if that is not certain.

    It is certain if all of this holds:

    - There is an older snapshot. An expiry removes the oldest first, so it leaves none below a snapshot whose base it removed,
      and one that was killed leaves none that counts: snapshots below the hint EARLIEST do not.
    - The names of the snapshot's files say that one of this branch was its base, and not the newest older one. Snapshots of
      other engines, and those that a fast-forward has brought, do not say it.
    - A file of its state is missing that neither its own commit wrote nor the older snapshot has, so that it cannot be read. Files
      that are missing for another reason, for a while or lost, are named by the older snapshot, too; those that its commit
      deleted from the table may have gone with an expiry of its base.

    A snapshot that was built on such a one does not belong to it either: it was committed while the files were still there.
    """
    if snapshot.is_known_sound:
        return None
    try:
        previous = table.snapshots.newest_before(snapshot.id)
        if previous is None or (follows := continues(table.branch, snapshot, previous)) is None:
            snapshot.remember_sound()
            return None
        if follows:
            below = snapshot_below_lost(table, previous, depth - 1) if depth and not table.fs.is_object_store else None
            if below is None:
                snapshot.remember_sound()
            return below
        if not _names_lost_files(table, snapshot, previous):
            return None
        earliest = read_hint(table.fs, table.snapshots.root, EARLIEST)
        # A hint whose snapshot is gone was written by an expiry that a rollback overtook.
        if earliest is not None and previous.id < earliest and table.snapshots.get_again(earliest) is not None:
            return None
        return previous
    except (OSError, PaimonError):
        return None  # a look that fails proves nothing


def _names_lost_files(table: _Table, snapshot: Snapshot, previous: Snapshot) -> bool:
    """Raises: MissingFile: of the older snapshot, or of the snapshot's own files."""

    def listed(name: str) -> list[ManifestFile]:
        return read_manifest_list(table.fs, table.manifest_path(name))

    own = str(snapshot.commit_uuid)
    before = [*listed(previous.base_manifest_list), *listed(previous.delta_manifest_list)]
    known = {m.file_name for m in before} | {previous.index_manifest}
    began = listed(snapshot.base_manifest_list)
    names = [m.file_name for m in began] + ([snapshot.index_manifest] if snapshot.index_manifest else [])
    if any(_is_missing(table, table.manifest_path(n)) for n in names if n not in known and own not in n):
        return True
    state, older, changed = _live(table, began), _live(table, before), _changed(table, snapshot)
    added = [e for identity, e in state.items() if identity not in older and identity not in changed]
    return any(_is_missing(table, table.data_path(e.partition, e.bucket, e.file)) for e in added)


def _live(table: _Table, manifests: Iterable[ManifestFile]) -> dict[tuple[object, ...], ManifestEntry]:
    live: dict[tuple[object, ...], ManifestEntry] = {}
    for manifest in manifests:
        for entry in read_manifest(table.fs, table.manifest_path(manifest.file_name)):
            if entry.kind == ADD:
                live[entry.identity] = entry
            else:
                live.pop(entry.identity, None)
    return live


def _changed(table: _Table, snapshot: Snapshot) -> set[tuple[object, ...]]:
    """The files that a snapshot's own commit added or deleted."""
    delta = read_manifest_list(table.fs, table.manifest_path(snapshot.delta_manifest_list))
    return {e.identity for m in delta for e in read_manifest(table.fs, table.manifest_path(m.file_name))}


def _is_missing(table: _Table, path: str) -> bool:
    try:
        table.fs.size(path)
    except MissingFile:
        return True
    return False
