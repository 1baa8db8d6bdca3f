"""The LSM panel: the tree of a bucket at any snapshot, played commit by commit, below a heat map of all buckets."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.base.errors import UnknownName
from paimon_nb.notebook.lsm_buckets import bucket_cells, change_text
from paimon_nb.notebook.lsm_model import (
    WHOLE,
    BucketName,
    FileMark,
    LsmPicture,
    PictureOptions,
    bucket_picture,
    entries_by_bucket,
    has_value_axis,
    largest_bucket,
    lsm_text,
)
from paimon_nb.notebook.svg import lsm_svg
from paimon_nb.notebook.timeline_model import Commit, timeline_of_snapshots
from paimon_nb.notebook.widgets.base import report_errors, script
from paimon_nb.notebook.widgets.history_panel import HistoryPanel
from paimon_nb.notebook.widgets.zoom import checked_window
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table

MAX_COMMITS = 200
"""Commits that can be played."""
MAX_FLAGS = 3
"""Tags, branches and consumers of a commit that are sent to the page."""


class LsmView(HistoryPanel):
    """`t.lsm()`: one bucket of one snapshot.

    Args:
        table: the table. partition, bucket: None selects the bucket with the most runs. by: 'key', 'rank' or 'size'.
        snapshot: the snapshot to select; None is the latest.
    """

    _esm = script("chart_axes.js", "panel.js", "terms.js", "zoom.js", "tree.js", "playback.js", "lsm.js")
    heat = traitlets.Dict().tag(sync=True)
    """The heat map of the buckets."""
    by = traitlets.Enum(("key", "rank", "size"), "key").tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    """Place of the bucket in the sorted list of all buckets."""

    def __init__(
        self,
        table: Table,
        partition: str | None = None,
        bucket: int | None = None,
        by: str = "key",
        snapshot: int | None = None,
    ) -> None:
        self._requested = partition, bucket
        self._name: BucketName = ("", 0)
        self._change = ""
        """What the selected commit did to the bucket."""
        self._names: list[BucketName] = []
        """The buckets of all snapshots that were shown, and of the latest one."""
        self._cells: tuple[int, int | None] = (0, None)
        super().__init__(table, snapshot, by=by)
        self._show_history()
        self.select_and_show()
        self._check_requested_bucket(partition, bucket)
        self.observe(self._on_selected_change, "selected")
        self.observe(self._on_view_change, "by")
        self.observe(self._on_position_change, "position")

    def _check_requested_bucket(self, partition: str | None, bucket: int | None) -> None:
        """Raise if the requested bucket does not exist."""
        available = sorted(self._buckets)
        if available and (partition not in (None, self._name[0]) or bucket not in (None, self._name[1])):
            names = [(f"{p}, " if p else "") + f"bucket {b}" for p, b in available]
            raise UnknownName(
                f"{self._table.store.name} has no such bucket at snapshot {self.snapshot}",
                hint="Available: " + "; ".join(names[:6]) + ("; …" if len(names) > 6 else ""),
            )

    def _read_commits(self, snapshot: int | None) -> Sequence[Commit]:
        return playable_commits(self._table.store, snapshot)

    def _show_history(self) -> None:
        self.history = history_marks(self._commits)

    def on_message(self, content: Any) -> None:
        match content:
            case {"cells": [int(first), int(last)]} if 0 <= first <= last < len(self._names):
                self._cells = (first, last)
                self._show_heat()
            case {"cells": "all"}:
                self._cells = (0, None)
                self._show_heat()
            case _:
                super().on_message(content)

    @report_errors
    def _on_selected_change(self, change: Any) -> None:
        name = self._names[change["new"]]
        if name == self._name:
            return
        self._open_bucket(name)
        if tuple(self.window) == WHOLE:
            self.draw()
        else:
            self.window = list(WHOLE)  # another bucket has other keys; setting the window redraws

    def _open_bucket(self, name: BucketName) -> None:
        self._name = name
        self._change = change_text(self._table.store, self._snapshot, name)

    def _show_selected_snapshot(self) -> None:
        store = self._table.store
        latest = None if self._names else store.latest()
        later = () if latest is None or latest.id == self.snapshot else entries_by_bucket(store, latest)
        self._names = sorted({*self._names, *self._buckets, *later})
        name = self._name
        if name not in self._names:  # the first snapshot, or the table was empty until now
            name = largest_bucket(self._buckets, *self._requested)
        self._open_bucket(name)
        with self.hold_sync():
            self._show_heat()
            self.draw()

    def draw(self) -> None:
        """Draw the bucket. Reads nothing: a zoom calls it."""
        store = self._table.store
        options = PictureOptions(checked_window(self.window), self.by == "rank", self.fold)
        self.model = bucket_picture(store, self._snapshot, self._buckets, self._name, options, self._keys)
        pays_off = (self.model.runs if store.has_keys else self.model.files) > 1
        self.picture = {
            **picture_data(self.model), "lead": self.lead(),
            "compact": f"%paimon compact {self._table.name.quoted()}" if pays_off else "",
            "value_axis": has_value_axis(store), "change": self._change,
        }  # fmt: skip

    def lead(self) -> str:
        """What the picture means for who reads the table, in one sentence."""
        model = self.model
        if not model.files:
            return "This bucket has no files at this snapshot."
        size = f"{count_text(model.files, 'file')}, {bytes_text(model.bytes)}"
        if not self._table.store.has_keys:
            return (
                f"Reads take the rows of all files as they are ({size}): a table without a primary key merges nothing."
            )
        if model.runs <= 1:
            return f"Reads of this bucket merge nothing: its rows are one sorted run ({size})."
        return (
            f"Reads of this bucket merge {count_text(model.runs, 'sorted run')} ({size}); a full compaction makes it 1."
        )

    def _show_heat(self) -> None:
        cells = bucket_cells(self._buckets, self._names, self._table.store.has_keys, *self._cells)
        self.heat = {
            "cells": [asdict(cell) for cell in cells],
            "buckets": len(self._names),
            "keys": self._table.store.has_keys,
            "part": self._cells != (0, None),
        }
        if self._name in self._names:
            self.selected = self._names.index(self._name)

    @property
    def code(self) -> str:
        """Python code that opens this panel in the same state."""
        where = f"partition={self.model.partition!r}, " if self.model.partition else ""
        snapshot = "" if self.position >= len(self._commits) - 1 else f", snapshot={self.snapshot}"
        return f'wb.table("{self._table.name}").lsm({where}bucket={self.model.bucket}, by="{self.by}"{snapshot})'

    @property
    def sql(self) -> str:
        """A query for the files in the picture."""
        return f"SELECT * FROM {self._table.name.database}.`{self._table.name.table}$files` VERSION AS OF {self.model.snapshot} WHERE bucket = {self.model.bucket}"

    def still_text(self) -> str:
        return lsm_text(self.model)

    def still_svg(self) -> str:
        return lsm_svg(self.model, "size" if self.by == "size" else "key")


def playable_commits(store: TableStore, snapshot: int | None = None) -> tuple[Commit, ...]:
    """The latest `MAX_COMMITS` commits, oldest first; if `snapshot` is not one of them, the commits around it.

    Raises:
        SnapshotNotFound, SnapshotExpired: the snapshot does not exist.
    """
    commits = timeline_of_snapshots(store, MAX_COMMITS).commits[-MAX_COMMITS:]
    if snapshot is None or any(c.id == snapshot for c in commits):
        return commits
    every = timeline_of_snapshots(store).commits
    ids = [c.id for c in every]
    if snapshot not in ids:
        store.snapshots.get(snapshot)  # raises with the available snapshots
    first = max(0, ids.index(snapshot) - MAX_COMMITS // 2)
    return every[first : first + MAX_COMMITS]


def history_marks(commits: Sequence[Commit]) -> dict[str, Any]:
    """The commits as JSON data for the script."""
    return {
        "commits": [
            {
                "id": c.id, "kind": c.kind, "time_ms": c.time_ms, "delta_rows": c.delta_rows,
                "total_rows": c.total_rows, "flags": list(c.flags[:MAX_FLAGS]),
            }
            for c in commits
        ]
    }  # fmt: skip


def picture_data(picture: LsmPicture) -> dict[str, Any]:
    """The picture as JSON data for the script. Not `asdict`, which deep-copies thousands of values."""
    out = _json_fields(picture)
    out["lanes"] = [
        {
            **_json_fields(lane),
            "marks": [_mark_data(m) for m in lane.marks],
            "rows": lane.rows,
            "bytes": lane.bytes,
            "files": lane.files,
        }
        for lane in picture.lanes
    ]
    out.update(files=picture.files, runs=picture.runs, bytes=picture.bytes, rows=picture.rows)
    return out


def _mark_data(mark: FileMark) -> dict[str, Any]:
    """A file as JSON data, without what is empty; places to a hundredth of a pixel."""
    out = {name: value for name, value in _json_fields(mark).items() if value or name in ("level", "lane")}
    return out | {name: round(getattr(mark, name), 6) for name in ("x0", "x1", "s0", "s1")}


def _json_fields(thing: Any) -> dict[str, Any]:
    return {f.name: getattr(thing, f.name) for f in fields(thing)}
