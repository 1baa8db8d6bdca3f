"""Starts what `stream_plan` decided, and feeds an output. Each stream works on a copy of the session as it was then."""

from __future__ import annotations

import copy
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.connectors.api import KIND, ORDER
from paimon_nb.fs import open_fs, without_scheme
from paimon_nb.options import parse_duration_ms
from paimon_nb.options.read import SCAN_MAX_SNAPSHOT_COUNT, SOURCE_CHECKPOINT_ALIGN_ENABLED
from paimon_nb.plan import Query
from paimon_nb.session.core.jobs import RefreshLoop, Running
from paimon_nb.session.core.session import Session
from paimon_nb.session.query.hidden_columns import has_hidden
from paimon_nb.session.query.run_query import run_query
from paimon_nb.session.query.watermark import as_utc, watermark_after, watermark_in, watermarked
from paimon_nb.session.streaming.local_stream import table_loop
from paimon_nb.session.streaming.lookup.join import Lookups, belongs, release_ended, waited_tables
from paimon_nb.session.streaming.planner import Shape, StreamInput, StreamPlan, is_plain_time, names_of
from paimon_nb.session.streaming.relations import KINDS
from paimon_nb.session.streaming.sinks import IntoBuffer, IntoTable, Output
from paimon_nb.session.streaming.windows import LateRows
from paimon_nb.spark.errors import packed_errors
from paimon_nb.spark.runtime.arrow_interop import session_zone
from paimon_nb.spark.streaming import idle_checkpoint_timer
from paimon_nb.spark.streaming.sink import claim_checkpoint
from paimon_nb.spark.streaming.start import begun
from paimon_nb.table.stream import StreamOffset

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MODE = "execution.runtime-mode"
_INTERVAL = "execution.checkpointing.interval"
_CHECKPOINTS = ("execution.checkpointing.dir", "state.checkpoints.dir")
MOST_SNAPSHOTS = 20
"""Of a table whose rows change, in one micro-batch: a job that fell behind catches up, and its batches stay small. Who looks at
changes sees them commit by commit."""


def start_stream(
    session: Session, plan: StreamPlan, query: Query, text: str, params: Mapping[str, Any], output: Output, folder: str
) -> Running:
    """Begin; `folder`: of the checkpoint, under the session's directory for them.

    Raises: UnsupportedOperation: what Spark or the shape cannot do. BadOptionValue: the checkpoint is another table's.
    """
    if isinstance(output, IntoBuffer) and (loop := table_loop(plan, query, text, output)) is not None:
        return loop
    lookups = Lookups(session, query, text) if plan.shape is Shape.ROWS else None
    frozen = fork(session)
    frozen.lookups = lookups
    if plan.shape is Shape.REFRESH:
        return _refreshing(frozen, plan, query, text, params, output)
    checkpoint = _checkpoint(session, folder)
    if isinstance(output, IntoTable):
        claim_checkpoint(checkpoint, output.table)
        output.begin(checkpoint)
    frame = (
        _rows(frozen, plan, checkpoint, 1 if isinstance(output, IntoBuffer) else MOST_SNAPSHOTS)
        if plan.shape is Shape.ROWS
        else whole_frame(frozen, plan, query, text, params)
    )
    mode = "update" if plan.shape is Shape.STATE and plan.grouped else "append"
    late = LateRows() if plan.shape is Shape.STATE and any(i.watermarked for i in plan.inputs) else None
    store = (
        _per_batch(frozen, plan, query, text, params, output)
        if plan.shape is Shape.ROWS
        else _as_it_is(plan, output, None if late is None else _stands(frozen, plan, late))
    )
    writer = frame.writeStream.outputMode(mode).foreachBatch(store if late is None else _counting(late, store))
    writer = writer.trigger(processingTime=f"{_interval_ms(session)} milliseconds")
    running = begun(writer.option("checkpointLocation", checkpoint).start)
    if late is not None:
        late.follow(running)
    if lookups is not None:
        release_ended()
        belongs(lookups, running)
    _beside(session, running, output, str(running.id))
    return running


def _beside(session: Session, running: Running, output: Output, user: str) -> None:
    """Let checkpoints without rows count, where they do anything: at the interval of the session's, once a second without one."""
    if isinstance(output, IntoTable) and output.counts_quiet:
        pause_s = _interval_ms(session) / 1000 if _INTERVAL in session.settings else idle_checkpoint_timer.PAUSE_S
        idle_checkpoint_timer.beside(running, lambda: output.quiet(user), pause_s)


