"""Streaming SELECT and INSERT as statements: live results and jobs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SchemaMismatch, UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.options.unsupported import kept_only
from paimon_nb.plan import CreateTable, Insert, Query, StopJob
from paimon_nb.session.core.jobs import Running, StreamJob
from paimon_nb.session.core.result import Result, rows, summary
from paimon_nb.session.streaming.executor import fork, start_stream, whole_frame
from paimon_nb.session.streaming.planner import Shape, StreamPlan, moved, plan_stream
from paimon_nb.session.streaming.progress import progress
from paimon_nb.session.streaming.relations import KINDS
from paimon_nb.session.streaming.sinks import OP, IntoBuffer, IntoSink, IntoTable, Output

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.session.executor import StatementContext
    from paimon_nb.table.table import Table


class LiveResult:
    """A streaming SELECT. Starts with the first look at it; iterate to get its changes, `op` first, as Arrow tables."""

    def __init__(self, job: StatementContext, statement: Query) -> None:
        self._at, self._statement = job, statement
        self.plan: StreamPlan = plan_stream(job.session, statement, job.text)
        self.job: StreamJob | None = None
        self._buffer = IntoBuffer()

    @property
    def frame(self) -> DataFrame:
        """The query as a streaming DataFrame. Raises UnsupportedOperation: its rows change in ways that Spark cannot tell."""
        if self.plan.shape is Shape.REFRESH:
            raise UnsupportedOperation(
                "this query groups, joins or sorts rows that change; Spark's streaming DataFrames only add rows",
                hint="wb.stream(sql) tells the result's changes; batch mode gives it once",
            )
        job = self._at
        return whole_frame(fork(job.session), self.plan, self._statement, job.text, job.params)

    def start(self) -> LiveResult:
        if self.job is None:
            at = self._at
            made = StreamJob("select", self._run(), lambda: self._buffer.rows, lambda r: progress(r, self.plan))
            self.job = at.session.jobs.add(made)
        return self

    def _run(self) -> Running:
        at = self._at
        return start_stream(at.session, self.plan, self._statement, at.text, at.params, self._buffer, "select")

    @property
    def fixed(self) -> str | None:
        """Why it cannot begin at a snapshot; None when it can."""
        if self.plan.shape is Shape.REFRESH:
            return "a query that groups, joins or sorts changing rows follows the newest state"
        if sum(i.table is not None for i in self.plan.inputs) != 1:
            return "only a query over one table begins at one of its snapshots"
        return None

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that are read as streams."""
        return tuple(i.table for i in self.plan.inputs if i.table is not None)

    def take(self, timeout_s: float) -> list[pa.Table]:
        """What came since the last call, or comes within so long."""
        return self._buffer.take(timeout_s)

    def seek(self, snapshot: int | None) -> None:
        """Begin anew: with the changes of a snapshot, or (None) with the newest state. What was not taken is forgotten.

        Raises: UnsupportedOperation: see `fixed`. BadOptionValue: no id of a snapshot.
        """
        if self.fixed is not None:
            raise UnsupportedOperation(f"this stream cannot be moved: {self.fixed}", hint="run the query again")
        self.plan = moved(self.plan, snapshot)
        self.stop()
        self._buffer = IntoBuffer()
        if self.job is None:
            self.start()
        else:
            self.job.restarted(self._run())

    def collect(self, limit: int = 1000, timeout_s: float = 10.0, idle_s: float | None = None) -> pa.Table:
        """Changes until there are `limit` rows, the time is over or the stream ends; then the stream is stopped.

        Args:
            idle_s: also stop when nothing came for so long since the stream has read what was there when it began.

        Raises: the stream's error.
        """
        import pyarrow as pa

        got: list[pa.Table] = []
        deadline = time.monotonic() + timeout_s
        try:
            if idle_s is not None:
                self.start()
                assert self.job is not None
                self.job.process_available(timeout_s)
                deadline = min(deadline, time.monotonic() + idle_s)
            for changes in self._until(deadline):
                got.append(changes)
                if idle_s is not None:
                    deadline = time.monotonic() + idle_s
                if sum(g.num_rows for g in got) >= limit:
                    break
        finally:
            self.stop()
        if not got:
            return pa.table({OP: pa.array([], pa.string())})
        return pa.concat_tables(got).slice(0, limit)

    def __iter__(self) -> Iterator[pa.Table]:
        return self._until(None)

    def stop(self) -> None:
        self._buffer.close()
        if self.job is not None:
            self.job.stop()

    def __enter__(self) -> LiveResult:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _until(self, deadline: float | None) -> Iterator[pa.Table]:
        self.start()
        assert self.job is not None
        while True:
            left = 0.2 if deadline is None else min(0.2, deadline - time.monotonic())
            active = self.job.isActive
            yield from self._buffer.take(max(left, 0.001))
            if self.job.error is not None:
                raise self.job.error
            if not active or left <= 0:
                return


