"""The session of this kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.notebook.errors import last
from paimon_nb.notebook.undo import history

if TYPE_CHECKING:
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
        self.snippets: dict[str, str] = {}
        self.live: dict[str, LiveTable] = {}
        """Live table of each cell, by cell id."""
        self.grids: dict[str, Grid] = {}
        """Result grid of each cell, by cell id."""
        self.jobs_view: JobsView | None = None

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
    return current.workbench
