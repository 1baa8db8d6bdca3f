"""What the files of vector and full-text indexes have in common: a native library reads and writes them, through Python callbacks."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from paimon_nb.base.errors import CorruptFile
from paimon_nb.base.optional_packages import import_optional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType, TracebackType

    from paimon_nb.format.index.global_index.index_blocks import IndexFileSource


def import_library(package: str, extra: str, purpose: str) -> ModuleType:
    """The module of a package that an extra installs. Raises: EnvironmentError_: it is not installed; the hint names the extra."""
    missing = f"{purpose} needs the package {package}"
    return import_optional(package.replace("-", "_"), missing, install=f"paimon-nb[{extra}]", package=package)


class LibraryInput:
    """An index file as the libraries read it. They replace an exception by a text of their own, so the first one is kept."""

    def __init__(self, source: IndexFileSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._file: BinaryIO | None = None
        self.error: BaseException | None = None

    def pread(self, offset: int, size: int) -> bytes:
        """Bytes of the file. Raises CorruptFile: it ends before them."""
        try:
            if offset < 0 or size < 0 or offset + size > self._source.size:
                raise CorruptFile(self._source.path, f"it has no {size} bytes at {offset}")
            with self._lock:
                if self._file is None:
                    self._file = self._source.fs.open(self._source.path)
                self._file.seek(offset)
                return bytes(self._file.read(size))
        except BaseException as error:
            self.error = self.error or error
            raise

    def pread_many(self, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
        """The bytes of several ranges, each given as offset and size."""
        return [self.pread(offset, size) for offset, size in ranges]

    def __enter__(self) -> LibraryInput:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()


def call_library(source: IndexFileSource, work: Callable[[LibraryInput], Any]) -> Any:
    """What `work` returns for the file.

    Raises: MissingFile, and other errors of the file system; CorruptFile: the library cannot read the file.
    """
    with LibraryInput(source) as opened:
        try:
            with _PANICS.suppressed():
                return work(opened)
        except (RuntimeError, ValueError) as error:
            if opened.error is not None:
                raise opened.error from None
            raise CorruptFile(source.path, f"the index is broken ({error!s:.120})") from None


class _Panics:
    """Keeps the messages of Rust's panics from standard error: a panic is an exception here, and says the same.

    Rust writes them to the descriptor of the process, which all threads share: what else is written there meanwhile is passed on.
    """

    _MESSAGE = re.compile(rb"(?:\r?\n)?thread '[^'\n]*'(?: \(\d+\))? panicked at .*?(?=\nthread '|\Z)", re.DOTALL)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._stderr, self._written = -1, -1

    @contextmanager
    def suppressed(self) -> Iterator[None]:
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                with suppress(OSError):  # there is no standard error
                    self._stderr = os.dup(2)
                    with tempfile.TemporaryFile() as file:
                        self._written = os.dup(file.fileno())
                    os.dup2(self._written, 2)

    def _leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside or self._stderr < 0:
                return
            os.dup2(self._stderr, 2)
            size = os.lseek(self._written, 0, os.SEEK_END)
            if size:
                os.lseek(self._written, 0, os.SEEK_SET)
                rest = self._MESSAGE.sub(b"", os.read(self._written, size))
                if rest.strip():
                    os.write(2, rest)
            os.close(self._written)
            os.close(self._stderr)
            self._stderr = self._written = -1


_PANICS = _Panics()
