"""Commits of a stream into a table, with the work of Flink's checkpoints: full compaction at each N-th commit, snapshots
for empty checkpoints, marking complete partitions. Knows neither Spark nor the source of the rows.

Source: Paimon `flink/sink/CommitterOperator.java`, `GlobalFullCompactionSinkWrite.java`,
`listener/PartitionMarkDoneListener.java`.
"""

from __future__ import annotations

import json
import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.errors import CommitConflict, MissingFile, TimeTravelError
from paimon_nb.fs import open_fs, without_scheme
from paimon_nb.options import table as opt
from paimon_nb.options.write import SINK_SAVEPOINT_AUTO_TAG
from paimon_nb.table.read.stream.offset import CommitMark
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.compact.full_compaction import (
    FullCompactionSchedule,
    buckets_written_by,
    full_compact_idle_buckets,
)
from paimon_nb.table.write.maintenance.auto_tags import creates_tags_by_process_time, tag_needs_snapshot
from paimon_nb.table.write.maintenance.partition_done_tracker import IdlePartitions, marks_idle_partitions
from paimon_nb.table.write.maintenance.tags import create_tag
from paimon_nb.table.write.publish.changes import forget_last_commit
from paimon_nb.table.write.stream_small_files import SmallFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.live_files import BucketKey
    from paimon_nb.table.read.store import TableStore

_PENDING = "paimon_partitions.json"
_LOOKED_AT = 20
"""Newest snapshots that are looked at for commits of another process with the same commit user."""
_own_users: set[str] = set()


def is_own_stream(user: str) -> bool:
    """Whether a stream of this process commits, or has committed, as this user."""
    return user in _own_users


