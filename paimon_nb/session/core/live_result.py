"""The interface of a streaming SELECT's result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.session.core.jobs import StreamJob
    from paimon_nb.table.tables.table import Table


class LiveResult(Protocol):
    """The result of a streaming SELECT, returned by `Workbench.stream`. It starts when it is first used.

    Iterate over it to get the changes as Arrow tables: op (string: `+I`, `-U`, `+U` or `-D`) and the columns of the query.
    A context manager: leaving it stops the stream.

    Examples:
        >>> with wb.stream("SELECT id, state FROM orders") as live:
        ...     changes = live.collect(limit=3)
        >>> sorted(changes.to_pylist(), key=lambda row: row["id"])[0]
        {'op': '+I', 'id': 1, 'state': 'paid'}
    """

    job: StreamJob | None
    """The running job; None before the start."""

    @property
    def frame(self) -> DataFrame:
        """The query as a streaming PySpark DataFrame. Raises UnsupportedOperation: the result contains retractions."""

    @property
    def fixed(self) -> str | None:
        """The reason why `seek` is not supported; None if it is."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that are read as streams."""

    def start(self) -> LiveResult:
        """Start the stream if it does not run yet.

        Returns:
            This result.
        """

    def take(self, timeout_s: float) -> list[pa.Table]:
        """Get the changes since the last call.

        Args:
            timeout_s: maximum wait in seconds if there are no changes yet.

        Returns:
            Arrow tables; empty if there are no changes.
        """

    def seek(self, snapshot: int | None) -> None:
        """Restart the stream at a snapshot.

        Args:
            snapshot: id of the snapshot whose changes come first; None starts with the latest state.
        """

    def collect(self, limit: int = 1000, timeout_s: float = 10.0, idle_s: float | None = None) -> pa.Table:
        """Collect changes, then stop the stream.

        Args:
            limit: number of rows after which it stops.
            timeout_s: seconds after which it stops.
            idle_s: seconds without changes after which it stops; None: no such limit.

        Returns:
            The changes as one Arrow table.
        """

    def stop(self) -> None:
        """Stop the stream."""

    def __iter__(self) -> Iterator[pa.Table]:
        """The changes, until the stream ends."""

    def __enter__(self) -> LiveResult: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
