"""DataFrames into tables: small ones in the driver, big ones in Spark tasks; one commit in the driver either way."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.format.row import from_scalar
from paimon_nb.spark.errors import crossing_tasks, spark_errors
from paimon_nb.spark.jobs.job_cleanup import marked, sweep
from paimon_nb.spark.runtime.arrow_batching import narrow_first
from paimon_nb.spark.runtime.arrow_interop import collect, session_zone
from paimon_nb.spark.runtime.jvm_bridge import optimized_plan
from paimon_nb.spark.types import from_spark_arrow, spark_arrow_type
from paimon_nb.spark.write.bucket_shuffle import spread
from paimon_nb.table.commit import CommitMessage, TableCommit
from paimon_nb.table.publish.changes import BATCH_IDENTIFIER
from paimon_nb.table.publish.overwrite import Overwrite
from paimon_nb.table.store import TableStore
from paimon_nb.table.stream.committer import StreamCommitter
from paimon_nb.table.write import TableWrite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.format.types import DataField
    from paimon_nb.table.table import Table

INLINE_BYTES = 32 << 20
"""Sources that Spark estimates to be no larger are written in the driver: starting tasks costs more than the work."""
BATCH_ROWS = 1 << 18
"""Rows that a task gathers before it hands them to the writer: sorting and splitting like few, long pieces."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What a write made visible."""

    snapshots: tuple[int, ...]
    """Ids of the snapshots, none when there was nothing to write."""
    rows: int
    """Rows that the source gave."""
    inline: bool
    """True when the driver wrote them itself."""


def write(
    frame: DataFrame,
    table: Table,
    *,
    overwrite: str | None = None,
    static_partition: Mapping[str, Any] | None = None,
    commit_user: str | None = None,
    options: Mapping[str, str] | None = None,
    kinds: str | None = None,
    read_snapshot: int | None = None,
    inline_bytes: int = INLINE_BYTES,
    identifier: int = BATCH_IDENTIFIER,
    watermark: int | None = None,
    checkpoints: StreamCommitter | None = None,
) -> WriteResult:
    """Store a DataFrame's rows in one commit.

    Args:
        frame: the table's columns, by name, else by position; castings are the caller's.
        overwrite: None adds; 'static' replaces the partitions that match `static_partition` (all without one);
            'dynamic' replaces the partitions that get rows.
        static_partition: values by partition column, as Spark gives them.
        commit_user: identity of the writer; None makes one.
        options: dynamic table options for this write.
        kinds: name of a column that holds row kinds ('+I', '-U', '+U', '-D', or 0..3) and is no column of the table.
        read_snapshot: for an overwrite whose source read the table itself: the snapshot that it read.
        inline_bytes: the largest estimate that the driver writes by itself.
        identifier: number of this commit among those of `commit_user`; streams count theirs. watermark: epoch milliseconds.
        checkpoints: of the stream whose commit this is; it stands for `commit_user`.

    Raises:
        SchemaMismatch, NullNotAllowed, UnsupportedOperation: rows that do not fit; nothing was committed.
        CommitError: the commit was refused. EngineError: Spark failed; nothing was committed.
    """
    store: TableStore = table.store.copy(options) if options else table.store
    scope = _scope(store, overwrite, static_partition or {}, read_snapshot)
    full = None if checkpoints is None else checkpoints.is_full(store, identifier)
    commit = TableCommit(store, commit_user)
    messages, count, inline = write_messages(
        frame, store, kinds=kinds, overwrite=scope is not None, inline_bytes=inline_bytes, full=full
    )
    if checkpoints is None:
        ids = commit.commit(
            messages,
            identifier,
            overwrite=scope,
            expected_rows=count,
            watermark=watermark,
            ignore_empty=store.options.ignores_empty_commits,
        )
    else:
        ids = checkpoints.commit(
            store,
            messages,
            identifier,
            full=bool(full),
            overwrite=scope,
            expected_rows=count,
            watermark=watermark,
            ignore_empty=store.options.ignores_empty_commits,
        )
    return WriteResult(tuple(ids), count, inline)


