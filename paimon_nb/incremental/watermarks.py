"""Windows that a watermark closes: late rows of their groups are dropped, and the state of the groups expires. As in Flink, only GROUP BY does this.

The watermark of an input is its largest time up to the last refresh, less the declared delay. A row is late if the watermark has passed the last millisecond of its window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.incremental.operators import WEIGHT, Aggregate, Filter, Operator, Project, Source, Unnest
from paimon_nb.session.query.watermark import delay_of, stream_watermark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.incremental.engine import Engine, Relation
    from paimon_nb.incremental.operators import Column
    from paimon_nb.incremental.state import State

_UNITS_US = {"MILLISECOND": 1000, "SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6, "DAY": 86400 * 10**6}
_MS = 1000


@dataclass(frozen=True, slots=True)
class Closing:
    """The watermark that closes the windows of a GROUP BY."""

    end: Column
    """The key that is the end of the window."""
    source: Source
    time: Column
    """The column of the source with the watermark."""
    delay_us: int
    slide_us: int
    offset_us: int


def closing_of(op: Aggregate) -> Closing | None:
    """The watermark that closes the groups of an operator; None: an input without a watermark, or keys without a window."""
    found, below = {c.id: c.id for c in op.keys}, op.child
    while isinstance(below, Project | Filter):
        found, below = _through(below, found), below.child
    if not isinstance(below, Unnest) or below.window is None:
        return None
    end = next((c for c in op.keys if found.get(c.id) == below.window.end), None)
    if end is None:
        return None
    name, window, source = {"": below.window.time}, below.window, below.child
    while isinstance(source, Project | Filter):
        name, source = _through(source, name), source.child
    if not isinstance(source, Source):
        return None
    declared = stream_watermark(source.table.schema.options)
    time = None if declared is None else source.used.get(declared.column)
    if declared is None or time is None or name.get("") != time.id:
        return None
    delay = _delay_us(declared)
    return None if delay is None else Closing(end, source, time, delay, window.slide_us, window.offset_us)


def _through(op: Operator, found: dict[str, str]) -> dict[str, str]:
    """The expressions of some columns, over the rows of the operator below."""
    if not isinstance(op, Project):
        return found
    made = {c.id: sql for sql, c in op.items}
    return {name: made.get(sql, sql) for name, sql in found.items()}


def _delay_us(declared: object) -> int | None:
    try:
        number, unit = delay_of(declared).split()  # type: ignore[arg-type]
    except SqlSyntaxError:
        return None
    size = _UNITS_US.get(unit.upper().removesuffix("S"))
    return None if size is None or not number.isdecimal() else int(number) * size


class Watermarks:
    """The watermarks of the inputs in one refresh.

    Args:
        before: microseconds since 1970 by input, after the last refresh; None: unknown.
    """

    def __init__(self, before: Sequence[int | None]) -> None:
        self.before = list(before)
        self.after = list(before)
        self.late = 0
        """Rows that were dropped."""

    def on_time(self, engine: Engine, closing: Closing, change: Relation, columns: Sequence[Column]) -> Relation:
        """The rows of a change whose windows are not closed. `columns`: of the change."""
        passed = self.before[closing.source.number]
        if passed is None or not change.count:
            return change
        late = f"epoch_us({closing.end.id}) - {_MS} <= {passed}"
        dropped = engine.table(f"SELECT * FROM {change.name} WHERE {late}")
        if not dropped.count:
            return change
        different = engine.consolidated(dropped, columns)  # without rows that a change of files only moved
        found = engine.values(f"SELECT coalesce(sum({WEIGHT}), 0) FROM {different.name} WHERE {WEIGHT} > 0")
        self.late += int(found[0][0])
        return engine.table(f"SELECT * FROM {change.name} WHERE NOT ({late})")

    def advance(self, engine: Engine, closing: Closing, rows: Relation) -> None:
        """Move the watermark of an input to its new rows."""
        number = closing.source.number
        newest = engine.values(f"SELECT max(epoch_us({closing.time.id})) FROM {rows.name} WHERE {WEIGHT} > 0")[0][0]
        if newest is not None:
            value, before = (int(newest) - closing.delay_us) // _MS * _MS, self.after[number]
            self.after[number] = value if before is None else max(value, before)

    def expire(self, closing: Closing, states: Sequence[State]) -> None:
        """Remove the groups whose windows are closed from their state tables."""
        before, after = self.before[closing.source.number], self.after[closing.source.number]
        if after is None or (before is not None and _steps(before, closing) == _steps(after, closing)):
            return
        for state in states:
            names = dict(zip((c.id for c in state.shape.columns), state.shape.names, strict=True))
            state.expire(names[closing.end.id], after + _MS)


def _steps(time_us: int, closing: Closing) -> int:
    """How many windows have ended until a time."""
    return (time_us + _MS - closing.offset_us) // closing.slide_us
