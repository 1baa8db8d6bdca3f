"""All snapshots of a table or branch, and the one function that publishes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from enum import Enum

from paimon_nb.base.errors import CorruptFile, MissingFile, SnapshotNotFound, StoreError
from paimon_nb.format.snapshot.hints import EARLIEST, LATEST, read_hint, write_hint
from paimon_nb.format.snapshot.partition_statistics import PartitionStatistics
from paimon_nb.format.snapshot.snapshot import Snapshot
from paimon_nb.fs import FileIO


class Published(Enum):
    """How an attempt to publish ended."""

    WON = "won"
    ALREADY_PUBLISHED = "already published"
    """The reply was lost, but the published file is the one we wrote."""
    LOST = "lost"


class SnapshotDirectory:
    """`<branch root>/snapshot/snapshot-<n>`, or `changelog/changelog-<n>` for long-lived changelogs. Ids are dense."""

    def __init__(self, fs: FileIO, branch_root: str, kind: str = "snapshot") -> None:
        self.fs, self.kind = fs, kind
        self.root = posixpath.join(branch_root, kind)
        self._name = re.compile(rf"{kind}-(\d{{1,18}})")
        self._read: dict[int, Snapshot] = {}
        self._last: tuple[bytes, Snapshot] | None = None

    def path(self, snapshot_id: int) -> str:
        return posixpath.join(self.root, f"{self.kind}-{snapshot_id}")

    def ids(self) -> list[int]:
        """By listing; ascending."""
        matches = (self._name.fullmatch(s.name) for s in self.fs.list(self.root) if not s.is_dir)
        return sorted(int(m[1]) for m in matches if m)

    def latest_id(self) -> int | None:
        """The newest id. The hint counts only if its snapshot is there and the next one is not."""
        hint = read_hint(self.fs, self.root, LATEST)
        if (
            hint is not None
            and hint > 0
            and self.fs.exists(self.path(hint))
            and not self.fs.exists(self.path(hint + 1))
        ):
            return hint
        ids = self.ids()
        return ids[-1] if ids else None

    def earliest_id(self) -> int | None:
        """The oldest id. The hint counts only if its snapshot is there."""
        hint = read_hint(self.fs, self.root, EARLIEST)
        if hint is not None and self.fs.exists(self.path(hint)):
            return hint
        ids = self.ids()
        return ids[0] if ids else None

    def latest(self) -> Snapshot | None:
        """The newest snapshot, or None for a table without one."""
        for _ in range(3):
            newest = self.latest_id()
            if newest is None:
                return None
            try:
                return self.get(newest)
            except SnapshotNotFound:
                continue  # expired or rolled back between the two looks
        return None

    def get(self, snapshot_id: int) -> Snapshot:
        """Raises `SnapshotNotFound` naming the range that is there, `CorruptFile`."""
        if snapshot_id in self._read:
            return self._read[snapshot_id]
        path = self.path(snapshot_id)
        try:
            snapshot = self._cached_snapshot(self.fs.read(path), path)
        except MissingFile:
            ids = self.ids()
            available = f"available: {self.kind}s {ids[0]} to {ids[-1]}" if ids else f"the table has no {self.kind}"
            raise SnapshotNotFound(
                f"{self.kind} {snapshot_id} does not exist",
                hint=available + "; create a tag to keep a snapshot",
                wanted=snapshot_id,
            ) from None
        self._read[snapshot_id] = snapshot
        return snapshot

    def _cached_snapshot(self, data: bytes, path: str) -> Snapshot:
        """The snapshot that `data` says; the newest one is read again by every look at the table, and mostly the same."""
        last = self._last
        if last is None or last[0] != data:
            last = self._last = (data, Snapshot.from_json(data, path))
        return last[1]

    def all(self, last: int | None = None) -> list[Snapshot]:
        """Every snapshot that is still there, or the newest `last` of them, ascending."""
        out = []
        ids = self.ids()
        for snapshot_id in ids if last is None else ids[-last:]:
            try:
                out.append(self.get(snapshot_id))
            except SnapshotNotFound:
                continue  # expired while we read
        return out

    def publish(
        self,
        snapshot: Snapshot,
        named: Iterable[str] = (),
        *,
        base: Snapshot | None = None,
        statistics: Sequence[PartitionStatistics] = (),
    ) -> Published:
        """Publish `snapshot` if no other commit has published its id.

        Only `put_if_absent` decides. `exists()` must not: two processes can both see that the file is absent.

        Args:
            snapshot: the snapshot.
            named: paths of files that it references and that may not be durable yet. They are synced before the snapshot
                is visible.
            base: the snapshot that it follows. Only a catalog server needs it: here the id says it.
            statistics: what the commit changes in each partition, for a catalog server.
        """
        path = self.path(snapshot.id)
        try:
            if self.fs.sync_and_put_if_absent(named, path, snapshot.to_json()):
                return Published.WON
        except (OSError, StoreError):
            # The outcome is unknown: the published file decides.
            if self.fs.exists(path) and self.same_commit(snapshot):
                return Published.ALREADY_PUBLISHED
            raise
        return Published.ALREADY_PUBLISHED if self.same_commit(snapshot) else Published.LOST

    def same_commit(self, snapshot: Snapshot) -> bool:
        """Whether the published file of this id is the one that we wrote: same user, identifier, kind and lists."""
        path = self.path(snapshot.id)
        try:
            there = Snapshot.from_json(self.fs.read(path), path)
        except (MissingFile, CorruptFile):
            return False
        return (
            there.commit_user == snapshot.commit_user
            and there.commit_identifier == snapshot.commit_identifier
            and there.commit_kind == snapshot.commit_kind
            and there.base_manifest_list == snapshot.base_manifest_list
            and there.delta_manifest_list == snapshot.delta_manifest_list
        )

    def invalidate_cache(self) -> None:
        """Drop cached snapshots: another process may have rolled back."""
        self._read.clear()

    def delete(self, snapshot_id: int) -> None:
        self._read.pop(snapshot_id, None)
        self.fs.delete(self.path(snapshot_id))

    def put(self, snapshot: Snapshot) -> bool:
        """Write a snapshot back under its own id (rollback to an expired tag, long-lived changelog)."""
        return self.fs.put_if_absent(self.path(snapshot.id), snapshot.to_json())

    def replace(self, snapshot: Snapshot) -> None:
        """Write a snapshot in the place of another of its id, in one step."""
        self.fs.overwrite(self.path(snapshot.id), snapshot.to_json())
        self.invalidate_cache()

    def write_latest_hint(self, snapshot_id: int) -> None:
        write_hint(self.fs, self.root, LATEST, snapshot_id)

    def write_earliest_hint(self, snapshot_id: int) -> None:
        write_hint(self.fs, self.root, EARLIEST, snapshot_id)
