"""Immutable metadata files are read once per process: their names carry a uuid, so the path is identity enough."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar, cast

T = TypeVar("T")
MAX_BYTES = 256 << 20


class FileCache:
    """Least recently used, bounded by the files' sizes on disk (a rough measure of what they hold in memory)."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max, self._used = max_bytes, 0
        self._items: OrderedDict[tuple[int, str], tuple[object, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, owner: object, path: str, size: int | None, read: Callable[[], T]) -> T:
        """The cached value of `path`, else `read()`."""
        key = (id(owner), path)
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return cast("T", self._items[key][0])
        value = read()
        weight = max(size or 0, 1024)
        with self._lock:
            if key not in self._items:
                self._items[key] = (value, weight)
                self._used += weight
            while self._used > self._max and len(self._items) > 1:
                _, (_, freed) = self._items.popitem(last=False)
                self._used -= freed
        return value

    def clear(self) -> None:
        with self._lock:
            self._items.clear()
            self._used = 0
