# ruff: noqa: N802  the names are Spark's
"""A table as a source of Structured Streaming. Its offsets are positions of `table/read/stream`; one task reads a bucket.

Runs in Spark's Python workers. Each stream has a subclass with the table as an attribute, so that credentials of a catalog
are not options in the query plan.
"""

from __future__ import annotations

import pickle
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from paimon_nb.base import clock
from paimon_nb.base.errors import TableReplaced, TimeTravelError
from paimon_nb.base.override import override
from paimon_nb.format.data import VALUE_KIND
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.options.read import (
    READ_STREAM_MAXBYTESPERTRIGGER,
    READ_STREAM_MAXFILESPERTRIGGER,
    READ_STREAM_MAXROWSPERTRIGGER,
    READ_STREAM_MAXTRIGGERDELAYMS,
    READ_STREAM_MINROWSPERTRIGGER,
    SCAN_MAX_SNAPSHOT_COUNT,
)
from paimon_nb.spark.errors import encode_errors_of_task, encode_raised_errors
from paimon_nb.spark.streaming.data_source import limits_of_micro_batch
from paimon_nb.spark.types import spark_schema, task_batches
from paimon_nb.table.lsm.merge.merge import INSERT, UPDATE_AFTER, without_retracts
from paimon_nb.table.read.row_kinds import ROWKIND, kind_texts
from paimon_nb.table.read.stream import (
    ConsumerRecord,
    Idle,
    StartPositionFinder,
    StreamOffset,
    StreamSplit,
    StreamStep,
    check_not_rolled_back,
    newest_position,
    next_step,
    read_piece,
    snapshot_or_changelog,
    starts_full,
    steps_between,
)
from paimon_nb.table.tables.system.binlog import binlog_fields, binlog_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyspark.sql.types import StructType

    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.read.stream.retries import RetryFiles

_NO_SNAPSHOT = StreamOffset(0)
"""The offset of a stream that started on a table without snapshots."""
_BIGINT = parse_type("BIGINT")
_MEASURES: Mapping[str, Callable[[StreamStep], int]] = {
    READ_STREAM_MAXFILESPERTRIGGER.key: lambda step: step.files,
    READ_STREAM_MAXBYTESPERTRIGGER.key: lambda step: step.size,
    READ_STREAM_MAXROWSPERTRIGGER.key: lambda step: step.row_count,
    SCAN_MAX_SNAPSHOT_COUNT.key: lambda _step: 1,
}
"""What each limit of a micro-batch counts."""
AVAILABLE = "available"
"""In an offset that the limits of a micro-batch made smaller: the `next` of the position without limits."""
_NOT_OF_POSITION = ("table", "began", "retry", AVAILABLE)


class TableStreamSource(DataSource):
    """The Spark data source of a table's stream; `stream_frame` creates a subclass per stream."""

    store: TableStore
    fields: tuple[DataField, ...]
    """Columns to return."""
    predicate: Predicate | None
    kinds: bool
    """Whether the first column is `rowkind` and retractions are included; else only +I and +U rows."""
    order: str | None
    """Name of a last column with the order of changes: by snapshot, and in a snapshot retractions before new values."""
    begin: StreamOffset | str | None
    """The position in the checkpoint, 'fresh' for a new one; None: unknown before the first micro-batch."""
    tasks: int
    """Approximate number of tasks that read a micro-batch."""
    includes_latest = False
    """Whether `scan.mode` = 'latest' starts with the changes of the latest snapshot, as Spark does."""
    retries: RetryFiles | None = None
    """The rows of a job that wait for another lookup: a micro-batch begins when one is due, also without new rows."""
    records_consumer = True
    """Whether `commit` stores the progress of the `consumer-id`."""
    binlog = False
    """Rows as in `$binlog`: each column is an array, an update is one row."""
    numbers: tuple[DataField, ...] = ()
    """`_SEQUENCE_NUMBER` after the kind, or nothing."""

    @property
    def changes(self) -> tuple[DataField, ...]:
        """The columns of the stream."""
        ordered = () if self.order is None else (DataField(-2, self.order, _BIGINT),)
        if self.binlog:
            kind, *columns = binlog_fields(self.fields)
            return (kind, *self.numbers, *columns)
        return (*((ROWKIND,) if self.kinds else ()), *self.numbers, *self.fields, *ordered)

    def schema(self) -> StructType:
        """The columns of the stream as a Spark schema."""
        return spark_schema(self.changes)

    @override
    def streamReader(self, schema: StructType) -> TableStreamReader:
        """The reader of one query."""
        with encode_raised_errors():
            return TableStreamReader(self)


