"""The state behind a live table: newest rows, counts by row kind, row rate."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from paimon_nb.notebook.display import MAX_COLUMNS
from paimon_nb.notebook.grid.texts import display_values, value_text
from paimon_nb.notebook.grid.types import is_number

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("+I", "-U", "+U", "-D")
MAX_BYTES = 100_000
"""Maximum size of one update; updates are sent twice a second."""
RATE_S = 5.0


class Rate:
    """Rows a second over the last few seconds."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def update(self, now_s: float, total: int) -> float:
        """Record the row count so far and return the rate; 0 until there are two samples."""
        if self._samples and total < self._samples[-1][1]:
            self._samples.clear()  # the stream was restarted
        self._samples.append((now_s, total))
        while len(self._samples) > 2 and self._samples[0][0] < now_s - RATE_S:
            self._samples.popleft()
        (then, before), passed = self._samples[0], now_s - self._samples[0][0]
        return (total - before) / passed if passed > 0 and now_s - then <= 2 * RATE_S else 0.0


class LiveRows:
    """The last rows of a stream, oldest first, and counts of all.

    Args:
        keep: maximum number of rows kept.
    """

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self._dropped = 0
        self.counts: Counter[str] = Counter()
        self.clear()

    def clear(self) -> None:
        """Drop all rows; row numbers continue, so that a page can distinguish old rows from new ones."""
        self._dropped += self.total
        self.rows: deque[tuple[str, list[str | None]]] = deque(maxlen=self.keep)
        self.counts = Counter()
        self.columns: list[str] = []
        self.numeric: list[bool] = []
        self.left_out = 0

    @property
    def total(self) -> int:
        """All rows received, displayed or not."""
        return sum(self.counts.values())

    def add(self, changes: pa.Table) -> None:
        """Add changes.

        Args:
            changes: kinds ('+I' ...) in the first column, then the query's columns.
        """
        kinds = changes.column(0)
        for kind in kinds.value_counts().to_pylist():
            self.counts[kind["values"]] += kind["counts"]
        last = changes.slice(max(0, changes.num_rows - self.keep))
        names = last.column_names[1 : MAX_COLUMNS + 1]
        self.columns, self.left_out = names, changes.num_columns - 1 - len(names)
        self.numeric = [is_number(last.schema.field(i + 1).type) for i in range(len(names))]
        columns = [[_short_cell(v) for v in display_values(last.column(i + 1))] for i in range(len(names))]
        values = [list(row) for row in zip(*columns, strict=True)] or [[] for _ in range(last.num_rows)]
        self.rows.extend(zip(last.column(0).to_pylist(), values, strict=True))

    def newest(self) -> list[list[Any]]:
        """The newest rows first: [number, kind, values...], up to `MAX_BYTES`."""
        out: list[list[Any]] = []
        size, number = 0, self._dropped + self.total
        for kind, values in reversed(self.rows):
            size += 8 + sum(len(v) + 3 if v is not None else 5 for v in values)
            if size > MAX_BYTES and out:
                break
            out.append([number, kind, *values])
            number -= 1
        return out


def _short_cell(value: Any) -> str | None:
    text = value_text(value)
    return text if text is None or len(text) <= 120 else text[:119] + "…"


def rate_text(per_second: float) -> str:
    """'0 rows/s', '3.4 rows/s', '1,200 rows/s'."""
    if per_second <= 0:
        return "0 rows/s"
    return f"{per_second:,.0f} rows/s" if per_second >= 10 else f"{per_second:.1f} rows/s"


def counts_text(counts: Counter[str]) -> str:
    """'12 +I, 3 -U, 3 +U' in the order of a change."""
    return ", ".join(f"{counts[k]:,} {k}" for k in KINDS if counts[k]) or "no rows yet"
