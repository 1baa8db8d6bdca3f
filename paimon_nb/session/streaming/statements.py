"""Streaming SELECT and INSERT as statements: live results and jobs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SchemaMismatch, UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.base.redact import redact_text
from paimon_nb.options.unsupported import unsupported_option_warnings
from paimon_nb.session.core.live_result import LiveResult
from paimon_nb.session.core.result import Result, message_result
from paimon_nb.session.streaming.bounded import stop_after_last_row
from paimon_nb.session.streaming.executor import stream_run
from paimon_nb.session.streaming.frames import whole_frame
from paimon_nb.session.streaming.modes.stream_run import stream_job
from paimon_nb.session.streaming.planner import StreamMode, StreamPlan, plan_stream, restarted_at
from paimon_nb.session.streaming.relations import KINDS
from paimon_nb.session.streaming.sinks import OP, BufferOutput, ConnectorOutput, Output, TableOutput
from paimon_nb.session.streaming.stream_session import session_copy_for_stream
from paimon_nb.session.streaming.stream_statement import StreamStatement

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.session.core.jobs import Running, StreamJob
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.statements import CreateTable, Insert, Query, StopJob
    from paimon_nb.table.tables.table import Table


class LiveQuery(LiveResult):
    """A streaming SELECT. Starts on first use; iterate to get its changes as Arrow tables, `op` first."""

    def __init__(self, context: StatementContext, statement: Query) -> None:
        self._context, self._statement = context, statement
        self.plan: StreamPlan = plan_stream(context.session, statement, context.text)
        self.job: StreamJob | None = None
        self._buffer = BufferOutput(keys=self.plan.keys)

    @property
    def frame(self) -> DataFrame:
        """The query as a streaming DataFrame. Raises UnsupportedOperation: the result retracts rows, which Spark cannot express."""
        if self.plan.mode is StreamMode.RECOMPUTE:
            raise UnsupportedOperation(
                "this query groups, joins or sorts rows that change; Spark's streaming DataFrames only add rows",
                hint="use wb.stream(sql) for the result's changes, or batch mode for the current result",
            )
        statement = self._stream_statement()
        return whole_frame(statement, session_copy_for_stream(statement.session))

    def start(self) -> LiveQuery:
        if self.job is None:
            job = stream_job("select", self._start_run(), lambda: self._run)
            job.statement = redact_text(self._statement.text.strip())
            self.job = self._context.session.jobs.add(job)
        return self

    def _start_run(self) -> Running:
        self._run = stream_run(self._stream_statement())
        return self._run.start()

    def _stream_statement(self) -> StreamStatement:
        context = self._context
        return StreamStatement(context.session, self.plan, self._statement, context.text, context.params, self._buffer)

    @property
    def fixed(self) -> str | None:
        """Why it cannot start at a snapshot; None if it can."""
        if self.plan.mode is StreamMode.RECOMPUTE:
            return "a query that groups, joins or sorts changing rows always reads the latest snapshot"
        if sum(i.table is not None for i in self.plan.inputs) != 1:
            return "only a query over one table can start at a snapshot"
        return None

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that are read as streams."""
        return tuple(i.table for i in self.plan.inputs if i.table is not None)

    def take(self, timeout_s: float) -> list[pa.Table]:
        """The changes since the last call; waits up to `timeout_s`."""
        return self._buffer.take(timeout_s)

    def seek(self, snapshot: int | None) -> None:
        """Restart with the changes of a snapshot, or (None) with the latest state. Buffered changes are dropped.

        Raises:
            UnsupportedOperation: see `fixed`.
            BadOptionValue: not a snapshot id.
        """
        if self.fixed is not None:
            raise UnsupportedOperation(f"this stream cannot be moved: {self.fixed}", hint="run the query again")
        self.plan = restarted_at(self.plan, snapshot)
        self.stop()
        self._buffer = BufferOutput(keys=self.plan.keys)
        if self.job is None:
            self.start()
        else:
            self.job.restarted(self._start_run())

    def collect(self, limit: int = 1000, timeout_s: float = 10.0, idle_s: float | None = None) -> pa.Table:
        """Collect changes until `limit` rows, the timeout or the end of the stream; then stop the stream.

        Args:
            idle_s: also stop after this time without changes, once the initially available input is processed.

        Raises:
            PaimonError: the stream failed.
        """
        import pyarrow as pa

        parts: list[pa.Table] = []
        deadline = time.monotonic() + timeout_s
        try:
            if idle_s is not None:
                self.start()
                assert self.job is not None
                self.job.process_available(timeout_s)
                deadline = min(deadline, time.monotonic() + idle_s)
            for changes in self._rows_until(deadline):
                parts.append(changes)
                if idle_s is not None:
                    deadline = time.monotonic() + idle_s
                if sum(g.num_rows for g in parts) >= limit:
                    break
        finally:
            self.stop()
        if not parts:
            return pa.table({OP: pa.array([], pa.string())})
        return pa.concat_tables(parts).slice(0, limit)

    def __iter__(self) -> Iterator[pa.Table]:
        return self._rows_until(None)

    def stop(self) -> None:
        self._buffer.close()
        if self.job is not None:
            self.job.stop()

    def __enter__(self) -> LiveQuery:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _rows_until(self, deadline: float | None) -> Iterator[pa.Table]:
        self.start()
        assert self.job is not None
        while True:
            wait_s = 0.2 if deadline is None else min(0.2, deadline - time.monotonic())
            active = self.job.isActive
            yield from self._buffer.take(max(wait_s, 0.001))
            if self.job.error is not None:
                raise self.job.error
            if not active or wait_s <= 0:
                return


