"""Changes of several small files that are made together: if one fails, those before it are undone."""

from __future__ import annotations

import itertools
import logging
import posixpath
from typing import TYPE_CHECKING, Any, Self

from paimon_nb.base.errors import OutsideWarehouse, PaimonError
from paimon_nb.fs.api import DB_SUFFIX, TRASH, DirectoryPin, FileIO, FileStatus, FoundMove, OutputFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

log = logging.getLogger(__name__)
_UNDO_TRIES = 3


def find_pinned(fs: FileIO) -> str | None:
    """Where the pinned directory is: at its path, or where a RENAME or DROP of its warehouse has put it. None: without a pin, or elsewhere.

    Looks into every table of the warehouse, so it is for what happens seldom.
    """
    pin = fs.pin
    if pin is None:
        return None
    warehouse = posixpath.dirname(posixpath.dirname(pin.root))
    databases = [d for parent in (warehouse, f"{warehouse}/{TRASH}") for d in _directories(fs, parent)]
    for location in itertools.chain([pin.root], *(_directories(fs, d) for d in databases if d.endswith(DB_SUFFIX))):
        (content,) = fs.read_each([f"{location}/{pin.marker}"])
        if content == pin.content:
            return location
    return None


def _directories(fs: FileIO, path: str) -> list[str]:
    try:
        return [f.path for f in fs.list(path) if f.is_dir]
    except OutsideWarehouse:  # of a table that was opened by its path
        return []