class TaskInput(InputPartition):
    """The input of one task, in order."""

    def __init__(self, pieces: Sequence[tuple[int, StreamSplit]], predicate: Predicate | None) -> None:
        # Pickled here, independently of Spark's serializer of partitions.
        self.packed = pickle.dumps((tuple(pieces), predicate))


class TableStreamReader(DataSourceStreamReader):
    """One per running query, in a separate process; `read` runs in the tasks."""

    def __init__(self, source: TableStreamSource) -> None:
        self.source, self.store = source, source.store
        self._first = StartPositionFinder(self.store, includes_latest=source.includes_latest)
        self._record = ConsumerRecord(self.store)
        self._position: StreamOffset | None = source.begin if isinstance(source.begin, StreamOffset) else None
        """Position of the query; None until Spark passes it, in the first micro-batch after a start."""
        self._start: StreamOffset | None = None
        """The first position of a new query."""
        self._last_batch_at: float | None = None
        """Start time of the last micro-batch; None before the first one after a start."""
        self._retry: int | None = None
        """The last micro-batch whose waiting rows began another one."""
        self._last: dict[str, Any] | None = None
        """The end of the last micro-batch. Spark compares offsets as texts, so its position must keep its text."""

    def initialOffset(self) -> dict[str, Any]:
        """The start of a new query."""
        with encode_raised_errors():
            position = self._first_position()
            self._position = self._position or position
            return self._offset_json(position)

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # before release 4.3 Spark passes no arguments
        """The end of the next micro-batch: at the latest snapshot, or before it if a limit is set."""
        with encode_raised_errors():
            if self.source.retries is not None:
                due = self.source.retries.due_number(clock.now_ms())
                self._retry = self._retry if due is None else due
            newest = newest_position(self.store)
            if self._position is None and self.source.begin == "fresh":
                self._position = self._first_position()
            start = self._position
            if start is None:
                start = self._first_position()
                return self._offset_json(
                    newest if newest is not None and newest.next > start.next else self._after_start(start)
                )
            begins = start.base is not None if newest is None else newest.next <= start.next
            if start.full and begins:
                newest = self._after_start(start)  # a stream has its first state even beyond 'scan.bounded.watermark'
            if newest is None or newest.next <= start.next - (not start.full):
                return self._offset_json(self._without_new_data(start, newest))
            end = self._apply_limits(start, newest)
            return self._offset_json(start if self._waits_for_rows(start, newest) else end, available=newest.next)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The inputs of the tasks of a micro-batch."""
        with encode_raised_errors():
            self._check_table(start)
            first, last = _start_also_of_repeated_batch(start, end), StreamOffset.from_json(end)
            self._position, self._last = last, end
            if (first.next, first.full) == (last.next, last.full):
                return []
            self._last_batch_at = time.monotonic()
            if last.next < first.next:
                check_not_rolled_back(self.store, first)
                raise TimeTravelError(
                    f"{self.store.name}: the stream has read snapshot {first.next - 1}, but the latest one is {last.next - 1}",
                    hint="the table was rolled back; start the stream again with a new checkpoint",
                    wanted=first.next,
                )
            if first == _NO_SNAPSHOT:
                first = StreamOffset(last.next - 1, full=True)
            steps = list(steps_between(self.store, first, last, self.source.predicate))
            return [TaskInput(pieces, steps[0].predicate) for pieces in distribute_pieces(steps, self.source.tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one task."""
        assert isinstance(partition, TaskInput)
        return _read_changes(self.source, *pickle.loads(partition.packed))

    def commit(self, end: dict[str, Any]) -> None:
        """Record the progress of the consumer after a micro-batch."""
        if not self.source.records_consumer:
            return
        with encode_raised_errors():
            self._record.record_processed_before(StreamOffset.from_json(end))

    # -- offsets

    def _offset_json(self, position: StreamOffset, available: int = 0) -> dict[str, Any]:
        """`available`: the position that the stream could have without the limits of a micro-batch."""
        began = {} if self._start is None else {"began": self._start.to_json()}
        retry = {} if self._retry is None else {"retry": self._retry}
        last = self._last
        if last is not None and self._retry in (None, last.get("retry")):
            at = StreamOffset.from_json(last)
            if (at.next, at.full) == (position.next, position.full):
                return last
        more = {AVAILABLE: available} if available > position.next else {}
        return {**position.to_json(), "table": self.store.identity[:12], **began, **retry, **more}

    def _check_table(self, offset: Mapping[str, Any]) -> None:
        if offset.get("table") not in (None, self.store.identity[:12]):
            raise TableReplaced(
                f"{self.store.name}: the checkpoint belongs to another table, or to one that was dropped",
                hint="start the stream with a new checkpoint location",
                path=self.store.root,
            )

    def _first_position(self) -> StreamOffset:
        """The first position of a new query. It is determined once; Spark calls several methods that need it."""
        if self._start is None:
            position = self._first.position() or _NO_SNAPSHOT
            self._start = StreamOffset(1) if position == _NO_SNAPSHOT and not starts_full(self.store) else position
        return self._start

    # -- the end of a micro-batch

    def _after_start(self, start: StreamOffset) -> StreamOffset:
        """The end of the first micro-batch if there is no newer snapshot."""
        if not start.full:
            return start
        snapshot = snapshot_or_changelog(self.store, start.next)
        return StreamOffset(start.next + 1) if snapshot is None else StreamOffset.after(snapshot)

    def _without_new_data(self, start: StreamOffset, newest: StreamOffset | None) -> StreamOffset:
        """The position if there is no newer snapshot. Raises TimeTravelError: the table was recreated or rolled back."""
        if newest is None and start.next > 1:
            raise TimeTravelError(
                f"{self.store.name}: the stream is at snapshot {start.next}, but the table has no snapshots",
                hint="the table was recreated; start the stream again with a new checkpoint",
                wanted=start.next,
            )
        if not start.full and start != _NO_SNAPSHOT:
            next_step(self.store, start)  # raises if the snapshot can never appear
        return start

    def _apply_limits(self, start: StreamOffset, newest: StreamOffset) -> StreamOffset:
        """The position after as many snapshots as the limits of a micro-batch allow, at least one."""
        limits = [(n, _MEASURES[key]) for key, n in limits_of_micro_batch(self.store.options).items()]
        if not limits or start == _NO_SNAPSHOT:
            return newest
        position, sums = start, [0] * len(limits)
        for step in self._steps_to(start, newest):
            sums = [have + measure(step) for have, (_, measure) in zip(sums, limits, strict=True)]
            if position != start and any(have > limit for have, (limit, _) in zip(sums, limits, strict=True)):
                break
            position = step.after
        return position

    def _waits_for_rows(self, start: StreamOffset, newest: StreamOffset) -> bool:
        """Whether too few rows are available, and not for too long. The first micro-batch after a start does not wait."""
        min_rows, longest = (
            self.store.options.get(o) for o in (READ_STREAM_MINROWSPERTRIGGER, READ_STREAM_MAXTRIGGERDELAYMS)
        )
        if min_rows is None or longest is None or self._last_batch_at is None:
            return False
        if time.monotonic() - self._last_batch_at >= longest / 1000:
            return False
        rows = 0
        for step in self._steps_to(start, newest):
            rows += step.row_count
            if rows >= min_rows:
                return False
        return True

    def _steps_to(self, start: StreamOffset, end: StreamOffset) -> Iterator[StreamStep]:
        """The available steps from one position to another."""
        while start.next < end.next:
            step = next_step(self.store, start, self.source.predicate)
            if isinstance(step, Idle):
                return
            yield step
            start = step.after


