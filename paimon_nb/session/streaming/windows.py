"""Windows that a watermark closes: how Spark is told that a group is one, and how many rows came too late. Knows no tables."""

from __future__ import annotations

import re
from typing import Any
from weakref import WeakKeyDictionary

_PARTS = frozenset({"window_start", "window_end", "window_time"})
_HIDDEN = "EXCEPT (__win)"
_STEPS = "EXCEPT (__win, __day)"


def readable(said: str) -> str:
    """A query whose calls of `window` sqlglot can read: behind GROUP BY it takes them for the clause WINDOW."""
    return re.sub(r"(?i)\bwindow\(", "time_window(", said)


def all_closed(tree: Any, said: str) -> bool:
    """Whether a watermark ends every group of a query, so that each result is told once, when its window is over.

    The windows of CUMULATE end one by one inside what Spark takes for one window, so they are never closed so.
    """
    from sqlglot import exp

    groups = list(tree.find_all(exp.Group))
    grouping = {a.find_ancestor(exp.Select) for a in tree.find_all(exp.AggFunc)}
    return (
        bool(groups)
        and _STEPS not in said
        and all(s is not None and s.args.get("group") is not None for s in grouping)
        and all(any(map(_is_window, g.expressions)) for g in groups)
    )


def _is_window(part: Any) -> bool:
    return part.name.lower() in _PARTS or part.sql(dialect="spark").lower().startswith(
        ("time_window(", "session_window(")
    )


def grouped_by_window(said: str) -> str:
    """A query of Spark's over TUMBLE, HOP or CUMULATE whose GROUP BY also names the window itself.

    Spark knows a watermark by a mark on the column: `window_end` has lost it, since it is computed from the window.
    """
    from sqlglot import TokenType, tokenize

    hidden, kept, by = (_STEPS, "EXCEPT (__win)", "__day") if _STEPS in said else (_HIDDEN, "", "__win")
    if said.count(hidden) != 1:
        return said
    tokens = tokenize(said, read="spark")
    places = [
        t.end + 1 for i, t in enumerate(tokens) if t.token_type is TokenType.GROUP_BY and _names_window(tokens, i)
    ]
    if not places:
        return said
    for place in reversed(places):
        said = f"{said[:place]} {by},{said[place:]}"
    return said.replace(hidden, kept)


def _names_window(tokens: list[Any], group: int) -> bool:
    """Whether one of the columns behind a GROUP BY is a window's."""
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
    """A query's watermark, and what it left out: Spark tells that with the progress of each micro-batch, and keeps some of them."""

    def __init__(self) -> None:
        self._query: Any = None
        self._count, self._seen = 0, ""

    def follow(self, query: Any) -> None:
        self._query = query
        _FOLLOWED[query] = self

    def count(self) -> int:
        """Rows since the start. Rows of one micro-batch that Spark had put together before, as one group's, count once."""
        if self._query is None:
            return 0
        # Spark's own objects: their Python copies are made of all there is, in some sixty calls to the JVM each.
        told = self._query._jsq.recentProgress()
        newest = self._seen
        for i in range(len(told) - 1, -1, -1):
            at = told[i].timestamp()
            if at <= self._seen:
                break
            newest = max(newest, at)
            self._count += sum(o.numRowsDroppedByWatermark() for o in told[i].stateOperators())
        self._seen = newest
        return self._count

    def watermark(self) -> int | None:
        """Where the query's watermark stands in the present micro-batch, epoch ms; None: not known, or it has not begun."""
        try:
            execution = self._query._jsq.streamingQuery().lastExecution()
            stands = int(execution.offsetSeqMetadata().batchWatermarkMs())
        except Exception:  # Spark promises none of these names
            return None
        return stands or None


_FOLLOWED: WeakKeyDictionary[Any, LateRows] = WeakKeyDictionary()


def late_rows(running: Any) -> int:
    """Rows that came after the watermark had passed them, since the start of a stream; 0 for one without a watermark."""
    followed = _FOLLOWED.get(running)
    return 0 if followed is None else followed.count()
