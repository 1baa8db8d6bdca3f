"""FileIO with access control for writes, and for reads of other tables' files. Other reads are checked where they are planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

from paimon_nb.fs.rooted import RootedFileIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paimon_nb.fs.api import DirectoryPin, OutputFile

_READERS_OWN = "/consumer/"
"""Directory of stream consumers, which readers may write."""


class AccessPolicy(Protocol):
    """Access policy for the files of one table. Pickled for Spark tasks."""

    def check_read(self) -> None:
        """Raise AccessDenied if reading is not allowed."""

    def check_read_file(self, path: str) -> None:
        """Raise AccessDenied if a file that the table refers to is of another table that may not be read."""

    def check_write(self, path: str) -> None:
        """Raise AccessDenied if writing this file is not allowed."""


class GuardedFileIO(RootedFileIO):
    """The same files as `rooted`; each modifying call first checks the access policy."""

    def __init__(self, rooted: RootedFileIO, policy: AccessPolicy) -> None:
        super().__init__(rooted, rooted.root, rooted.roots[1:])
        self._rooted, self._policy = rooted, policy  # `rooted` and not its `inner`: it may add locks

    def pinned(self, pin: DirectoryPin) -> Self:
        view = super().pinned(pin)
        view._rooted = self._rooted.pinned(pin)
        return view

    def _fs_if_allowed(self, path: str) -> RootedFileIO:
        if _READERS_OWN in path:
            self._policy.check_read()
        else:
            self._policy.check_write(path)
        return self._rooted

    def read(self, path: str) -> bytes:
        self._policy.check_read_file(path)
        return self._rooted.read(path)

    def read_each(self, paths: Sequence[str]) -> list[bytes | None]:
        for path in paths:
            self._policy.check_read_file(path)
        return self._rooted.read_each(paths)

    def open(self, path: str) -> Any:
        self._policy.check_read_file(path)
        return self._rooted.open(path)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self._fs_if_allowed(path).put_if_absent(path, data)

    def sync_and_put_if_absent(self, named: Iterable[str], path: str, data: bytes) -> bool:
        return self._fs_if_allowed(path).sync_and_put_if_absent(named, path, data)

    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        self._fs_if_allowed(path).overwrite(path, data, durable=durable)

    def create(self, path: str) -> OutputFile:
        return self._fs_if_allowed(path).create(path)

    def write(self, path: str, data: bytes) -> None:
        self._fs_if_allowed(path).write(path, data)

    def delete(self, path: str) -> bool:
        return self._fs_if_allowed(path).delete(path)

    def delete_if_unchanged(self, path: str, data: bytes) -> bool:
        return self._fs_if_allowed(path).delete_if_unchanged(path, data)

    def delete_each(self, paths: Iterable[str]) -> None:
        paths = list(paths)
        for path in paths:
            self._fs_if_allowed(path)
        self._rooted.delete_each(paths)

    def write_each(self, files: Mapping[str, bytes]) -> None:
        for path in files:
            self._fs_if_allowed(path)
        self._rooted.write_each(files)

    def delete_tree(self, path: str) -> None:
        self._fs_if_allowed(path).delete_tree(path)

    def delete_empty_dir(self, path: str) -> bool:
        return self._fs_if_allowed(path).delete_empty_dir(path)

    def make_dirs(self, path: str) -> None:
        self._fs_if_allowed(path).make_dirs(path)

    def move(self, source: str, target: str) -> None:
        self._fs_if_allowed(target)
        self._fs_if_allowed(source).move(source, target)
