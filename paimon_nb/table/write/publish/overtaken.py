"""Whether a snapshot that was just published follows from its base, or others overtook its writer.

A writer may stand still between its look at the newest snapshot and its publish. Two things free its id meanwhile: a rollback or
fast-forward that removes the base and its manifests, and an expiry that removes the snapshot which another writer published under
the same id. `put_if_absent` succeeds in both cases, and no reader would ever see the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import MissingFile, StoreError, TableReplaced
from paimon_nb.format.manifest import read_manifest_list
from paimon_nb.table.read.live_files import entries_of, live_entries, merge_entries, snapshot_manifests

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore


def was_overtaken(store: TableStore, base: Snapshot | None, published: Snapshot) -> bool:
    """Whether `published`, put on top of `base`, is not part of the table's history, because `base` is not there any more.

    An expiry of the base after `published` was there is no harm.
    """
    if _is_there(store, base):
        return False
    try:
        ids = store.snapshots.ids()
        newer = [i for i in ids if i > published.id]
        if newer and published.id in ids:
            # An expiry that runs beside the listing deletes `published` before the next one, so it is gone if the listing missed that.
            stands_alone = newer[0] != published.id + 1 or not _follows(store, published, newer[0])
            return stands_alone and store.snapshots.is_same_commit(published)
        # Expiry keeps the newest snapshot and removes the oldest first.
        return not newer and base is not None and any(i <= base.id for i in ids)
    except (OSError, StoreError):
        return False  # it is there: a failed check must not look like a failed commit


def _is_there(store: TableStore, base: Snapshot | None) -> bool:
    """Whether the snapshot that a published one was built on is still the same. A failed look must not look like a failed commit."""
    if store.versions is not None:
        return True  # a catalog server publishes only what follows its newest snapshot
    try:
        return base is not None and store.snapshots.is_same_commit(base)
    except (OSError, StoreError):
        return True


def _follows(store: TableStore, published: Snapshot, next_id: int) -> bool:
    """Whether the next snapshot was built on `published`: the state that it began with is that one."""
    following = store.snapshots.get_again(next_id)
    if following is None:
        return True  # both expired in the meantime
    try:
        began = read_manifest_list(store.fs, store.manifest_path(following.base_manifest_list))
        if {m.file_name for m in began} >= {m.file_name for m in snapshot_manifests(store, published)}:
            return True
        return set(merge_entries(entries_of(store, began))) == {e.identity for e in live_entries(store, published)}
    except MissingFile:
        return False  # its manifests were deleted with the snapshots that it was built on


def check_not_fast_forwarded(store: TableStore) -> None:
    """After a snapshot was published: raise TableReplaced if its schema is gone. A directory that was moved took the snapshot along."""
    looks = (True,) if store.fs.is_object_store else (False, False, True)
    for last in looks:  # it may be moved away at one look, and back at the next
        try:
            store.check_schema_unchanged()
            return
        except TableReplaced:
            if not store.fs.is_object_store and _is_moved(store):
                return
            if last:
                raise


def _is_moved(store: TableStore) -> bool:
    try:
        store.check_first_schema()
    except TableReplaced:
        return True
    return False
