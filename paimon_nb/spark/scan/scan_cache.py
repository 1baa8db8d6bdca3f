"""Cache of a session's file scans, for further queries of the same files.

Building a scan takes dozens of calls to the JVM, longer than a small query. Data files never change, so a scan can be reused.
A cached scan keeps its plan and the bitmaps of its mask in memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from pyspark.sql import DataFrame, SparkSession

SCANS = 32
"""Cached scans of a session; the least recently used one is evicted."""
_SETTINGS = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", "spark.sql.caseSensitive")
"""Settings that a cast keeps from its creation."""

_CACHE = "_paimon_scans"
"""The session's attribute with the cache. A global dictionary would keep session and scans alive: DataFrames reference it."""
_LOCK = threading.Lock()


def cached_scan(spark: SparkSession, key: Hashable, make: Callable[[], list[DataFrame]]) -> list[DataFrame]:
    """The cached result of `make` for this key, session and settings, else a new one."""
    full = (key, *(spark.conf.get(setting, None) for setting in _SETTINGS))
    with _LOCK:
        cache: OrderedDict[Hashable, list[DataFrame]] = vars(spark).setdefault(_CACHE, OrderedDict())
        if full in cache:
            cache.move_to_end(full)
            return cache[full]
    made = make()
    with _LOCK:
        cache[full] = made
        while len(cache) > SCANS:
            cache.popitem(last=False)
    return made