def write_messages(
    frame: DataFrame,
    store: TableStore,
    *,
    kinds: str | None = None,
    overwrite: bool = False,
    inline_bytes: int = INLINE_BYTES,
    tracked: bool = False,
    full: bool | None = None,
) -> tuple[list[CommitMessage], int, bool]:
    """The same without the commit: files that nobody sees yet.

    tracked: behind the table's columns stands `_ROW_ID`, NULL for new rows. full: as of `TableWrite`.

    Returns: the messages, the rows that the source gave, whether the driver wrote them itself.
    """
    ready = _in_order(frame, store, ROW_ID_FIELD.name if tracked else kinds)
    job = WriteJob(store, kinds is not None, overwrite, session_zone(frame.sparkSession), tracked, full)
    with spark_errors():
        if estimated_bytes(ready) > inline_bytes:
            return (*narrow_first(ready, lambda rows: _in_tasks(rows, job)), False)
        rows = collect(ready)
        with job.writing() as writing:
            job.feed(writing, rows)
            messages = writing.prepare_commit()
        return messages, rows.num_rows, True


def estimated_bytes(frame: DataFrame) -> int:
    """Spark's own estimate of a DataFrame's size; without the JVM bridge 'very large'."""
    try:
        return int(str(optimized_plan(frame).stats().sizeInBytes()))
    except AttributeError:
        return 1 << 62


@dataclass(frozen=True, slots=True)
class WriteJob:
    """What a writing task must know; pickled into each."""

    store: TableStore
    has_kinds: bool
    overwrite: bool
    zone: str
    tracked: bool = False
    full: bool | None = None

    def writing(self) -> TableWrite:
        return TableWrite(self.store, overwrite=self.overwrite, tracked=self.tracked, full=self.full)

    def feed(self, writing: TableWrite, rows: pa.Table) -> None:
        """Hand rows in Spark's types to a writer."""
        fields: tuple[DataField, ...] = (*self.store.schema.fields, *((ROW_ID_FIELD,) if self.tracked else ()))
        kinds = rows.column(len(fields)).combine_chunks() if self.has_kinds else None
        if rows.num_rows:
            writing.write(from_spark_arrow(rows.select(range(len(fields))), fields, self.zone), kinds)


def _in_tasks(frame: DataFrame, job: WriteJob) -> tuple[list[CommitMessage], int]:
    """Write in Spark tasks. Returns what the successful attempts made, and how many rows went in before the shuffle."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    seen = Observation()
    store, token = marked(job.store)
    ready = spread(frame.observe(seen, F.count(F.lit(1)).alias("rows")), store)
    try:
        results = ready.mapInArrow(_task(replace(job, store=store)), "messages binary").collect()
    except BaseException:
        sweep(frame.sparkSession, store, token)
        raise
    messages = [message for row in results for message in pickle.loads(row["messages"])]
    return messages, int(seen.get["rows"])


def _task(job: WriteJob) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    @crossing_tasks
    def write_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with job.writing() as writing:
            for rows in _gathered(batches):
                job.feed(writing, rows)
            messages = writing.prepare_commit()
        if messages:
            yield pa.RecordBatch.from_pydict({"messages": pa.array([pickle.dumps(messages)], pa.binary())})

    return write_rows


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Spark's batches joined to longer tables."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= BATCH_ROWS:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting, count = [], 0
    if count:
        yield pa.Table.from_batches(waiting).combine_chunks()


def _in_order(frame: DataFrame, store: TableStore, kinds: str | None) -> DataFrame:
    """The table's columns in the table's order, then the kinds, or what else rides along in a column of that name."""
    from paimon_nb.spark.write.bucket_shuffle import _named

    column_names = list(store.schema.names)
    have = [c for c in frame.columns if c != kinds]
    if len(have) != len(column_names):
        raise SchemaMismatch(
            f"{store.name} has {len(column_names)} columns, the rows have {len(have)}",
            hint=f"columns of the table: {', '.join(column_names)}",
            expected=column_names,
            found=have,
        )
    tail = [kinds] if kinds else []
    if frame.columns == column_names + tail:
        return frame
    if set(have) == set(column_names):
        return frame.select(*_named(column_names + tail))
    if kinds and frame.columns[-1] != kinds:
        frame = frame.select(*_named(have), *_named(tail))
    return frame.toDF(*column_names, *tail)


def _scope(
    store: TableStore, overwrite: str | None, partition: Mapping[str, Any], read_snapshot: int | None
) -> Overwrite | None:
    if overwrite is None:
        return None
    values = {}
    for name, value in partition.items():
        field = store.schema.field(name)
        one = pa.table([pa.array([value], spark_arrow_type(field.type))], names=[name])
        values[name] = from_scalar(field.type, from_spark_arrow(one, [field]).column(0)[0])
    return Overwrite(values, dynamic=overwrite == "dynamic", read_snapshot=read_snapshot)