def select(job: StatementContext, statement: Query) -> Result:
    """A streaming SELECT as a result that was not looked at yet."""
    return Result("stream", live=LiveResult(job, statement))


def insert_stream(job: StatementContext, statement: Insert, output: Output, target: str) -> Result:
    """A streaming INSERT as a job; 'pipeline.name' names it, else its target."""
    session, query = job.session, statement.query
    into = f"insert-into_{target}"
    name = str(session.settings.get("pipeline.name", into))
    # The INSERTs of a statement set have one name, and each its own checkpoint.
    folder = into if name == into else f"{name}-{into}"
    assert query is not None
    plan = plan_stream(session, query, job.text)
    if plan.grouped and isinstance(output, IntoTable) and not output.table.primary_keys and plan.shape is Shape.STATE:
        raise UnsupportedOperation(
            f"{output.table.name} has no primary key, so it cannot take results that change",
            hint="give it a PRIMARY KEY of the columns that the query groups by",
        )
    running = start_stream(session, plan, query, job.text, job.params, output, folder)
    savepoint = output.savepoint if isinstance(output, IntoTable) else lambda: None
    made = session.jobs.add(StreamJob(name, running, lambda: output.rows, lambda r: progress(r, plan), savepoint))
    kept = [note for ref in query.tables for note in kept_only(ref.options)]
    result = summary(f"job {made.id} started: {name}", notes=["SHOW JOBS lists it; STOP JOB '<id>' ends it", *kept])
    result.job = made
    return result


def show_jobs(job: StatementContext, _statement: object) -> Result:
    """SHOW JOBS, with Flink's columns, the rows that went out and those that came too late."""
    import datetime as dt

    import pyarrow as pa

    jobs = list(job.session.jobs.all.values())
    started = [dt.datetime.fromtimestamp(j.started_ms / 1000, dt.UTC).replace(tzinfo=None) for j in jobs]
    return rows(
        {
            "job id": [j.id for j in jobs],
            "job name": [j.name for j in jobs],
            "status": [j.status for j in jobs],
            "start time": started,
            "rows": [j.rows for j in jobs],
            "late rows": [j.late for j in jobs],
        },
        {"start time": pa.timestamp("ms"), "rows": pa.int64(), "late rows": pa.int64()},
    )


def stop_job(job: StatementContext, statement: StopJob) -> Result:
    """STOP JOB '<id>' [WITH SAVEPOINT | WITH DRAIN]: the committed snapshots are the savepoint, and a tag keeps the last where the table
    has `sink.savepoint.auto-tag`."""
    found = job.session.jobs.find(statement.job)
    if not found.isActive:
        return summary(f"job {found.id} is {found.status} already")
    found.stop()
    tag = found.savepoint() if statement.savepoint else None
    return summary(f"job {found.id} stopped after {found.rows} rows", notes=[f"tag {tag} keeps them"] if tag else [])


def insert_into_table(job: StatementContext, statement: Insert, table: Table) -> Result:
    """A streaming INSERT into a Paimon table."""
    from paimon_nb.session.statements.insert import align

    def aligned(frame: DataFrame, carry: str | None) -> DataFrame:
        return align(frame, table, statement.columns, statement.partition, by_name=statement.by_name, carry=carry)

    return insert_stream(job, statement, IntoTable(table, aligned), str(table.name))


def insert_into_connector(job: StatementContext, statement: Insert, target: CreateTable, *, streams: bool) -> Result:
    """INSERT into a connector's table, as a job or at once."""
    from paimon_nb.session.query.connector_tables import sink_of
    from paimon_nb.session.query.run_query import run_query

    assert statement.query is not None
    name, sink = target.name[-1], sink_of(target)
    if streams:
        output = IntoSink(sink, lambda frame: _lined_up(frame, target))
        return insert_stream(job, statement, output, name)
    frame = run_query(job.session, statement.query, job.text, job.params)
    count = sink.store(_lined_up(frame, target))
    return summary(f"{count} row{'s' * (count != 1)} inserted into {name}")


def _lined_up(frame: DataFrame, target: CreateTable) -> DataFrame:
    """Rows with the columns of a connector's table, by position, and their kinds."""
    from pyspark.sql import functions as F

    from paimon_nb.session.query.connector_tables import declared
    from paimon_nb.spark.types import spark_type

    fields = declared(target).stored
    kinds = [KINDS] if KINDS in frame.columns else []
    given = [c for c in frame.columns if c not in kinds]
    if len(given) != len(fields):
        raise SchemaMismatch(
            f"{target.name[-1]} takes {len(fields)} columns, the source gives {len(given)}",
            hint=f"columns: {', '.join(f.name for f in fields)}",
        )
    plain = frame.select(*[F.col(quote(c)) for c in given], *kinds).toDF(
        *[f"__c{i}" for i in range(len(fields))], *kinds
    )
    columns = [F.col(f"__c{i}").cast(spark_type(f.type)).alias(f.name) for i, f in enumerate(fields)]
    return plain.select(*columns, *kinds)
