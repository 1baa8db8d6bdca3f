"""A file system that dies at its n-th call: before the call, after it, with a torn file, or by a power cut. Calls are counted, not random."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from paimon_nb.fs import FileIO, FileStatus, MemoryFileIO, OutputFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


READS = ("read", "open", "list", "exists", "size")


class SimulatedCrash(BaseException):
    """The process is gone; nothing may catch this and go on working."""


class Crashing(FileIO):
    """Wraps a MemoryFileIO. After the crash every further call dies too: clean-up code of a dead process does not run."""

    def __init__(self, inner: MemoryFileIO, crash_at: int | None = None, way: str = "before") -> None:
        self.inner, self.crash_at, self.way = inner, crash_at, way
        self.calls = 0
        self.unsynced: set[str] = set()
        """Files that a power cut leaves empty."""
        self.kinds: Counter[str] = Counter()
        self.changes: list[int] = []
        """Numbers of the calls that change files or make them durable."""
        self.dead = False

    def step(self, kind: str, work: Callable[[], Any], torn: Callable[[], Any] | None = None) -> Any:
        if self.dead:
            raise SimulatedCrash
        self.calls += 1
        self.kinds[kind] += 1
        if kind not in READS:
            self.changes.append(self.calls)
        if self.calls != self.crash_at:
            return work()
        self.dead = True
        if self.way == "power cut":
            for path in filter(self.inner.exists, self.unsynced):
                self.inner.overwrite(path, b"")
            raise SimulatedCrash
        if self.way == "after":
            with suppress(Exception):  # of a file that is missing: the call has ended, and the process with it
                work()
        elif self.way == "torn" and torn is not None:
            torn()
        raise SimulatedCrash

    def read(self, path: str) -> bytes:
        return self.step("read", lambda: self.inner.read(path))

    def open(self, path: str) -> Any:
        return self.step("open", lambda: self.inner.open(path))

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self.step("put_if_absent", lambda: self.inner.put_if_absent(path, data))

    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        self.step("overwrite", lambda: self.inner.overwrite(path, data))
        if not durable:
            self.unsynced.add(path)

    def sync(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.step("sync", lambda path=path: self.unsynced.discard(path))

    def create(self, path: str) -> OutputFile:
        return self.step("create", lambda: _Output(self, path))

    def list(self, path: str) -> list[FileStatus]:
        return self.step("list", lambda: self.inner.list(path))

    def exists(self, path: str) -> bool:
        return self.step("exists", lambda: self.inner.exists(path))

    def size(self, path: str) -> int:
        return self.step("size", lambda: self.inner.size(path))

    def delete(self, path: str) -> bool:
        return self.step("delete", lambda: self.inner.delete(path))

    def delete_tree(self, path: str) -> None:
        self.step("delete_tree", lambda: self.inner.delete_tree(path))

    def delete_empty_dir(self, path: str) -> bool:
        return self.step("delete_empty_dir", lambda: self.inner.delete_empty_dir(path))

    def make_dirs(self, path: str) -> None:
        self.step("make_dirs", lambda: self.inner.make_dirs(path))

    def move(self, source: str, target: str) -> None:
        self.step("move", lambda: self.inner.move(source, target))

    def local_path(self, _path: str) -> str | None:
        return None


class _Output(OutputFile):
    """A file becomes whole when it is closed; a crash at that moment leaves nothing, all, or the first half."""

    def __init__(self, fs: Crashing, path: str) -> None:
        self.fs, self.path, self.data = fs, path, bytearray()

    def write(self, data: Any) -> int:
        self.data += bytes(data)
        return len(bytes(data))

    def tell(self) -> int:
        return len(self.data)

    def close(self) -> None:
        if self.path:
            path, self.path = self.path, ""
            whole = bytes(self.data)
            put = self.fs.inner.put_if_absent
            self.fs.unsynced.add(path)
            self.fs.step("close", lambda: put(path, whole), lambda: put(path, whole[: len(whole) // 2]))

    def abort(self) -> None:
        self.path = ""


def copy_of(files: MemoryFileIO) -> MemoryFileIO:
    out = MemoryFileIO()
    out._files, out._dirs = dict(files._files), set(files._dirs)
    return out
