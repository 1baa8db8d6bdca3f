"""The file API of a backend. `put_if_absent` is the only way to publish, after `sync` of the files it references."""

from __future__ import annotations

import posixpath
import re
from abc import ABC, abstractmethod
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from paimon_nb.base.errors import MissingFile, NameError_, PaimonError, TableIsMoving, TableReplaced
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType


_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_immutable(path: str) -> bool:
    """Whether the file is never replaced: data files, manifests and index files contain a UUID in their names.

    Snapshots, tags, schemas, consumers and hints do not: a rollback or another engine can replace them.
    """
    return _UUID.search(posixpath.basename(path)) is not None


A = TypeVar("A")
DB_SUFFIX, TRASH = ".db", ".trash"
"""Of the directory of a database; the directory of dropped tables, with those of their databases."""
MOVE_LEASE_S = 30
"""Seconds without a sign of life, by the store's clock, from which the process of a move counts as dead."""


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One directory entry."""

    path: str
    size: int
    """Bytes; 0 for directories."""
    modified_ms: int
    """Milliseconds since the epoch; 0 if the store has none."""
    is_dir: bool

    @property
    def name(self) -> str:
        """Last segment of the path."""
        return posixpath.basename(self.path.rstrip("/"))


@dataclass(frozen=True, slots=True)
class DirectoryPin:
    """A directory as it was when it was opened: a file in it whose content never changes distinguishes it from another one at its path."""

    root: str
    marker: str
    """Path of that file below `root`."""
    content: bytes
    """Of that file."""

    def path_below(self, path: str) -> str | None:
        """The path relative to `root`, '' for `root` itself; None for a path elsewhere."""
        if path == self.root:
            return ""
        prefix = self.root + "/"
        return path[len(prefix) :] if path.startswith(prefix) else None

    def guards(self, path: str) -> bool:
        """Whether a change of this path needs the directory: of all below `root` but the marker, which makes it."""
        return self.path_below(path) not in (None, self.marker)

    def replaced(self, now: bytes | None) -> TableReplaced:
        """The error for a directory whose marker is now another one, or missing (None)."""
        return TableReplaced(
            f"{posixpath.basename(self.root)}: the table was "
            f"{'dropped and created again' if now else 'dropped or renamed'} since it was opened; nothing was changed",
            hint="open the table again by its current name; write uncommitted rows again",
            path=self.root,
        )


@dataclass(frozen=True, slots=True)
class FoundMove:
    """A move of a directory by another process, which an object store makes in many steps."""

    source: str
    target: str
    outcome: str
    """"under way": the source is the table. "decided": the target is, in a moment. "finished" and "taken back": by this call, since
    the other process has ended."""


def moving_error(move: FoundMove) -> TableIsMoving:
    """The error for a table that another process moves."""
    return TableIsMoving(
        f"table {posixpath.basename(move.source)} is being renamed or dropped by another process",
        hint=f"try again; if that process has ended, any statement on the table completes or undoes its move after {MOVE_LEASE_S} s",
        path=move.source,
        target=move.target,
    )


def settle_move(fs: FileIO, root: str) -> FoundMove | None:
    """Complete or undo a move of a table's directory whose process has ended: see `FileIO.settle_move`.

    Raises: TableIsMoving: the process has not ended, or cannot have ended for long.
    """
    move = fs.settle_move(root) if fs.is_object_store else None
    if move is not None and move.outcome in ("under way", "decided"):
        raise moving_error(move)
    return move


class OutputFile(ABC):
    """A new file being written. Leaving the `with` block by an exception deletes the file."""

    @abstractmethod
    def write(self, data: Any) -> int:
        """Append bytes (anything with the buffer protocol); returns the number of bytes."""

    @abstractmethod
    def tell(self) -> int:
        """Bytes written so far."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file: readers see all of it. Durable after `FileIO.sync`. Safe to call twice."""

    @abstractmethod
    def abort(self) -> None:
        """Discard the file."""

    @property
    def closed(self) -> bool:
        """Required by Arrow's writers."""
        return False

    def flush(self) -> None:  # noqa: B027  nothing to do is right for most
        """Called by Arrow's writers; the file is complete after `close`."""

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


