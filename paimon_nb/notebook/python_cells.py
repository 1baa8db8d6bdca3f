"""What Python cells show without `%load_ext paimon_nb`: results as tables, and the panels of a table. The extension makes grids of the tables."""

from __future__ import annotations

from typing import Any

from IPython.core.getipython import get_ipython

from paimon_nb.notebook.display import Rows
from paimon_nb.notebook.views import install_views
from paimon_nb.session import Result

ROWS = 20
"""Rows of a table in a cell; the default of `%%paimon`, too."""


def install() -> None:
    """Let this kernel show results and panels. Nothing is done outside IPython, or if the extension is loaded."""
    if get_ipython() is not None and not hasattr(Result, "_repr_mimebundle_"):
        install_views()
        Result._repr_mimebundle_ = lambda result, **_: cell_output(result, ROWS)  # type: ignore[attr-defined]


def cell_output(result: Result, limit: int, ahead: int = 0) -> Any:
    """The output of a cell whose value is a result. A stream is not read.

    Args:
        limit: rows in the output.
        ahead: rows that a grid has at once.
    """
    if result.arrow is None and (result.live is not None or result.job is not None):
        return {"text/plain": repr(result)}
    return Rows(result, limit, ahead, "to_pandas() returns all rows")._repr_mimebundle_()
