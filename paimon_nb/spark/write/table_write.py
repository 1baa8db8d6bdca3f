"""Writes a DataFrame into a table in one commit: few rows in the driver, many in Spark tasks."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.format.row import from_scalar
from paimon_nb.format.types import Char
from paimon_nb.spark.errors import encode_errors_of_task, spark_errors
from paimon_nb.spark.jobs.job_cleanup import delete_job_files, with_job_token
from paimon_nb.spark.runtime.arrow_batching import try_row_bounded_batches
from paimon_nb.spark.runtime.arrow_interop import collect, session_zone
from paimon_nb.spark.runtime.jvm_bridge import optimized_plan
from paimon_nb.spark.types import from_spark_arrow, spark_arrow_type
from paimon_nb.spark.write.bucket_shuffle import shuffle_for_write
from paimon_nb.table.write import FormatTableWrite, TableWrite
from paimon_nb.table.write.commit import FormatTableCommit, TableCommit
from paimon_nb.table.write.publish.changes import BATCH_IDENTIFIER
from paimon_nb.table.write.publish.overwrite import Overwrite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pyspark.sql import DataFrame

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table
    from paimon_nb.table.write.stream_committer import StreamCommitter

INLINE_BYTES = 32 << 20
"""Estimated size up to which the driver writes the rows: starting tasks would cost more."""
BATCH_ROWS = 1 << 18
"""Rows that a task passes to the writer at once: sorting and splitting are faster for few large batches."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of a write."""

    snapshots: tuple[int, ...]
    """Ids of the new snapshots; empty if there was nothing to write."""
    rows: int
    """Rows of the source."""
    inline: bool
    """Whether the driver wrote the rows."""


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
    pad_chars: bool = True,
    before_commit: Callable[[], None] | None = None,
) -> WriteResult:
    """Write a DataFrame's rows in one commit.

    Args:
        frame: rows with the table's columns, matched by name, else by position, in the table's types.
        table: the table.
        overwrite: None: append; 'static': replace the partitions that match `static_partition`, or all;
            'dynamic': replace the partitions that get rows.
        static_partition: values of partition columns, as Spark returns them.
        commit_user: the user in the snapshot; None: a random one.
        options: dynamic table options for this write.
        kinds: name of an extra column with row kinds ('+I', '-U', '+U', '-D', or 0 to 3).
        read_snapshot: for an overwrite whose source reads the same table: the id of the snapshot that it reads.
        inline_bytes: estimated size up to which the driver writes the rows.
        identifier: identifier of this commit among those of `commit_user`; a stream counts its commits.
        watermark: watermark for the snapshot, epoch milliseconds.
        checkpoints: the committer of the stream that this commit belongs to; replaces `commit_user`.
        pad_chars: as in `TableWrite`.
        before_commit: called when the files of the rows are written. If it fails, they are deleted.

    Raises:
        SchemaMismatch, NullNotAllowed, UnsupportedOperation: a row does not fit; nothing was committed.
        CommitError: the commit was rejected.
        EngineError: Spark failed; nothing was committed.
    """
    store: TableStore = table.store.copy(options) if options else table.store
    store.check_not_materialized("a write")
    scope = _overwrite_scope(store, overwrite, static_partition or {}, read_snapshot)
    full = None if checkpoints is None else checkpoints.is_full(store, identifier)
    commit = FormatTableCommit(store) if store.is_format_table else TableCommit(store, commit_user)
    messages, count, inline = write_messages(
        frame,
        store,
        kinds=kinds,
        overwrite=scope is not None,
        inline_bytes=inline_bytes,
        full=full,
        pad_chars=pad_chars,
    )
    if before_commit is not None:
        try:
            before_commit()
        except BaseException:
            if isinstance(commit, TableCommit):
                commit.abort(messages)
            raise
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
    pad_chars: bool = True,
) -> tuple[list[Any], int, bool]:
    """Write rows without committing them.

    Args:
        frame: as in `write`.
        store: the table.
        kinds: as in `write`.
        overwrite: whether the commit will overwrite partitions.
        inline_bytes: as in `write`.
        tracked: the column after the table's is `_ROW_ID`, NULL for new rows.
        full: as in `TableWrite`.
        pad_chars: as in `TableWrite`.

    Returns:
        The commit messages, the number of rows, whether the driver wrote them.
    """
    ready = _with_columns_of_table(frame, store, ROW_ID_FIELD.name if tracked else kinds)
    job = WriteJob(store, kinds is not None, overwrite, session_zone(frame.sparkSession), tracked, full, pad_chars)
    with spark_errors():
        if estimated_bytes(ready) > inline_bytes:
            return (*try_row_bounded_batches(ready, lambda rows: _write_in_spark_tasks(rows, job)), False)
        rows = collect(ready)
        with job.open_task_writer() as writer:
            job.write(writer, rows)
            messages = writer.prepare_commit()
        return messages, rows.num_rows, True