class UndoLog(FileIO):
    """The same files as `inner`. Leaving the `with` block by an exception undoes the changes that were made through it.

    It undoes `put_if_absent`, `overwrite`, `delete` and `move`, whether or not the call that failed had its effect, and never what
    another process has changed since. If the pinned directory was moved meanwhile, the changes are undone where it is now; a block
    whose directory was moved before its end fails with TableReplaced. Files that `delete_later` names go when the block has
    succeeded; those that cannot be deleted are orphans. Not undone: new files of `create` and `write`, which nothing refers to then,
    but those at the old path of a directory that was moved on an object store.
    """

    def __init__(self, inner: FileIO) -> None:
        self.inner = inner
        self.is_object_store = inner.is_object_store
        self._undo: list[Callable[[], object]] = []
        self._later: list[Callable[[], object]] = []
        self._depth = 0
        self._changed = False
        self._created: list[str] = []
        self._moved_to: str | None = None
        """Where an undo has found the pinned directory, if it was moved."""

    @property
    def pin(self) -> DirectoryPin | None:  # type: ignore[override]  # read only here
        return self.inner.pin

    @property
    def root(self) -> str:
        """The root of the file system, if it has one."""
        return str(getattr(self.inner, "root", ""))

    @property
    def roots(self) -> tuple[str, ...]:
        """The roots of the file system, if it has some."""
        return tuple(getattr(self.inner, "roots", ()))

    def __enter__(self) -> Self:
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth:
            return  # inside another operation, which ends it
        try:
            if error is None:
                self._complete()
            else:
                self._undo_all()
        finally:
            self._later, self._undo, self._created, self._changed = [], [], [], False

    def _complete(self) -> None:
        if self._changed:
            try:
                self.inner.check_pinned()  # what was listed in the meantime may be nothing
            except BaseException:
                self._undo_all()
                raise
        for delete in self._later:
            try:
                delete()
            except (OSError, PaimonError) as failure:
                log.warning("unused files remain; CALL sys.remove_orphan_files deletes them: %s", failure)

    def _undo_all(self) -> None:
        failures: list[Exception] = []
        for _ in range(_UNDO_TRIES):
            failures = []
            location = self._located()
            self._moved_to = location if self.pin is not None and location != self.pin.root else None
            for undo in reversed(self._undo):
                try:
                    undo()
                except (OSError, PaimonError) as failure:
                    failures.append(failure)
            if self._located() == location:  # else it was moved in between: once more, which changes nothing twice
                break
        if self._moved_to is not None and self.is_object_store and not failures:
            try:
                self.inner.delete_each(self._created)  # at the old path, where new objects would be a directory again
            except (OSError, PaimonError) as failure:
                failures.append(failure)
        for failed in failures:
            log.warning("a change could not be undone: %s", failed)

    def _located(self) -> str | None:
        try:
            return find_pinned(self.inner)
        except (OSError, PaimonError):
            return None  # as if it had not been moved

    # -- changes that are undone

    def _content(self, path: str) -> bytes | None:
        (content,) = self.inner.read_each([path])
        return content

    def _before(self, path: str) -> bytes | None:
        """What a file is before it is changed. Raises TableReplaced if it is missing because the directory was moved."""
        self._changed = True
        content = self._content(path)
        if content is None:
            self.inner.check_pinned()
        return content

    def _relocated(self, path: str) -> str:
        """Where a file is that was at `path` when it was changed."""
        below = None if self.pin is None or self._moved_to is None else self.pin.path_below(path)
        return path if below is None else f"{self._moved_to}/{below}"

    def _restore(self, path: str, before: bytes | None, written: bytes | None) -> None:
        location = self._relocated(path)
        if location != path and self.is_object_store and written is not None and self._content(path) == written:
            self.inner.delete(path)  # written after the move: there is no directory that could be missing
        path = location
        now = self._content(path)
        if now != written or now == before:
            return  # without effect, or changed by another process
        if before is None:
            self.inner.delete(path)
        elif now is None:
            self.inner.put_if_absent(path, before)
        else:
            self.inner.overwrite(path, before)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self.sync_and_put_if_absent((), path, data)

    def sync_and_put_if_absent(self, named: Iterable[str], path: str, data: bytes) -> bool:
        if self._before(path) is None:
            self._undo.append(lambda: self._restore(path, None, data))
        return self.inner.sync_and_put_if_absent(named, path, data)

    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        before = self._before(path)
        self._undo.append(lambda: self._restore(path, before, data))
        self.inner.overwrite(path, data, durable=durable)

    def delete(self, path: str) -> bool:
        before = self._before(path)
        if before is not None:
            self._undo.append(lambda: self._restore(path, before, None))
        return self.inner.delete(path)

    def move(self, source: str, target: str) -> None:
        self._changed = True
        if self.inner.exists(target):
            raise FileExistsError(target)

        def move_back() -> None:
            there, back = self._relocated(target), self._relocated(source)
            if self.inner.exists(there) and not self.inner.exists(back):
                self.inner.move(there, back)

        self._undo.append(move_back)
        self.inner.move(source, target)

    # -- after success

    def delete_later(self, paths: Iterable[str]) -> None:
        """Delete files that nothing refers to after the block."""
        waiting = list(paths)
        self._later.append(lambda: self.inner.delete_each(waiting))

    def delete_each(self, paths: Iterable[str]) -> None:
        self.delete_later(paths)

    def delete_tree(self, path: str) -> None:
        self._later.append(lambda: self.inner.delete_tree(path))

    def delete_empty_dir(self, path: str) -> bool:
        self._later.append(lambda: self.inner.delete_empty_dir(path))
        return False

    # -- the same as of `inner`

    def check_pinned(self) -> None:
        self.inner.check_pinned()

    def check_after_put(self) -> None:
        self.inner.check_after_put()

    def read(self, path: str) -> bytes:
        return self.inner.read(path)

    def read_each(self, paths: Sequence[str]) -> list[bytes | None]:
        return self.inner.read_each(paths)

    def prefetch(self, files: Iterable[tuple[str, int]]) -> None:
        self.inner.prefetch(files)

    def keep_in_memory(self, files: Mapping[str, bytes]) -> None:
        self.inner.keep_in_memory(files)

    def writing_in_background(self) -> AbstractContextManager[None]:
        return self.inner.writing_in_background()

    def finish_background_writes(self) -> None:
        self.inner.finish_background_writes()

    def open(self, path: str) -> Any:
        return self.inner.open(path)

    def create(self, path: str) -> OutputFile:
        self._created.append(path)
        return self.inner.create(path)

    def write(self, path: str, data: bytes) -> None:
        self._created.append(path)
        self.inner.write(path, data)

    def write_each(self, files: Mapping[str, bytes]) -> None:
        self._created += files
        self.inner.write_each(files)

    def list(self, path: str) -> list[FileStatus]:
        return self.inner.list(path)

    def names(self, path: str) -> Sequence[str]:
        return self.inner.names(path)

    def exists(self, path: str) -> bool:
        return self.inner.exists(path)

    def size(self, path: str) -> int:
        return self.inner.size(path)

    def make_dirs(self, path: str) -> None:
        self.inner.make_dirs(path)

    def settle_move(self, path: str) -> FoundMove | None:
        return self.inner.settle_move(path)

    def sync(self, paths: Iterable[str]) -> None:
        self.inner.sync(paths)

    def local_path(self, path: str) -> str | None:
        return self.inner.local_path(path)