class StreamCommitter:
    """Commits of one stream. Not thread-safe.

    Args:
        user: the stream's commit user, the same after a restart; None: a new one.
        folder: the stream's checkpoint folder, which stores the partitions not marked yet; None: a restart loses them.
        ends: a bounded stream: like a batch job it runs a full compaction at its end, which may be any commit.
    """

    def __init__(
        self, store: TableStore, user: str | None = None, folder: str | None = None, *, ends: bool = False
    ) -> None:
        self._commit = TableCommit(store, user)
        self.user, self._ends = self._commit.user, ends
        _own_users.add(self.user)
        self._folder = folder
        self._idle = IdlePartitions(self._load_pending_partitions()) if marks_idle_partitions(store) else None
        self._small_files = SmallFiles()
        self._full_ms = clock.now_ms()
        self._since_full = 0
        """Commits since the last full compaction, including empty ones."""
        self._knows = (
            FullCompactionSchedule.of(store) != FullCompactionSchedule() and self._commit.last_identifier() is None
        )
        """All writes since the last full compaction are in `_written`: the stream did not start before this process."""
        self._written: set[BucketKey] = set()
        self._last: int | None = None
        self._seen = store.snapshots.latest_id() or 0
        """The newest snapshot that this stream knows not to be of another process with the same commit user."""
        self.snapshot: int | None = None
        """The newest snapshot of this stream since its start."""
        self._mark: CommitMark | None = None
        """The commit of `snapshot`."""
        self._came = False
        """A micro-batch arrived since the last call of `on_idle_checkpoint`."""

    # -- with rows

    def is_full(self, store: TableStore, identifier: int) -> bool:
        """Whether the commit with this number is a full compaction."""
        schedule = FullCompactionSchedule.of(store)
        if self._ends:
            return schedule != FullCompactionSchedule()
        if schedule.interval_ms is not None:
            return self._is_over(schedule.interval_ms)
        return schedule.every is not None and identifier % schedule.every == 0

    def commit(
        self, store: TableStore, messages: Sequence[CommitMessage], identifier: int, *, full: bool, **terms: Any
    ) -> list[int]:
        """Publish messages that were prepared with `full`, unless another process commits as the same stream. Parameters, result
        and errors as of `TableCommit.commit`, and those of `check_not_rolled_back`.
        """
        self._commit.store = store
        try:
            self.check_not_rolled_back(store)
            extra = self._compact_idle_buckets(store, messages) if full and terms.get("overwrite") is None else []
        except BaseException:
            self._commit.abort(messages)
            raise
        if self._idle is not None:  # recorded first: a process killed after the commit finds them at its restart
            self._idle.record_written_partitions(
                store, (m.partition for m in messages if m.new_files), terms.get("watermark")
            )
            self._store_pending_partitions()
        terms["ignore_empty"] = terms.get("ignore_empty", True) and not _forces_snapshots(store)
        whole = [*messages, *extra]

        def check(latest: Snapshot | None) -> None:
            self._check_no_other_writer(store, 0 if latest is None else latest.id)
            self._check_last_commit(store, latest)  # a rollback may have come since

        try:
            made = self._commit.commit(whole, identifier, check=check, **terms)
        except TimeTravelError:
            self._commit.abort(whole)
            raise
        if terms.get("overwrite") is None:
            self._small_files.record_new_files(store, messages)
            made += self._small_files.compact(store, self._commit, identifier, terms.get("watermark"))
        self._written |= {(m.partition, m.bucket) for m in messages if m.new_files}
        self._last = identifier
        self._record_snapshot(store, made)
        self._came = True
        self._since_full += 1
        if full:
            self._record_full_compaction(store, whole, made)
        self._mark_complete_partitions(store, terms.get("watermark"))
        return made

    # -- empty checkpoints

    @staticmethod
    def empty_checkpoint_may_commit(store: TableStore) -> bool:
        """Whether empty checkpoints do anything."""
        schedule = FullCompactionSchedule.of(store)
        waits = bool(schedule.interval_ms) or (schedule.every or 1) > 1
        return waits or marks_idle_partitions(store) or _forces_snapshots(store) or creates_tags_by_process_time(store)

    def on_idle_checkpoint(self, store: TableStore, identifier: int | None = None, **terms: Any) -> list[int]:
        """Called when a checkpoint interval has elapsed. If no rows arrived, commits an empty checkpoint. Returns the
        snapshots.

        Args:
            identifier: the number of an empty micro-batch. None: there was none, so snapshots use the number of the
                last commit; the next number belongs to rows that are not delivered yet.
            terms: as of `TableCommit.commit`.
        """
        if self._came and identifier is None:
            self._came = False
            return []
        self._commit.store = store
        number = self._last_number() if identifier is None else identifier
        made: list[int] = []
        self._since_full += 1
        if self._is_overdue(store) or (identifier is not None and self.is_full(store, identifier)):
            if behind := self._compact_idle_buckets(store, ()):
                # Another compaction may come first: this one is due again at the next checkpoint.
                with suppress(CommitConflict):
                    made += self._commit.commit(behind, number, **terms)
            self._record_full_compaction(store, behind, made)
        if not made and (_forces_snapshots(store) or tag_needs_snapshot(store)):
            made += self._commit.commit([], number, ignore_empty=False, **terms)
        if made:
            self._last = number
            self._record_snapshot(store, made)
        self._came = identifier is not None
        self._mark_complete_partitions(store)
        return made

    def _last_number(self) -> int:
        if self._last is None:
            self._last = self._commit.last_identifier() or 0
        return self._last

    # -- rollback of the table

    def check_not_rolled_back(self, store: TableStore) -> None:
        """Check that the last commit of this stream is still in the table, unless it has expired.

        Raises:
            TimeTravelError: the table was rolled back, so rows that the stream counts as stored are not in it.
            CommitConflict: another process commits as the same stream.
        """
        if self.snapshot is not None:
            self._check_no_other_writer(store, store.snapshots.latest_id() or 0)
            self._check_last_commit(store, None)

    def _check_last_commit(self, store: TableStore, latest: Snapshot | None) -> None:
        """See `check_not_rolled_back`. `latest`: the newest snapshot, if it was read just now."""
        if self.snapshot is None or (
            latest is not None and latest.id == self.snapshot and CommitMark.of(latest) == self._mark
        ):
            return
        now = store.snapshots.get_again(self.snapshot)
        if now is None:
            newest = store.snapshots.latest_id()
            if newest is not None and newest > self.snapshot:
                return  # expired
        elif CommitMark.of(now) == self._mark:
            return
        store.check_identity()
        forget_last_commit(store)  # this error reports it
        raise TimeTravelError(
            f"{store.name}: the table was rolled back to before snapshot {self.snapshot}, which this stream has committed",
            hint="the rows of the stream since then are not in the table. A sync that is started again resumes from the position in "
            "the table; a job continues without these rows, or with a new checkpoint (or 'consumer-id') from its beginning",
            wanted=self.snapshot,
        )

    def _check_no_other_writer(self, store: TableStore, newest: int) -> None:
        """Raise CommitConflict if another process has committed as this stream: it had the rows of the next commit, too."""
        for number in range(max(self._seen, newest - _LOOKED_AT) + 1, newest + 1):
            other = store.snapshots.get_again(number)
            if other is not None and other.commit_user == self.user:
                raise CommitConflict(
                    f"{store.name}: another process writes the same stream: snapshot {number} has its commit user {self.user}",
                    hint="stop one of them, and start the other one again: two syncs have one source and target, or two jobs one checkpoint",
                )
        self._seen = newest

    def continue_after(self, snapshot: Snapshot) -> None:
        """The stream continues after a snapshot that it committed before: see `check_not_rolled_back`."""
        self.snapshot, self._mark = snapshot.id, CommitMark.of(snapshot)
        self._seen = max(self._seen, snapshot.id)

    def _record_snapshot(self, store: TableStore, made: Sequence[int]) -> None:
        if not made:
            return
        newest = store.snapshots.get_again(made[-1])
        if newest is not None and newest.commit_user == self.user:
            self.continue_after(newest)
        else:  # a rollback was faster, or an expiry: whoever has this id from now on, it is not this stream's commit
            self.snapshot, self._mark, self._seen = made[-1], None, max(self._seen, made[-1])

    # -- savepoint tag

    def savepoint(self, store: TableStore) -> str | None:
        """The tag of a stopped stream's last snapshot (`sink.savepoint.auto-tag`); None: not configured, or no snapshot."""
        if not self.snapshot or not store.options.get(SINK_SAVEPOINT_AUTO_TAG):
            return None
        snapshot = store.snapshots.get(self.snapshot)
        name = f"savepoint-{snapshot.commit_identifier}"
        create_tag(store, name, snapshot.id, ignore_if_exists=True)
        return name

    # -- full compactions

    def _is_overdue(self, store: TableStore) -> bool:
        schedule = FullCompactionSchedule.of(store)
        if schedule.interval_ms is not None:
            return self._is_over(schedule.interval_ms)
        return schedule.every is not None and self._since_full >= schedule.every

    def _is_over(self, interval_ms: int) -> bool:
        return clock.now_ms() - self._full_ms >= interval_ms

    def _compact_idle_buckets(self, store: TableStore, messages: Iterable[CommitMessage]) -> list[CommitMessage]:
        if not self._knows:
            before = buckets_written_by(store, self.user)
            if before is None:
                return full_compact_idle_buckets(store, None, {(m.partition, m.bucket) for m in messages})
            self._written |= before
            self._knows = True
        return full_compact_idle_buckets(store, self._written, {(m.partition, m.bucket) for m in messages})

    def _record_full_compaction(
        self, store: TableStore, messages: Sequence[CommitMessage], made: Sequence[int]
    ) -> None:
        """Restart the count, unless another writer's compaction came first: then the compaction is still due."""
        if any(m.has_compact for m in messages) and not any(
            store.snapshots.get(i).commit_kind != "APPEND" for i in made
        ):
            return
        self._since_full, self._full_ms = 0, clock.now_ms()
        self._written, self._knows = set(), True

    # -- partitions that are not marked done

    def _mark_complete_partitions(self, store: TableStore, watermark: int | None = None) -> None:
        if self._idle is not None and self._idle.mark_complete_partitions(store, watermark):
            self._store_pending_partitions()

    def _load_pending_partitions(self) -> set[bytes]:
        """Those that were not marked when the stream ended."""
        if self._folder is None:
            return set()
        try:
            return {bytes.fromhex(p) for p in json.loads(open_fs(self._folder, {}).read(self._note_path))}
        except MissingFile:
            return set()

    def _store_pending_partitions(self) -> None:
        if self._folder is not None and self._idle is not None:
            text = json.dumps([p.hex() for p in self._idle.pending])
            open_fs(self._folder, {}).overwrite(self._note_path, text.encode())

    @property
    def _note_path(self) -> str:
        return posixpath.join(without_scheme(self._folder or ""), _PENDING)


def _forces_snapshots(store: TableStore) -> bool:
    return bool(store.options.get(opt.COMMIT_FORCE_CREATE_SNAPSHOT))
