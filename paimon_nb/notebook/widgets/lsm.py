"""The LSM panel: choose bucket and axis, details of each file by mouse or keyboard."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.base.errors import UnknownName
from paimon_nb.notebook.lsm_model import WHOLE, LsmPicture, lsm_picture, lsm_text
from paimon_nb.notebook.svg import lsm_svg
from paimon_nb.notebook.widgets.base import report_errors, script
from paimon_nb.notebook.widgets.zoom import Zoomable

if TYPE_CHECKING:
    from paimon_nb.table.table import Table


class LsmView(Zoomable):
    """`t.lsm()`: one bucket of one snapshot.

    Args:
        table: the table. partition, bucket: None selects the bucket with the most runs. by: 'key' or 'size'.
    """

    _esm = script("zoom.js", "lsm.js")
    picture = traitlets.Dict().tag(sync=True)
    by = traitlets.Enum(("key", "size"), "key").tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)

    def __init__(
        self,
        table: Table,
        partition: str | None = None,
        bucket: int | None = None,
        by: str = "key",
        snapshot: int | None = None,
    ) -> None:
        self._table = table
        self._snapshot = table.store.snapshots.get(snapshot) if snapshot is not None else table.store.latest()
        self.model = lsm_picture(table.store, self._snapshot, partition, bucket)
        self._check_requested_bucket(partition, bucket)
        super().__init__(picture=picture_data(self.model), by=by)
        self.observe(self._show_selected_bucket, "selected")

    def _check_requested_bucket(self, partition: str | None, bucket: int | None) -> None:
        """Raise if the requested bucket does not exist."""
        model = self.model
        if model.others and (partition not in (None, model.partition) or bucket not in (None, model.bucket)):
            available = [(f"{p}, " if p else "") + f"bucket {b}" for p, b in model.others]
            raise UnknownName(
                f"{model.table} has no such bucket at snapshot {model.snapshot}",
                hint="Available: " + "; ".join(available[:6]) + ("; …" if len(available) > 6 else ""),
            )

    def reload(self) -> None:
        """Reload the latest snapshot. Raises: TableReplaced: the table was dropped."""
        self._table = self._table.refresh()
        self._snapshot = self._table.store.latest()
        self.draw()

    @report_errors
    def _show_selected_bucket(self, change: Any) -> None:
        partition, bucket = self.model.others[change["new"]]
        self.model = lsm_picture(self._table.store, self._snapshot, partition, bucket, self._keys)
        if tuple(self.window) == WHOLE:
            self.picture = picture_data(self.model)
        else:
            self.window = list(WHOLE)  # another bucket has other keys; setting the window redraws

    def draw(self) -> None:
        self.model = self.tree(self._table.store, self._snapshot, self.model.partition, self.model.bucket)
        self.picture = picture_data(self.model)

    @property
    def code(self) -> str:
        """Python code that opens this panel in the same state."""
        where = f"partition={self.model.partition!r}, " if self.model.partition else ""
        return f'wb.table("{self._table.name}").lsm({where}bucket={self.model.bucket}, by="{self.by}")'

    @property
    def sql(self) -> str:
        """A query for the files in the picture."""
        return f"SELECT * FROM {self._table.name.database}.`{self._table.name.table}$files` VERSION AS OF {self.model.snapshot} WHERE bucket = {self.model.bucket}"

    def still_text(self) -> str:
        return lsm_text(self.model)

    def still_svg(self) -> str:
        return lsm_svg(self.model, self.by)


def picture_data(picture: LsmPicture) -> dict[str, Any]:
    """The picture as JSON data for the script. Not `asdict`, which deep-copies thousands of values."""
    out = _json_fields(picture)
    out["lanes"] = [
        {
            **_json_fields(lane),
            "marks": [_json_fields(m) for m in lane.marks],
            "rows": lane.rows,
            "bytes": lane.bytes,
            "files": lane.files,
        }
        for lane in picture.lanes
    ]
    out.update(files=picture.files, bytes=picture.bytes, rows=picture.rows)
    return out


def _json_fields(thing: Any) -> dict[str, Any]:
    return {f.name: getattr(thing, f.name) for f in fields(thing)}
