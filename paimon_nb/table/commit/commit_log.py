"""What this process committed: to notice when another engine overwrote a snapshot of ours, or the same work comes twice.

Some engines publish by rename without asking who was first, and so may replace a snapshot that we were told is ours.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from paimon_nb.base.errors import CommitOverwritten, SnapshotNotFound
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.table.store import TableStore

_MOST = 1000
_MOST_FILES = 50_000
_lock = threading.Lock()
_last: OrderedDict[tuple[str, str], Remembered]
_spent: OrderedDict[tuple[tuple[str, str], str], str] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Remembered:
    """The last commit of this process on one table."""

    snapshot: Snapshot
    files: tuple[str, ...]
    """Names of the data files that the commit added: what is needed to add the rows again."""


_last = OrderedDict()


def remember(store: TableStore, snapshot: Snapshot, files: tuple[str, ...]) -> None:
    """Note a commit that was published as `snapshot`."""
    with _lock:
        key = _key(store)
        _last.pop(key, None)
        _last[key] = Remembered(snapshot, files)
        while len(_last) > _MOST:
            _last.popitem(last=False)


def spend(store: TableStore, names: Iterable[str], what: str) -> None:
    """Note files whose messages may not be committed any more, and why: 'committed', 'discarded'. The oldest are forgotten."""
    key = _key(store)
    with _lock:
        _spent.update(((key, name), what) for name in names)
        while len(_spent) > _MOST_FILES:
            _spent.popitem(last=False)


def spent(store: TableStore, names: Iterable[str]) -> tuple[str, str] | None:
    """One of the names that this process spent already, and how; None when there is none."""
    key = _key(store)
    with _lock:
        return next(((name, _spent[key, name]) for name in names if (key, name) in _spent), None)


def forget(store: TableStore) -> None:
    """Drop the note: the history was changed on purpose (rollback, fast-forward)."""
    with _lock:
        _last.pop(_key(store), None)


def check_last_commit(store: TableStore) -> None:
    """Raise CommitOverwritten, once, when the last snapshot this process published is no longer as it was."""
    with _lock:
        noted = _last.get(_key(store))
    if noted is None:
        return
    wanted = noted.snapshot
    store.snapshots.forget()
    try:
        found: Snapshot | None = store.snapshots.get(wanted.id)
    except SnapshotNotFound:
        found = None
    if found is not None and (found.commit_user, found.commit_identifier) == (
        wanted.commit_user,
        wanted.commit_identifier,
    ):
        return
    earliest = store.snapshots.earliest_id()
    if found is None and earliest is not None and earliest > wanted.id:
        return  # expired, as it should in time
    forget(store)
    by = f"by user {found.commit_user}" if found else "and is gone (rolled back elsewhere?)"
    raise CommitOverwritten(
        f"{store.name}: snapshot {wanted.id}, committed here, was replaced {by}",
        hint="look at the latest rows; add the named data files' rows again if they are missing, then retry",
        snapshot=wanted.id,
        user=found.commit_user if found else None,
        files=noted.files,
        path=store.root,
    )


def _key(store: TableStore) -> tuple[str, str]:
    return (store.branch_root, store.identity)
