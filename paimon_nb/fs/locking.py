"""FileIO that publishes under a lock, for stores without an atomic `put_if_absent` or with other writers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from paimon_nb.fs.rooted import RootedFileIO

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager


class Lock(Protocol):
    """A named lock, shared by processes. Pickled for Spark tasks."""

    def held(self) -> AbstractContextManager[None]:
        """Wait for the lock, and hold it inside the `with` block. Raises `CommitGaveUp` after the timeout."""


class LockedFileIO(RootedFileIO):
    """The same files as `rooted`; `put_if_absent` holds `lock`, as Java's RenamingSnapshotCommit does.

    Java's writers check for the file and then rename theirs: only the lock makes the two steps atomic.
    """

    def __init__(self, rooted: RootedFileIO, lock: Lock) -> None:
        super().__init__(rooted, rooted.root, rooted.roots[1:])
        self._lock = lock

    def put_if_absent(self, path: str, data: bytes) -> bool:
        with self._lock.held():
            return super().put_if_absent(path, data)

    def sync_and_put_if_absent(self, named: Iterable[str], path: str, data: bytes) -> bool:
        self.sync(named)  # may take long: not while holding the lock
        return self.put_if_absent(path, data)

    def delete_if_unchanged(self, path: str, data: bytes) -> bool:
        with self._lock.held():
            return super().delete_if_unchanged(path, data)
