"""Starts streaming queries, again if a busy machine starts the Python process of a source too slowly."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.streaming.query import StreamingQuery

_RETRY_S = 120.0


def start_query(start: Callable[[], StreamingQuery]) -> StreamingQuery:
    """Start a query and wait until it is initialized or has failed.

    A source runs in a Python process that must connect within ten seconds, which no setting changes. A busy machine may need
    longer. The query has read nothing by then, so it is started again, for up to two minutes.
    """
    deadline = time.monotonic() + _RETRY_S
    while True:
        query = start()
        while query.isActive and query.status["message"].startswith("Initializing"):
            time.sleep(0.02)
        if "Python worker failed to connect back" not in str(query.exception()) or time.monotonic() > deadline:
            return query
