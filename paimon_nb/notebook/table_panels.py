"""Opens a panel by the name of its %paimon command, and the preview of a table's rows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from paimon_nb.base.registry import Registry
from paimon_nb.notebook.format_tables import check_panel
from paimon_nb.notebook.history_model import version_arguments
from paimon_nb.notebook.magics.active import workbench
from paimon_nb.notebook.views import (
    compaction_view,
    compared_view,
    doctor_view,
    explore_view,
    funnel_view,
    lsm_view,
    timeline_view,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.format.types import DataField
    from paimon_nb.notebook.widgets.grid import Grid
    from paimon_nb.table.tables.table import Table

PREVIEW_ROWS = 50
OFFERED = 100
"""Snapshots to choose from in a list."""


def _live_panel(table: Table) -> Any:
    from paimon_nb.notebook.table_feed import TableFeed
    from paimon_nb.notebook.widgets.live import LiveTable

    return LiveTable(
        TableFeed(check_panel(table, "live"), workbench().session.jobs), f"SELECT * FROM {table.name.quoted()}"
    )


PANELS: Registry[Callable[[Table], Any]] = Registry(
    "panel",
    {
        "explore": explore_view,
        "timeline": timeline_view,
        "lsm": lsm_view,
        "compact": compaction_view,
        "skip": funnel_view,
        "compare": compared_view,
        "doctor": doctor_view,
        "live": _live_panel,
    },
)
"""The panels that need only a table."""


def table_panel(panel: str, table: str) -> Any:
    """The panel of a table, as `%paimon <panel> <table>` shows it; for names that are not one word of a command.

    Args:
        panel: one of `PANELS`.
        table: `[catalog.][database.]table`; parts that contain dots are in backticks.

    Raises:
        UnknownName: no such panel. PaimonError: the table cannot be read.
    """
    return PANELS.find(panel)(workbench().table(table))


def preview_grid(table: Table, *, snapshot: int | None = None, system: str | None = None) -> Grid:
    """The first rows of a table as a grid, read in this process.

    Args:
        snapshot: read this snapshot; None is the latest. system: read this system table instead.

    Raises:
        SnapshotExpired, SnapshotNotFound: the snapshot does not exist.
    """
    from paimon_nb.notebook.display import Rows
    from paimon_nb.notebook.grid.source import GridSource
    from paimon_nb.notebook.magics.grids import read_facts
    from paimon_nb.notebook.widgets.grid import Grid
    from paimon_nb.session import Result
    from paimon_nb.table.read.plan.snapshot_scan import observed_plans

    started = time.monotonic()
    fields: tuple[DataField, ...] = ()
    with observed_plans() as plans:
        if system is not None:
            found = table.system(system).slice(0, PREVIEW_ROWS + 1)
        else:
            version = {} if snapshot is None else version_arguments(table.store, snapshot)
            found = (table.at(**version) if version else table).head(PREVIEW_ROWS + 1)
            fields = tuple(table.schema.fields)
    rows = found.slice(0, PREVIEW_ROWS)
    if [f.name for f in fields] != rows.column_names:  # an older schema
        fields = ()
    result = Result("rows", arrow=rows, fields=fields)
    source = GridSource(result, rows, complete=True, cut=found.num_rows > PREVIEW_ROWS)
    return Grid(Rows(result, PREVIEW_ROWS), source, read_facts(time.monotonic() - started, plans, result))


def snapshots_to_choose(table: Table) -> list[dict[str, Any]]:
    """The snapshots that the tabs of a window offer: the tagged ones, then the newest `OFFERED`, newest first."""
    store = table.store
    if store.is_format_table:
        return []
    store.snapshots.invalidate_cache()
    tagged = [{"id": tag.snapshot.id, "tag": tag.name, "kind": ""} for tag in store.tags.all()]
    newest = reversed(store.snapshots.all(OFFERED))
    return [*tagged, *({"id": s.id, "tag": "", "kind": s.commit_kind.lower()} for s in newest)]
