"""Commits of a stream into a table, and what Flink's checkpoints do beside the rows: each N-th compacts everything, those
without rows may make a snapshot, partitions that are complete are marked. Knows neither Spark nor where rows come from.

Source: Paimon `flink/sink/CommitterOperator.java`, `GlobalFullCompactionSinkWrite.java`, `listener/PartitionMarkDoneListener.java`.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Sequence
from typing import Any

from paimon_nb.base import clock
from paimon_nb.base.errors import MissingFile
from paimon_nb.fs import open_fs, without_scheme
from paimon_nb.options import table as opt
from paimon_nb.options.write import SINK_SAVEPOINT_AUTO_TAG
from paimon_nb.table.commit import CommitMessage, TableCommit
from paimon_nb.table.commit.live_files import BucketKey
from paimon_nb.table.compact.full_compaction import FullCompactions, compact_behind, written_by
from paimon_nb.table.maintenance.auto_tags import makes_tags_by_clock, waits_for_a_snapshot
from paimon_nb.table.maintenance.partition_done_tracker import IdlePartitions, marks_idle
from paimon_nb.table.maintenance.tags import create_tag
from paimon_nb.table.store import TableStore

_PENDING = "paimon_partitions.json"


class StreamCommitter:
    """One stream's. Not for several threads.

    Args:
        user: the stream's commit user, the same after a restart; None: a new one.
        folder: where the stream keeps its own checkpoint, for the partitions that are not marked yet; None: a restart forgets them.
        ends: the stream takes what is there and is over: as a batch job it compacts everything at its end, which may be any commit.
    """

    def __init__(
        self, store: TableStore, user: str | None = None, folder: str | None = None, *, ends: bool = False
    ) -> None:
        self._commit = TableCommit(store, user)
        self.user, self._ends = self._commit.user, ends
        self._folder = folder
        self._idle = IdlePartitions(self._noted()) if marks_idle(store) else None
        self._full_ms = clock.now_ms()
        self._since_full = 0
        """StreamCommitter since the last full compaction, those without rows too."""
        self._knows = FullCompactions.of(store) != FullCompactions() and self._commit.last_identifier() is None
        """All that the stream wrote since its last full compaction is in `_written`: it did not begin before this process."""
        self._written: set[BucketKey] = set()
        self._last: int | None = None
        self.snapshot: int | None = None
        """The newest that this stream made since it began."""
        self._came = False
        """A micro-batch came since the last call of `quiet`."""

    # -- with rows

    def is_full(self, store: TableStore, identifier: int) -> bool:
        """Whether the commit of this number compacts everything."""
        schedule = FullCompactions.of(store)
        if self._ends:
            return schedule != FullCompactions()
        if schedule.interval_ms is not None:
            return self._is_over(schedule.interval_ms)
        return schedule.every is not None and identifier % schedule.every == 0

    def commit(
        self, store: TableStore, messages: Sequence[CommitMessage], identifier: int, *, full: bool, **terms: Any
    ) -> list[int]:
        """Publish messages that were prepared with `full`. Terms, result and errors as of `TableCommit.commit`."""
        self._commit.store = store
        try:
            beside = self._behind(store, messages) if full and terms.get("overwrite") is None else []
        except BaseException:
            self._commit.abort(messages)
            raise
        if self._idle is not None:  # noted before: who is killed behind the commit finds them when it starts again
            self._idle.wrote(store, (m.partition for m in messages if m.new_files), terms.get("watermark"))
            self._note()
        terms["ignore_empty"] = terms.get("ignore_empty", True) and not _forces_snapshots(store)
        whole = [*messages, *beside]
        made = self._commit.commit(whole, identifier, **terms)
        self._written |= {(m.partition, m.bucket) for m in messages if m.new_files}
        self._last = identifier
        self.snapshot = made[-1] if made else self.snapshot
        self._came = True
        self._since_full += 1
        if full:
            self._was_full(store, whole, made)
        self._mark(store, terms.get("watermark"))
        return made

    # -- without

    @staticmethod
    def count_without_rows(store: TableStore) -> bool:
        """Whether checkpoints without rows do anything."""
        schedule = FullCompactions.of(store)
        waits = bool(schedule.interval_ms) or (schedule.every or 1) > 1
        return waits or marks_idle(store) or _forces_snapshots(store) or makes_tags_by_clock(store)

    def quiet(self, store: TableStore, identifier: int | None = None, **terms: Any) -> list[int]:
        """The time between two checkpoints is over: unless rows came meanwhile, one without rows is due. Returns the snapshots made.

        Args:
            identifier: the number of a micro-batch without rows. None: there was none, so snapshots bear the number of the last
                commit; that of the next belongs to rows that are not delivered yet.
            terms: as of `TableCommit.commit`.
        """
        if self._came and identifier is None:
            self._came = False
            return []
        self._commit.store = store
        number = self._number() if identifier is None else identifier
        made: list[int] = []
        self._since_full += 1
        if self._is_overdue(store) or (identifier is not None and self.is_full(store, identifier)):
            if behind := self._behind(store, ()):
                made += self._commit.commit(behind, number, **terms)
            self._was_full(store, behind, made)
        if not made and (_forces_snapshots(store) or waits_for_a_snapshot(store)):
            made += self._commit.commit([], number, ignore_empty=False, **terms)
        if made:
            self._last, self.snapshot = number, made[-1]
        self._came = identifier is not None
        self._mark(store)
        return made

    def _number(self) -> int:
        if self._last is None:
            self._last = self._commit.last_identifier() or 0
        return self._last

    # -- the last

    def savepoint(self, store: TableStore) -> str | None:
        """The tag that keeps what a stream that was stopped made last (`sink.savepoint.auto-tag`); None: no tag was asked for, or
        nothing was made."""
        if not self.snapshot or not store.options.get(SINK_SAVEPOINT_AUTO_TAG):
            return None
        snapshot = store.snapshots.get(self.snapshot)
        name = f"savepoint-{snapshot.commit_identifier}"
        create_tag(store, name, snapshot.id, ignore_if_exists=True)
        return name

    # -- full compactions

    def _is_overdue(self, store: TableStore) -> bool:
        schedule = FullCompactions.of(store)
        if schedule.interval_ms is not None:
            return self._is_over(schedule.interval_ms)
        return schedule.every is not None and self._since_full >= schedule.every

    def _is_over(self, interval_ms: int) -> bool:
        return clock.now_ms() - self._full_ms >= interval_ms

    def _behind(self, store: TableStore, messages: Iterable[CommitMessage]) -> list[CommitMessage]:
        if not self._knows:
            before = written_by(store, self.user)
            if before is None:
                return compact_behind(store, None, {(m.partition, m.bucket) for m in messages})
            self._written |= before
            self._knows = True
        return compact_behind(store, self._written, {(m.partition, m.bucket) for m in messages})

    def _was_full(self, store: TableStore, messages: Sequence[CommitMessage], made: Sequence[int]) -> None:
        """Begin anew, unless another writer's compaction went before this one: then what it was for is still to be done."""
        if any(m.has_compact for m in messages) and not any(
            store.snapshots.get(i).commit_kind != "APPEND" for i in made
        ):
            return
        self._since_full, self._full_ms = 0, clock.now_ms()
        self._written, self._knows = set(), True

    # -- partitions that are not marked

    def _mark(self, store: TableStore, watermark: int | None = None) -> None:
        if self._idle is not None and self._idle.mark(store, watermark):
            self._note()

    def _noted(self) -> set[bytes]:
        """Those that were not when the stream ended."""
        if self._folder is None:
            return set()
        try:
            return {bytes.fromhex(p) for p in json.loads(open_fs(self._folder, {}).read(self._note_path))}
        except MissingFile:
            return set()

    def _note(self) -> None:
        if self._folder is not None and self._idle is not None:
            text = json.dumps([p.hex() for p in self._idle.pending])
            open_fs(self._folder, {}).overwrite(self._note_path, text.encode())

    @property
    def _note_path(self) -> str:
        return posixpath.join(without_scheme(self._folder or ""), _PENDING)


def _forces_snapshots(store: TableStore) -> bool:
    return bool(store.options.get(opt.COMMIT_FORCE_CREATE_SNAPSHOT))
