"""Scans that a session made before: a query of the same files again needs no new plan of them. Knows no way of scanning.

To build a scan takes dozens of calls to the JVM, more than a small query's own time. Data files never change, so a scan is
as good the second time; what it costs to keep is its plan, and the bits of its mask.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCANS = 32
"""Scans kept a session, the least recently used go first."""
_REQUESTED = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", "spark.sql.caseSensitive")
"""Settings that casts remember from the moment they are written."""

_CACHE = "_paimon_scans"
"""The session's attribute: its DataFrames hold it, so a table of ours from session to scans would keep both for ever."""
_LOCK = threading.Lock()


def cached_scan(spark: SparkSession, key: Hashable, make: Callable[[], list[DataFrame]]) -> list[DataFrame]:
    """What `make` gave for this key in this session under the same settings, or gives now."""
    full = (key, *(spark.conf.get(setting, None) for setting in _REQUESTED))
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
