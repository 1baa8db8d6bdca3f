"""Windows that a watermark closes: marks them as Spark windows, and counts late rows. Independent of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from paimon_nb.spark.runtime.jvm_bridge import java_query
from paimon_nb.sql.aggregates import is_aggregate
from paimon_nb.syntax.queries import query_tree_of
from paimon_nb.syntax.tree import Call, Column, Field, GroupBy, Select, WindowTable, walk, walk_expression

if TYPE_CHECKING:
    from paimon_nb.syntax.tree import Node, QueryTree

_WINDOW_FUNCTIONS = frozenset(
    {
        "WINDOW",
        *(f"{kind}{part}" for kind in ("TUMBLE", "HOP", "SESSION") for part in ("", "_START", "_END", "_ROWTIME")),
        "SESSION_WINDOW",
    }
)
"""Windows in GROUP BY, Spark's and Flink's."""
_PARTS = frozenset({"window_start", "window_end", "window_time"})
_HIDDEN = "EXCEPT (__win)"
_STEPS = "EXCEPT (__win, __day)"


def watermark_closes_all_groups(tree: QueryTree) -> bool:
    """Whether a watermark closes every group of a query, so that each result is emitted once, at the end of its window.

    Not with CUMULATE: its windows end at different times inside one Spark window.
    """
    nodes = list(walk(tree))
    if any(isinstance(n, WindowTable) and n.kind == "CUMULATE" for n in nodes):
        return False
    selects = [n for n in nodes if isinstance(n, Select)]
    groups = [s.group for s in selects if s.group is not None]
    return (
        bool(groups)
        and all(s.group is not None for s in selects if _aggregates(s))
        and all(any(map(_is_window_column, g.keys)) for g in groups)
    )


def _aggregates(select: Select) -> bool:
    """Whether a SELECT itself has an aggregate, outside of its subqueries and sources."""
    own = (*select.items, select.where, select.having, *select.tail.order, *select.tail.other)
    return any(is_aggregate(n) for part in own if part is not None for n in walk_expression(part))


def _is_window_column(part: Node) -> bool:
    match part:
        case Column():
            return part.parts[-1].lower() in _PARTS
        case Field():
            return _is_window_column(part.operand)
        case Call():
            return part.function in _WINDOW_FUNCTIONS
    return False


def grouped_by_window(sql: str) -> str:
    """Spark SQL over TUMBLE, HOP or CUMULATE with the window column added to GROUP BY.

    Spark stores the watermark as column metadata; `window_end` has lost it, because it is computed from the window.
    """
    suffix, remaining, by = (_STEPS, "EXCEPT (__win)", "__day") if _STEPS in sql else (_HIDDEN, "", "__win")
    tree = query_tree_of(sql) if sql.count(suffix) == 1 else None
    groups = [n for n in walk(tree) if isinstance(n, GroupBy) and _names_window(n)] if tree is not None else []
    if not groups:
        return sql
    for group in sorted(groups, key=lambda g: -g.words_span.stop):
        stop = group.words_span.stop
        sql = f"{sql[:stop]} {by},{sql[stop:]}"
    return sql.replace(suffix, remaining)


def _names_window(group: GroupBy) -> bool:
    """Whether a GROUP BY has a window column."""
    columns = [n for key in group.keys for n in walk(key) if isinstance(n, Column)]
    return any(part.lower() in _PARTS for column in columns for part in column.parts)


class LateRows:
    """A query's watermark and its late rows, from Spark's progress reports; Spark keeps only the latest reports."""

    def __init__(self) -> None:
        self._query: Any = None
        self._count, self._seen = 0, ""

    def attach(self, query: Any) -> None:
        self._query = query
        _ATTACHED[query] = self

    def count(self) -> int:
        """Late rows since the start. Rows that Spark pre-aggregated in a micro-batch count once per group."""
        if self._query is None:
            return 0
        # JVM objects: their Python copies take about sixty calls to the JVM each.
        reports = java_query(self._query).recentProgress()
        newest = self._seen
        for i in range(len(reports) - 1, -1, -1):
            at = reports[i].timestamp()
            if at <= self._seen:
                break
            newest = max(newest, at)
            self._count += sum(o.numRowsDroppedByWatermark() for o in reports[i].stateOperators())
        self._seen = newest
        return self._count

    def watermark(self) -> int | None:
        """The watermark of the current micro-batch, epoch ms; None: unknown or not started."""
        try:
            execution = java_query(self._query).streamingQuery().lastExecution()
            watermark_ms = int(execution.offsetSeqMetadata().batchWatermarkMs())
        except Exception:  # none of these names is Spark's public API
            return None
        return watermark_ms or None


_ATTACHED: WeakKeyDictionary[Any, LateRows] = WeakKeyDictionary()


def late_rows(running: Any) -> int:
    """Late rows of a stream since its start; 0 without a watermark."""
    attached = _ATTACHED.get(running)
    return 0 if attached is None else attached.count()
