"""Commit messages, the changes of one snapshot that are built from them, and the log of what this process has committed.

The log detects that another engine replaced one of our snapshots, or that messages are committed twice. Some engines publish by
rename without checking for an existing file, and so may replace a snapshot that we published.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitOverwritten, SnapshotNotFound
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import ADD, DELETE, DataFile, IndexEntry, ManifestEntry
from paimon_nb.format.snapshot.directory import same_commit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore


BATCH_IDENTIFIER = 9223372036854775807
"""`commitIdentifier` of batch writes (docs/spec/format.md section 2)."""

TRUNCATE = "TRUNCATE"
_OPERATION: ContextVar[str | None] = ContextVar("operation", default=None)


def current_operation() -> str | None:
    """The statement that writes the snapshots of this thread, as `$snapshots` shows it; None outside of statements, as in streams."""
    return _OPERATION.get()


@contextmanager
def recorded_as(operation: str) -> Iterator[None]:
    """Snapshots that this thread publishes in the `with` block have this operation. Source: Paimon 2.1 `Snapshot.Operation`."""
    token = _OPERATION.set(operation)
    try:
        yield
    finally:
        _OPERATION.reset(token)


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """The work of one writer in one bucket: an append increment and a compact increment.

    They become two snapshots, APPEND and COMPACT (docs/spec/format.md section 3).
    """

    partition: bytes
    bucket: int
    total_buckets: int
    new_files: tuple[DataFile, ...] = ()
    deleted_files: tuple[DataFile, ...] = ()
    """Files that a row-level UPDATE or DELETE on an append table replaced."""
    changelog_files: tuple[DataFile, ...] = ()
    new_index: tuple[IndexEntry, ...] = ()
    deleted_index: tuple[IndexEntry, ...] = ()
    compact_before: tuple[DataFile, ...] = ()
    compact_after: tuple[DataFile, ...] = ()
    compact_changelog: tuple[DataFile, ...] = ()
    compact_new_index: tuple[IndexEntry, ...] = ()
    compact_deleted_index: tuple[IndexEntry, ...] = ()
    base_snapshot: int | None = None
    """The snapshot that this work was planned from; None: the table was empty."""
    row_count: int = 0
    """Rows that the writer received, for the count check before the commit."""

    @property
    def has_append(self) -> bool:
        """True if the first snapshot would not be empty."""
        return bool(
            self.new_files or self.deleted_files or self.changelog_files or self.new_index or self.deleted_index
        )

    @property
    def has_compact(self) -> bool:
        """True if the COMPACT snapshot would not be empty."""
        return bool(
            self.compact_before
            or self.compact_after
            or self.compact_changelog
            or self.compact_new_index
            or self.compact_deleted_index
        )

    @property
    def written(self) -> set[str]:
        """Names of the data and index files that this work wrote; files that were only upgraded belong to the table."""
        return (
            {f.file_name for f in self.new_files} | {i.file_name for i in self.new_index} | self.written_by_compaction
        )

    @property
    def written_by_compaction(self) -> set[str]:
        """Those that belong to the COMPACT snapshot."""
        upgraded = {f.file_name for f in self.compact_before}
        return {f.file_name for f in self.compact_after} - upgraded | {i.file_name for i in self.compact_new_index}

    @property
    def is_empty(self) -> bool:
        return not (self.has_append or self.has_compact)


DELETION_VECTORS = "DELETION_VECTORS"
HASH = "HASH"


@dataclass(frozen=True)
class Change:
    """Entries of one snapshot. `kind` is the snapshot's commitKind."""

    kind: str
    entries: tuple[ManifestEntry, ...] = ()
    changelog: tuple[ManifestEntry, ...] = ()
    new_index: tuple[IndexEntry, ...] = ()
    deleted_index: tuple[IndexEntry, ...] = ()
    base_snapshot: int | None = None
    """The oldest snapshot that the change was planned from."""
    statistics: str | None = None
    """A new statistics file (ANALYZE)."""
    replaces_buckets: bool = False
    """True for INSERT OVERWRITE, which may change the bucket count of what it replaces."""
    drops_index_of: frozenset[bytes] | None = frozenset()
    """Partitions whose index files are all removed; None: all partitions."""
    joins_manifests: bool = False
    """Write the same files into as few manifests as possible, regardless of the merge thresholds."""

    @property
    def is_empty(self) -> bool:
        has_files = self.entries or self.changelog or self.new_index or self.deleted_index
        return not (has_files or self.statistics or self.joins_manifests)

    @property
    def must_check(self) -> bool:
        """True if live files are replaced, so that another commit can contradict this one."""
        return self.kind != "APPEND" or any(e.kind == DELETE for e in self.entries) or bool(self.new_index)

    def can_conflict(self, latest: Snapshot | None) -> bool:
        """False: nothing is replaced, and no other commit came since the change was planned."""
        return self.must_check or (latest is not None and latest.id != self.base_snapshot)


