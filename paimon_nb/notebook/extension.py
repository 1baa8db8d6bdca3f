"""`%load_ext paimon_nb`: registers magics, completion and panels in IPython, and removes them on unload."""

from __future__ import annotations

import logging
from typing import Any


def load(ipython: Any) -> None:
    """Register magics, completion and the panels of tables."""
    from paimon_nb.base.errors import PaimonError
    from paimon_nb.notebook.catalog_comm import open_comm
    from paimon_nb.notebook.complete import paimon_matcher
    from paimon_nb.notebook.display import Rows
    from paimon_nb.notebook.errors import full, traceback_of_python_cell
    from paimon_nb.notebook.magics.active import current
    from paimon_nb.notebook.magics.grids import show_grid, show_result
    from paimon_nb.notebook.magics.paimon import PaimonMagics
    from paimon_nb.notebook.python_cells import show_results, show_tables
    from paimon_nb.session import Result

    # pyspark 4.1 logs a stack of several kB for each SQL error before it raises.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    ipython.register_magics(PaimonMagics(shell=ipython))
    if paimon_matcher not in ipython.Completer.custom_matchers:
        ipython.Completer.custom_matchers.append(paimon_matcher)
    show_tables()
    show_results()
    if current.shell is None:
        ipython.events.register("pre_run_cell", current.python_cells.before)
        ipython.events.register("post_run_cell", current.python_cells.after)
    current.shell = ipython
    Rows.interactive = show_grid
    Result._repr_mimebundle_ = show_result  # type: ignore[attr-defined]  # a Python cell that ends with wb.run(...)
    open_comm()
    # IPython asks an error for its traceback. Errors of the magics have their own, see `with_short_traceback`.
    magics = ipython.magics_manager.registry["PaimonMagics"]
    PaimonError._render_traceback_ = lambda error: (  # type: ignore[attr-defined]
        traceback_of_python_cell(error) if magics.short_errors else full(error).splitlines()
    )


def unload(ipython: Any) -> None:
    """Remove completion and close the session."""
    from paimon_nb.base.errors import PaimonError
    from paimon_nb.notebook.catalog_comm import close_comm
    from paimon_nb.notebook.complete import paimon_matcher
    from paimon_nb.notebook.display import Rows
    from paimon_nb.notebook.magics.active import current
    from paimon_nb.session import Result

    if paimon_matcher in ipython.Completer.custom_matchers:
        ipython.Completer.custom_matchers.remove(paimon_matcher)
    Rows.interactive = None
    if hasattr(Result, "_repr_mimebundle_"):
        del Result._repr_mimebundle_
    close_comm()
    if hasattr(PaimonError, "_render_traceback_"):
        del PaimonError._render_traceback_
    if current.shell is not None:
        ipython.events.unregister("pre_run_cell", current.python_cells.before)
        ipython.events.unregister("post_run_cell", current.python_cells.after)
    current.shell = None
    if current.workbench is not None:
        current.workbench.close()
        current.workbench = None
