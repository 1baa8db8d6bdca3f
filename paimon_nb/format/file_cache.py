"""Cache of decoded immutable files, or parts of them. Their names contain a UUID, so a path identifies the content."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from itertools import count
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from paimon_nb.base.lru import LruCache
from paimon_nb.fs import FileIO, RootedFileIO

T = TypeVar("T")
_Key = tuple[int, str, Hashable]
"""(store, path, part)."""
MAX_BYTES = 256 << 20


class FileCache:
    """An LRU cache for one kind of file, bounded by an estimate of its bytes in memory. Thread-safe.

    Local files are checked with one `stat`, so a deleted or changed file is never served from memory. On other stores
    only the path counts.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._values: LruCache[_Key, tuple[object, object]] = LruCache(max_bytes)
        """The value and the stamp of its file."""
        self._stores: WeakKeyDictionary[FileIO, int] = WeakKeyDictionary()
        self._numbers = count(1)
        self._lock = threading.Lock()

    def get(self, fs: FileIO, path: str, read: Callable[[], T], weigh: Callable[[T], int], part: Hashable = None) -> T:
        """The value of `path`, or of a `part` of it: the cached one, else `read()`, which is cached if it is small
        enough.
        """
        key, stamp = self._key_and_stamp(fs, path, part)
        found = self._values.get(key)
        if found is not None and found[1] == stamp:
            return cast("T", found[0])
        value = read()
        self._values.put(key, (value, stamp), weigh(value))
        return value

    def put(self, fs: FileIO, path: str, value: T, weight: int) -> None:
        """Cache the value that was just written to `path`."""
        key, stamp = self._key_and_stamp(fs, path, None)
        self._values.put(key, (value, stamp), weight)

    def _key_and_stamp(self, fs: FileIO, path: str, part: Hashable) -> tuple[_Key, object]:
        local = fs.local_path(path)
        if local is None:
            if isinstance(fs, RootedFileIO):
                fs = fs.inner  # views are created with each table; the paths are those of the underlying store
            with self._lock:
                if fs not in self._stores:
                    self._stores[fs] = next(self._numbers)
                return (self._stores[fs], path, part), None
        try:
            stat = os.stat(local)
        except OSError:
            return (0, local, part), object()  # equal to nothing: the read will raise the error
        return (0, local, part), (stat.st_ino, stat.st_size, stat.st_mtime_ns)

    def clear(self) -> None:
        self._values.clear()

    def __len__(self) -> int:
        return len(self._values)
