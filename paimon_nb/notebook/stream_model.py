"""What a live table remembers of a stream: the newest rows, how many of each kind, how fast they come. Pure."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from paimon_nb.notebook.display import MAX_COLUMNS, cell, is_number

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("+I", "-U", "+U", "-D")
MOST_BYTES = 100_000
"""What one picture of the rows may weigh; it is sent twice a second."""
RATE_S = 5.0


class Rate:
    """Rows a second over the last few seconds."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def seen(self, now_s: float, total: int) -> float:
        """Note how many rows there were until now. Returns the rate; 0 before there are two samples."""
        if self._samples and total < self._samples[-1][1]:
            self._samples.clear()  # it began anew
        self._samples.append((now_s, total))
        while len(self._samples) > 2 and self._samples[0][0] < now_s - RATE_S:
            self._samples.popleft()
        (then, before), passed = self._samples[0], now_s - self._samples[0][0]
        return (total - before) / passed if passed > 0 and now_s - then <= 2 * RATE_S else 0.0


class LiveRows:
    """The last rows of a stream, oldest first, and counts of all.

    Args:
        keep: so many rows are remembered.
    """

    def __init__(self, keep: int) -> None:
        self.keep = keep
        self._forgotten = 0
        self.counts: Counter[str] = Counter()
        self.clear()

    def clear(self) -> None:
        """Forget everything; numbers of rows go on, so that a page can tell old rows from new ones."""
        self._forgotten += self.total
        self.rows: deque[tuple[str, list[str | None]]] = deque(maxlen=self.keep)
        self.counts = Counter()
        self.columns: list[str] = []
        self.numeric: list[bool] = []
        self.left_out = 0

    @property
    def total(self) -> int:
        """All rows that came, shown or not."""
        return sum(self.counts.values())

    def add(self, changes: pa.Table) -> None:
        """Take changes in.

        Args:
            changes: kinds ('+I' ...) in the first column, then the query's columns.
        """
        from paimon_nb.format.data import python_values

        kinds = changes.column(0)
        for kind in kinds.value_counts().to_pylist():
            self.counts[kind["values"]] += kind["counts"]
        told = changes.slice(max(0, changes.num_rows - self.keep))
        names = told.column_names[1 : MAX_COLUMNS + 1]
        self.columns, self.left_out = names, changes.num_columns - 1 - len(names)
        self.numeric = [is_number(told.schema.field(i + 1).type) for i in range(len(names))]
        columns = [[_short(v) for v in python_values(told.column(i + 1))] for i in range(len(names))]
        values = [list(row) for row in zip(*columns, strict=True)] or [[] for _ in range(told.num_rows)]
        self.rows.extend(zip(told.column(0).to_pylist(), values, strict=True))

    def shown(self) -> list[list[Any]]:
        """The newest rows first: [number, kind, values...], as many as a picture may weigh."""
        out: list[list[Any]] = []
        size, number = 0, self._forgotten + self.total
        for kind, values in reversed(self.rows):
            size += 8 + sum(len(v) + 3 if v is not None else 5 for v in values)
            if size > MOST_BYTES and out:
                break
            out.append([number, kind, *values])
            number -= 1
        return out


def _short(value: Any) -> str | None:
    text = cell(value)
    return text if text is None or len(text) <= 120 else text[:119] + "…"


def rate_text(per_second: float) -> str:
    """'0 rows/s', '3.4 rows/s', '1,200 rows/s'."""
    if per_second <= 0:
        return "0 rows/s"
    return f"{per_second:,.0f} rows/s" if per_second >= 10 else f"{per_second:.1f} rows/s"


def counts_text(counts: Counter[str]) -> str:
    """'12 +I, 3 -U, 3 +U' in the order of a change."""
    return ", ".join(f"{counts[k]:,} {k}" for k in KINDS if counts[k]) or "no rows yet"