def _start_also_of_repeated_batch(start: Mapping[str, Any], end: Mapping[str, Any]) -> StreamOffset:
    """The start of a micro-batch.

    Spark does not store the first offset of a query. If the first micro-batch runs again after a crash, Spark requests the
    first offset again, and the table may have new snapshots. So each offset contains the first one of its query.
    """
    # The start is the first offset of the query, which Spark requests again after a crash.
    if start.get("began") == {k: v for k, v in start.items() if k not in _NOT_OF_POSITION} and "began" in end:
        return StreamOffset.from_json(end["began"])
    return StreamOffset.from_json(start)


def distribute_pieces(steps: Sequence[StreamStep], tasks: int) -> list[list[tuple[int, StreamSplit]]]:
    """Distribute the pieces of steps, each with its snapshot id, to at most `tasks` tasks of similar size.

    The changes of a bucket stay in order in one task.
    """
    groups: dict[object, list[tuple[int, StreamSplit]]] = {}
    for step in steps:
        for number, piece in enumerate(step.pieces):
            unordered = step.full and len(steps) == 1  # a table's state without changes needs no order
            groups.setdefault((piece.split.partition, piece.split.bucket, number if unordered else None), []).append(
                (step.snapshot.id, piece)
            )
    out: list[list[tuple[int, StreamSplit]]] = [[] for _ in range(max(1, min(tasks, len(groups))))]
    loads = [0] * len(out)
    for pieces in groups.values():
        lightest = loads.index(min(loads))
        loads[lightest] += max(1, sum(p.split.size for _, p in pieces))
        out[lightest] += pieces
    return [share for share in out if share]


