"""Starts a planned stream and feeds its output. Each stream runs on a fork of the session."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import MissingFile, SnapshotNotFound, UnsupportedOperation
from paimon_nb.connectors.api import KIND, ORDER
from paimon_nb.fs import open_fs, without_scheme
from paimon_nb.options import parse_duration_ms
from paimon_nb.options.read import SCAN_MAX_SNAPSHOT_COUNT, SOURCE_CHECKPOINT_ALIGN_ENABLED
from paimon_nb.options.table import CONSUMER_ID, CONSUMER_MODE
from paimon_nb.session.core.jobs import RefreshLoop, Running
from paimon_nb.session.query.hidden_columns import has_hidden
from paimon_nb.session.query.run_query import run_query, temporary_names_of_tables
from paimon_nb.session.query.watermark import (
    local_time_as_utc_ms,
    stream_watermark,
    watermark_after,
    with_spark_watermark,
)
from paimon_nb.session.streaming.checkpoints import (
    check_checkpoint_is_free,
    checkpoint_directory,
    configured_checkpoint,
    is_resumed,
    last_offset,
    last_offsets,
    record_active,
    remove_unfinished_start,
    start_offset_of,
)
from paimon_nb.session.streaming.connect_insert import check_runs_in_server
from paimon_nb.session.streaming.consumers import recording_consumers
from paimon_nb.session.streaming.last_result import LastResult
from paimon_nb.session.streaming.local_stream import start_local_stream
from paimon_nb.session.streaming.lookup.join import Lookups, register, release_ended, tables_with_retry
from paimon_nb.session.streaming.lookup.waiting import HIDDEN, WaitingRows
from paimon_nb.session.streaming.normalize import ResultChanges, TableChanges, with_postponed_rows
from paimon_nb.session.streaming.planner import (
    LOG_TABLES,
    StreamInput,
    StreamMode,
    StreamPlan,
    inputs_by_name,
    is_plain_time,
    without_row_for_no_input,
)
from paimon_nb.session.streaming.relations import KINDS
from paimon_nb.session.streaming.sinks import BufferOutput, Output, TableOutput
from paimon_nb.session.streaming.windows import LateRows, grouped_by_window
from paimon_nb.spark.errors import encode_raised_errors, first_sentence
from paimon_nb.spark.runtime.arrow_interop import session_zone
from paimon_nb.spark.runtime.jvm_bridge import has_bridge
from paimon_nb.spark.streaming import idle_checkpoint_timer
from paimon_nb.spark.streaming.connect_sink import sink_with_package
from paimon_nb.spark.streaming.sink import claim_checkpoint
from paimon_nb.spark.streaming.start import start_query
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.stream import StreamOffset, changelog_levels, postponed_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import Query
    from paimon_nb.table.read.stream.retries import RetryFiles

_MODE = "execution.runtime-mode"
_INTERVAL = "execution.checkpointing.interval"
_FIRST_RESULT = "first-result"
"""A file in a checkpoint: a job in RECOMPUTE mode has stored a result."""
MAX_SNAPSHOTS = 20
"""Max snapshots of a changing table in one micro-batch: a job that is behind catches up, and its batches stay small.

