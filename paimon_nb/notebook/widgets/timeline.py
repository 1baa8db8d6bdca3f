"""The history with a slider: the LSM picture and a few rows follow the chosen snapshot."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.display import cells, is_number
from paimon_nb.notebook.lsm_model import lsm_text
from paimon_nb.notebook.svg import lsm_svg, timeline_svg
from paimon_nb.notebook.timeline_model import TimelineModel, timeline, timeline_text
from paimon_nb.notebook.widgets.base import script, told
from paimon_nb.notebook.widgets.lsm import as_data
from paimon_nb.notebook.widgets.zoom import Zoomable

if TYPE_CHECKING:
    from paimon_nb.table.table import Table

PREVIEW_ROWS = 8
PREVIEW_BYTES = 64 << 20
"""Larger snapshots are not read for a preview."""


class Timeline(Zoomable):
    """`t.timeline()`: drag, click or use the arrow keys.

    Args:
        snapshot: the one to begin at; None is the newest.

    Raises:
        SnapshotNotFound, SnapshotExpired: it is not there.
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
            snapshot = table.store.snapshots.get(snapshot).id  # raises, and says what is there
        place = max(0, len(ids) - 1) if snapshot is None else ids.index(snapshot)
        super().__init__(history=history_data(self.model), position=place)
        self._follow()
        self.observe(lambda change: self._go(), "position")

    @told
    def _go(self) -> None:
        self._follow()

    def look(self) -> None:
        """The history as it is now; the chosen snapshot stays, and so does standing at the newest.

        Raises: TableReplaced: the table was dropped.
        """
        newest, chosen = self.position >= len(self.model.commits) - 1, self.snapshot
        self._table = self._table.refresh()
        self.model = timeline(self._table.store)
        ids = [c.id for c in self.model.commits]
        with self.hold_sync():
            self.history = history_data(self.model)
            place = max(0, len(ids) - 1) if newest or chosen not in ids else ids.index(chosen)
            if place == self.position:
                self._follow()
            self.position = place

    @property
    def snapshot(self) -> int | None:
        """The chosen snapshot's id."""
        commits = self.model.commits
        return commits[min(self.position, len(commits) - 1)].id if commits else None

    @property
    def code(self) -> str:
        """Python that reads the chosen snapshot."""
        return f'wb.table("{self._table.name}").to_arrow(snapshot={self.snapshot})'

    @property
    def sql(self) -> str:
        """SQL that reads the chosen snapshot."""
        return f"SELECT * FROM {self._table.name.quoted()} VERSION AS OF {self.snapshot}"

    def _follow(self) -> None:
        store = self._table.store
        snapshot = None
        if self.snapshot is not None:
            commit = self.model.commits[min(self.position, len(self.model.commits) - 1)]
            store.snapshots.forget()  # it may have expired since it was read
            snapshot = store.tags.get(commit.tags[0]).snapshot if commit.tags else store.snapshots.get(commit.id)
        self._snapshot = snapshot
        self.draw()
        self.preview = self._rows()

    def draw(self) -> None:
        self._picture = self.tree(self._table.store, self._snapshot)
        self.picture = as_data(self._picture)

    def _rows(self) -> dict[str, Any]:
        if self.snapshot is None:
            return {"columns": [], "rows": [], "note": "no snapshot yet"}
        if self._picture.bytes > PREVIEW_BYTES:
            return {"columns": [], "rows": [], "note": "too large for a preview: ", "sql": self.sql}
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
    """The history as JSON-able data for the script."""
    out = asdict(model)
    for commit, plain in zip(model.commits, out["commits"], strict=True):
        plain["flags"] = list(commit.flags)
    return out


def stacked(*svgs: str) -> str:
    """Pictures one below the other in one SVG."""
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