def _counting(late: LateRows, store: Any) -> Any:
    """`store`, looking at each micro-batch how many rows were late in those before, as long as Spark still knows."""

    def counted(batch: DataFrame, number: int) -> None:
        late.count()
        store(batch, number)

    return counted


@contextmanager
def in_mode(session: Session, mode: str) -> Iterator[None]:
    """Inside the block statements run as in 'batch' or 'streaming' mode."""
    before = session.settings.get(_MODE)
    session.settings[_MODE] = mode
    try:
        yield
    finally:
        if before is None:
            session.settings.pop(_MODE, None)
        else:
            session.settings[_MODE] = before


def fork(session: Session, spark: Any = None) -> Session:
    """The session as it is now, for a stream: later USE and SET do not reach it. Its queries are batch queries."""
    twin = copy.copy(session)
    twin.settings = dict(session.settings)
    if _MODE in twin.settings:  # one that is not set stays so: it also tells which dialect the user speaks
        twin.settings[_MODE] = "batch"
    twin.views, twin.temporary, twin.catalogs = dict(session.views), dict(session.temporary), dict(session.catalogs)
    twin._spark = session.spark if spark is None else spark
    return twin


def whole_frame(session: Session, plan: StreamPlan, query: Query, text: str, params: Mapping[str, Any]) -> DataFrame:
    """The query as one streaming DataFrame; of tables whose rows change it sees the rows that come, not those that go."""
    frames = {parts: _stream(session, i, kinds=False) for parts, i in names_of(plan.inputs).items()}
    return run_query(session, query, text, params, frames, windows=True)


def _rows(session: Session, plan: StreamPlan, checkpoint: str, most: int) -> DataFrame:
    (only,) = plan.inputs
    begin = begin_of(checkpoint) if only.source is None else last_offset(checkpoint) or "fresh"
    return _stream(session, only, kinds=not only.adds_only, begin=begin, watermark=False, most=most)


def _stream(
    session: Session, one: StreamInput, *, kinds: bool, begin: Any = None, watermark: bool = True, most: int = 1
) -> DataFrame:
    """`most`: snapshots of a table whose kinds are told, in one micro-batch."""
    if one.table is None:
        from paimon_nb.session.query.connector_tables import source_frame

        assert one.source is not None
        assert one.declared is not None
        return source_frame(
            session.spark, one.source, one.declared, stream=True, kinds=kinds, begin=begin, watermark=watermark
        )
    from paimon_nb.spark.streaming.reader import stream_frame

    options = dict(one.ref.options)
    told = one.table.copy(options).options
    if told.get(SOURCE_CHECKPOINT_ALIGN_ENABLED):
        options[SCAN_MAX_SNAPSHOT_COUNT.key] = "1"  # a checkpoint of Flink's then holds one snapshot
    elif kinds:
        given = told.get(SCAN_MAX_SNAPSHOT_COUNT)
        options[SCAN_MAX_SNAPSHOT_COUNT.key] = str(min(given, most) if given > 0 else most)
    frame = stream_frame(
        session.spark, one.table, options=options, kinds=kinds, order=ORDER if kinds else None, begin=begin
    )
    late = watermark_in(one.table.schema.options) if watermark else None
    return frame if late is None else watermarked(frame, late)


def _as_it_is(plan: StreamPlan, output: Output, watermark: Callable[[], int | None] | None) -> Any:
    from pyspark.sql import functions as F

    updates = plan.grouped
    told = watermark if isinstance(output, IntoTable) else None

    def store(batch: DataFrame, number: int) -> None:
        with packed_errors():
            rows = batch.withColumn(KINDS, F.lit("+U")) if updates else batch
            output.accept(rows, number, None if told is None else told())

    return store


def _stands(session: Session, plan: StreamPlan, late: LateRows) -> Callable[[], int | None] | None:
    """Says where the watermark stands, in Flink's milliseconds; None where the inputs' times are not of one kind."""
    kinds = {is_plain_time(session, i) for i in plan.inputs if i.watermarked}
    if len(kinds) != 1 or not all(i.watermarked for i in plan.inputs):
        return None
    zone = session_zone(session.spark) if kinds.pop() else None

    def stands() -> int | None:
        instant = late.watermark()
        return instant if instant is None or zone is None else as_utc(instant, zone)

    return stands


