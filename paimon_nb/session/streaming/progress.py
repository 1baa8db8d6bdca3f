"""How far behind its tables a running stream is. Reads progress; changes nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from paimon_nb.session.core.jobs import Loop, Running

if TYPE_CHECKING:
    from paimon_nb.session.streaming.planner import StreamPlan
    from paimon_nb.table.table import Table


@dataclass(frozen=True, slots=True)
class Standing:
    """A stream and one table that it reads."""

    table: str
    at: int
    """The newest snapshot that was dealt with; 0 for none."""
    newest: int
    """The table's newest snapshot; 0 for none."""

    @property
    def behind(self) -> int:
        """Snapshots that are still to come."""
        return max(0, self.newest - self.at)

    def __str__(self) -> str:
        if not self.newest:
            return f"{self.table} is empty"
        if not self.behind:
            return f"up to snapshot {self.newest}, the newest"
        return f"at snapshot {self.at}, {self.behind} behind the newest"


def newest_of(table: Table) -> int:
    return table.store.snapshots.latest_id() or 0


def standings(running: Running, plan: StreamPlan) -> tuple[Standing, ...]:
    """Where a stream stands in the tables it reads; () as long as that is not known, and for sources that are no tables.

    Spark tells the offsets of several sources in an order of its own, so a query over two streams has no standing.
    """
    tables = [i.table for i in plan.inputs if i.table is not None]
    if isinstance(running, Loop):
        if not isinstance(running.seen, list):
            return ()
        seen = zip(tables, running.seen, strict=False)  # behind them it looks at tables that it only looks up
        return tuple(Standing(str(t.name), at or 0, newest_of(t)) for t, at in seen)
    if len(tables) != 1 or len(plan.inputs) != 1:
        return ()
    following = _following(running)
    if following is None:
        return ()
    newest = newest_of(tables[0])
    # A snapshot that only compacted brings nothing, so Spark makes no micro-batch of it: then the offset lies behind for ever.
    at = newest if not _brings_anything(tables[0], following, newest) else following - 1
    return (Standing(str(tables[0].name), min(at, newest), newest),)


_FOLLOWING: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
"""What each query would read next, as its last trigger that told it did: not every one does."""


def _following(query: Any) -> int | None:
    """The snapshot after those that a query has dealt with; None as long as it has told none."""
    # Spark's own object: `query.lastProgress` copies all of it, in some sixty calls to the JVM.
    progress = query._jsq.lastProgress()
    sources: Any = () if progress is None else progress.sources()
    if len(sources) == 1:
        told = offset_told(sources[0].endOffset())
        if told is not None:
            _FOLLOWING[query] = told
    return _FOLLOWING.get(query)


def offset_told(text: str | None) -> int | None:
    """The next snapshot of an offset that our source wrote (`{"next": 7}`). None for every other text, such as Spark's 'null'."""
    try:
        offset = json.loads(text or "null")
    except ValueError:
        return None
    following = offset.get("next") if isinstance(offset, dict) else None
    return following if isinstance(following, int) else None


def _brings_anything(table: Table, first: int, newest: int) -> bool:
    """Whether one of the snapshots is more than a compaction; looks at few, since the answer is mostly there at once."""
    store = table.store
    for number in range(first, min(newest, first + 8) + 1):
        if not store.fs.exists(store.snapshots.path(number)) or store.snapshots.get(number).commit_kind != "COMPACT":
            return True
    return first + 8 < newest
