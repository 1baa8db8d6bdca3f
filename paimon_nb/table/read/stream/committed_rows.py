"""Counts the rows that a stream in another process has committed, from the snapshots of its commit user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import MissingFile, SnapshotNotFound

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore


class CommittedRows:
    """The rows in new files of a user's commits since this object was created. Compactions do not count.

    Args:
        store: the table.
    """

    def __init__(self, store: TableStore) -> None:
        self._store = store
        self.user: str | None = None
        """The commit user; None: not known yet."""
        self._next = (store.snapshots.latest_id() or 0) + 1
        self._rows = 0

    def count(self) -> int:
        """The rows up to the latest snapshot. Rows of snapshots that expired before they were counted are missing."""
        if self.user is None:
            return 0
        newest = self._store.snapshots.latest_id() or 0
        for number in range(self._next, newest + 1):
            try:
                snapshot = self._store.snapshots.get(number)
            except (SnapshotNotFound, MissingFile):
                continue
            if snapshot.commit_user == self.user and snapshot.commit_kind != "COMPACT":
                self._rows += snapshot.delta_record_count or 0
        self._next = max(self._next, newest + 1)
        return self._rows
