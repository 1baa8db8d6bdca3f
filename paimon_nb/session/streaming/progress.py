"""How far a running stream is behind its tables. Read-only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from paimon_nb.session.core.jobs import Loop, Progress, Running
from paimon_nb.spark.runtime.jvm_bridge import end_offsets
from paimon_nb.table.read.stream import StreamOffset

if TYPE_CHECKING:
    from paimon_nb.session.streaming.planner import StreamPlan
    from paimon_nb.table.tables.table import Table


def newest_of(table: Table) -> int:
    return table.store.snapshots.latest_id() or 0


def progress(running: Running, plan: StreamPlan) -> tuple[Progress, ...]:
    """A stream's progress in the tables it reads; () as long as it is unknown, and for sources that are not tables.

    Spark reports the offsets of several sources in its own order, so a query over two streams has no progress.
    """
    tables = [i.table for i in plan.inputs if i.table is not None]
    if isinstance(running, Loop):
        if not isinstance(running.seen, list):
            return ()
        seen = zip(tables, running.seen, strict=False)  # `seen` continues with lookup tables
        return tuple(Progress(str(t.name), _processed(at), newest_of(t), t) for t, at in seen)
    if len(tables) != 1 or len(plan.inputs) != 1:
        return ()
    next_snapshot = _next_snapshot(running)
    if next_snapshot is None:
        return ()
    newest = newest_of(tables[0])
    # A compaction snapshot adds no rows, so Spark runs no micro-batch for it and the offset stays behind.
    at = newest if not _adds_rows(tables[0], next_snapshot, newest) else next_snapshot - 1
    return (Progress(str(tables[0].name), min(at, newest), newest, tables[0]),)


def _processed(seen: Any) -> int:
    """The newest snapshot that a loop has processed, from an element of `seen`; 0: none."""
    return seen.next - 1 if isinstance(seen, StreamOffset) else seen or 0


_NEXT_SNAPSHOT: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
"""The next snapshot of each query, from its last progress report that has one: not every report does."""


def _next_snapshot(query: Any) -> int | None:
    """The next snapshot that a query will read; None until it reports one."""
    offsets = end_offsets(query)
    if len(offsets) == 1:
        next_snapshot = parse_next_snapshot(offsets[0])
        if next_snapshot is not None:
            _NEXT_SNAPSHOT[query] = next_snapshot
    return _NEXT_SNAPSHOT.get(query)


def parse_next_snapshot(text: str | None) -> int | None:
    """The next snapshot in an offset of our source (`{"next": 7}`). None for other text, such as Spark's 'null'."""
    try:
        offset = json.loads(text or "null")
    except ValueError:
        return None
    next_snapshot = offset.get("next") if isinstance(offset, dict) else None
    return next_snapshot if isinstance(next_snapshot, int) else None


def _adds_rows(table: Table, first: int, newest: int) -> bool:
    """Whether one of the snapshots is not a compaction. Reads at most eight: the first ones mostly decide."""
    store = table.store
    for number in range(first, min(newest, first + 8) + 1):
        if not store.fs.exists(store.snapshots.path(number)) or store.snapshots.get(number).commit_kind != "COMPACT":
            return True
    return first + 8 < newest
