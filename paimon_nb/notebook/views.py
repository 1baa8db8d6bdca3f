"""The panels that are methods of a table: t.lsm(), t.timeline() ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.notebook.format_tables import check_panel

if TYPE_CHECKING:
    from collections.abc import Callable


def lsm_view(
    table: Any, partition: str | None = None, bucket: int | None = None, by: str = "key", snapshot: int | None = None
) -> Any:
    """The LSM tree of a bucket at any snapshot, and a heat map of all buckets."""
    from paimon_nb.notebook.widgets.lsm import LsmView

    return LsmView(check_panel(table, "lsm"), partition, bucket, by, snapshot)


def timeline_view(table: Any, snapshot: int | None = None) -> Any:
    """The history with a slider: files and rows at any snapshot."""
    from paimon_nb.notebook.widgets.timeline import Timeline

    return Timeline(check_panel(table, "timeline"), snapshot)


def explore_view(table: Any, at: str = "") -> Any:
    """The explorer: schema, options, snapshots down to row groups."""
    from paimon_nb.notebook.widgets.explore import Explorer

    return Explorer(table, at)


def compaction_view(table: Any, options: dict[str, str] | None = None, watch: bool = False) -> Any:
    """Compaction preview, buttons to run it, and the history of past compactions."""
    from paimon_nb.notebook.widgets.compaction import Compaction

    return Compaction(check_panel(table, "compact"), options, watch)


def funnel_view(table: Any, where: str = "") -> Any:
    """How much of the table a condition skips, stage by stage."""
    from paimon_nb.notebook.widgets.funnel import FunnelView

    return FunnelView(check_panel(table, "skip"), where)


def compared_view(table: Any, before: int | str | None = None, after: int | str | None = None) -> Any:
    """Two snapshots side by side."""
    from paimon_nb.notebook.widgets.compare import CompareView

    return CompareView(check_panel(table, "compare"), before, after)


def doctor_view(table: Any, read_files: bool = False) -> Any:
    """What is wrong with the table, and what fixes it."""
    from paimon_nb.notebook.widgets.doctor import DoctorView

    return DoctorView(check_panel(table, "doctor"), read_files=read_files)


VIEWS: dict[str, Callable[..., Any]] = {
    "lsm": lsm_view, "timeline": timeline_view, "explore": explore_view, "compaction": compaction_view,
    "funnel": funnel_view, "compared": compared_view,
}  # fmt: skip
"""By the name of the method of `t.show`."""
