"""What a process keeps in memory, and what it lets go."""

import pytest

from paimon_nb.base import clock
from paimon_nb.fs.file_cache import IDLE_S, LruCache


@pytest.fixture
def now(monkeypatch):
    """The clock of the cache, in seconds."""
    at = [1000.0]
    monkeypatch.setattr(clock, "monotonic_s", lambda: at[0])
    return at


def test_the_least_used_goes_first():
    cache = LruCache[str, int](100)
    for name in "abc":
        cache.put(name, 1, 40)
        cache.get("a")
    assert [name in cache for name in "abc"] == [True, False, True]
    cache.remove("a")
    cache.put("d", 1, 60)  # more than half of all
    assert [name in cache for name in "acd"] == [False, True, False]


def test_what_nobody_asks_for_goes_although_there_is_room(now):
    cache = LruCache[str, int](10**9)
    cache.put("idle", 1, 1)
    cache.put("used", 1, 1)
    now[0] += 0.6 * IDLE_S
    cache.get("used")
    now[0] += 0.6 * IDLE_S
    assert len(cache) == 2
    cache.put("new", 1, 1)
    assert [name in cache for name in ("idle", "used", "new")] == [False, True, True]


def test_a_value_that_is_replaced_weighs_once():
    cache = LruCache[str, int](100)
    for i in range(50):
        cache.put("a", i, 40)
    cache.put("b", 1, 40)
    assert (cache.get("a"), cache.get("b")) == (49, 1)
    cache.clear()
    assert len(cache) == 0
