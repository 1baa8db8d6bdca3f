"""Starts streaming queries, again if a busy machine starts the Python process of a source too slowly."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pyspark.errors import StreamingQueryException

from paimon_nb.spark.errors import paimon_error_of_spark

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.streaming.query import StreamingQuery

    from paimon_nb.base.errors import PaimonError

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
            return with_readable_errors(query)


def with_readable_errors(query: StreamingQuery) -> StreamingQuery:
    """The query, whose errors begin with what went wrong and the next step; Spark's begin with a stack trace."""
    wait, find_exception = query.awaitTermination, query.exception

    def await_termination(timeout: int | None = None) -> bool | None:
        try:
            return wait(timeout)
        except StreamingQueryException as error:
            raise _readable(error) from None

    def exception() -> StreamingQueryException | None:
        found = find_exception()
        return None if found is None else _readable(found)

    vars(query).update(awaitTermination=await_termination, exception=exception)
    return query


class ReadableStreamError(StreamingQueryException):
    """Spark's error of a stream with our sentence and hint as its text."""

    def __init__(self, error: PaimonError, spark_error: StreamingQueryException) -> None:
        super().__init__(message=str(error))
        self.paimon_error = error
        self.spark_error = spark_error
        """The error as Spark raised it, with its stack trace."""

    def __str__(self) -> str:
        return f"{type(self.paimon_error).__name__}: {self.paimon_error}"


def _readable(error: StreamingQueryException) -> StreamingQueryException:
    found = paimon_error_of_spark(error)
    return error if found is None or isinstance(error, ReadableStreamError) else ReadableStreamError(found, error)
