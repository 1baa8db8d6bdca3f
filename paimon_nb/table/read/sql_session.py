"""The session's SQL, for conditions that this package does not compute: functions, arithmetic, comparisons of columns. Only the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class SqlSession(Protocol):
    """The session's SQL, for what this package does not compute."""

    @property
    def flink(self) -> bool:
        """Whether it is Flink's dialect; else Spark's, in whose strings a backslash escapes."""

    @property
    def time_zone(self) -> str:
        """The zone of times that are written without one: 'Europe/Berlin'."""

    def compute(self, condition: str, rows: pa.Table) -> pa.Array | pa.ChunkedArray:
        """The condition, as SQL text on the columns of `rows`: true, false or NULL for each row. Raises SqlError."""