@encode_errors_of_task
def _read_changes(
    source: TableStreamSource, pieces: Sequence[tuple[int, StreamSplit]], predicate: Predicate | None
) -> Iterator[pa.RecordBatch]:
    names, seen = [f.name for f in source.fields], 0
    for snapshot, piece in pieces:
        rows = read_piece(source.store, piece, names, predicate, sequence=bool(source.numbers))
        if source.binlog:
            arrays = binlog_rows(rows, source.fields, pairs=piece.split.changes, plain=source.numbers)
            yield from task_batches(arrays, source.changes)
            continue
        returned = [*(f.name for f in source.numbers), *names]
        changes = rows.select(returned) if source.kinds else without_retracts(rows).select(returned)
        if source.kinds:
            changes = changes.add_column(0, ROWKIND.name, kind_texts(rows.column(VALUE_KIND)))
        if source.order is not None:
            changes = changes.append_column(
                source.order, _change_order(snapshot, rows.column(VALUE_KIND).to_numpy(), seen)
            )
            seen += rows.num_rows
        yield from task_batches(changes.combine_chunks(), source.changes)


def _change_order(snapshot: int, kinds: np.ndarray, seen: int) -> pa.Array:
    """A number per change that ascends within a bucket.

    A key changes once in a snapshot, so all retractions of the snapshot may come first. A key may then move between buckets.
    """
    is_new_value = (kinds == INSERT) | (kinds == UPDATE_AFTER)
    row = np.arange(seen, seen + len(kinds), dtype=np.int64)
    return pa.array((np.int64(snapshot) << 33) | (is_new_value.astype(np.int64) << 32) | row)
