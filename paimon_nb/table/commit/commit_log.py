"""Log of this process's commits: detects that another engine replaced one of our snapshots, or that messages are committed
twice.

Some engines publish by rename without checking for an existing file, and so may replace a snapshot that we published.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from paimon_nb.base.errors import CommitOverwritten, SnapshotNotFound
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.table.store import TableStore

_MAX_COMMITS = 1000
_MAX_FILES = 50_000
_lock = threading.Lock()
_last: OrderedDict[tuple[str, str], CommitRecord]
_spent: OrderedDict[tuple[tuple[str, str], str], str] = OrderedDict()


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """The last commit of this process to one table."""

    snapshot: Snapshot
    files: tuple[str, ...]
    """Names of the data files that the commit added: needed to add the rows again."""


_last = OrderedDict()


def remember(store: TableStore, snapshot: Snapshot, files: tuple[str, ...]) -> None:
    """Record a commit that was published as `snapshot`."""
    with _lock:
        key = _key(store)
        _last.pop(key, None)
        _last[key] = CommitRecord(snapshot, files)
        while len(_last) > _MAX_COMMITS:
            _last.popitem(last=False)


def spend(store: TableStore, names: Iterable[str], what: str) -> None:
    """Mark files whose messages may not be committed again, with the reason: 'committed' or 'discarded'. The oldest are
    dropped.
    """
    key = _key(store)
    with _lock:
        _spent.update(((key, name), what) for name in names)
        while len(_spent) > _MAX_FILES:
            _spent.popitem(last=False)


def spent(store: TableStore, names: Iterable[str]) -> tuple[str, str] | None:
    """One of the names that this process marked before, with the reason; None if there is none."""
    key = _key(store)
    with _lock:
        return next(((name, _spent[key, name]) for name in names if (key, name) in _spent), None)


def forget(store: TableStore) -> None:
    """Drop the record: the history was changed on purpose (rollback, fast-forward)."""
    with _lock:
        _last.pop(_key(store), None)


def check_last_commit(store: TableStore) -> None:
    """Raise CommitOverwritten, once, if the last snapshot that this process published was changed."""
    with _lock:
        noted = _last.get(_key(store))
    if noted is None:
        return
    expected = noted.snapshot
    store.snapshots.forget()
    try:
        found: Snapshot | None = store.snapshots.get(expected.id)
    except SnapshotNotFound:
        found = None
    if found is not None and (found.commit_user, found.commit_identifier) == (
        expected.commit_user,
        expected.commit_identifier,
    ):
        return
    earliest = store.snapshots.earliest_id()
    if found is None and earliest is not None and earliest > expected.id:
        return  # expired, as intended
    forget(store)
    by = f"by user {found.commit_user}" if found else "and is gone (rolled back elsewhere?)"
    raise CommitOverwritten(
        f"{store.name}: snapshot {expected.id}, committed by this process, was replaced {by}",
        hint="check the latest rows; add the named data files' rows again if they are missing, then retry",
        snapshot=expected.id,
        user=found.commit_user if found else None,
        files=noted.files,
        path=store.root,
    )


def _key(store: TableStore) -> tuple[str, str]:
    return (store.branch_root, store.identity)
