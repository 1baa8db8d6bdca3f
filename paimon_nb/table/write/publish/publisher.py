"""Publishes messages as one or two snapshots; retries until it wins, is refused, or runs out of retries.

Source: docs/spec/format.md section 3; docs/spec/merge-semantics.md section 11.
"""

from __future__ import annotations

import logging
import random
import time
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING

from paimon_nb.base.errors import (
    AccessDenied,
    BadOptionValue,
    Cancelled,
    CommitConflict,
    CommitError,
    CommitGaveUp,
    MissingFile,
    PaimonError,
    SnapshotNotFound,
    StoreError,
    UnsupportedOperation,
)
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import ADD
from paimon_nb.format.snapshot import Published, Snapshot
from paimon_nb.format.snapshot.directory import same_commit
from paimon_nb.options import table as opt
from paimon_nb.options.support import Access
from paimon_nb.table.write.iceberg import check_column_names, check_publishable, publish_iceberg
from paimon_nb.table.write.publish.abort import abort_messages
from paimon_nb.table.write.publish.attempt import CommitMeta, Plan, try_commit
from paimon_nb.table.write.publish.chain import snapshot_branch_to_clear
from paimon_nb.table.write.publish.changes import (
    BATCH_IDENTIFIER,
    Change,
    CommitMessage,
    append_change,
    compact_change,
    find_already_committed_message,
    mark_consumed,
    record_commit,
)
from paimon_nb.table.write.publish.checks import StrictMode, check_only_adds
from paimon_nb.table.write.publish.head import TableHead
from paimon_nb.table.write.publish.overwrite import Overwrite, drop_change, overwrite_change

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.read.watchers import CommitWatcher

sleep: Callable[[float], None] = time.sleep
"""Replaceable by tests that count retries instead of waiting for them."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Retry limits and waiting times, in milliseconds."""

    min_wait_ms: int
    max_wait_ms: int
    max_retries: int
    timeout_ms: int | None

    @classmethod
    def of(cls, store: TableStore) -> RetryPolicy:
        o = store.options
        return cls(
            o.get(opt.COMMIT_MIN_RETRY_WAIT), o.get(opt.COMMIT_MAX_RETRY_WAIT), o.get(opt.COMMIT_MAX_RETRIES),
            o.get(opt.COMMIT_TIMEOUT),
        )  # fmt: skip

    def wait_s(self, tries: int) -> float:
        """Seconds to wait after the `tries`-th lost attempt: exponential backoff with jitter."""
        span = min(self.max_wait_ms, self.min_wait_ms * 2 ** min(tries, 20))
        return random.uniform(self.min_wait_ms / 2, max(span, self.min_wait_ms)) / 1000


def _checked_messages(messages: Iterable[CommitMessage]) -> list[CommitMessage]:
    """Raises BadOptionValue: not the messages of writers."""
    found = list(messages) if isinstance(messages, Iterable) else None
    if found is None or not all(isinstance(m, CommitMessage) for m in found):
        raise BadOptionValue(
            f"commit() takes the messages of writers, not {type(messages).__name__}",
            hint="commit(writing.prepare_commit())", option="messages",
        )  # fmt: skip
    return found


def _checked(check: Callable[[Snapshot | None], None] | None, plan: Plan) -> Plan:
    """The plan, with a check of the snapshot that it follows."""
    if check is None:
        return plan

    def checked_plan(latest: Snapshot | None) -> Change:
        check(latest)
        return plan(latest)

    return checked_plan


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PublishedMessages:
    """The snapshots that messages became."""

    ids: list[int]
    compaction_error: Exception | None = None
    """Why the messages' compaction was not published, although their rows were."""


