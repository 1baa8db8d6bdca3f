"""Files in memory: for tests and for `memory:` catalogs. Thread-safe; directories exist implicitly."""

from __future__ import annotations

import io
import threading
from typing import Any, Self

from paimon_nb.base import clock
from paimon_nb.base.errors import MissingFile
from paimon_nb.base.override import override
from paimon_nb.fs.api import DirectoryPin, FileIO, FileStatus, OutputFile, is_immutable


class MemoryFileIO(FileIO):
    """A dictionary of paths to bytes. A pinned view shares everything with the original but the pin."""

    __slots__ = ("pin",)

    def __init__(self) -> None:
        self.pin: DirectoryPin | None = None
        self._lock = threading.RLock()
        self._files: dict[str, tuple[bytes, int]] = {}
        self._dirs: set[str] = set()

    def pinned(self, pin: DirectoryPin) -> Self:
        view = object.__new__(type(self))
        view.__dict__ = self.__dict__
        view.pin = pin
        return view

    def check_pinned(self) -> None:
        if self.pin is not None:
            self._check_pin(f"{self.pin.root}/")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryFileIO) and other.__dict__ is self.__dict__

    def __hash__(self) -> int:
        return id(self.__dict__)

    def _check_pin(self, path: str) -> None:
        """Raise TableReplaced for a change below the pinned directory if another one, or none, is at its path."""
        pin = self.pin
        if pin is not None and pin.guards(path):
            now = self._files.get(f"{pin.root}/{pin.marker}", (None, 0))[0]
            if now != pin.content:
                raise pin.replaced(now)

    def read(self, path: str) -> bytes:
        with self._lock:
            if path not in self._files:
                raise MissingFile(path)
            return self._files[path][0]

    def open(self, path: str) -> Any:
        import pyarrow as pa

        return pa.BufferReader(self.read(path))

    def put_if_absent(self, path: str, data: bytes) -> bool:
        with self._lock:
            self._check_pin(path)
            if path in self._files:
                return False
            self._files[path] = (bytes(data), clock.now_ms())
            return True

    @override
    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        with self._lock:
            self._check_pin(path)
            self._files[path] = (bytes(data), clock.now_ms())

    def create(self, path: str) -> OutputFile:
        with self._lock:
            if path in self._files:
                raise FileExistsError(path)
        return _MemoryOutput(self, path)

    def list(self, path: str) -> list[FileStatus]:
        prefix = path.rstrip("/") + "/"
        with self._lock:
            found: dict[str, FileStatus] = {}
            for name in self._dirs:
                if name.startswith(prefix):
                    child = prefix + name[len(prefix) :].split("/", 1)[0]
                    found[child] = FileStatus(child, 0, 0, True)
            for name, (data, modified) in self._files.items():
                if name.startswith(prefix):
                    head, _, rest = name[len(prefix) :].partition("/")
                    child = prefix + head
                    found[child] = (
                        FileStatus(child, 0, modified, True) if rest else FileStatus(child, len(data), modified, False)
                    )
            return [found[k] for k in sorted(found)]

    def exists(self, path: str) -> bool:
        prefix = path.rstrip("/") + "/"
        with self._lock:
            return path in self._files or path in self._dirs or any(n.startswith(prefix) for n in self._files)

    def size(self, path: str) -> int:
        return len(self.read(path))

    def delete(self, path: str) -> bool:
        with self._lock:
            if not is_immutable(path):
                self._check_pin(path)
            return self._files.pop(path, None) is not None

    def delete_if_unchanged(self, path: str, data: bytes) -> bool:
        with self._lock:
            return super().delete_if_unchanged(path, data)

    def delete_tree(self, path: str) -> None:
        prefix = path.rstrip("/") + "/"
        with self._lock:
            if self.pin is None or path != self.pin.root:
                self._check_pin(path)
            self._files = {k: v for k, v in self._files.items() if k != path and not k.startswith(prefix)}
            self._dirs = {d for d in self._dirs if d != path and not d.startswith(prefix)}

    def delete_empty_dir(self, path: str) -> bool:
        with self._lock:
            if self.list(path) or path not in self._dirs:
                return False
            self._dirs.discard(path)
            return True

    def make_dirs(self, path: str) -> None:
        with self._lock:
            self._dirs.add(path.rstrip("/"))

    def move(self, source: str, target: str) -> None:
        with self._lock:
            if self.pin is None or source != self.pin.root:
                self._check_pin(source)
            if self.exists(target):
                raise FileExistsError(target)
            if not self.exists(source):
                raise MissingFile(source)
            prefix = source.rstrip("/") + "/"
            self._files = {self._moved_path(k, source, prefix, target): v for k, v in self._files.items()}
            self._dirs = {self._moved_path(d, source, prefix, target) for d in self._dirs}

    @staticmethod
    def _moved_path(path: str, source: str, prefix: str, target: str) -> str:
        if path == source:
            return target
        return target.rstrip("/") + "/" + path[len(prefix) :] if path.startswith(prefix) else path


class _MemoryOutput(OutputFile):
    def __init__(self, fs: MemoryFileIO, path: str) -> None:
        self._fs, self._path, self._buffer, self._closed = fs, path, io.BytesIO(), False

    def write(self, data: Any) -> int:
        return self._buffer.write(data)

    def tell(self) -> int:
        return self._buffer.tell()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if not self._fs.put_if_absent(self._path, self._buffer.getvalue()):
                raise FileExistsError(self._path)

    def abort(self) -> None:
        self._closed = True

    @property
    def closed(self) -> bool:
        return self._closed
