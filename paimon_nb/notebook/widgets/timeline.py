"""The timeline panel: a slider over the history, with files and rows of the selected snapshot, and the history as a table."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.base.errors import CommitConflict, PaimonError
from paimon_nb.notebook.display import display_cells
from paimon_nb.notebook.grid.types import is_number
from paimon_nb.notebook.history_model import (
    HistoryRow,
    RollbackPreview,
    history_rows,
    rollback_preview,
    snapshot_of_commit,
)
from paimon_nb.notebook.lsm_model import PictureOptions, bucket_picture, largest_bucket, lsm_picture, lsm_text
from paimon_nb.notebook.progress import has_front_end
from paimon_nb.notebook.story import FRAMES, frame_commits, history_frames, history_table_html
from paimon_nb.notebook.svg import lsm_svg, timeline_svg
from paimon_nb.notebook.timeline_model import TimelineModel, timeline_of_snapshots, timeline_text
from paimon_nb.notebook.undo import history as cells_of_kernel
from paimon_nb.notebook.widgets.base import script
from paimon_nb.notebook.widgets.history_panel import HistoryPanel
from paimon_nb.notebook.widgets.lsm import picture_data
from paimon_nb.notebook.widgets.zoom import checked_window
from paimon_nb.table.tables.inspect.formatting import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.notebook.timeline_model import Commit
    from paimon_nb.table.tables.table import Table

PREVIEW_ROWS = 8
PREVIEW_BYTES = 64 << 20
"""Larger snapshots have no preview."""
_COMMITS = {
    "APPEND": "new rows came", "COMPACT": "a compaction, which changes no row,", "OVERWRITE": "rows were overwritten",
    "ANALYZE": "statistics were computed",
}  # fmt: skip
HISTORY_ROWS = 20
"""Commits that the table shows at first, and adds on request: their manifests are read."""


class Timeline(HistoryPanel):
    """`t.timeline()`: drag the slider, click a commit, or use the arrow keys.

    Args:
        snapshot: the snapshot to select; None is the latest.

    Raises:
        SnapshotNotFound, SnapshotExpired: the snapshot does not exist.
    """

    _esm = script(
        "chart_axes.js",
        "history_picture.js",
        "panel.js",
        "terms.js",
        "zoom.js",
        "tree.js",
        "history.js",
        "playback.js",
        "timeline.js",
    )
    preview = traitlets.Dict().tag(sync=True)
    table = traitlets.Dict().tag(sync=True)
    """The history as rows, newest first, and the rollback that waits for a confirmation."""

    def __init__(self, table: Table, snapshot: int | None = None) -> None:
        self._row_limit, self._message = HISTORY_ROWS, ""
        self._rollback: RollbackPreview | None = None
        self._rows: list[HistoryRow] = []
        super().__init__(table, snapshot)
        self.select_and_show()
        self._show_history()
        self.observe(self._on_position_change, "position")

    def _read_commits(self, snapshot: int | None) -> Sequence[Commit]:
        self.model = timeline_of_snapshots(self._table.store)
        if snapshot is not None and snapshot not in [c.id for c in self.model.commits]:
            self._table.store.snapshots.get(snapshot)  # raises with the available snapshots
        return self.model.commits

    def _move(self) -> None:
        super()._move()
        if self._rollback or self._message:
            self._rollback, self._message = None, ""
            self._show_rows()

    def on_message(self, content: Any) -> None:
        match content:
            case {"more": True}:
                self._row_limit += HISTORY_ROWS
                self._show_rows()
            case {"tag": str(name), "snapshot": int(snapshot)} if name.strip():
                if self._select(snapshot) is not None:
                    self.create_tag(name.strip())
            case {"preview_rollback": int(snapshot)}:
                if (commit := self._select(snapshot)) is not None:
                    self._rollback, self._message = rollback_preview(self._table.refresh().store, commit), ""
                    self._show_rows()
            case {"rollback": int(target)} if self._rollback is not None and self._rollback.target == target:
                self.roll_back(self._rollback)
            case {"cancel_rollback": True}:
                self._rollback = None
                self._show_rows()
            case _:
                super().on_message(content)

    def _select(self, snapshot: int) -> Commit | None:
        """Select the snapshot that a button was pressed for; None if it is not in the history.

        The browser holds back a new position while an earlier one is answered, so the message may arrive first.
        """
        ids = [c.id for c in self.model.commits]
        if snapshot not in ids:
            return None
        self.position = ids.index(snapshot)
        return self.commit

    def _reload_at(self, snapshot: int | None) -> None:
        self._rollback = None
        super()._reload_at(snapshot)

    def create_tag(self, name: str) -> None:
        """Tag the selected snapshot. Raises AlreadyExists, TableReplaced."""
        self._table = self._table.refresh()
        self._table.tags.create(name, self.snapshot)
        self._message = f"Tag {name!r} created for snapshot {self.snapshot}."
        self.reload()

    def roll_back(self, preview: RollbackPreview) -> None:
        """Roll back as the preview says.

        Raises:
            CommitConflict: the table has changed since the preview. TableReplaced: the table was dropped.
        """
        self._table = self._table.refresh()
        latest, self._rollback = self._table.store.latest(), None
        if latest is None or latest.id != preview.latest:
            self.reload()
            raise CommitConflict(
                f"{self._table.name} has changed since the preview: the latest snapshot was {preview.latest}",
                hint="look at the preview again",
            )
        commit = next(c for c in self.model.commits if c.id == preview.target)
        expired = commit.id not in self._table.store.snapshots.ids()
        if expired:
            self._table.rollback_to(tag=commit.tags[0])
        else:
            self._table.rollback_to(commit.id)
        self._message = f"Rolled back to snapshot {commit.id}."
        self.reload()

    def _show_history(self) -> None:
        self.history = history_data(self.model)
        self._show_rows()

    def _show_rows(self) -> None:
        name, quoted = str(self._table.name), self._table.name.quoted()
        newest = self.model.commits[::-1][: self._row_limit]
        self._rows = history_rows(self._table.store, newest, self._statement)
        self.table = {
            "rows": [asdict(row) for row in self._rows],
            "more": len(self.model.commits) - len(self._rows), "name": name, "select": f"%%paimon\nSELECT * FROM {quoted} VERSION AS OF ",
            "compare": f"%paimon compare {quoted} ", "message": self._message,
            "rollback": asdict(self._rollback) if self._rollback else None,
        }  # fmt: skip

    def _statement(self, snapshot: int, time_ms: int) -> str:
        return cells_of_kernel.text(str(self._table.name), snapshot, time_ms)

    @property
    def code(self) -> str:
        """Python code that reads the selected snapshot."""
        return f'wb.table("{self._table.name}").to_arrow(snapshot={self.snapshot})'

    @property
    def sql(self) -> str:
        """SQL that reads the selected snapshot."""
        return f"SELECT * FROM {self._table.name.quoted()} VERSION AS OF {self.snapshot}"

    def _show_selected_snapshot(self) -> None:
        self.draw()
        rows = self._preview_rows()
        self.preview = {**rows, "lead": self.lead(rows.get("total"))}

    def draw(self) -> None:
        """Draw the bucket with the most runs. Reads nothing: a zoom calls it."""
        options = PictureOptions(checked_window(self.window), fold=self.fold)
        name = largest_bucket(self._buckets)
        self._picture = bucket_picture(self._table.store, self._snapshot, self._buckets, name, options, self._keys)
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
        names, rows = display_cells(table.slice(0, PREVIEW_ROWS))
        numbers = [is_number(table.schema.field(i).type) for i in range(len(names))]
        note = f"{min(PREVIEW_ROWS, table.num_rows)} of {table.num_rows:,} rows · "
        return {
            "columns": names,
            "rows": rows,
            "numbers": numbers,
            "note": note,
            "sql": self.sql,
            "total": table.num_rows,
        }

    def lead(self, rows: int | None) -> str:
        """What the selected snapshot is, in a sentence. `rows`: of the table at it; None: not known."""
        commit = self.commit
        if commit is None:
            return "The table has no commit yet."
        when = dt.datetime.fromtimestamp(commit.time_ms / 1000, dt.UTC)
        is_last = commit.id == self.model.commits[-1].id
        held = "" if rows is None else f" It {'has' if is_last else 'had'} {count_text(rows, 'row')}."
        what = _COMMITS.get(commit.kind, "a commit")
        return f"Snapshot {commit.id} is the table as it {'is now' if is_last else 'was'}, after {what} on {when:%Y-%m-%d at %H:%M:%S} UTC.{held}"

    def still_text(self) -> str:
        return timeline_text(self.model) + "\n" + lsm_text(self._picture)

    def still_svg(self) -> str:
        return stacked_svgs(timeline_svg(self.model, self.snapshot), lsm_svg(self._picture))

    def frames(self) -> str:
        """The history as pictures that a page without a kernel plays; '' for fewer than two snapshots."""
        store, now, pictures = self._table.store, self._picture, []
        for commit in frame_commits(self.model.commits):
            with suppress(PaimonError):  # expired since, or damaged: the others are shown
                snapshot = snapshot_of_commit(store, commit)
                pictures.append((commit, lsm_picture(store, snapshot, now.partition, now.bucket, self._keys)))
        return history_frames(self.model, pictures, self._history_html())

    def _history_html(self) -> str:
        """The history as a table for pages without a kernel."""
        return history_table_html(self._rows, len(self.model.commits) - len(self._rows))

    def still_html(self) -> str:
        return super().still_html() + self._history_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data, meta = super()._repr_mimebundle_(**kwargs)
        # A connected front end draws the live widget; manifests are not read for pictures that it does not show.
        frames = "" if has_front_end() else self.frames()
        return ({**data, FRAMES: frames} if frames else data), meta


def history_data(model: TimelineModel) -> dict[str, Any]:
    """The history as JSON data for the script."""
    out = asdict(model)
    for commit, plain in zip(model.commits, out["commits"], strict=True):
        plain["flags"] = list(commit.flags)
    return out


def stacked_svgs(*svgs: str) -> str:
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