class FileSink(Protocol):
    """Takes new files: a `FileIO`, or what collects them to write them together."""

    def write(self, path: str, data: bytes) -> None: ...


class FileIO(ABC):
    """Files by path. Paths are absolute local paths or URIs, with '/' between segments.

    Errors: `MissingFile` for missing files, `NotWritable` if writing is refused, `OutsideWarehouse` from a rooted view.
    """

    is_object_store: bool = False
    """Whether a rename is a copy: catalogs then lock for each commit, as in Java."""
    pin: DirectoryPin | None = None
    """The directory that changes are for; see `pinned`."""

    def pinned(self, pin: DirectoryPin) -> FileIO:
        """The same files, for the one who opened the directory of `pin`.

        Changes below it are made in that very directory or raise TableReplaced: it is not created again after it was
        renamed or dropped, and nothing is changed in another one that took its path. Only files with unique names
        (`is_immutable`) are written and deleted without a look at the marker.
        """
        return self

    def check_pinned(self) -> None:  # noqa: B027  nothing to check without a pin
        """Raise TableReplaced if the pinned directory is not at its path any more."""

    def check_after_put(self) -> None:  # noqa: B027  most put in one step, or not at all
        """After `sync_and_put_if_absent` returned True: raise TableReplaced if the file may not be in the pinned directory.

        The caller then deletes the file. Only an object store, which has no directories, needs this.
        """

    @abstractmethod
    def read(self, path: str) -> bytes:
        """The whole file."""

    def read_each(self, paths: Sequence[str]) -> list[bytes | None]:
        """The whole files, in order; None for a missing one. An object store reads them side by side."""
        found: list[bytes | None] = []
        for path in paths:
            try:
                found.append(self.read(path))
            except MissingFile:
                found.append(None)
        return found

    def prefetch(self, files: Iterable[tuple[str, int]]) -> None:  # noqa: B027  local files need none
        """Announce files (path, size) that are read next: an object store fetches small immutable ones side by side.

        Errors are left to the reads.
        """

    def keep_in_memory(self, files: Mapping[str, bytes]) -> None:  # noqa: B027  local files are written at once
        """Let this process read immutable files, content by path, that it is about to write. An object store then sends no request."""

    def writing_in_background(self) -> AbstractContextManager[None]:
        """Inside the block, an object store writes small new files in the background; this process reads them from memory.

        The end of the block, or of the outer one, waits for all of them. It raises the first error of a write, unless the block
        raises one itself.
        """
        return nullcontext()

    def finish_background_writes(self) -> None:  # noqa: B027  local files are written at once
        """Inside such a block: wait for the writes so far, and write in the foreground from here on. Raises the first error of one."""

    @abstractmethod
    def open(self, path: str) -> Any:
        """A seekable binary file for Arrow's readers; the caller closes it."""

    @abstractmethod
    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Publish `data` under `path` unless it is taken. Atomic and durable, with exactly one winner.

        Returns:
            True if this call created the file.
        """

    @abstractmethod
    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Replace a small file as a whole; `durable=False` for hints, which may be lost at a power failure."""

    @abstractmethod
    def create(self, path: str) -> OutputFile:
        """A new file. Raises `FileExistsError` if the name is taken."""

    @abstractmethod
    def list(self, path: str) -> list[FileStatus]:
        """Direct children by name; [] for a missing directory."""

    def names(self, path: str) -> Sequence[str]:
        """Names of the direct children that are files; [] for a missing directory."""
        return [s.name for s in self.list(path) if not s.is_dir]

    @abstractmethod
    def exists(self, path: str) -> bool:
        """For information only, never to decide who may write."""

    @abstractmethod
    def size(self, path: str) -> int:
        """Bytes."""

    @abstractmethod
    def delete(self, path: str) -> bool:
        """Delete a file; False if it did not exist."""

    def delete_if_unchanged(self, path: str, data: bytes) -> bool:
        """Delete a small file that still holds `data`. Of several callers one deletes it, and none what is put there afterwards.

        On HDFS, and on object stores without conditional deletes, another process may replace the file between the two steps.

        Returns:
            True if this call deleted the file.
        """
        return self.read_each([path]) == [data] and self.delete(path)

    @abstractmethod
    def delete_tree(self, path: str) -> None:
        """Delete a directory with its contents; no error if it does not exist."""

    @abstractmethod
    def delete_empty_dir(self, path: str) -> bool:
        """Delete a directory if it is empty."""

    @abstractmethod
    def make_dirs(self, path: str) -> None:
        """Create a directory and its parents."""

    @abstractmethod
    def move(self, source: str, target: str) -> None:
        """Rename a file or directory. Raises `FileExistsError` if the target exists."""

    def settle_move(self, path: str) -> FoundMove | None:
        """Complete or undo a move from or to a directory whose process has ended. None without such a move.

        Only a move on an object store takes more than one step.
        """
        return None

    def sync(self, paths: Iterable[str]) -> None:  # noqa: B027  a finished object of most stores is durable
        """Make finished files durable, several at a time. Missing files are skipped."""

    def sync_and_put_if_absent(self, named: Iterable[str], path: str, data: bytes) -> bool:
        """`sync` the files that `path` references, then `put_if_absent`. A backend may sync both at once.

        `path` is not visible before all of `named` is durable.
        """
        self.sync(named)
        return self.put_if_absent(path, data)

    def local_path(self, path: str) -> str | None:
        """The operating system's path, if there is one: Arrow and Spark open it directly."""
        return None

    def delete_each(self, paths: Iterable[str]) -> None:
        """Delete files; those that do not exist are skipped. An object store deletes many by one request."""
        for path in paths:
            self.delete(path)

    def write(self, path: str, data: bytes) -> None:
        """A new file with this content."""
        with self.create(path) as out:
            out.write(data)

    def write_each(self, files: Mapping[str, bytes]) -> None:
        """New files, content by path. An object store writes them side by side."""
        for path, data in files.items():
            self.write(path, data)