class SnapshotPublisher:
    """Publishes the work of one writer identity, without compaction or maintenance after it (see `TableCommit`).

    Args:
        store: the table.
        commit_user: identity across commits of one job; default: a fresh UUID for a batch write.
    """

    def __init__(self, store: TableStore, commit_user: str | None = None) -> None:
        store.check_supported(Access.WRITE)
        if store.has_iceberg_metadata:
            check_publishable(store.schema)
            check_column_names(store)
        self.store = store
        self._head: TableHead | None = None
        prefix = store.options.get(opt.COMMIT_USER_PREFIX)
        self.user = commit_user or (f"{prefix}_{uuid.uuid4()}" if prefix else str(uuid.uuid4()))
        strict = store.options.get(opt.COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT) is not None
        self._strict = StrictMode(store, self.user) if strict else None

    def checked_messages(
        self, messages: Iterable[CommitMessage], expected_rows: int | None = None
    ) -> list[CommitMessage]:
        """The messages that are not empty.

        Args:
            messages: the messages of writers.
            expected_rows: the number of rows that they must have; None: any.

        Returns:
            Those to publish.

        Raises:
            CommitError: they do not have the expected number of rows.
            UnsupportedOperation: this process has committed or discarded some of them before.
        """
        found = [m for m in _checked_messages(messages) if not m.is_empty or m.row_count]
        self._check_not_committed_before(found)
        _check_row_count(found, expected_rows)
        return found

    def publish_messages(
        self,
        messages: Sequence[CommitMessage],
        meta: CommitMeta,
        *,
        overwrite: Overwrite | None = None,
        ignore_empty: bool = True,
        check: Callable[[Snapshot | None], None] | None = None,
    ) -> PublishedMessages:
        """Publish the rows of messages as one snapshot, and their compaction as another one.

        Args:
            messages: those of `checked_messages`.
            meta: user, number, properties and watermark of the snapshots.
            overwrite: the partitions to replace; None appends.
            ignore_empty: False creates an APPEND snapshot even without changes.
            check: called before each attempt with the snapshot that the commit would follow.

        Returns:
            The ids of the snapshots, and why the compaction is not among them.

        Raises:
            CommitError, Cancelled, UnsupportedOperation, AccessDenied: nothing is committed; the files of the messages are deleted.
        """
        made: list[int] = []
        try:
            head = self._checked_head()
            second = compact_change(messages)
            following = second if self._publishes_in_pairs and not second.is_empty else None
            if overwrite is not None:
                made += self._publish_until_won(
                    _checked(check, lambda latest: overwrite_change(self.store, latest, messages, overwrite)),
                    meta,
                    head=head,
                    following=following,
                )
            else:
                first = append_change(messages)
                if not first.is_empty or not ignore_empty:
                    made += self._publish_until_won(
                        _checked(check, lambda _: first),
                        meta,
                        empty_too=not ignore_empty,
                        head=head,
                        following=following,
                    )
            if not second.is_empty and len(made) < 2:
                try:
                    made += self._publish_until_won(lambda _: second, meta)
                except (StoreError, OSError) as error:
                    if not made:
                        raise
                    return self._with_rows_only(messages, made, error)
        except (CommitError, Cancelled, UnsupportedOperation, AccessDenied) as error:
            # Refused before or instead of publishing: no snapshot holds these files. After the first snapshot was
            # published, only the compaction's files are unused.
            abort_messages(self.store, messages, compaction_only=bool(made))
            if not made:
                raise
            return self._with_rows_only(messages, made, error)
        if made:
            mark_consumed(self.store, (name for m in messages for name in m.written), "committed")
        return PublishedMessages(made)

    def _with_rows_only(
        self, messages: Sequence[CommitMessage], made: list[int], error: Exception
    ) -> PublishedMessages:
        """After the rows were published and their compaction was not: a later compaction merges them and writes their changelog."""
        added = (name for m in messages for name in m.written - m.written_by_compaction)
        mark_consumed(self.store, added, "committed")
        if not isinstance(error, CommitConflict):
            log.warning("%s: the rows are committed, their compaction is postponed: %s", self.store.name, error)
        return PublishedMessages(made, compaction_error=error)

    def publish(self, change: Change | Plan, identifier: int = BATCH_IDENTIFIER, **meta: object) -> int | None:
        """Publish a change that is not made of messages, such as TRUNCATE or ANALYZE.

        Args:
            change: the change, or a function from the latest snapshot (or None) to it.
            identifier: number of the commit in its job; the default is for batch writes.
            meta: `properties` and `watermark` of the snapshot.

        Returns:
            The id of the new snapshot; None if there is nothing to change.

        Raises:
            CommitError: as `commit`.
        """
        plan: Plan = change if callable(change) else lambda _: change
        head = self._checked_head()
        made = self._publish_until_won(plan, CommitMeta(self.user, identifier, **meta), head=head)  # type: ignore[arg-type]
        return made[0] if made else None

    def filter_committed(self, identifiers: Sequence[int]) -> list[int]:
        """Remove identifiers that this commit user has committed already. A restarted job uses it.

        Args:
            identifiers: numbers of commits.

        Returns:
            The identifiers that are not committed yet.

        Examples:
            >>> commit = t.commit("job-1")
            >>> with t.write() as write:
            ...     write.write(pa.table({"id": pa.array([4], pa.int32())}))
            ...     commit.commit(write.prepare_commit(), 1)
            [3]
            >>> t.commit("job-1").filter_committed([1, 2])
            [2]
        """
        last = self.last_identifier()
        return [i for i in identifiers if last is None or i > last]

    def abort(self, messages: Iterable[CommitMessage]) -> None:
        """Delete the files of messages that were not committed. Files that a snapshot references are kept.

        Args:
            messages: the messages.
        """
        abort_messages(self.store, messages)

    def _check_not_committed_before(self, messages: Sequence[CommitMessage]) -> None:
        """A file that is added twice, or that an abort deleted, would make the table unreadable."""
        again = find_already_committed_message(self.store, (name for m in messages for name in m.written))
        if again is not None:
            raise UnsupportedOperation(
                f"{self.store.name}: these messages are {again[1]} already; nothing was changed",
                hint="commit messages only once; write the rows again with a new writer",
                file=again[0],
            )

    # -- the retry loop

    def begin_with(self, head: TableHead | None) -> None:
        """Let the first attempt of the next commit build on what its write began with.

        Args:
            head: what `TableHead.checked` returned a moment ago; None: the newest snapshot is read again.
        """
        self._head = head

    def _checked_head(self) -> TableHead:
        """What the first attempt builds on. Raises TableReplaced, CommitOverwritten."""
        head, self._head = self._head, None
        return head or TableHead.checked(self.store)

    @property
    def _publishes_in_pairs(self) -> bool:
        """Whether a compaction's snapshot is prepared with that of the rows: not if something comes between the two."""
        store = self.store
        return not (
            store.versions is not None  # the server may change the first one
            or store.has_iceberg_metadata
            or self._strict is not None
            or store.options.get(opt.BRANCH_MERGE_ENABLED)
        )

    def _publish_until_won(
        self,
        plan: Plan,
        meta: CommitMeta,
        empty_too: bool = False,
        head: TableHead | None = None,
        following: Change | None = None,
    ) -> list[int]:
        """Retry until won. Each attempt starts from the newest snapshot, the first one from `head` if it is set.

        `following` is published as the next snapshot if no other commit comes between and nothing contradicts it. Returns the ids
        of what was published.
        """
        store, pauses, started = self.store, RetryPolicy.of(self.store), time.monotonic()
        seen: int | None = None
        tries = 0
        while True:
            head = head or TableHead.of(store)
            latest = head.snapshot
            if seen is None:
                seen = latest.id if latest else 0
            if latest is not None and latest.schema_id > store.schema.id:
                store.check_not_replaced(latest.schema_id)
            try:
                change = plan(latest)
            except MissingFile:
                newer = self._newer_head(head)
                if newer is None:
                    raise  # the file is lost
                head = newer
                continue
            if change.is_empty and not empty_too:
                return []
            if store.options.get(opt.BRANCH_MERGE_ENABLED):
                check_only_adds(store, change)
            if (
                latest is not None
                and latest.id > seen
                and (own := self._find_own_commit(seen, latest.id, change, meta))
            ):
                return [own.id]
            if self._strict is not None:
                self._strict.check(latest, change)
            clears = snapshot_branch_to_clear(store, change) if store.chain_names else None
            try:
                outcome = try_commit(store, head, change, meta, following)
            except CommitConflict:
                store.check_identity()  # it was dropped or moved: that says more
                raise
            except MissingFile:
                newer = self._newer_head(head)
                if newer is None:
                    raise  # the file is lost
                head = newer
                continue
            if outcome.published is not Published.LOST:
                self._record(outcome.snapshot, change)
                if clears is not None:
                    _drop_from(*clears)
                if outcome.error is not None:
                    raise outcome.error
                if outcome.next_snapshot is None or following is None:
                    return [outcome.snapshot.id]
                self._record(outcome.next_snapshot, following)
                return [outcome.snapshot.id, outcome.next_snapshot.id]
            tries += 1
            seconds = time.monotonic() - started
            if tries > pauses.max_retries or (pauses.timeout_ms is not None and seconds * 1000 > pauses.timeout_ms):
                raise CommitGaveUp(
                    f"{store.name}: other writers won {tries} times in {seconds:.1f} s",
                    hint="retry later, or increase 'commit.max-retries'",
                    tries=tries,
                    snapshot=outcome.snapshot.id,
                    path=store.root,
                )
            sleep(pauses.wait_s(tries))
            head = TableHead.of(store, store.check_first_schema, store.check_schema_unchanged)

    def _newer_head(self, head: TableHead) -> TableHead | None:
        """The head now, if others committed and `head` expired while it was read; None if it is the same."""
        newest = TableHead.of(self.store, self.store.check_first_schema, self.store.check_schema_unchanged)
        if head.snapshot is None or newest.snapshot is None or same_commit(head.snapshot, newest.snapshot):
            return None
        return newest

    def _record(self, snapshot: Snapshot, change: Change) -> None:
        """Let everyone who needs to know see that `snapshot` was published."""
        if self._strict is not None:
            self._strict.record_success(snapshot.id)
        added = [e for e in change.entries if e.kind == ADD]
        record_commit(self.store, snapshot, tuple(e.file.file_name for e in added))
        notify_partitions_added(self.store, {e.partition for e in added})
        if self.store.has_iceberg_metadata:
            publish_iceberg(self.store)

    def _find_own_commit(self, seen: int, newest: int, change: Change, meta: CommitMeta) -> Snapshot | None:
        """A snapshot after `seen` that is this very commit: it succeeded although a failure was reported."""
        for snapshot_id in range(newest, seen, -1):
            try:
                found = self.store.snapshots.get(snapshot_id)
            except SnapshotNotFound:
                break  # expired in the meantime
            same = (found.commit_user, found.commit_identifier) == (meta.user, meta.identifier)
            if same and found.commit_kind == change.kind:
                return found
        return None

    def last_identifier(self) -> int | None:
        """The identifier of the last commit of this user among the existing snapshots.

        Returns:
            The identifier; None if there is none.
        """
        newest, oldest = self.store.snapshots.latest_id(), self.store.snapshots.earliest_id()
        for snapshot_id in range(newest or 0, (oldest or 1) - 1, -1):
            try:
                found = self.store.snapshots.get(snapshot_id)
            except SnapshotNotFound:
                return None
            if found.commit_user == self.user:
                return found.commit_identifier
        return None


