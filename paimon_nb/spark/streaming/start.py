"""Streams that begin although the machine is busy. Knows nothing of what they read."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

_PATIENCE_S = 120.0


def begun(start: Callable[[], StreamingQuery]) -> StreamingQuery:
    """The query that `start` starts, when its sources have answered or it has failed.

    A source of ours is a Python process, and Spark gives it ten seconds to call back; no setting makes them more. They are
    not enough on a machine that is busy enough. Nothing has happened by then, so the query begins again, for some time.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        query = start()
        while query.isActive and query.status["message"].startswith("Initializing"):
            time.sleep(0.02)
        if "Python worker failed to connect back" not in str(query.exception()) or time.monotonic() > deadline:
            return query