def select(context: StatementContext, statement: Query) -> Result:
    """A streaming SELECT as a result that has not started yet."""
    return Result("stream", live=LiveQuery(context, statement))


def insert_stream(context: StatementContext, statement: Insert, output: Output, target: str) -> Result:
    """Starts a streaming INSERT as a job; its name is 'pipeline.name', else the target."""
    session, query = context.session, statement.query
    into = f"insert-into_{target}"
    name = str(session.settings.get("pipeline.name", into))
    # The INSERTs of a statement set share a name; each has its own checkpoint.
    folder = into if name == into else f"{name}-{into}"
    assert query is not None
    plan = plan_stream(session, query, context.text, merges=output.merges)
    if (
        plan.grouped
        and isinstance(output, TableOutput)
        and not output.table.primary_keys
        and plan.mode is StreamMode.STATEFUL
    ):
        raise UnsupportedOperation(
            f"{output.table.name} has no primary key, so it cannot take results that change",
            hint="give it a PRIMARY KEY of the columns that the query groups by",
        )
    if isinstance(output, TableOutput) and plan.mode is StreamMode.STATEFUL and plan.keys is not None and plan.grouped:
        output.changes_keys = not _aggregated_columns(statement, output.table, plan).isdisjoint(
            output.table.primary_keys
        )
    run = stream_run(StreamStatement(session, plan, query, context.text, context.params, output, folder))
    running = run.start()
    stop_after_last_row(plan, running)
    made = session.jobs.add(stream_job(name, running, lambda: run))
    option_notes = [note for ref in query.tables for note in unsupported_option_warnings(ref.options)]
    result = message_result(
        f"job {made.id} started: {name}", notes=["SHOW JOBS lists it; STOP JOB '<id>' ends it", *option_notes]
    )
    result.job = made
    return result


def _aggregated_columns(statement: Insert, table: Table, plan: StreamPlan) -> set[str]:
    """The table's columns that get aggregated values. Empty where the query names its columns (BY NAME)."""
    from paimon_nb.session.query.projection import column_named

    if statement.by_name:
        return set()
    names = list(table.schema.names)
    fixed = {column_named(k, names, table) for k, v in statement.partition.items() if v is not None}
    targets = [column_named(c, names, table) for c in statement.columns or names]
    written = [c for c in targets if c not in fixed or statement.columns is not None]
    return {written[i] for i in plan.aggregated if i < len(written)}


def stop_job(context: StatementContext, statement: StopJob) -> Result:
    """STOP JOB '<id>' [WITH SAVEPOINT | WITH DRAIN].

    The last committed snapshot is the savepoint; with `sink.savepoint.auto-tag` it is tagged.
    """
    found = context.session.jobs.find(statement.job)
    if not found.isActive:
        return message_result(f"job {found.id} is {found.status} already")
    found.stop()
    tag = found.savepoint() if statement.savepoint else None
    return message_result(
        f"job {found.id} stopped after {found.rows} rows", notes=[f"tag {tag} keeps them"] if tag else []
    )


def insert_into_table(context: StatementContext, statement: Insert, table: Table) -> Result:
    """A streaming INSERT into a Paimon table."""
    from paimon_nb.session.query.projection import align_with_table

    def aligned(frame: DataFrame, extra: str | None) -> DataFrame:
        return align_with_table(
            frame, table, statement.columns, statement.partition, by_name=statement.by_name, extra=extra,
            flink=context.session.flink_semantics,
        )  # fmt: skip

    return insert_stream(context, statement, TableOutput(table, aligned), str(table.name))


def insert_into_connector(
    context: StatementContext, statement: Insert, target: CreateTable, *, streams: bool
) -> Result:
    """INSERT into a connector table, as a job or as a batch."""
    from paimon_nb.session.query.connector_tables import sink_of
    from paimon_nb.session.query.run_query import run_query

    assert statement.query is not None
    name, sink = target.name[-1], sink_of(target)
    if streams:
        output = ConnectorOutput(sink, lambda frame: _aligned_with_connector(frame, target))
        return insert_stream(context, statement, output, name)
    frame = run_query(context.session, statement.query, context.text, context.params)
    count = sink.store(_aligned_with_connector(frame, target))
    return message_result(f"{count:,} row{'s' * (count != 1)} inserted into {name}")


def _aligned_with_connector(frame: DataFrame, target: CreateTable) -> DataFrame:
    """Rows cast to a connector table's columns, by position, with their row kinds."""
    from pyspark.sql import functions as F

    from paimon_nb.session.query.connector_tables import connector_table_of
    from paimon_nb.spark.types import spark_type

    fields = connector_table_of(target).stored
    kinds = [KINDS] if KINDS in frame.columns else []
    names = [c for c in frame.columns if c not in kinds]
    if len(names) != len(fields):
        raise SchemaMismatch(
            f"INSERT has {len(names)} columns but {target.name[-1]} needs {len(fields)}",
            hint=f"columns: {', '.join(f.name for f in fields)}",
        )
    plain = frame.select(*[F.col(quote(c)) for c in names], *kinds).toDF(
        *[f"__c{i}" for i in range(len(fields))], *kinds
    )
    columns = [F.col(f"__c{i}").cast(spark_type(f.type)).alias(f.name) for i, f in enumerate(fields)]
    return plain.select(*columns, *kinds)
