"""The cells that ran statements in this kernel: when, how long, rows, engine, snapshots and errors. For `%paimon queries`."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnknownName
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_text
from paimon_nb.notebook.display import Rows
from paimon_nb.notebook.errors import error_sentence

if TYPE_CHECKING:
    import pyarrow as pa

MAX_QUERIES = 1_000


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """One run of a cell or of a line."""

    number: int
    time_ms: int
    seconds: float
    arguments: str
    """What followed %%paimon."""
    text: str
    rows: int | None
    """Rows in this process; None: an error, or no rows."""
    facts: str
    """Snapshot, files and engine."""
    commits: str
    """What it committed."""
    error: str


class QueryHistory:
    """The newest `MAX_QUERIES` runs, oldest first."""

    def __init__(self) -> None:
        self._records: deque[QueryRecord] = deque(maxlen=MAX_QUERIES)
        self._number = 0

    def record(
        self,
        arguments: str,
        text: str,
        started: float,
        outcome: Any,
        commits: list[tuple[str, int]],
        error: BaseException | None,
    ) -> None:
        """Add a run.

        Args:
            started: `time.monotonic` at its begin. outcome: what the cell shows. error: None if it succeeded.
        """
        self._number += 1
        seconds = time.monotonic() - started
        is_table = isinstance(outcome, Rows) and outcome.result.kind == "rows"
        self._records.append(
            QueryRecord(
                self._number, int((time.time() - seconds) * 1000), round(seconds, 3), arguments, redact_text(text.strip()),
                outcome.fetched[0].num_rows if is_table else None,
                " · ".join(outcome.facts[1:]) if isinstance(outcome, Rows) else "",
                ", ".join(f"{table} snapshot {snapshot}" for table, snapshot in commits),
                "" if error is None else error_sentence(error),
            )
        )  # fmt: skip

    def find(self, number: int) -> QueryRecord:
        """Raises UnknownName."""
        for record in self._records:
            if record.number == number:
                return record
        raise UnknownName(f"no query {number} in this kernel", hint="%paimon queries lists them")

    def clear(self) -> None:
        """Forget all."""
        self._records.clear()
        self._number = 0

    def table(self) -> pa.Table:
        """The runs as a table, newest first."""
        import pyarrow as pa

        newest = list(self._records)[::-1]
        times = pa.array([r.time_ms for r in newest], pa.int64()).cast(pa.timestamp("ms", "UTC"))
        return pa.table(
            {
                "number": pa.array([r.number for r in newest], pa.int64()),
                "time": times,
                "seconds": pa.array([r.seconds for r in newest], pa.float64()),
                "rows": pa.array([r.rows for r in newest], pa.int64()),
                "statement": pa.array([r.text for r in newest], pa.string()),
                "read": pa.array([r.facts for r in newest], pa.string()),
                "committed": pa.array([r.commits for r in newest], pa.string()),
                "error": pa.array([r.error for r in newest], pa.string()),
            }
        )
