"""What results and tables show without `%load_ext paimon_nb`: in Python scripts, marimo, papermill, and Python cells of Jupyter.

Results and tables are below this package and cannot import it: `show_tables` and `show_results` set what they call. The modules
that draw are imported on first use.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paimon_nb.notebook.display import Rows
    from paimon_nb.notebook.widgets.grid import Grid
    from paimon_nb.session import Result

ROWS = 20
"""Rows of a table in a cell; the default of `%%paimon`, too."""
ROWS_AHEAD = 1000
"""Rows that a grid has before it reads all of them."""
_HOW_TO_SEE_MORE = "to_pandas() returns all rows"


def show_tables() -> None:
    """Let tables open their panels, for example `t.lsm()`."""
    from paimon_nb.table.tables.table import Table

    Table.open_view = staticmethod(_open_view)


def show_results() -> None:
    """Let results be shown: `print(result)`, HTML, a grid in marimo; in IPython also as the value of a cell."""
    from paimon_nb.session import Result

    Result.views = {"text": _text, "html": _html, "grid": result_grid, "widget": _grid_or_table}
    if is_ipython() and not hasattr(Result, "_repr_mimebundle_"):
        Result._repr_mimebundle_ = lambda result, **_: cell_output(result, ROWS)  # type: ignore[attr-defined]


def is_ipython() -> bool:
    """Whether this process is an IPython. Other programs, such as marimo, import it without being one."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return get_ipython() is not None


def cell_output(result: Result, limit: int, ahead: int = 0) -> Any:
    """The output of a cell whose value is a result. A stream is not read.

    Args:
        limit: rows in the output.
        ahead: rows that a grid has at once.
    """
    if _is_stream(result):
        return {"text/plain": repr(result)}
    return _rows(result, limit, ahead)._repr_mimebundle_()


def result_grid(result: Result) -> Grid:
    """The grid of a result, in any program that shows anywidget's widgets."""
    from paimon_nb.base.errors import UnsupportedOperation

    if _is_stream(result):
        raise UnsupportedOperation(
            "a stream has no end, so it has no grid", hint="use %paimon live, or .live.collect()"
        )
    return _grid(_rows(result, ROWS, ROWS_AHEAD))


def _open_view(table: Any, name: str, **arguments: Any) -> Any:
    from paimon_nb.notebook.views import VIEWS

    return VIEWS[name](table, **arguments)


def _text(result: Result) -> str:
    return repr(result) if _is_stream(result) else repr(_rows(result, ROWS))


def _html(result: Result) -> str | None:
    return None if _is_stream(result) else _rows(result, ROWS)._repr_html_()


def _grid_or_table(result: Result) -> Any:
    if _is_stream(result):
        return repr(result)
    rows = _rows(result, ROWS, ROWS_AHEAD)
    preview = rows.preview
    return _grid(rows) if preview.is_query and preview.plain_text is None and preview.table.num_columns else rows


def _rows(result: Result, limit: int, ahead: int = 0) -> Rows:
    from paimon_nb.notebook.display import Rows

    return Rows(result, limit, ahead, _HOW_TO_SEE_MORE)


def _grid(rows: Rows) -> Grid:
    from paimon_nb.notebook.grid.source import GridSource
    from paimon_nb.notebook.widgets.grid import Grid

    return Grid(rows, GridSource(rows.result, *rows.fetched))


def _is_stream(result: Result) -> bool:
    return result.arrow is None and (result.live is not None or result.job is not None)
