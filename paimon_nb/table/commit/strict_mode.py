"""`commit.strict-mode.last-safe-snapshot`: the commit fails if another user committed an overwrite or a compaction.

Source: behaviour reference, section 11 (Paimon `operation/commit/StrictModeChecker.java`).
"""

from __future__ import annotations

from paimon_nb.base.errors import CommitConflict
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.options import table as opt
from paimon_nb.table.commit.snapshot_change import Change
from paimon_nb.table.scan.plan.manifest_scan import changes
from paimon_nb.table.store import TableStore


class StrictMode:
    """Does nothing without the option. -1 accepts any state before the first commit of a writer."""

    def __init__(self, store: TableStore, user: str) -> None:
        self.store, self.user = store, user
        self._safe: int | None = store.options.get(opt.COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT)

    def check(self, latest: Snapshot | None, change: Change) -> None:
        """Check what other users committed since the last safe snapshot.

        Raises: CommitConflict: a compaction or an overwrite; for an overwrite also rows that came to its partitions.
        """
        if self._safe is None or self._safe < 0 or latest is None:
            return
        for snapshot_id in range(max(self._safe + 1, self.store.snapshots.earliest_id() or 1), latest.id + 1):
            found = self.store.snapshots.get(snapshot_id)
            if found.commit_user != self.user and self._contradicts(found, change):
                raise CommitConflict(
                    f"{self.store.name}: snapshot {found.id}, {found.commit_kind}, was committed by another user after "
                    f"snapshot {self._safe}, the last safe one by 'commit.strict-mode.last-safe-snapshot'",
                    hint="check what it changed, then run again with its id as the last safe snapshot",
                    snapshot=found.id, user=found.commit_user, path=self.store.root,
                )  # fmt: skip
        self._safe = latest.id

    def passed(self, snapshot_id: int) -> None:
        """Our own snapshot was published: everything before it was checked."""
        if self._safe is not None:
            self._safe = snapshot_id

    def _contradicts(self, found: Snapshot, change: Change) -> bool:
        if found.commit_kind in ("COMPACT", "OVERWRITE"):
            return True
        if found.commit_kind != "APPEND" or change.kind != "OVERWRITE":
            return False
        touched = {e.partition for e in change.entries}
        delta = changes(self.store, found.delta_manifest_list).entries
        return any(e.bucket >= 0 and e.partition in touched for e in delta)
