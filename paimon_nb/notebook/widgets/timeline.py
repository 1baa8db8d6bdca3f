"""The timeline panel: a slider over the history, with files and rows of the selected snapshot."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.display import cells, is_number
from paimon_nb.notebook.lsm_model import lsm_text
from paimon_nb.notebook.svg import lsm_svg, timeline_svg
from paimon_nb.notebook.timeline_model import TimelineModel, timeline, timeline_text
from paimon_nb.notebook.widgets.base import report_errors, script
from paimon_nb.notebook.widgets.lsm import picture_data
from paimon_nb.notebook.widgets.zoom import Zoomable

if TYPE_CHECKING:
    from paimon_nb.table.table import Table

PREVIEW_ROWS = 8
PREVIEW_BYTES = 64 << 20
"""Larger snapshots have no preview."""


class Timeline(Zoomable):
    """`t.timeline()`: drag the slider, click a commit, or use the arrow keys.

    Args:
        snapshot: the snapshot to select; None is the latest.

    Raises:
        SnapshotNotFound, SnapshotExpired: the snapshot does not exist.
    """

    _esm = script("zoom.js", "timeline.js")
    history = traitlets.Dict().tag(sync=True)
    position = traitlets.Int(0).tag(sync=True)
    picture = traitlets.Dict().tag(sync=True)
    preview = traitlets.Dict().tag(sync=True)

    def __init__(self, table: Table, snapshot: int | None = None) -> None:
        self._table = table
        self.model = timeline(table.store)
        ids = [c.id for c in self.model.commits]
        if snapshot is not None and snapshot not in ids:
            snapshot = table.store.snapshots.get(snapshot).id  # raises with the available snapshots
        index = max(0, len(ids) - 1) if snapshot is None else ids.index(snapshot)
        super().__init__(history=history_data(self.model), position=index)
        self._show_selected_snapshot()
        self.observe(lambda _: self._on_position_change(), "position")

    @report_errors
    def _on_position_change(self) -> None:
        self._show_selected_snapshot()

    def reload(self) -> None:
        """Reload the history. The selected snapshot stays; if it was the latest, the new latest is selected.

        Raises: TableReplaced: the table was dropped.
        """
        newest, selected = self.position >= len(self.model.commits) - 1, self.snapshot
        self._table = self._table.refresh()
        self.model = timeline(self._table.store)
        ids = [c.id for c in self.model.commits]
        with self.hold_sync():
            self.history = history_data(self.model)
            index = max(0, len(ids) - 1) if newest or selected not in ids else ids.index(selected)
            if index == self.position:
                self._show_selected_snapshot()
            self.position = index

    @property
    def snapshot(self) -> int | None:
        """Id of the selected snapshot."""
        commits = self.model.commits
        return commits[min(self.position, len(commits) - 1)].id if commits else None

    @property
    def code(self) -> str:
        """Python code that reads the selected snapshot."""
        return f'wb.table("{self._table.name}").to_arrow(snapshot={self.snapshot})'

    @property
    def sql(self) -> str:
        """SQL that reads the selected snapshot."""
        return f"SELECT * FROM {self._table.name.quoted()} VERSION AS OF {self.snapshot}"

    def _show_selected_snapshot(self) -> None:
        store = self._table.store
        snapshot = None
        if self.snapshot is not None:
            commit = self.model.commits[min(self.position, len(self.model.commits) - 1)]
            store.snapshots.invalidate_cache()  # it may have expired
            snapshot = store.tags.get(commit.tags[0]).snapshot if commit.tags else store.snapshots.get(commit.id)
        self._snapshot = snapshot
        self.draw()
        self.preview = self._preview_rows()

    def draw(self) -> None:
        self._picture = self.tree(self._table.store, self._snapshot)
        self.picture = picture_data(self._picture)

    def _preview_rows(self) -> dict[str, Any]:
        if self.snapshot is None:
            return {"columns": [], "rows": [], "note": "no snapshot yet"}
        if self._picture.bytes > PREVIEW_BYTES:
            return {"columns": [], "rows": [], "note": "too large to preview: ", "sql": self.sql}
        try:
            table = self._table.to_arrow(snapshot=self.snapshot)
        except PaimonError as error:
            return {"columns": [], "rows": [], "note": error.message}
        names, rows = cells(table.slice(0, PREVIEW_ROWS))
        numbers = [is_number(table.schema.field(i).type) for i in range(len(names))]
        note = f"{min(PREVIEW_ROWS, table.num_rows)} of {table.num_rows:,} rows · "
        return {"columns": names, "rows": rows, "numbers": numbers, "note": note, "sql": self.sql}

    def still_text(self) -> str:
        return timeline_text(self.model) + "\n" + lsm_text(self._picture)

    def still_svg(self) -> str:
        return stacked(timeline_svg(self.model, self.snapshot), lsm_svg(self._picture))


def history_data(model: TimelineModel) -> dict[str, Any]:
    """The history as JSON data for the script."""
    out = asdict(model)
    for commit, plain in zip(model.commits, out["commits"], strict=True):
        plain["flags"] = list(commit.flags)
    return out


def stacked(*svgs: str) -> str:
    """Several pictures stacked in one SVG."""
    import re

    inner, y = [], 0
    width = 0
    for svg in svgs:
        match = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
        assert match is not None
        inner.append(svg.replace("<svg ", f'<svg y="{y}" ', 1))
        y += int(match[2]) + 14
        width = max(width, int(match[1]))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" role="img" font-size="12">'
    return head + "".join(inner) + "</svg>"
