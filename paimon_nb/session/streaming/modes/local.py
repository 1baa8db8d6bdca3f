"""A live SELECT of filters and projections over one table, without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.session.core.jobs import TableLoop
from paimon_nb.session.streaming.local_stream import local_stream
from paimon_nb.session.streaming.modes.stream_run import StreamRun
from paimon_nb.session.streaming.sinks import BufferOutput

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.session.core.jobs import Running
    from paimon_nb.session.streaming.stream_statement import StreamStatement
    from paimon_nb.table.read.stream import StreamBatch, TableStream


class LocalRun(StreamRun):
    """Reads `Table.stream()` in a thread of this process."""

    def __init__(self, statement: StreamStatement, stream: TableStream, accept: Callable[[StreamBatch], None]) -> None:
        super().__init__(statement)
        self._stream, self._accept = stream, accept

    @classmethod
    def of(cls, statement: StreamStatement) -> LocalRun | None:
        if not isinstance(statement.output, BufferOutput):
            return None
        found = local_stream(statement.plan, statement.query, statement.output)
        return None if found is None else cls(statement, *found)

    def begin(self) -> Running:
        return TableLoop(self._stream, self._accept)
