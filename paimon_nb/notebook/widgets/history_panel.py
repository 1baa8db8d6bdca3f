"""What the timeline and the LSM panel share: the commits of a table, one of which is selected, and the tree at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.base.errors import SnapshotExpired, SnapshotNotFound
from paimon_nb.notebook.history_model import snapshot_of_commit
from paimon_nb.notebook.lsm_model import BucketEntries, entries_by_bucket
from paimon_nb.notebook.widgets.base import SnapshotPanel, none_if_latest, report_errors
from paimon_nb.notebook.widgets.zoom import Zoomable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.notebook.timeline_model import Commit
    from paimon_nb.table.tables.table import Table


class HistoryPanel(SnapshotPanel, Zoomable):
    """A panel with a slider over the commits.

    Args:
        snapshot: the snapshot to select; None is the latest.

    Raises:
        SnapshotNotFound, SnapshotExpired: the snapshot does not exist.
    """

    history = traitlets.Dict().tag(sync=True)
    """The commits, oldest first."""
    position = traitlets.Int(0).tag(sync=True)
    """Place of the selected commit in `history`."""
    picture = traitlets.Dict().tag(sync=True)

    def __init__(self, table: Table, snapshot: int | None, **traits: Any) -> None:
        self._table = table
        self._commits: Sequence[Commit] = self._read_commits(snapshot)
        self._snapshot: Snapshot | None = None
        self._buckets: BucketEntries = {}
        """The files of the selected snapshot: a zoom reads no manifest again."""
        super().__init__(
            position=self._index(snapshot), selected_snapshot=none_if_latest(table.store, snapshot), **traits
        )

    def _read_commits(self, snapshot: int | None) -> Sequence[Commit]:
        """Read the commits, `snapshot` among them. Raises SnapshotNotFound, SnapshotExpired."""
        raise NotImplementedError

    def _show_history(self) -> None:
        """Send the commits to the page."""
        raise NotImplementedError

    def _show_selected_snapshot(self) -> None:
        """Draw the selected snapshot, whose files are in `_buckets`."""
        raise NotImplementedError

    def _index(self, snapshot: int | None) -> int:
        """The place of a snapshot in the history; of the newest one if it is not there."""
        ids = [c.id for c in self._commits]
        return ids.index(snapshot) if snapshot in ids else max(0, len(ids) - 1)

    @property
    def commit(self) -> Commit | None:
        """The selected commit; None if the table has none."""
        return self._commits[min(self.position, len(self._commits) - 1)] if self._commits else None

    @property
    def snapshot(self) -> int | None:
        """Id of the selected snapshot."""
        return self.commit.id if self.commit else None

    def select_and_show(self) -> None:
        """Read the files of the selected snapshot and draw them. Raises SnapshotExpired."""
        store, commit = self._table.store, self.commit
        store.snapshots.invalidate_cache()  # it may have expired
        self._snapshot = snapshot_of_commit(store, commit) if commit else None
        self._buckets = entries_by_bucket(store, self._snapshot)
        self._show_selected_snapshot()
        self.selected_snapshot = none_if_latest(store, self.snapshot)

    @report_errors
    def _on_position_change(self, _: Any) -> None:
        self._move()

    def _move(self) -> None:
        """Another commit was selected."""
        self.select_and_show()

    def show_snapshot(self, snapshot: int | None) -> None:
        ids = [c.id for c in self._commits]
        target = self._table.store.snapshots.latest_id() if snapshot is None else snapshot
        if target in ids:
            self.position = ids.index(target)
        else:
            self._reload_at(snapshot)

    def reload(self) -> None:
        """Reload the history. The selected snapshot stays; if it was the latest or has expired, the new latest is selected.

        Raises: TableReplaced: the table was dropped.
        """
        selected = None if self.position >= len(self._commits) - 1 else self.snapshot
        try:
            self._reload_at(selected)
        except (SnapshotExpired, SnapshotNotFound):
            self._reload_at(None)

    def _reload_at(self, snapshot: int | None) -> None:
        self._table = self._table.refresh()
        self._commits = self._read_commits(snapshot)
        index = self._index(snapshot)
        with self.hold_sync():
            self._show_history()
            if index == self.position:
                self.select_and_show()
            self.position = index
