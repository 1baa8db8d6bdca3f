"""Windows that a watermark closes: marks them as Spark windows, and counts late rows. Independent of tables."""

from __future__ import annotations

import re
from typing import Any
from weakref import WeakKeyDictionary

from paimon_nb.spark.runtime.jvm_bridge import java_query

_PARTS = frozenset({"window_start", "window_end", "window_time"})
_HIDDEN = "EXCEPT (__win)"
_STEPS = "EXCEPT (__win, __day)"


def with_time_window(sql: str) -> str:
    """Renames `window(` calls for sqlglot, which parses them after GROUP BY as a WINDOW clause."""
    return re.sub(r"(?i)\bwindow\(", "time_window(", sql)


def all_closed(tree: Any, sql: str) -> bool:
    """Whether a watermark closes every group of a query, so that each result is emitted once, at the end of its window.

    Not with CUMULATE: its windows end at different times inside one Spark window.
    """
    from sqlglot import exp

    groups = list(tree.find_all(exp.Group))
    grouping = {a.find_ancestor(exp.Select) for a in tree.find_all(exp.AggFunc)}
    return (
        bool(groups)
        and _STEPS not in sql
        and all(s is not None and s.args.get("group") is not None for s in grouping)
        and all(any(map(_is_window, g.expressions)) for g in groups)
    )


def _is_window(part: Any) -> bool:
    return part.name.lower() in _PARTS or part.sql(dialect="spark").lower().startswith(
        ("time_window(", "session_window(")
    )


def grouped_by_window(sql: str) -> str:
    """Spark SQL over TUMBLE, HOP or CUMULATE with the window column added to GROUP BY.

    Spark stores the watermark as column metadata; `window_end` has lost it, because it is computed from the window.
    """
    from sqlglot import TokenType, tokenize

    suffix, remaining, by = (_STEPS, "EXCEPT (__win)", "__day") if _STEPS in sql else (_HIDDEN, "", "__win")
    if sql.count(suffix) != 1:
        return sql
    tokens = tokenize(sql, read="spark")
    ends = [t.end + 1 for i, t in enumerate(tokens) if t.token_type is TokenType.GROUP_BY and _names_window(tokens, i)]
    if not ends:
        return sql
    for end in reversed(ends):
        sql = f"{sql[:end]} {by},{sql[end:]}"
    return sql.replace(suffix, remaining)


def _names_window(tokens: list[Any], group: int) -> bool:
    """Whether a GROUP BY has a window column."""
    from sqlglot import TokenType

    ends = {TokenType.HAVING, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.UNION, TokenType.SEMICOLON}
    depth = 0
    for token in tokens[group + 1 :]:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth < 0 or (not depth and token.token_type in ends):
            return False
        if token.text.lower() in _PARTS:
            return True
    return False


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
