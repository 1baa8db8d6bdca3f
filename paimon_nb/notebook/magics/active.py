"""The session of this kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.catalog.state_tables import visible_tables
from paimon_nb.notebook.errors import last
from paimon_nb.notebook.query_history import QueryHistory
from paimon_nb.notebook.undo import PythonCells, history

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.notebook.widgets.grid import Grid
    from paimon_nb.notebook.widgets.jobs import JobsView
    from paimon_nb.notebook.widgets.live import LiveTable
    from paimon_nb.workbench import Workbench


class ActiveSession:
    """The session of this kernel: one at a time, created on first use."""

    workbench: Workbench | None = None
    shell: Any = None
    """IPython's shell; None: the extension is not loaded."""

    def __init__(self) -> None:
        self.history = history
        self.python_cells = PythonCells(history, self._warehouse)
        self.queries = QueryHistory()
        self.snippets: dict[str, str] = {}
        self.live: dict[str, LiveTable] = {}
        """Live table of each cell, by cell id."""
        self.grids: dict[str, Grid] = {}
        """Result grid of each cell, by cell id."""
        self.jobs_view: JobsView | None = None
        self.on_catalogs_changed: Callable[[], None] = lambda: None
        """Called when a form, not a cell, has changed the catalogs."""

    def _warehouse(self) -> str | None:
        return None if self.workbench is None else str(self.workbench.session.catalog.warehouse)

    @property
    def error(self) -> BaseException | None:
        """The last error, of a cell or of a panel."""
        return last.error

    @error.setter
    def error(self, error: BaseException | None) -> None:
        last.error = error


current = ActiveSession()


def workbench() -> Workbench:
    """The current workbench; `./warehouse` unless `%paimon connect` chose another."""
    if current.workbench is None:
        from paimon_nb.workbench import connect

        current.workbench = connect()
        print(_opened_without_connect(current.workbench))  # noqa: T201
    return current.workbench


def open_warehouse(path: str) -> Workbench:
    """Open another warehouse. Spark and streams of the previous one stay; its undo history does not.

    Args:
        path: a path or URI.
    """
    from paimon_nb.workbench import connect

    before = None if current.workbench is None else current.workbench.session
    opened = connect(path, spark=None if before is None else before._external_spark)
    if before is not None:
        opened.session.jobs = before.jobs  # streams of the previous warehouse continue and can still be stopped
        if before._spark is not None and before._external_spark is None:
            opened.session._spark = before._spark  # one JVM is enough for every warehouse
    current.workbench = opened
    current.history.clear()  # they were written elsewhere
    return opened


def _opened_without_connect(wb: Workbench) -> str:
    """Which warehouse a notebook without `%paimon connect` works in: after a restart it may not be that of a minute ago."""
    tables = sum(len(visible_tables(wb.session.catalog, d)) for d in wb.session.catalog.databases())
    found = f"{tables} table{'s' * (tables != 1)}" if tables else "without tables"
    return f"no %paimon connect in this kernel: opened {wb.session.catalog.warehouse} ({found}); %paimon connect PATH opens another warehouse"