def _check_row_count(messages: Sequence[CommitMessage], expected: int | None) -> None:
    if expected is None:
        return
    received = sum(m.row_count for m in messages)
    if received != expected:
        raise CommitError(
            f"the writers received {received} rows but the source counted {expected}; nothing was committed",
            hint="run the statement again; a task was lost or ran twice",
            written=received,
            expected=expected,
        )


# -- listeners, such as a metastore that lists partitions


def notify_partitions_added(store: TableStore, partitions: Collection[bytes]) -> None:
    """Called after a snapshot with new files in these partitions was published."""
    _notify_catalog(store, lambda watcher: watcher.added(store, partitions))


def notify_partitions_dropped(store: TableStore, partitions: Collection[bytes]) -> None:
    """Called after these partitions were dropped."""
    _notify_catalog(store, lambda watcher: watcher.dropped(store, partitions))


def _notify_catalog(store: TableStore, event: Callable[[CommitWatcher], None]) -> None:
    """The snapshot is published; a listener error does not undo it."""
    if store.watcher is None:
        return
    try:
        event(store.watcher)
    except (PaimonError, OSError) as error:
        log.warning("%s: the catalog's partition list was not updated, run CALL sys.repair: %s", store.name, error)


def _drop_from(store: TableStore, partitions: frozenset[bytes]) -> None:
    """Drop partitions of another branch."""
    SnapshotPublisher(store).publish(lambda latest: drop_change(store, latest, partitions))