def append_change(messages: Iterable[CommitMessage]) -> Change:
    """The first snapshot. Replaced files or deletion vectors turn APPEND into OVERWRITE, as in Java."""
    messages = list(messages)
    entries: list[ManifestEntry] = []
    changelog: list[ManifestEntry] = []
    for m in messages:
        entries += _entries_of_files(ADD, m, m.new_files)
        entries += _entries_of_files(DELETE, m, m.deleted_files)
        changelog += _entries_of_files(ADD, m, m.changelog_files)
    new_index = tuple(i for m in messages for i in m.new_index)
    row_level = any(m.deleted_files for m in messages) or any(i.index_type == DELETION_VECTORS for i in new_index)
    return Change(
        kind="OVERWRITE" if row_level else "APPEND",
        entries=tuple(entries),
        changelog=tuple(changelog),
        new_index=new_index,
        deleted_index=tuple(i for m in messages for i in m.deleted_index),
        base_snapshot=oldest_base(m for m in messages if m.has_append),
    )


def compact_change(messages: Iterable[CommitMessage]) -> Change:
    """The second snapshot: DELETE the compaction's input, ADD its output."""
    messages = list(messages)
    entries: list[ManifestEntry] = []
    changelog: list[ManifestEntry] = []
    for m in messages:
        entries += _entries_of_files(DELETE, m, m.compact_before)
        entries += _entries_of_files(ADD, m, m.compact_after)
        changelog += _entries_of_files(ADD, m, m.compact_changelog)
    return Change(
        kind="COMPACT",
        entries=tuple(entries),
        changelog=tuple(changelog),
        new_index=tuple(i for m in messages for i in m.compact_new_index),
        deleted_index=tuple(i for m in messages for i in m.compact_deleted_index),
        base_snapshot=oldest_base(m for m in messages if m.has_compact),
    )


def oldest_base(messages: Iterable[CommitMessage]) -> int | None:
    """The oldest snapshot that any of the messages was planned from; None if one saw an empty table."""
    bases = [m.base_snapshot for m in messages]
    return None if not bases or None in bases else min(b for b in bases if b is not None)


def _entries_of_files(kind: int, message: CommitMessage, files: Iterable[DataFile]) -> list[ManifestEntry]:
    return [ManifestEntry(kind, message.partition, message.bucket, message.total_buckets, f) for f in files]


PartitionSpec = Mapping[str, object]


_MAX_COMMITS = 1000
_MAX_FILES = 50_000
_lock = threading.Lock()
_last: OrderedDict[tuple[str, bytes], CommitRecord]
_consumed: OrderedDict[tuple[tuple[str, bytes], str], str] = OrderedDict()


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """The last commit of this process to one table."""

    snapshot: Snapshot
    files: tuple[str, ...]
    """Names of the data files that the commit added: needed to add the rows again."""


_last = OrderedDict()


@dataclass(frozen=True, slots=True)
class ObservedCommit:
    """A snapshot that this process published."""

    root: str
    """The address of the table."""
    branch: str
    snapshot: int
    thread: int
    """The identifier of the thread that published it."""


_observed: deque[ObservedCommit] = deque(maxlen=_MAX_COMMITS)
_number_of_commits = 0


def number_of_commits() -> int:
    """How many snapshots this process has published."""
    return _number_of_commits


def commits_since(number: int) -> list[ObservedCommit]:
    """The snapshots that this process published after the first `number` ones, as far as they are remembered."""
    with _lock:
        new = _number_of_commits - number
        return list(_observed)[-new:] if new > 0 else []


def record_commit(store: TableStore, snapshot: Snapshot, files: tuple[str, ...]) -> None:
    """Record a commit that was published as `snapshot`."""
    global _number_of_commits
    with _lock:
        _observed.append(ObservedCommit(store.root, store.branch, snapshot.id, threading.get_ident()))
        _number_of_commits += 1
        key = _table_key(store)
        _last.pop(key, None)
        _last[key] = CommitRecord(snapshot, files)
        while len(_last) > _MAX_COMMITS:
            _last.popitem(last=False)


def mark_consumed(store: TableStore, names: Iterable[str], what: str) -> None:
    """Mark files whose messages must not be committed again. `what` is the reason: 'committed' or 'discarded'.

    The log keeps the latest files only.
    """
    key = _table_key(store)
    with _lock:
        _consumed.update(((key, name), what) for name in names)
        while len(_consumed) > _MAX_FILES:
            _consumed.popitem(last=False)


def find_already_committed_message(store: TableStore, names: Iterable[str]) -> tuple[str, str] | None:
    """A name that this process has marked, and its reason; None if there is none."""
    key = _table_key(store)
    with _lock:
        return next(((name, _consumed[key, name]) for name in names if (key, name) in _consumed), None)


def forget_last_commit(store: TableStore) -> None:
    """Drop the record: the history was changed on purpose (rollback, fast-forward)."""
    with _lock:
        _last.pop(_table_key(store), None)


def check_last_commit(store: TableStore, newest: Snapshot | None) -> None:
    """Raise CommitOverwritten, once, if the last snapshot that this process published was changed. `newest`: the newest snapshot now."""
    with _lock:
        noted = _last.get(_table_key(store))
    if noted is None:
        return
    expected = noted.snapshot
    if newest is not None and newest.id == expected.id and same_commit(newest, expected):
        return
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
    forget_last_commit(store)
    by = f"by user {found.commit_user}" if found else "and is gone (rolled back elsewhere?)"
    raise CommitOverwritten(
        f"{store.name}: snapshot {expected.id}, committed by this process, was replaced {by}",
        hint="check the latest rows; add the named data files' rows again if they are missing, then retry",
        snapshot=expected.id,
        user=found.commit_user if found else None,
        files=noted.files,
        path=store.root,
    )


def _table_key(store: TableStore) -> tuple[str, bytes]:
    return (store.branch_root, store.first_schema)