def surely(call: Callable[[], A], succeeded: Callable[[], bool], result: A) -> A:
    """The result of a call. After an error it is looked whether the call has had its effect: its reply may be lost."""
    try:
        return call()
    except (FileExistsError, NameError_):
        raise
    except (OSError, PaimonError):
        with suppress(OSError, PaimonError):
            if succeeded():
                return result
        raise


def put_surely(fs: FileIO, path: str, data: bytes) -> bool:
    """`put_if_absent`. After an error the file is read back: if it has this content, the call has succeeded."""
    return surely(lambda: fs.put_if_absent(path, data), lambda: fs.read(path) == data, True)


def overwrite_surely(fs: FileIO, path: str, data: bytes) -> None:
    """`overwrite`. After an error the file is read back."""
    surely(lambda: fs.overwrite(path, data), lambda: fs.read(path) == data, None)


def move_surely(fs: FileIO, source: str, target: str) -> None:
    """`move`. After an error it is looked whether the file or directory has moved."""
    surely(lambda: fs.move(source, target), lambda: fs.exists(target) and not fs.exists(source), None)


def make_dirs_surely(fs: FileIO, path: str) -> None:
    """`make_dirs`. After an error it is looked whether the directory exists."""
    surely(lambda: fs.make_dirs(path), lambda: fs.exists(path), None)


def delete_tree_surely(fs: FileIO, path: str) -> None:
    """`delete_tree`. After an error it is looked whether the directory is gone."""
    surely(lambda: fs.delete_tree(path), lambda: not fs.exists(path), None)