A live SELECT gets one snapshot a micro-batch, so its changes appear commit by commit.
"""


def start_stream(
    session: Session,
    plan: StreamPlan,
    query: Query,
    text: str,
    params: Mapping[str, Any],
    output: Output,
    folder: str | None,
) -> Running:
    """Start the stream.

    Args:
        folder: the checkpoint's folder in the session's checkpoint directory; None: it does not resume, as a SELECT in Flink.

    Raises:
        UnsupportedOperation: Spark or the stream mode does not support the query.
        BadOptionValue: the checkpoint belongs to another table, or a running job uses it.
    """
    check_checkpoint_is_free(session, folder)
    running = _start(session, plan, query, text, params, output, folder)
    record_active(session, folder, running)
    return running


def _start(
    session: Session,
    plan: StreamPlan,
    query: Query,
    text: str,
    params: Mapping[str, Any],
    output: Output,
    folder: str | None,
) -> Running:
    from pyspark.errors import AnalysisException

    if isinstance(output, BufferOutput) and (loop := start_local_stream(plan, query, output)) is not None:
        return loop
    lookups = Lookups(session, query, text, plan.inputs) if plan.mode is StreamMode.STATELESS else None
    frozen = session_copy_for_stream(session)
    frozen.lookups = lookups
    if plan.mode is StreamMode.RECOMPUTE:
        return _start_recompute(frozen, plan, query, text, params, output, configured_checkpoint(session, folder))
    if not has_bridge(session.spark):
        return _start_in_server(frozen, plan, query, text, params, output, checkpoint_directory(session, folder))
    checkpoint = checkpoint_directory(session, folder)
    remove_unfinished_start(checkpoint)
    resumed = is_resumed(checkpoint)
    if isinstance(output, TableOutput):
        claim_checkpoint(checkpoint, output.table)
        output.begin(checkpoint)
    waiting = WaitingRows(checkpoint, lookups) if lookups is not None and lookups.unordered else None
    retries = None if waiting is None else waiting.files
    frame = (
        _stateless_frame(
            frozen,
            plan,
            checkpoint,
            1 if isinstance(output, BufferOutput) else MAX_SNAPSHOTS,
            retries,
            records_consumer=False,
        )
        if plan.mode is StreamMode.STATELESS
        else whole_frame(frozen, plan, query, text, params, records_consumer=False)
    )
    mode = "update" if plan.mode is StreamMode.STATEFUL and plan.grouped else "append"
    late = LateRows() if plan.mode is StreamMode.STATEFUL and any(i.watermarked for i in plan.inputs) else None
    store = (
        _query_each_micro_batch(frozen, plan, query, text, params, output, checkpoint, waiting, resumed=resumed)
        if plan.mode is StreamMode.STATELESS
        else _output_micro_batches(
            plan, output, None if late is None else _watermark_reader(frozen, plan, late), resumed=resumed
        )
    )
    store = recording_consumers(plan.inputs, lambda: last_offsets(checkpoint), store)
    writer = frame.writeStream.outputMode(mode).foreachBatch(
        store if late is None else _counting_late_rows(late, store)
    )
    writer = writer.trigger(processingTime=f"{_interval_ms(session)} milliseconds")
    try:
        running = start_query(writer.option("checkpointLocation", checkpoint).start)
    except AnalysisException as error:  # the query itself was analyzed before: Spark has no such streaming operator
        if plan.mode is StreamMode.STATELESS or any(i.table is None or i.system is not None for i in plan.inputs):
            raise _no_streaming_operator(error) from error
        if isinstance(output, TableOutput):
            output.begin_results()
        return _start_recompute(frozen, plan, query, text, params, output, configured_checkpoint(session, folder))
    if late is not None:
        late.attach(running)
    if lookups is not None:
        release_ended()
        register(lookups, running)
    _start_idle_timer(session, running, output, str(running.id))
    return running


def _start_in_server(
    session: Session,
    plan: StreamPlan,
    query: Query,
    text: str,
    params: Mapping[str, Any],
    output: Output,
    checkpoint: str,
) -> Running:
    """Start the stream in a Spark Connect server. Raises UnsupportedOperation: see `check_runs_in_server`."""
    table_output = check_runs_in_server(plan, query, output)
    session.lookups = None  # the query has none, and a streaming DataFrame is analysed once
    claim_checkpoint(checkpoint, table_output.table)
    table_output.begin(checkpoint)
    rows, ordered = _rows_for_server(session, plan, query, text, params, table_output, checkpoint)
    sink = sink_with_package(table_output.server_sink(ordered=ordered))
    mode = "update" if plan.mode is StreamMode.STATEFUL and plan.grouped else "append"
    writer = rows.writeStream.outputMode(mode).foreachBatch(sink)
    writer = writer.trigger(processingTime=f"{_interval_ms(session)} milliseconds")
    committed = table_output.committed_rows()
    running = start_query(writer.option("checkpointLocation", checkpoint).start)
    committed.user = str(running.id)
    return running


def _rows_for_server(
    session: Session,
    plan: StreamPlan,
    query: Query,
    text: str,
    params: Mapping[str, Any],
    output: TableOutput,
    checkpoint: str,
) -> tuple[DataFrame, bool]:
    """The query as a stream of rows for the table, and whether their micro-batches must be sorted."""
    from pyspark.sql import functions as F

    if plan.mode is StreamMode.STATEFUL:
        result = whole_frame(session, plan, query, text, params)
        kinds = plan.grouped or not any(i.system for i in plan.inputs)
        return output.rows_to_store(
            result.withColumn(KINDS, F.lit("+U")) if plan.grouped else result, kinds=kinds
        ), False
    (only,) = plan.inputs
    batches = {only.ref.parts: _stateless_frame(session, plan, checkpoint, MAX_SNAPSHOTS, None)}
    if only.append_only:
        return output.rows_to_store(run_query(session, query, text, params, batches), kinds=only.system is None), False
    return output.rows_to_store(_query_changes(session, query, text, params, batches), kinds=True, order=ORDER), True


def _no_streaming_operator(error: Exception) -> UnsupportedOperation:
    return UnsupportedOperation(
        f"Spark cannot run this query as a stream: {first_sentence(str(error))}",
        hint="load the rows into a table with a simpler INSERT, and query that table",
    )


def _start_idle_timer(session: Session, running: Running, output: Output, user: str) -> None:
    """Run empty checkpoints if the table handles them: at the session's checkpoint interval, else once a second."""
    if isinstance(output, TableOutput) and output.handles_empty_checkpoints:
        pause_s = _interval_ms(session) / 1000 if _INTERVAL in session.settings else idle_checkpoint_timer.PAUSE_S
        idle_checkpoint_timer.run_checkpoints_until_end(running, lambda: output.on_idle_checkpoint(user), pause_s)


