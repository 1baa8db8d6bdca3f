"""What a commit attempt builds on: the newest snapshot and schema of the table that was opened; and afterwards, whether they are still there.

A writer may stand still between its look at the newest snapshot and its publish. Two things free its id meanwhile: a rollback or
fast-forward that removes the base and its manifests, and an expiry that removes the snapshot which another writer published under
the same id. `put_if_absent` succeeds in both cases, and no reader would ever see the rows.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitOverwritten, MissingFile, StoreError, TableReplaced
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import read_manifest_list
from paimon_nb.table.read.live_files import entries_of, live_entries, merge_entries, snapshot_manifests
from paimon_nb.table.read.lost_base import snapshot_below_lost
from paimon_nb.table.read.side_by_side import in_threads_on_object_store
from paimon_nb.table.write.publish.changes import check_last_commit

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TableHead:
    """What a commit attempt builds on."""

    snapshot: Snapshot | None
    """The latest one; None for a table without snapshots."""
    newest_schema: int | None
    """Id of the newest schema."""

    @classmethod
    def of(cls, store: TableStore, *checks: Callable[[], object]) -> TableHead:
        """The head as it is now; `checks` of the table run beside the reads, and their errors come first."""
        *_, snapshot, newest_schema = in_threads_on_object_store(
            store.fs, *checks, lambda: newest_to_build_on(store), store.schemas.latest_id
        )
        return cls(snapshot, newest_schema)

    @classmethod
    def checked(cls, store: TableStore) -> TableHead:
        """The head that a new commit builds on. What was read when the table was opened is not read again at once.

        Raises:
            TableReplaced: another table is at this path now.
            CommitOverwritten: the last snapshot of this process was replaced by another engine.
        """
        if not store.is_just_opened:
            head = cls.of(store, store.check_first_schema, store.check_schema_unchanged)
        else:
            head = cls(newest_to_build_on(store), store.schemas.newest_seen)
        try:
            check_last_commit(store, head.snapshot)
        except CommitOverwritten:
            store.check_identity()  # it was dropped or moved: that says more
            raise
        if head.snapshot is None:
            store.check_identity()
        return head


def newest_to_build_on(store: TableStore, *, trusting: bool = True) -> Snapshot | None:
    """The newest snapshot; one that does not belong to the history is deleted first, since it holds the id of the next commit.

    Its files become orphans. `trusting`: what this process knows to be sound is not looked at again.
    """
    while True:
        newest = store.snapshots.latest()
        if newest is not None and not trusting:
            newest.forget_sound()
        if newest is None or newest.is_known_sound or store.versions is not None:
            return newest
        if snapshot_below_lost(store, newest) is None:
            return newest
        _withdraw(store, newest)


def withdraw_lost_snapshots(store: TableStore, *, trusting: bool = True) -> None:
    """Delete every snapshot above the newest one of the history.

    Ids may be free in between, so that a hint leads to the newest one and commits do not meet the others. `trusting`: False after
    a rollback, which removed what this process knew to be sound.
    """
    newest = newest_to_build_on(store, trusting=trusting)
    if newest is None or store.versions is not None:
        return
    for snapshot_id in [i for i in store.snapshots.ids() if i > newest.id]:
        found = store.snapshots.get_again(snapshot_id)
        if found is not None and not trusting:
            found.forget_sound()
        if found is not None and snapshot_below_lost(store, found) is not None:
            _withdraw(store, found)


def withdraw_lost_snapshots_afterwards(store: TableStore) -> None:
    """`withdraw_lost_snapshots` at the end of a change that has succeeded, and that removed what this process knew to be sound.

    If the store fails, the next commit, expiry or orphan removal does it: no reader sees those snapshots.
    """
    try:
        withdraw_lost_snapshots(store, trusting=False)
    except (OSError, StoreError) as error:
        log.warning("%s: snapshots that do not belong to the history may remain: %s", store.name, error)


def _withdraw(store: TableStore, snapshot: Snapshot) -> None:
    if store.snapshots.withdraw(snapshot):
        log.warning(
            "%s: deleted snapshot %d: a rollback had removed the one that it was built on, and its writer was stopped before it saw that;"
            " CALL sys.remove_orphan_files deletes its files",
            store.name, snapshot.id,
        )  # fmt: skip


# -- after the publish


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
