"""Caches of decoded immutable files, and what bounds them: the newest values, and only as long as they are used."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from itertools import count
from typing import TYPE_CHECKING, Generic, TypeVar, cast
from weakref import WeakKeyDictionary

from paimon_nb.base import clock
from paimon_nb.fs.rooted import RootedFileIO

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from paimon_nb.fs.api import FileIO

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")
T = TypeVar("T")
_Key = tuple[int, str, "Hashable"]
"""(store, path, part)."""
MAX_BYTES = 256 << 20
IDLE_S = 600.0
"""A job commits for weeks and reads few of its old files again: its memory is what it used in this time, not all that fits."""


class LruCache(Generic[K, V]):
    """The least recently used values go first: those beyond `max_bytes`, and those that were not used for `idle_s` seconds.

    The latter go with the next value. Thread-safe.

    Args:
        max_bytes: the most that all values may weigh. One that weighs more than half of it is not kept.
        idle_s: seconds after its last use in which a value is certainly kept, if there is room.

    Example:
        >>> cache = LruCache[str, int](100)
        >>> cache.put("a", 1, 40)
        >>> cache.put("b", 2, 40)
        >>> cache.get("a"), cache.get("c"), len(cache)
        (1, None, 2)
    """

    def __init__(self, max_bytes: int, idle_s: float = IDLE_S) -> None:
        self.max_bytes, self._idle_s = max_bytes, idle_s
        self._used = 0
        self._items: OrderedDict[K, tuple[V, int, float]] = OrderedDict()
        """The value, its weight, and when it was used; the least recently used first."""
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """The value of a key; None: it is not here. Counts as a use."""
        with self._lock:
            found = self._items.get(key)
            if found is None:
                return None
            value, weight, _ = found
            self._items[key] = (value, weight, clock.monotonic_s())
            self._items.move_to_end(key)
            return value

    def put(self, key: K, value: V, weight: int) -> None:
        """Keep a value in place of the one of its key."""
        with self._lock:
            self._remove(key)
            if weight > self.max_bytes // 2:
                return
            now = clock.monotonic_s()
            self._items[key] = (value, weight, now)
            self._used += weight
            while self._used > self.max_bytes or self._last_use() < now - self._idle_s:
                self._remove(next(iter(self._items)))

    def remove(self, key: K) -> None:
        """Forget a key, which may be unknown."""
        with self._lock:
            self._remove(key)

    def remove_if(self, condition: Callable[[K], bool]) -> None:
        """Forget the keys that meet a condition."""
        with self._lock:
            for key in [key for key in self._items if condition(key)]:
                self._remove(key)

    def clear(self) -> None:
        """Forget everything, as a new process would."""
        with self._lock:
            self._items.clear()
            self._used = 0

    def __contains__(self, key: K) -> bool:
        with self._lock:
            return key in self._items

    def __len__(self) -> int:
        return len(self._items)

    def _last_use(self) -> float:
        """Of the value that was not used for longest."""
        return next(iter(self._items.values()))[2]

    def _remove(self, key: K) -> None:
        _, weight, _ = self._items.pop(key, (None, 0, 0))
        self._used -= weight


class FileCache:
    """An LRU cache for one kind of file, bounded by an estimate of its bytes in memory. Their names contain a UUID, so a path
    identifies the content. Thread-safe.

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