def _counting_late_rows(late: LateRows, store: Any) -> Any:
    """`store`, which also counts the late rows of earlier micro-batches while Spark still has their progress."""

    def store_and_count_late_rows(batch: DataFrame, number: int) -> None:
        late.count()
        store(batch, number)

    return store_and_count_late_rows


@contextmanager
def runtime_mode(session: Session, mode: str) -> Iterator[None]:
    """Run the block's statements in 'batch' or 'streaming' mode."""
    before = session.settings.get(_MODE)
    session.settings[_MODE] = mode
    try:
        yield
    finally:
        if before is None:
            session.settings.pop(_MODE, None)
        else:
            session.settings[_MODE] = before


def session_copy_for_stream(session: Session, spark: Any = None) -> Session:
    """A copy of the session for a stream: later USE and SET do not affect it. Its queries run in batch mode."""
    forked = copy.copy(session)
    forked.settings = dict(session.settings)
    if _MODE in forked.settings:  # an unset mode stays unset: setting it selects Flink's semantics
        forked.settings[_MODE] = "batch"
    forked.views, forked.temporary, forked.catalogs = (
        dict(session.views),
        dict(session.temporary),
        dict(session.catalogs),
    )
    forked._spark = session.spark if spark is None else spark
    return forked


def whole_frame(
    session: Session,
    plan: StreamPlan,
    query: Query,
    text: str,
    params: Mapping[str, Any],
    *,
    records_consumer: bool = True,
) -> DataFrame:
    """The query as one streaming DataFrame. From changing tables it reads insertions, not retractions.

    `records_consumer`: see `stream_frame`.
    """
    frames = {
        parts: _input_stream(session, i, kinds=False, records_consumer=records_consumer)
        for parts, i in inputs_by_name(plan.inputs).items()
    }
    return run_query(session, query, text, params, frames, rewrite=grouped_by_window)


def _stateless_frame(
    session: Session,
    plan: StreamPlan,
    checkpoint: str,
    max_snapshots: int,
    retries: RetryFiles | None,
    *,
    records_consumer: bool = True,
) -> DataFrame:
    (only,) = plan.inputs
    begin = start_offset_of(checkpoint) if only.source is None else last_offset(checkpoint) or "fresh"
    return _input_stream(
        session,
        only,
        kinds=not only.append_only,
        begin=begin,
        watermark=False,
        max_snapshots=max_snapshots,
        retries=retries,
        records_consumer=records_consumer,
    )


