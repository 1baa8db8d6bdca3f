"""paimon_nb: a lakehouse workbench for Jupyter. Importing it loads nothing heavy; everything is fetched on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paimon_nb.base import errors as _errors
from paimon_nb.base.errors import *  # noqa: F403  the error names are part of the public API

if TYPE_CHECKING:
    from paimon_nb.table.read import Predicate
    from paimon_nb.table.tables.open import open_table
    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench, connect

__version__ = "0.1.0"

_LAZY = {
    "connect": "paimon_nb.workbench",
    "Workbench": "paimon_nb.workbench",
    "open_table": "paimon_nb.table.tables.open",
    "Predicate": "paimon_nb.table.read",
    "Table": "paimon_nb.table.tables.table",
}
_ERRORS = [n for n, v in vars(_errors).items() if isinstance(v, type) and issubclass(v, _errors.PaimonError)]

__all__ = [
    "Predicate",
    "Table",
    "Workbench",
    "__version__",
    "connect",
    "load_ipython_extension",
    "open_table",
    *_ERRORS,
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        # First, as its import of NumPy takes 14 ms longer below nested imports: CPython 3.11 maps stack memory for hundreds of calls there.
        import_module("pyarrow")
        if name != "Predicate":
            python_cells = import_module("paimon_nb.notebook.python_cells")
            python_cells.show_tables()
            if name in ("connect", "Workbench"):
                python_cells.show_results()
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(ipython: Any) -> None:
    """Register magics, completion and display in an IPython shell; `%load_ext paimon_nb` calls it.

    Args:
        ipython: the shell.
    """
    import_module("paimon_nb.notebook.extension").load(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """Remove what `load_ipython_extension` registered; `%unload_ext paimon_nb` calls it.

    Args:
        ipython: the shell.
    """
    import_module("paimon_nb.notebook.extension").unload(ipython)
