"""A view of a file system that never leaves its root: the path of every call is checked."""

from __future__ import annotations

import copy
import os
import posixpath
import stat
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from paimon_nb.base.errors import OutsideWarehouse
from paimon_nb.fs.api import DB_SUFFIX, DirectoryPin, FileIO, FileStatus, FoundMove, OutputFile
from paimon_nb.fs.local import without_scheme

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager


_DEPTH_OF_TABLES = 2
"""Below a warehouse, tables are directories of database directories."""


def external_roots(options: Mapping[str, str]) -> tuple[str, ...]:
    """Locations outside the warehouse that a catalog's options allow; a table's own metadata is not trusted for this."""
    if not options:
        return ()
    from paimon_nb.options import TableOptions
    from paimon_nb.options.catalog import DATA_FILE_EXTERNAL_PATHS

    return TableOptions(options).names(DATA_FILE_EXTERNAL_PATHS)


class RootedFileIO(FileIO):
    """`inner`, for paths below `root` (or one of `extra_roots`) only.

    Args:
        root: directory or URI; local paths become absolute. extra_roots: other allowed places, for external data files.
    """

    def __init__(self, inner: FileIO, root: str, extra_roots: Sequence[str] = ()) -> None:
        self.inner: FileIO = inner.inner if isinstance(inner, RootedFileIO) else inner
        self.is_object_store = self.inner.is_object_store
        self._local = self.inner.local_path(root) is not None
        self.root = self._absolute_path(root)
        self.roots = [self._absolute_path(r) for r in (root, *extra_roots)]  # lists: pinned views share them
        # Resolved once: a link inside the root that leads outside is an escape; a root behind a link is not.
        self._real_roots = [os.path.realpath(r) for r in self.roots] if self._local else self.roots

    def pinned(self, pin: DirectoryPin) -> Self:
        view = copy.copy(self)
        view.inner = self.inner.pinned(replace(pin, root=self._checked_path(pin.root)))
        return view

    @property
    def pin(self) -> DirectoryPin | None:  # type: ignore[override]  # read only here
        return self.inner.pin

    def check_pinned(self) -> None:
        self.inner.check_pinned()

    def check_after_put(self) -> None:
        self.inner.check_after_put()

    def allow(self, roots: Iterable[str]) -> list[str]:
        """Allow more places of this file system, for the lifetime of this object. Returns those that were not allowed before."""
        found = [r for r in roots if self._is_of_this_file_system(r)]
        new = [r for r in found if self._absolute_path(r) not in self.roots]
        added = [self._absolute_path(r) for r in new]
        self.roots += added
        if self._local:
            self._real_roots += [os.path.realpath(r) for r in added]
        return new

    def _is_of_this_file_system(self, root: str) -> bool:
        scheme = root.partition(":")[0] if ":/" in root else ""
        return scheme in ("", "file") if self._local else scheme == self.root.partition(":")[0]

    def _absolute_path(self, path: str) -> str:
        if self._local:
            return os.path.abspath(os.path.expanduser(without_scheme(path)))
        return path.rstrip("/")

    def _checked_path(self, path: str) -> str:
        plain = without_scheme(path) if self._local else path
        segments = plain.split("/")
        if ".." in segments or "." in segments or "\0" in plain:
            raise OutsideWarehouse(
                f"{path!r} is not a path inside {self.root}",
                hint="use a name instead of a path",
                path=path,
                root=self.root,
            )
        clean = posixpath.normpath(plain) if self._local else plain
        if not any(clean == r or clean.startswith(r.rstrip("/") + "/") for r in self.roots):
            from paimon_nb.options.catalog import DATA_FILE_EXTERNAL_PATHS

            raise OutsideWarehouse(
                f"{path!r} is outside {self.root}",
                hint=f"open its own warehouse, or allow the location with the catalog option {DATA_FILE_EXTERNAL_PATHS.key!r}",
                path=path,
                root=self.root,
            )
        if self._local and not self._stays_below_root(clean):
            raise OutsideWarehouse(
                f"{path!r} is a link that leads outside {self.root}", hint="remove the link", path=path, root=self.root
            )
        return clean

    def _stays_below_root(self, path: str) -> bool:
        """Whether a path below a root stays below one after resolving links."""
        root = next(r for r in self.roots if path == r or path.startswith(r.rstrip("/") + "/"))
        at = root.rstrip("/")
        for segment in path[len(at) :].split("/")[1:]:
            at = f"{at}/{segment}"
            try:
                mode = os.lstat(at).st_mode
            except OSError:  # does not exist, so it is not a link
                return True
            if stat.S_ISLNK(mode):
                return self._link_stays(root, path, at)
        return True

    def _link_stays(self, root: str, path: str, link: str) -> bool:
        """Whether a path with a link below `root` stays where it may: a link inside a table may not lead into another one."""
        real = os.path.realpath(path)
        below = "/".join(link[len(root.rstrip("/")) :].split("/")[: 1 + _DEPTH_OF_TABLES])
        table = f"{root.rstrip('/')}{below}"
        in_database = below.split("/")[1].endswith(DB_SUFFIX) and below.count("/") == _DEPTH_OF_TABLES
        if root == self.roots[0] and in_database and link != table:
            own = [os.path.realpath(table), *self._real_roots[1:]]
        else:
            own = list(self._real_roots)
        return any(real == r or real.startswith(r.rstrip("/") + "/") for r in own)

    def read(self, path: str) -> bytes:
        return self.inner.read(self._checked_path(path))

    def read_each(self, paths: Sequence[str]) -> list[bytes | None]:
        return self.inner.read_each([self._checked_path(path) for path in paths])

    def prefetch(self, files: Iterable[tuple[str, int]]) -> None:
        if self.is_object_store:  # others do nothing, and the check of a local path is not free
            self.inner.prefetch([(self._checked_path(path), size) for path, size in files])

    def keep_in_memory(self, files: Mapping[str, bytes]) -> None:
        if self.is_object_store:
            self.inner.keep_in_memory({self._checked_path(path): data for path, data in files.items()})

    def writing_in_background(self) -> AbstractContextManager[None]:
        return self.inner.writing_in_background() if self.is_object_store else nullcontext()

    def finish_background_writes(self) -> None:
        self.inner.finish_background_writes()

    def open(self, path: str) -> Any:
        return self.inner.open(self._checked_path(path))

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self.inner.put_if_absent(self._checked_path(path), data)

    def sync_and_put_if_absent(self, named: Iterable[str], path: str, data: bytes) -> bool:
        return self.inner.sync_and_put_if_absent([self._checked_path(p) for p in named], self._checked_path(path), data)

    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        self.inner.overwrite(self._checked_path(path), data, durable=durable)

    def create(self, path: str) -> OutputFile:
        return self.inner.create(self._checked_path(path))

    def write(self, path: str, data: bytes) -> None:
        self.inner.write(self._checked_path(path), data)

    def list(self, path: str) -> list[FileStatus]:
        return self.inner.list(self._checked_path(path))

    def names(self, path: str) -> Sequence[str]:
        return self.inner.names(self._checked_path(path))

    def exists(self, path: str) -> bool:
        return self.inner.exists(self._checked_path(path))

    def size(self, path: str) -> int:
        return self.inner.size(self._checked_path(path))

    def delete(self, path: str) -> bool:
        return self.inner.delete(self._checked_path(path))

    def delete_if_unchanged(self, path: str, data: bytes) -> bool:
        return self.inner.delete_if_unchanged(self._checked_path(path), data)

    def delete_each(self, paths: Iterable[str]) -> None:
        self.inner.delete_each([self._checked_path(path) for path in paths])

    def write_each(self, files: Mapping[str, bytes]) -> None:
        self.inner.write_each({self._checked_path(path): data for path, data in files.items()})

    def delete_tree(self, path: str) -> None:
        self.inner.delete_tree(self._checked_path(path))

    def delete_empty_dir(self, path: str) -> bool:
        return self.inner.delete_empty_dir(self._checked_path(path))

    def make_dirs(self, path: str) -> None:
        self.inner.make_dirs(self._checked_path(path))

    def move(self, source: str, target: str) -> None:
        self.inner.move(self._checked_path(source), self._checked_path(target))

    def settle_move(self, path: str) -> FoundMove | None:
        return self.inner.settle_move(self._checked_path(path))

    def sync(self, paths: Iterable[str]) -> None:
        self.inner.sync([self._checked_path(path) for path in paths])

    def local_path(self, path: str) -> str | None:
        return self.inner.local_path(self._checked_path(path))
