"""What a commit attempt builds on: the newest snapshot and schema of the table that was opened."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitOverwritten, StoreError
from paimon_nb.base.lazy_dataclass import dataclass
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
