# ruff: noqa: N802  the names are defined by Spark
"""Base class of the Spark readers of database changes: offsets, and reconnection to an unreachable server."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.spark.errors import encode_raised_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

RECONNECT_TIMEOUT_S = 300.0
"""How long a task waits for an unreachable server."""
RETRY_INTERVAL_S = 0.5
SNAPSHOT = "rows"
"""The offset before the snapshot of the rows."""

C = TypeVar("C")


class LogRange(InputPartition):
    """A range of the log. If it starts at `SNAPSHOT`, the rows of the tables."""

    def __init__(self, start: Any, end: Any) -> None:
        self.start, self.end = start, end


class ChangeReader(DataSourceStreamReader):
    """Offsets are {"at": position in the log}. Methods that call the server raise SourceUnavailable."""

    latest_position: Any = None
    """The last known end of the log."""

    @abstractmethod
    def start_position(self) -> Any:
        """Check the source and return the position to start from."""

    @abstractmethod
    def end_position(self) -> Any:
        """The end of the log."""

    @abstractmethod
    def changes(self, start: Any, end: Any) -> Iterator[pa.RecordBatch]:
        """The rows, or the changes after `start` up to `end`."""

    def initialOffset(self) -> dict[str, Any]:
        with encode_raised_errors():
            return {"at": self.start_position()}

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # before release 4.3 Spark passes no arguments
        with encode_raised_errors():
            try:
                self.latest_position = self.end_position()
            except SourceUnavailable:
                if self.latest_position is None:
                    raise  # an unreachable server has no new changes; the query continues when it is reachable again
            return {"at": self.latest_position}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return [] if start["at"] == end["at"] else [LogRange(start["at"], end["at"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, LogRange)
        return self.changes(partition.start, partition.end)


def connect_with_retry(connect: Callable[[], C]) -> C:
    """Open a connection; retry while the server is unreachable. Raises SourceUnavailable after `RECONNECT_TIMEOUT_S`."""
    deadline = time.monotonic() + RECONNECT_TIMEOUT_S
    while True:
        try:
            return connect()
        except SourceUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(RETRY_INTERVAL_S)
