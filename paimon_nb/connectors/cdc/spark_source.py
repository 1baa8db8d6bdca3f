# ruff: noqa: N802  the names are Spark's
"""What streams of a database's changes share: offsets, and waiting for a server that went away. Knows no protocol."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.spark.errors import packed_errors

AWAY_S = 300.0
"""How long a task waits for a server that went away."""
PAUSE_S = 0.5
SNAPSHOT = "rows"
"""The offset before the rows."""

C = TypeVar("C")


class Stretch(InputPartition):
    """The log between two places, or the rows where it starts at `SNAPSHOT`."""

    def __init__(self, start: Any, end: Any) -> None:
        self.start, self.end = start, end


class ChangeReader(DataSourceStreamReader):
    """Offsets are {"at": place in the log}. What is asked of a server raises SourceUnavailable."""

    known: Any = None
    """The newest place that was heard of."""

    @abstractmethod
    def begin(self) -> Any:
        """Check the source; the place to start from."""

    @abstractmethod
    def newest(self) -> Any:
        """The end of the log."""

    @abstractmethod
    def changes(self, start: Any, end: Any) -> Iterator[pa.RecordBatch]:
        """The rows, or the changes behind `start` up to `end`."""

    def initialOffset(self) -> dict[str, Any]:
        with packed_errors():
            return {"at": self.begin()}

    def latestOffset(self) -> dict[str, Any]:
        with packed_errors():
            try:
                self.known = self.newest()
            except SourceUnavailable:
                if self.known is None:
                    raise  # else: a server that is away has nothing new; it goes on when it is back
            return {"at": self.known}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return [] if start["at"] == end["at"] else [Stretch(start["at"], end["at"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Stretch)
        return self.changes(partition.start, partition.end)


def answering(connect: Callable[[], C]) -> C:
    """A connection, as soon as the server has one: it may be away for a while. Raises SourceUnavailable after `AWAY_S`."""
    deadline = time.monotonic() + AWAY_S
    while True:
        try:
            return connect()
        except SourceUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(PAUSE_S)
