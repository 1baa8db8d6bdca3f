"""Checks of one commit against table options: append-only tables, moved keys, strict mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.errors import CommitConflict, UnsupportedOperation
from paimon_nb.format.manifest import ADD, DELETE, ManifestEntry
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.superseded import is_in
from paimon_nb.table.read.live_files import live_entries, read_changes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.publish.changes import Change


def check_only_adds(store: TableStore, change: Change) -> None:
    """For a table with `branch-merge.enabled`: raise UnsupportedOperation if the change deletes files.

    Its branches are compared by file names, so files must never be replaced.
    """
    if change.kind == "OVERWRITE" or any(e.kind == DELETE for e in change.entries):
        raise UnsupportedOperation(
            f"{store.name}: only appends are allowed, because 'branch-merge.enabled' is set",
            hint="unset 'branch-merge.enabled' to compact, overwrite or change the table",
            path=store.root,
        )


def refuse_moved_keys(
    store: TableStore, latest: Snapshot | None, added: Iterable[ManifestEntry], deleted: Iterable[ManifestEntry]
) -> None:
    """Refuse an overwrite of some partitions that brings keys of other partitions (cross-partition update).

    A normal write removes such a key from its old partition. An overwrite replaces only its own partitions, so the key
    would exist twice. Java refuses it too: the -D would not belong to the overwritten partition. Reads the keys of the
    remaining files, as every write to such a table does.

    Raises: UnsupportedOperation.
    """
    new = [e for e in added if e.kind == ADD]
    if latest is None or not new or store.bucket_option != -1 or not store.schema.is_cross_partition:
        return
    from paimon_nb.table.read.split.bucket_keys import bucket_keys  # imported here: scan depends on commit

    removed = {e.identity for e in deleted}
    stay = [e for e in live_entries(store, latest) if e.identity not in removed]
    if not stay:
        return
    new_keys = pa.concat_arrays([keys for *_, keys in bucket_keys(store, latest, new)])
    for partition, _, keys in bucket_keys(store, latest, stay):
        if is_in(keys, new_keys).any():
            raise UnsupportedOperation(
                f"{store.name}: the overwrite has keys that exist in partition {store.partition_values(partition)}, which is not "
                "overwritten",
                hint="delete those keys first, or use INSERT INTO, which moves keys between partitions",
                partition=store.partition_values(partition),
            )


class StrictMode:
    """`commit.strict-mode.last-safe-snapshot`: fails if another user committed an overwrite or a compaction.

    Does nothing without the option. -1 accepts any state before the first commit of a writer.
    Source: docs/spec/merge-semantics.md section 11 (Paimon `operation/commit/StrictModeChecker.java`).
    """

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
            if found.commit_user != self.user and self._contradicts_change(found, change):
                raise CommitConflict(
                    f"{self.store.name}: snapshot {found.id}, {found.commit_kind}, was committed by another user after "
                    f"snapshot {self._safe}, the last safe one by 'commit.strict-mode.last-safe-snapshot'",
                    hint="check what it changed, then run again with its id as the last safe snapshot",
                    snapshot=found.id, user=found.commit_user, path=self.store.root,
                )  # fmt: skip
        self._safe = latest.id

    def record_success(self, snapshot_id: int) -> None:
        """Our own snapshot was published: everything before it was checked."""
        if self._safe is not None:
            self._safe = snapshot_id

    def _contradicts_change(self, found: Snapshot, change: Change) -> bool:
        if found.commit_kind in ("COMPACT", "OVERWRITE"):
            return True
        if found.commit_kind != "APPEND" or change.kind != "OVERWRITE":
            return False
        touched = {e.partition for e in change.entries}
        delta = read_changes(self.store, found.delta_manifest_list).entries
        return any(e.bucket >= 0 and e.partition in touched for e in delta)
