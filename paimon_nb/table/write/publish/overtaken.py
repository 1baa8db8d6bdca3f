"""Whether a snapshot that was just published follows from its base, or others overtook its writer.

A writer may stand still between its look at the newest snapshot and its publish. Two things free its id meanwhile: a rollback or
fast-forward that removes the base and its manifests, and an expiry that removes the snapshot which another writer published under
the same id. `put_if_absent` succeeds in both cases, and no reader would ever see the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import MissingFile, StoreError
from paimon_nb.format.manifest import read_manifest_list
from paimon_nb.table.read.live_files import entries_of, live_entries, merge_entries, snapshot_manifests

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore


def was_overtaken(store: TableStore, base: Snapshot | None, ours: Snapshot) -> bool:
    """Whether `ours`, published on top of `base`, is not part of the table's history.

    Costs one request where the base is still there. An expiry of the base after `ours` was published is no harm.
    """
    try:
        if base is not None and store.snapshots.is_same_commit(base):
            return False
        ids = store.snapshots.ids()
        newer = [i for i in ids if i > ours.id]
        if newer and ours.id in ids:
            return newer[0] != ours.id + 1 or not _follows(store, ours, newer[0])
        # Expiry keeps the newest snapshot and removes the oldest first.
        return not newer and base is not None and any(i <= base.id for i in ids)
    except (OSError, StoreError):
        return False  # ours is published: a failed check must not look like a failed commit


def _follows(store: TableStore, ours: Snapshot, next_id: int) -> bool:
    """Whether the next snapshot was built on `ours`: the state that it began with is ours."""
    following = store.snapshots.get_again(next_id)
    if following is None:
        return True  # both expired in the meantime
    try:
        began = read_manifest_list(store.fs, store.manifest_path(following.base_manifest_list))
        if {m.file_name for m in began} >= {m.file_name for m in snapshot_manifests(store, ours)}:
            return True
        return set(merge_entries(entries_of(store, began))) == {e.identity for e in live_entries(store, ours)}
    except MissingFile:
        return False  # manifests of ours were deleted with the snapshots that it was built on
