"""The interface of a streaming SELECT's result."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.session.core.jobs import StreamJob
    from paimon_nb.table.table import Table


class LiveResult(Protocol):
    """A streaming SELECT. Starts on first use; iterate to get its changes as Arrow tables, `op` first."""

    job: StreamJob | None
    """The running job; None before the start."""

    @property
    def frame(self) -> DataFrame:
        """The query as a streaming DataFrame. Raises UnsupportedOperation: the result retracts rows."""

    @property
    def fixed(self) -> str | None:
        """Why it cannot start at a snapshot; None if it can."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that are read as streams."""

    def start(self) -> LiveResult:
        """Start the stream, unless it runs already."""

    def take(self, timeout_s: float) -> list[pa.Table]:
        """The changes since the last call; waits up to `timeout_s`."""

    def seek(self, snapshot: int | None) -> None:
        """Restart with the changes of a snapshot, or (None) with the latest state."""

    def collect(self, limit: int = 1000, timeout_s: float = 10.0, idle_s: float | None = None) -> pa.Table:
        """Collect changes until `limit` rows, the timeout or the end of the stream; then stop the stream."""

    def stop(self) -> None:
        """Stop the stream."""

    def __iter__(self) -> Iterator[pa.Table]:
        """The changes, until the stream ends."""

    def __enter__(self) -> LiveResult: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