def estimated_bytes(frame: DataFrame) -> int:
    """Spark's estimate of a DataFrame's size in bytes; 2^62 without the JVM bridge."""
    try:
        return int(str(optimized_plan(frame).stats().sizeInBytes()))
    except AttributeError:
        return 1 << 62


@dataclass(frozen=True, slots=True)
class WriteJob:
    """The parameters of a writing task; each task gets a pickled copy."""

    store: TableStore
    has_kinds: bool
    overwrite: bool
    zone: str
    tracked: bool = False
    full: bool | None = None
    pad_chars: bool = True

    def open_task_writer(self) -> TableWrite | FormatTableWrite:
        """A writer for this task; close it after use."""
        if self.store.is_format_table:
            return FormatTableWrite(self.store)
        return TableWrite(
            self.store, overwrite=self.overwrite, tracked=self.tracked, full=self.full, pad_chars=self.pad_chars
        )

    def write(self, writer: TableWrite | FormatTableWrite, rows: pa.Table) -> None:
        """Write rows that have Spark's types."""
        fields: tuple[DataField, ...] = (*self.store.schema.fields, *((ROW_ID_FIELD,) if self.tracked else ()))
        kinds = rows.column(len(fields)).combine_chunks() if self.has_kinds else None
        if rows.num_rows:
            writer.write(from_spark_arrow(rows.select(range(len(fields))), fields, self.zone), kinds)


def _write_in_spark_tasks(frame: DataFrame, job: WriteJob) -> tuple[list[Any], int]:
    """Write in Spark tasks. Returns the messages of the successful attempts, and the number of rows."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    seen = Observation()
    store, token = with_job_token(job.store)
    ready = shuffle_for_write(frame.observe(seen, F.count(F.lit(1)).alias("rows")), store)
    try:
        results = ready.mapInArrow(_writing_task(replace(job, store=store)), "messages binary").collect()
    except BaseException:
        delete_job_files(frame.sparkSession, store, token)
        raise
    messages = [message for row in results for message in pickle.loads(row["messages"])]
    return messages, int(seen.get["rows"])


def _writing_task(job: WriteJob) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    @encode_errors_of_task
    def write_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with job.open_task_writer() as writer:
            for rows in _larger_batches(batches):
                job.write(writer, rows)
            messages = writer.prepare_commit()
        if messages:
            yield pa.RecordBatch.from_pydict({"messages": pa.array([pickle.dumps(messages)], pa.binary())})

    return write_rows


def _larger_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Spark's batches, concatenated to larger tables."""
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


def _with_columns_of_table(frame: DataFrame, store: TableStore, kinds: str | None) -> DataFrame:
    """The table's columns in the table's order, then the extra column `kinds` if given."""
    from paimon_nb.spark.write.bucket_shuffle import columns_by_name

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
        return frame.select(*columns_by_name(column_names + tail))
    if kinds and frame.columns[-1] != kinds:
        frame = frame.select(*columns_by_name(have), *columns_by_name(tail))
    return frame.toDF(*column_names, *tail)


def _overwrite_scope(
    store: TableStore, overwrite: str | None, partition: Mapping[str, Any], read_snapshot: int | None
) -> Overwrite | None:
    if overwrite is None:
        return None
    values = {}
    for name, value in partition.items():
        field = store.schema.field(name)
        if isinstance(field.type, Char) and isinstance(value, str):  # as it is stored
            value = value.ljust(field.type.length)
        one = pa.table([pa.array([value], spark_arrow_type(field.type))], names=[name])
        values[name] = from_scalar(field.type, from_spark_arrow(one, [field]).column(0)[0])
    return Overwrite(values, dynamic=overwrite == "dynamic", read_snapshot=read_snapshot)
