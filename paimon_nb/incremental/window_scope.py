"""Window functions whose answer is the same each time: rows that ORDER BY leaves equal are ordered by their text.

The rows of a partition are computed again when it changes, and what they were is removed from the result. Both must agree on what they were.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.incremental.engine import ROW_TEXT
from paimon_nb.session.query.local.expressions import Expressions
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.windows import over

if TYPE_CHECKING:
    from paimon_nb.session.query.local.values import Value
    from paimon_nb.syntax.tree import Call

_BY_POSITION = frozenset({"ROW_NUMBER", "NTILE", "LAG", "LEAD"})
_OF_A_ROW = frozenset({"FIRST_VALUE", "LAST_VALUE", "FIRST", "LAST"})


class WindowScope(Expressions):
    """A SELECT list with window functions."""

    def _window_call(self, e: Call) -> Value:
        found = super()._window_call(e)
        assert e.window is not None
        assert self.windows is not None
        clause = over(e.window, self.windows, self.inside_window().value)
        by_rows = " ROWS BETWEEN " in clause.sql
        if e.function in _OF_A_ROW and not by_rows:
            raise NotLocal(f"{e.function} over a RANGE takes any of the rows with equal ORDER BY; write ROWS")
        if not by_rows and e.function not in _BY_POSITION:
            return found
        return replace(
            found, sql=found.sql.replace(clause.sql, _with_row_order(clause.sql, is_ordered=clause.is_ordered))
        )


def _with_row_order(sql: str, *, is_ordered: bool) -> str:
    """` OVER (...)` with the row's text as the last item of ORDER BY."""
    item = f", {ROW_TEXT} ASC" if is_ordered else f" ORDER BY {ROW_TEXT} ASC"
    at = sql.find(" ROWS BETWEEN ")
    at = at if at >= 0 else len(sql) - 1
    return f"{sql[:at]}{item}{sql[at:]}"
