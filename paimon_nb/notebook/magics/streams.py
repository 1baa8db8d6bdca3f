"""Links streams to the cells that started them: re-running or interrupting a cell stops only its own stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.notebook.magics.active import current

if TYPE_CHECKING:
    from collections.abc import Set

    from paimon_nb.session.core.jobs import Jobs


def register_live_table(shell: Any, widget: Any) -> None:
    """Remember the live table that this cell displays."""
    cell = cell_id(shell) if hasattr(widget, "feed") else None
    if cell is not None:
        current.live[cell] = widget


def stop_previous_stream(shell: Any) -> None:
    """Re-running a cell removes its output, so the stream that the output displayed is stopped."""
    before = current.live.pop(cell_id(shell) or "", None)
    if before is not None:
        before.job.stop()


def stop_streams_started_since(jobs: Jobs, known: Set[str]) -> None:
    """Stop the jobs that are not in `known`."""
    for job in list(jobs.all.values()):
        if job.id not in known and job.isActive:
            job.stop()


def cell_id(shell: Any) -> str | None:
    """JupyterLab sends the cell id with each request; other clients may not."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return None
    found = kernel.get_parent("shell").get("metadata", {}).get("cellId")
    return found if isinstance(found, str) else None