def _input_stream(
    session: Session,
    stream_input: StreamInput,
    *,
    kinds: bool,
    begin: Any = None,
    watermark: bool = True,
    max_snapshots: int = 1,
    retries: RetryFiles | None = None,
    records_consumer: bool = True,
) -> DataFrame:
    """`max_snapshots`: of a table that is read with row kinds, in one micro-batch. `retries`, `records_consumer`: see `stream_frame`."""
    if stream_input.table is None:
        from paimon_nb.session.query.connector_tables import source_frame

        assert stream_input.source is not None
        assert stream_input.declared is not None
        return source_frame(
            session.spark,
            stream_input.source,
            stream_input.declared,
            stream=True,
            kinds=kinds,
            begin=begin,
            watermark=watermark,
        )
    from paimon_nb.spark.streaming.reader import stream_frame
    from paimon_nb.table.tables.system.audit_log import sequence_fields

    options = dict(stream_input.ref.options)
    table_options = stream_input.table.copy(options).options
    if table_options.get(SOURCE_CHECKPOINT_ALIGN_ENABLED):
        options[SCAN_MAX_SNAPSHOT_COUNT.key] = "1"  # then a Flink checkpoint contains one snapshot
    elif kinds:
        configured = table_options.get(SCAN_MAX_SNAPSHOT_COUNT)
        options[SCAN_MAX_SNAPSHOT_COUNT.key] = str(min(configured, max_snapshots) if configured > 0 else max_snapshots)
    if stream_input.system is not None:
        return stream_frame(
            session.spark,
            stream_input.table,
            options=options,
            kinds=stream_input.system in LOG_TABLES,
            begin=begin,
            binlog=stream_input.system == "binlog",
            numbers=sequence_fields(stream_input.table.store) if stream_input.system in LOG_TABLES else (),
            tracked=stream_input.system == "row_tracking",
            retries=retries,
            records_consumer=records_consumer,
        )
    frame = stream_frame(
        session.spark,
        stream_input.table,
        options=options,
        kinds=kinds,
        order=ORDER if kinds else None,
        begin=begin,
        retries=retries,
        records_consumer=records_consumer,
    )
    late = stream_watermark(stream_input.table.schema.options) if watermark else None
    return frame if late is None else with_spark_watermark(frame, late)


def _output_micro_batches(
    plan: StreamPlan, output: Output, watermark: Callable[[], int | None] | None, *, resumed: bool
) -> Any:
    from pyspark.sql import functions as F

    updates = plan.grouped
    if updates and output.merges and resumed:
        raise _cannot_resume()
    changes = None
    if updates and plan.keys is not None and (output.merges or isinstance(output, BufferOutput)):
        changes = ResultChanges(plan.keys, retractions_first=not isinstance(output, BufferOutput))
    has_kinds = updates or not any(i.system for i in plan.inputs)
    watermark_of = watermark if isinstance(output, TableOutput) else None

    def output_micro_batch(batch: DataFrame, number: int) -> None:
        with encode_raised_errors():
            if changes is not None:
                rows = changes(batch)
            else:
                rows = batch.withColumn(KINDS, F.lit("+U")) if updates else batch
            output.accept(rows, number, None if watermark_of is None else watermark_of(), kinds=has_kinds)

    return output_micro_batch


def _cannot_resume() -> UnsupportedOperation:
    return UnsupportedOperation(
        "the job cannot resume: it must retract its earlier results, and these are not in the checkpoint",
        hint="INSERT INTO a table with merge-engine 'deduplicate' and the PRIMARY KEY of what the query groups by, or start another job into an empty table ('pipeline.name')",
    )


def _watermark_reader(session: Session, plan: StreamPlan, late: LateRows) -> Callable[[], int | None] | None:
    """A function that returns the watermark in Flink's milliseconds; None if the inputs' time types differ."""
    kinds = {is_plain_time(session, i) for i in plan.inputs if i.watermarked}
    if len(kinds) != 1 or not all(i.watermarked for i in plan.inputs):
        return None
    zone = session_zone(session.spark) if kinds.pop() else None

    def current_watermark() -> int | None:
        instant = late.watermark()
        return instant if instant is None or zone is None else local_time_as_utc_ms(instant, zone)

    return current_watermark


