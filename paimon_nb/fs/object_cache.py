"""Small immutable objects of a store, in memory. A name that contains a UUID identifies its content: it is fetched once."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from paimon_nb.fs.file_cache import LruCache

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

SMALL_BYTES = 1 << 20
"""Objects up to this size are fetched whole, by one request."""
MAX_BYTES = 256 << 20
_ENTRY_BYTES = 500
"""Approximate bytes in memory of an entry besides its content."""

Key = tuple["Hashable", str]
"""(store, path)."""


class ObjectCache:
    """An LRU cache of whole objects, bounded by their bytes. Thread-safe; concurrent fetches of one object are one request.

    Args:
        max_bytes: bytes of all objects in memory.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._objects: LruCache[Key, tuple[bytes | None]] = LruCache(max_bytes)
        """(None,): the object is larger than `SMALL_BYTES`."""
        self._running: dict[Key, Future[bytes | None]] = {}
        self._lock = threading.Lock()

    def get(self, key: Key, fetch: Callable[[], bytes | None]) -> bytes | None:
        """The cached object, else the result of `fetch`, which is None for an object that is too large."""
        with self._lock:
            found = self._objects.get(key)
            if found is not None:
                return found[0]
            running = self._running.get(key)
            if running is None:
                own = self._running[key] = Future()
        if running is not None:
            return running.result()
        try:
            data = fetch()
        except BaseException as error:
            self._finish(key)
            own.set_exception(error)
            raise
        self.put(key, data)
        self._finish(key)
        own.set_result(data)
        return data

    def has(self, key: Key) -> bool:
        """Whether the object, or the fact that it is large, is known."""
        return key in self._objects

    def peek(self, key: Key) -> bytes | None:
        """The cached object, if it is small."""
        (data,) = self._objects.get(key) or (None,)
        return data

    def put(self, key: Key, data: bytes | None) -> None:
        """Keep an object that was read or written; None: it is too large."""
        if data is not None and len(data) > SMALL_BYTES:
            data = None
        self._objects.put(key, (data,), _ENTRY_BYTES + len(data or b""))

    def remove(self, key: Key) -> None:
        """Forget an object that was deleted."""
        self._objects.remove(key)

    def remove_below(self, store: Hashable, prefix: str) -> None:
        """Forget the objects of a directory that was deleted or moved."""
        self._objects.remove_if(lambda key: key[0] == store and key[1].startswith(prefix))

    def clear(self) -> None:
        """Forget everything, as a new process would."""
        self._objects.clear()

    def _finish(self, key: Key) -> None:
        with self._lock:
            del self._running[key]
