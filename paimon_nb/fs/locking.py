"""A view of a file system that publishes under a lock: for stores, and for other writers, that need one beside `put_if_absent`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from paimon_nb.fs.rooted import RootedFileIO


class Lock(Protocol):
    """A lock by name, shared by processes. Goes to Spark tasks, so it must pickle."""

    def held(self) -> AbstractContextManager[None]:
        """Wait for the lock, and keep it inside the `with` block. Raises `CommitGaveUp` when others keep it too long."""


class LockedFileIO(RootedFileIO):
    """The same files as `rooted`; `put_if_absent` is done while `lock` is held, as Java's RenamingSnapshotCommit does.

    Java's writers look for the file and then rename theirs to it: only the lock keeps the two steps together.
    """

    def __init__(self, rooted: RootedFileIO, lock: Lock) -> None:
        super().__init__(rooted, rooted.root, rooted.roots[1:])
        self._lock = lock

    def put_if_absent(self, path: str, data: bytes) -> bool:
        with self._lock.held():
            return super().put_if_absent(path, data)

    def settle_and_put(self, named: Iterable[str], path: str, data: bytes) -> bool:
        self.settle(named)  # may take long: not while others wait for the lock
        return self.put_if_absent(path, data)