def _query_each_micro_batch(
    session: Session,
    plan: StreamPlan,
    query: Query,
    text: str,
    params: Mapping[str, Any],
    output: Output,
    checkpoint: str,
    waiting: WaitingRows | None,
    *,
    resumed: bool,
) -> Any:
    """Runs the query on each micro-batch; other tables are read as of that time."""
    (only,) = plan.inputs
    snapshot_watermark = _snapshot_watermark_reader(only, checkpoint)
    changes = TableChanges(only, resumed=resumed) if only.is_upsert and output.takes_update_before else None

    def run_on_micro_batch(batch: DataFrame, number: int) -> None:
        with encode_raised_errors():
            batch_session = session_copy_for_stream(session, batch.sparkSession)
            if batch_session.lookups is not None:
                batch_session.lookups.begin()
            if waiting is not None and isinstance(output, TableOutput) and output.has_stored(batch, number):
                return  # it runs again after a crash: the rows that wait are stored, too
            watermark = only.watermark if isinstance(output, TableOutput) else None
            if only.append_only and watermark is None and waiting is None:
                result = run_query(batch_session, query, text, params, {only.ref.parts: batch})
                output.accept(result, number, snapshot_watermark(), kinds=only.system is None)
                return
            batch = batch.persist()
            try:
                moved_to = snapshot_watermark() if watermark is None else watermark_after(batch, watermark)
                if waiting is not None:
                    with _rows_that_need_not_wait(
                        waiting, batch_session, query, text, params, only, batch, number
                    ) as rows:
                        result = run_query(batch_session, query, text, params, {only.ref.parts: rows})
                        output.accept(result, number, moved_to, kinds=only.system is None)
                elif only.append_only:
                    output.accept(
                        run_query(batch_session, query, text, params, {only.ref.parts: batch}), number, moved_to
                    )
                elif batch.count():  # reads with all partitions, before one task sorts
                    changed = batch if changes is None else changes(batch)
                    output.accept(
                        _query_ordered_changes(batch_session, query, text, params, {only.ref.parts: changed}),
                        number,
                        moved_to,
                    )
            finally:
                batch.unpersist()

    return run_on_micro_batch


@contextmanager
def _rows_that_need_not_wait(
    waiting: WaitingRows,
    session: Session,
    query: Query,
    text: str,
    params: Mapping[str, Any],
    only: StreamInput,
    batch: DataFrame,
    number: int,
) -> Iterator[DataFrame]:
    """The rows of a micro-batch, and those that waited, which have a match in each lookup table or no longer wait for one."""
    rows, later = waiting.with_due_rows(batch, number)
    rows = rows.persist()
    try:
        others = tuple(t for t in query.tables if not t.lookup)
        with temporary_names_of_tables(session, others, text, {only.ref.parts: rows}, HIDDEN) as names:
            unmatched = waiting.lookups.rows_without_match(session, query, text, names, params, HIDDEN)
            ready = waiting.separate(rows, unmatched, later, number)
        yield ready
    finally:
        rows.unpersist()


def _snapshot_watermark_reader(only: StreamInput, checkpoint: str) -> Callable[[], int | None]:
    """A function that returns the watermark of the micro-batch's last snapshot, which a stream with a consumer passes on.

    None for a stream without a consumer, and for a table with a watermark of its own. Source: Paimon `MonitorSource`.
    """
    if only.table is None or only.watermarked:
        return lambda: None
    table = only.table.copy(only.ref.options)
    if table.options.get(CONSUMER_ID) is None or table.options.get(CONSUMER_MODE) != "exactly-once":
        return lambda: None

    def watermark_of_last_snapshot() -> int | None:
        offset = start_offset_of(checkpoint)  # Spark writes the end of a micro-batch before it runs
        if not isinstance(offset, StreamOffset):
            return None
        try:
            return table.store.snapshots.get(offset.next - 1).watermark
        except (SnapshotNotFound, MissingFile):
            return None

    return watermark_of_last_snapshot


def _query_ordered_changes(
    session: Session, query: Query, text: str, params: Mapping[str, Any], batch: Mapping[tuple[str, ...], DataFrame]
) -> DataFrame:
    """The query over ordered changes: a row may change several times in a micro-batch. Raises as `_query_changes`."""
    result = _query_changes(session, query, text, params, batch)
    # Positions, not names: `SELECT a.id, b.id` has duplicate names.
    columns = {f"__c{i}": c for i, c in enumerate(result.columns) if c not in (KIND, ORDER)}
    numbered = result.toDF(*(c if c in (KIND, ORDER) else f"__c{i}" for i, c in enumerate(result.columns)))
    in_order = numbered.coalesce(1).sortWithinPartitions(ORDER)
    return in_order.select(*columns, KIND).toDF(*columns.values(), KIND)


