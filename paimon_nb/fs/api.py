"""The file API: what a backend must do. `put_if_absent` is the only way to publish, after `settle` of what it names."""

from __future__ import annotations

import posixpath
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One directory entry."""

    path: str
    size: int
    """Bytes; 0 for directories."""
    modified_ms: int
    """Milliseconds since the epoch; 0 where the store does not know."""
    is_dir: bool

    @property
    def name(self) -> str:
        """Last segment of the path."""
        return posixpath.basename(self.path.rstrip("/"))


class OutputFile(ABC):
    """A new file being written. Leaving the `with` block by an exception deletes what was written."""

    @abstractmethod
    def write(self, data: Any) -> int:
        """Append bytes (anything with the buffer protocol); the number of bytes taken."""

    @abstractmethod
    def tell(self) -> int:
        """Bytes written so far."""

    @abstractmethod
    def close(self) -> None:
        """Finish the file: readers see all of it. Durable after `FileIO.settle`. Safe to call twice."""

    @abstractmethod
    def abort(self) -> None:
        """Throw the file away."""

    @property
    def closed(self) -> bool:
        """Arrow's writers ask."""
        return False

    def flush(self) -> None:  # noqa: B027  nothing to do is right for most
        """Arrow's writers call this; the file is whole with `close`."""

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


class FileIO(ABC):
    """Files by path. Paths are absolute local paths or URIs, with '/' between segments.

    Errors: `MissingFile` for what is not there, `NotWritable` where the place refuses, `OutsideWarehouse` from a rooted view.
    """

    is_object_store: bool = False
    """Whether a rename is a copy: catalogs then take their lock for each commit, as Java's do."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """The whole file."""

    @abstractmethod
    def open(self, path: str) -> Any:
        """A seekable binary file for Arrow's readers; the caller closes it."""

    @abstractmethod
    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Publish `data` under `path` unless it is taken. Atomic and durable, with exactly one winner.

        Returns:
            True when this call made the file.
        """

    @abstractmethod
    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Replace a small rewritable file as a whole; `durable=False` for hints, which a power cut may take back."""

    @abstractmethod
    def create(self, path: str) -> OutputFile:
        """A new file. Raises `FileExistsError` if the name is taken."""

    @abstractmethod
    def list(self, path: str) -> list[FileStatus]:
        """Direct children by name; [] for a directory that is not there."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """For questions, never for deciding who may write."""

    @abstractmethod
    def size(self, path: str) -> int:
        """Bytes."""

    @abstractmethod
    def delete(self, path: str) -> bool:
        """Remove a file; False when it was not there."""

    @abstractmethod
    def delete_tree(self, path: str) -> None:
        """Remove a directory with all it holds; quiet when it is not there."""

    @abstractmethod
    def delete_empty_dir(self, path: str) -> bool:
        """Remove a directory if it is empty."""

    @abstractmethod
    def make_dirs(self, path: str) -> None:
        """Make a directory and its parents."""

    @abstractmethod
    def move(self, source: str, target: str) -> None:
        """Rename a file or directory. Raises `FileExistsError` if the target is there."""

    def settle(self, paths: Iterable[str]) -> None:  # noqa: B027  a finished object of most stores is durable
        """Make finished files durable, several at a time. What is not there is passed over."""

    def settle_and_put(self, named: Iterable[str], path: str, data: bytes) -> bool:
        """`settle` what a file names, then `put_if_absent` of that file; a backend may wait for its disk once for both.

        Nobody sees `path` before all of `named` is durable.
        """
        self.settle(named)
        return self.put_if_absent(path, data)

    def local_path(self, path: str) -> str | None:
        """The operating system's path, where there is one: Arrow and Spark open it directly."""
        return None

    def write(self, path: str, data: bytes) -> None:
        """A new file with this content."""
        with self.create(path) as out:
            out.write(data)
