"""Statements that change several metadata files: all of it, or nothing, whatever others do to the table meanwhile."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from paimon_nb.base.errors import PaimonError, SnapshotExpired, TagNotFound
from paimon_nb.fs import UndoLog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

T = TypeVar("T")
P = ParamSpec("P")


def raise_if_replaced(
    change: Callable[Concatenate[TableStore, P], T],
) -> Callable[Concatenate[TableStore, P], T]:
    """Decorator of a statement on a table: if it fails because the table was moved or dropped meanwhile, that is said.

    Of a directory that is gone, the lists of snapshots, tags and branches are empty: TagNotFound would send the user the wrong way.
    """

    @functools.wraps(change)
    def checked(store: TableStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return change(store, *args, **kwargs)
        except PaimonError:
            store.check_identity()
            raise

    return checked


@contextmanager
def undone_on_error(store: TableStore) -> Iterator[TableStore]:
    """The same table for a block whose changes of metadata files are made together, or undone. What `delete_paths` deletes goes at its end."""
    if isinstance(store.fs, UndoLog):
        with store.fs:
            yield store
        return
    with UndoLog(store.fs) as files:
        try:
            yield replace(store, fs=files)
        finally:
            store.forget_snapshots()
            store.schemas.forget()


def check_is_there(store: TableStore, snapshot: Snapshot) -> None:
    """To be called before and after each removal beside a snapshot that stays: another process may remove that one.

    An expiry and a rollback that run at the same time would leave nothing between them. Each one looks after its last removal, so one of
    the two sees the other, and `undone_on_error` puts back what it removed.

    Raises:
        SnapshotExpired: it is gone, or another one has its id. TableReplaced.
    """
    if not store.snapshots.is_same_commit(snapshot):
        store.fs.check_pinned()
        raise SnapshotExpired(
            f"{store.name}: another process removed snapshot {snapshot.id} at the same time; nothing was changed",
            hint="try again; a tag keeps a snapshot", snapshot=snapshot.id,
        )  # fmt: skip


def check_tag_is_there(store: TableStore, name: str, snapshot: Snapshot) -> None:
    """Raise TagNotFound if another process deleted or replaced a tag of `snapshot` since it was read.

    To be called when the snapshot of a branch or a rollback, which needs its files, is written. Whoever deletes the tag with its
    files looks for such snapshots afterwards: one of the two sees the other.
    """
    if store.tags.get(name).snapshot.delta_manifest_list != snapshot.delta_manifest_list:
        raise TagNotFound(
            f"tag {name!r} of {store.name} was replaced meanwhile; nothing was changed", hint="try again", name=name
        )