def _query_changes(
    session: Session, query: Query, text: str, params: Mapping[str, Any], batch: Mapping[tuple[str, ...], DataFrame]
) -> DataFrame:
    """The query over changes, whose result has their row kinds and their order.

    Raises:
        UnsupportedOperation: the query loses these hidden columns.
    """
    hidden = (KIND, ORDER)
    result = run_query(session, query, text, params, batch, hidden)
    if not has_hidden(result, hidden):
        raise UnsupportedOperation(
            "this query does not keep the kinds of the changes that it reads",
            hint="INSERT the rows into a table with a primary key, and query that",
        )
    return result


def _start_recompute(
    session: Session,
    plan: StreamPlan,
    query: Query,
    text: str,
    params: Mapping[str, Any],
    output: Output,
    checkpoint: str | None,
) -> Running:
    """`checkpoint`: the job's folder if the session has a checkpoint directory."""
    from paimon_nb.options import table as opt

    tables = [i.table for i in plan.inputs if i.table is not None]
    for table in tables:
        mode = table.options.get(opt.SCAN_MODE)
        if mode not in ("default", "latest-full", "full") or table.options.has(opt.SCAN_SNAPSHOT_ID):
            raise UnsupportedOperation(
                f"{table.name}: a streaming query that groups, joins or sorts changing rows always reads the latest snapshot",
                hint="remove scan.mode and scan.snapshot-id",
            )
    if isinstance(output, TableOutput) and not output.table.primary_keys:
        raise UnsupportedOperation(
            f"{output.table.name} has no primary key, so it cannot follow results that change",
            hint="give it a PRIMARY KEY of the columns that the query groups by",
        )

    first_result = None
    if isinstance(output, TableOutput) and checkpoint is not None:
        claim_checkpoint(checkpoint, output.table)
        fs, first_result = open_fs(checkpoint, {}), f"{without_scheme(checkpoint)}/{_FIRST_RESULT}"
        if output.merges and fs.exists(first_result):
            raise _cannot_resume()
        output.continue_results(LastResult(checkpoint))

    tables += tables_with_retry(session, query, text)

    def version() -> list[StreamOffset | None]:
        # With the commit: after a rollback another snapshot may have the number of the last one.
        newest = (t.latest_snapshot() for t in tables)
        return [None if s is None else StreamOffset.after(s) for s in newest]

    has_rows = False

    def rerun_query() -> None:
        nonlocal has_rows
        states = _partly_streamed_states(session, plan)
        result = run_query(session, query, text, params, states, rewrite=None if has_rows else without_row_for_no_input)
        has_rows = has_rows or plan.keys != () or not result.isEmpty()
        if first_result is not None:
            fs.put_if_absent(first_result, b"{}")
        output.replace(result)

    loop = RefreshLoop(version, rerun_query, min(_interval_ms(session), 1000) / 1000)
    _start_idle_timer(session, loop, output, "")
    return loop


def _partly_streamed_states(session: Session, plan: StreamPlan) -> dict[tuple[str, ...], DataFrame]:
    """What a stream of each table has delivered, where that is not the table's rows in batch mode.

    A later compaction emits the changes of some files; rows without a bucket are delivered before they have one.
    """
    from paimon_nb.spark.scan.table_scan import to_dataframe
    from paimon_nb.table.read.strategy.planned_scan import plan_table_scan

    states = {}
    for stream_input in plan.inputs:
        if stream_input.table is None or stream_input.system is not None:
            continue
        table = session.table(stream_input.ref.parts, stream_input.ref.options)
        levels, snapshot = changelog_levels(table.store), table.latest_snapshot()
        if snapshot is None:
            continue
        if levels is None:
            if (waiting := postponed_rows(table.store, snapshot)).num_rows:
                states[stream_input.ref.parts] = with_postponed_rows(session.spark, table, waiting)
        elif not all(levels(entry.file.level) for entry in live_entries(table.store, snapshot)):
            scan = plan_table_scan(table, zone=session_zone(session.spark), levels=levels)
            states[stream_input.ref.parts] = to_dataframe(session.spark, scan)
    return states


def _interval_ms(session: Session) -> int:
    configured = session.settings.get(_INTERVAL)
    return 200 if configured is None else int(parse_duration_ms(str(configured)))
