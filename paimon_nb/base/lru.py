"""What a process keeps in memory of what it read or wrote: the newest of it, and only as long as it is used."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from paimon_nb.base import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")
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