def _per_batch(
    session: Session, plan: StreamPlan, query: Query, text: str, params: Mapping[str, Any], output: Output
) -> Any:
    """The query over each micro-batch by itself; every other table as it is at that moment."""
    (only,) = plan.inputs

    def store(batch: DataFrame, number: int) -> None:
        with packed_errors():
            here = fork(session, batch.sparkSession)
            if here.lookups is not None:
                here.lookups.begin()
            watermark = only.watermark if isinstance(output, IntoTable) else None
            if only.adds_only and watermark is None:
                output.accept(run_query(here, query, text, params, {only.ref.parts: batch}), number)
                return
            batch = batch.persist()
            try:
                moved = None if watermark is None else watermark_after(batch, watermark)
                if only.adds_only:
                    output.accept(run_query(here, query, text, params, {only.ref.parts: batch}), number, moved)
                elif batch.count():  # read by as many tasks as there are partitions, before one task puts it in order
                    output.accept(_in_order(here, query, text, params, {only.ref.parts: batch}), number, moved)
            finally:
                batch.unpersist()

    return store


def _in_order(
    session: Session, query: Query, text: str, params: Mapping[str, Any], batch: Mapping[tuple[str, ...], DataFrame]
) -> DataFrame:
    """The query over changes of which a row may have several in a micro-batch: kinds ride along, and the order stays.

    Raises UnsupportedOperation: the query loses what rides along.
    """
    from pyspark.sql import functions as F

    hidden = (KIND, ORDER)
    told = run_query(session, query, text, params, batch, hidden)
    if not has_hidden(told, hidden):
        raise UnsupportedOperation(
            "this query does not keep the kinds of the changes that it reads",
            hint="INSERT the rows into a table with a primary key, and query that",
        )
    columns = [F.col(quote(c)) for c in told.columns if c not in hidden]
    return told.coalesce(1).sortWithinPartitions(ORDER).select(*columns, KIND)


def _refreshing(
    session: Session, plan: StreamPlan, query: Query, text: str, params: Mapping[str, Any], output: Output
) -> Running:
    from paimon_nb.options import table as opt

    tables = [i.table for i in plan.inputs if i.table is not None]
    for table in tables:
        mode = table.options.get(opt.SCAN_MODE)
        if mode not in ("default", "latest-full", "full") or table.options.has(opt.SCAN_SNAPSHOT_ID):
            raise UnsupportedOperation(
                f"{table.name}: a query that groups, joins or sorts changing rows follows the newest state",
                hint="leave scan.mode and scan.snapshot-id out",
            )
    if isinstance(output, IntoTable) and not output.table.primary_keys:
        raise UnsupportedOperation(
            f"{output.table.name} has no primary key, so it cannot follow results that change",
            hint="give it a PRIMARY KEY of the columns that the query groups by",
        )

    tables += waited_tables(session, query, text)

    def version() -> list[int | None]:
        newest = (t.latest_snapshot() for t in tables)
        return [None if s is None else s.id for s in newest]

    def refresh() -> None:
        output.replace(run_query(session, query, text, params))

    loop = RefreshLoop(version, refresh, min(_interval_ms(session), 1000) / 1000)
    _beside(session, loop, output, "")
    return loop


def _interval_ms(session: Session) -> int:
    given = session.settings.get(_INTERVAL)
    return 200 if given is None else int(parse_duration_ms(str(given)))


def begin_of(checkpoint: str) -> StreamOffset | str:
    """Where the one source of a query stands, by Spark's log of offsets; 'fresh' for a new checkpoint."""
    found = last_offset(checkpoint)
    return StreamOffset.from_json(found) if found is not None and "next" in found else "fresh"


def last_offset(checkpoint: str) -> dict[str, Any] | None:
    """The newest offset of the one source of a query in Spark's log; None for a new checkpoint."""
    fs = open_fs(checkpoint, {})
    logs = [f for f in fs.list(f"{without_scheme(checkpoint)}/offsets") if f.name.isdecimal()]
    if not logs:
        return None
    newest = max(logs, key=lambda f: int(f.name))
    offset = fs.read(newest.path).decode().splitlines()[2]  # a version, the batch's settings, then one line a source
    found: dict[str, Any] | None = json.loads(offset)
    return found


def _checkpoint(session: Session, folder: str) -> str:
    """A folder under the session's checkpoint directory, which a job of the same name and target goes on from; without one a
    fresh folder, for a job that starts anew each time."""
    for key in _CHECKPOINTS:
        if key in session.settings:
            return f"{session.settings[key].rstrip('/')}/{re.sub(r'[^A-Za-z0-9_.-]', '_', folder)}"
    fresh = tempfile.TemporaryDirectory(prefix="paimon_nb-stream-", ignore_cleanup_errors=True)
    session.jobs.folders.append(fresh)  # it goes with the session, at the latest when Python ends
    return fresh.name
