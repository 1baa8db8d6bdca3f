"""Log of this process's commits: detects that another engine replaced one of our snapshots, or that messages are committed
twice.

Some engines publish by rename without checking for an existing file, and so may replace a snapshot that we published.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitOverwritten, SnapshotNotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.store import TableStore

_MAX_COMMITS = 1000
_MAX_FILES = 50_000
_lock = threading.Lock()
_last: OrderedDict[tuple[str, str], CommitRecord]
_consumed: OrderedDict[tuple[tuple[str, str], str], str] = OrderedDict()


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """The last commit of this process to one table."""

    snapshot: Snapshot
    files: tuple[str, ...]
    """Names of the data files that the commit added: needed to add the rows again."""


_last = OrderedDict()


def record_commit(store: TableStore, snapshot: Snapshot, files: tuple[str, ...]) -> None:
    """Record a commit that was published as `snapshot`."""
    with _lock:
        key = _key(store)
        _last.pop(key, None)
        _last[key] = CommitRecord(snapshot, files)
        while len(_last) > _MAX_COMMITS:
            _last.popitem(last=False)


def mark_consumed(store: TableStore, names: Iterable[str], what: str) -> None:
    """Mark files whose messages must not be committed again. `what` is the reason: 'committed' or 'discarded'.

    The log keeps the latest files only.
    """
    key = _key(store)
    with _lock:
        _consumed.update(((key, name), what) for name in names)
        while len(_consumed) > _MAX_FILES:
            _consumed.popitem(last=False)


def find_consumed(store: TableStore, names: Iterable[str]) -> tuple[str, str] | None:
    """A name that this process has marked, and its reason; None if there is none."""
    key = _key(store)
    with _lock:
        return next(((name, _consumed[key, name]) for name in names if (key, name) in _consumed), None)


def clear_record(store: TableStore) -> None:
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
    store.snapshots.invalidate_cache()
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
    clear_record(store)
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
