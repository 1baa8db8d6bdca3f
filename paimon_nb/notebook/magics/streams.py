"""Streams and the cells that began them: a cell that runs again or is interrupted ends its own, no other."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any

from paimon_nb.notebook.magics.active import current

if TYPE_CHECKING:
    from paimon_nb.session.core.jobs import Jobs


def remember_cell(shell: Any, shown: Any) -> None:
    """This cell shows this, if it is a live table."""
    cell = _cell_id(shell) if hasattr(shown, "feed") else None
    if cell is not None:
        current.live[cell] = shown


def ending_the_cells_own(shell: Any) -> None:
    """The page forgets what a cell showed when it is run again, so nobody would look at its stream any more."""
    before = current.live.pop(_cell_id(shell) or "", None)
    if before is not None:
        before.job.stop()


def stop_begun_since(jobs: Jobs, known: Set[str]) -> None:
    """End the jobs that were not there before."""
    for job in list(jobs.all.values()):
        if job.id not in known and job.isActive:
            job.stop()


def _cell_id(shell: Any) -> str | None:
    """JupyterLab tells with each request which cell it comes from; other clients need not."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return None
    found = kernel.get_parent("shell").get("metadata", {}).get("cellId")
    return found if isinstance(found, str) else None
