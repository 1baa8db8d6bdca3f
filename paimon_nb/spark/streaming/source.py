# ruff: noqa: N802  the names are Spark's
"""A table as a source of Structured Streaming: positions of `table/stream` as offsets, one task a bucket.

Runs in Spark's Python workers. Each stream gets a data source class of its own that carries the table, so that no
credential of a catalog is ever an option in a query plan.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from paimon_nb.base.errors import TableReplaced, TimeTravelError
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
from paimon_nb.spark.errors import crossing_tasks, packed_errors
from paimon_nb.spark.types import spark_schema, task_batches
from paimon_nb.table.merge.merge import INSERT, UPDATE_AFTER, without_retracts
from paimon_nb.table.scan.predicate.model import Predicate
from paimon_nb.table.store import TableStore
from paimon_nb.table.stream import (
    ConsumerRecord,
    FirstLook,
    Idle,
    StreamOffset,
    StreamSplit,
    StreamStep,
    newest_position,
    next_step,
    read_piece,
    starts_full,
    steps_between,
)
from paimon_nb.table.system.audit_log import ROWKIND, kind_texts
from paimon_nb.table.system.binlog import binlog_fields, pack_updates

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_NOTHING_YET = StreamOffset(0)
"""The offset of a stream that began on a table without snapshot."""
_BIGINT = parse_type("BIGINT")


class TableStreamSource(DataSource):
    """See `stream_frame`, which makes the subclasses."""

    store: TableStore
    fields: tuple[DataField, ...]
    """Columns to deliver."""
    predicate: Predicate | None
    kinds: bool
    """A column `rowkind` goes first and retractions are told; else only rows that are there (+I, +U)."""
    order: str | None
    """A last column of this name tells the order of changes: snapshot by snapshot, in each what goes before what comes."""
    begin: StreamOffset | str | None
    """Where the checkpoint stands, 'fresh' for a new one; None: not known before the first micro-batch."""
    tasks: int
    """About how many tasks read a micro-batch."""
    binlog = False
    """Rows as `$binlog` has them: each column an array, an update one row."""

    @property
    def changes(self) -> tuple[DataField, ...]:
        """The columns of its rows."""
        ordered = () if self.order is None else (DataField(-2, self.order, _BIGINT),)
        if self.binlog:
            return binlog_fields(self.fields)
        return (*((ROWKIND,) if self.kinds else ()), *self.fields, *ordered)

    def schema(self) -> StructType:
        return spark_schema(self.changes)

    def streamReader(self, schema: StructType) -> TableStreamReader:
        with packed_errors():
            return TableStreamReader(self)


class Share(InputPartition):
    """What one task reads, in order."""

    def __init__(self, pieces: Sequence[tuple[int, StreamSplit]], predicate: Predicate | None) -> None:
        # Pickled by us: Spark's serializer of partitions need not know our classes' state.
        self.packed = pickle.dumps((tuple(pieces), predicate))


class TableStreamReader(DataSourceStreamReader):
    """One per running query, in a process of its own; `read` runs in the tasks."""

    def __init__(self, source: TableStreamSource) -> None:
        self.source, self.store = source, source.store
        self._first = FirstLook(self.store)
        self._record = ConsumerRecord(self.store)
        self._known: StreamOffset | None = source.begin if isinstance(source.begin, StreamOffset) else None
        """Where the query stands; None until Spark told us (it does not before the first micro-batch after a start)."""
        self._began: StreamOffset | None = None
        """The first position, if this query is a new one."""
        self._last_batch: float | None = None
        """When the last micro-batch began; None before the first after a start."""

    def initialOffset(self) -> dict[str, Any]:
        with packed_errors():
            position = self._beginning()
            self._known = self._known or position
            return self._offset(position)

    def latestOffset(self) -> dict[str, Any]:
        with packed_errors():
            newest = newest_position(self.store)
            if self._known is None and self.source.begin == "fresh":
                self._known = self._beginning()
            start = self._known
            if start is None:
                start = self._beginning()
                return self._offset(newest if newest is not None and newest.next > start.next else self._behind(start))
            if start.full and newest is not None and newest.next <= start.next:
                newest = self._behind(start)  # the first state is shown even if it lies behind the bounded watermark
            if newest is None or newest.next <= start.next - (not start.full):
                return self._offset(self._unmoved(start, newest))
            end = self._limited(start, newest)
            return self._offset(start if self._waits(start, end) else end)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        with packed_errors():
            self._check_table(start)
            first, last = _beginning_of(start, end), StreamOffset.from_json(end)
            self._known = last
            if first == last:
                return []
            self._last_batch = time.monotonic()
            if last.next < first.next:
                raise TimeTravelError(
                    f"{self.store.name}: the stream came to snapshot {first.next - 1} before, but {last.next - 1} is the newest now",
                    hint="the table was rolled back; start the stream again with a new checkpoint",
                    wanted=first.next,
                )
            if first == _NOTHING_YET:
                first = StreamOffset(last.next - 1, full=True)
            steps = list(steps_between(self.store, first, last, self.source.predicate))
            return [Share(pieces, steps[0].predicate) for pieces in shares(steps, self.source.tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Share)
        return _rows(self.source, *pickle.loads(partition.packed))

    def commit(self, end: dict[str, Any]) -> None:
        with packed_errors():
            self._record.keep(StreamOffset.from_json(end))

    # -- offsets

    def _offset(self, position: StreamOffset) -> dict[str, Any]:
        began = {} if self._began is None else {"began": self._began.to_json()}
        return {**position.to_json(), "table": self.store.identity[:12], **began}

    def _check_table(self, offset: Mapping[str, Any]) -> None:
        if offset.get("table") not in (None, self.store.identity[:12]):
            raise TableReplaced(
                f"{self.store.name}: the checkpoint belongs to another table, or to one that was dropped since",
                hint="start the stream with a new checkpoint location",
                path=self.store.root,
            )

    def _beginning(self) -> StreamOffset:
        """The first position of a new query; found once, though Spark asks in several ways."""
        if self._began is None:
            position = self._first.position() or _NOTHING_YET
            self._began = StreamOffset(1) if position == _NOTHING_YET and not starts_full(self.store) else position
        return self._began

    # -- how far to go

    def _behind(self, start: StreamOffset) -> StreamOffset:
        """The first position of a query that Spark did not tell us about, when there is nothing new."""
        return StreamOffset(start.next + 1) if start.full else start

    def _unmoved(self, start: StreamOffset, newest: StreamOffset | None) -> StreamOffset:
        """Nothing new; or the table is not what it was, which is an error and not a wait."""
        if newest is None and start.next > 1:
            raise TimeTravelError(
                f"{self.store.name}: the stream stands at snapshot {start.next}, but the table has none",
                hint="the table was made anew; start the stream again with a new checkpoint",
                wanted=start.next,
            )
        if not start.full and start != _NOTHING_YET:
            next_step(self.store, start)  # raises where waiting is in vain
        return start

    def _limited(self, start: StreamOffset, newest: StreamOffset) -> StreamOffset:
        """As many snapshots as the limits of a micro-batch allow, one at least."""
        limits = [
            (int(limit), measure)
            for option, measure in (
                (READ_STREAM_MAXFILESPERTRIGGER, lambda s: s.files),
                (READ_STREAM_MAXBYTESPERTRIGGER, lambda s: s.size),
                (READ_STREAM_MAXROWSPERTRIGGER, lambda s: s.row_count),
                (SCAN_MAX_SNAPSHOT_COUNT, lambda _s: 1),
            )
            if (limit := self.store.options.get(option)) is not None and limit > 0
        ]
        if not limits or start == _NOTHING_YET:
            return newest
        position, sums = start, [0] * len(limits)
        for step in self._ahead(start, newest):
            sums = [have + measure(step) for have, (_, measure) in zip(sums, limits, strict=True)]
            if position != start and any(have > limit for have, (limit, _) in zip(sums, limits, strict=True)):
                break
            position = step.after
        return position

    def _waits(self, start: StreamOffset, end: StreamOffset) -> bool:
        """Too few rows for a micro-batch, and not yet for too long. The first one after a start does not wait."""
        min_rows, longest = (
            self.store.options.get(o) for o in (READ_STREAM_MINROWSPERTRIGGER, READ_STREAM_MAXTRIGGERDELAYMS)
        )
        if min_rows is None or longest is None or self._last_batch is None:
            return False
        if time.monotonic() - self._last_batch >= longest / 1000:
            return False
        rows = 0
        for step in self._ahead(start, end):
            rows += step.row_count
            if rows >= min_rows:
                return False
        return True

    def _ahead(self, start: StreamOffset, end: StreamOffset) -> Iterator[StreamStep]:
        """The steps from one position towards another, as far as they are there."""
        while start.next < end.next:
            step = next_step(self.store, start, self.source.predicate)
            if isinstance(step, Idle):
                return
            yield step
            start = step.after


def _beginning_of(start: Mapping[str, Any], end: Mapping[str, Any]) -> StreamOffset:
    """Where a micro-batch begins.

    Spark does not keep the first offset of a query: when its first micro-batch is run again after a crash, it asks anew, and
    the table has moved on. So each offset tells with what its query began.
    """
    if start.get("began") == {k: v for k, v in start.items() if k not in ("table", "began")} and "began" in end:
        return StreamOffset.from_json(end["began"])
    return StreamOffset.from_json(start)


def shares(steps: Sequence[StreamStep], tasks: int) -> list[list[tuple[int, StreamSplit]]]:
    """The pieces of some steps, each with its snapshot, for about `tasks` tasks. The changes of a bucket stay in one task, in
    their order."""
    groups: dict[object, list[tuple[int, StreamSplit]]] = {}
    for step in steps:
        for number, piece in enumerate(step.pieces):
            apart = step.full and len(steps) == 1  # a state alone has no order to keep
            groups.setdefault((piece.split.partition, piece.split.bucket, number if apart else None), []).append(
                (step.snapshot.id, piece)
            )
    out: list[list[tuple[int, StreamSplit]]] = [[] for _ in range(max(1, min(tasks, len(groups))))]
    loads = [0] * len(out)
    for pieces in groups.values():
        lightest = loads.index(min(loads))
        loads[lightest] += max(1, sum(p.split.size for _, p in pieces))
        out[lightest] += pieces
    return [share for share in out if share]


@crossing_tasks
def _rows(
    source: TableStreamSource, pieces: Sequence[tuple[int, StreamSplit]], predicate: Predicate | None
) -> Iterator[pa.RecordBatch]:
    names, seen = [f.name for f in source.fields], 0
    for snapshot, piece in pieces:
        rows = read_piece(source.store, piece, names, predicate)
        if source.binlog:
            yield from task_batches(pack_updates(rows, source.fields, pairs=piece.split.changes), source.changes)
            continue
        changes = rows.select(names) if source.kinds else without_retracts(rows).select(names)
        if source.kinds:
            changes = changes.add_column(0, ROWKIND.name, kind_texts(rows.column(VALUE_KIND)))
        if source.order is not None:
            changes = changes.append_column(source.order, _orders(snapshot, rows.column(VALUE_KIND).to_numpy(), seen))
            seen += rows.num_rows
        yield from task_batches(changes.combine_chunks(), source.changes)


def _orders(snapshot: int, kinds: np.ndarray, seen: int) -> pa.Array:
    """Rises from change to change of a bucket. Within a snapshot a key changes once, so all that goes may go first: another row
    may take a place that it leaves, in another bucket."""
    comes = (kinds == INSERT) | (kinds == UPDATE_AFTER)
    row = np.arange(seen, seen + len(kinds), dtype=np.int64)
    return pa.array((np.int64(snapshot) << 33) | (comes.astype(np.int64) << 32) | row)
