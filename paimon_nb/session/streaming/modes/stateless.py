"""Filters, projections and lookup joins over one stream: the query runs on each micro-batch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from paimon_nb.base.errors import MissingFile, SnapshotNotFound
from paimon_nb.options.table import CONSUMER_ID, CONSUMER_MODE
from paimon_nb.session.query.run_query import temporary_names_of_tables
from paimon_nb.session.query.watermark import watermark_after
from paimon_nb.session.streaming.checkpoints import start_offset_of
from paimon_nb.session.streaming.frames import MAX_SNAPSHOTS, changes_frame, query_ordered_changes
from paimon_nb.session.streaming.lookup.join import Lookups, register, release_ended
from paimon_nb.session.streaming.lookup.waiting import HIDDEN, WaitingRows
from paimon_nb.session.streaming.modes.spark_run import SparkRun
from paimon_nb.session.streaming.normalize import TableChanges
from paimon_nb.session.streaming.planner import StreamMode
from paimon_nb.session.streaming.sinks import BufferOutput, TableOutput
from paimon_nb.session.streaming.stream_session import session_copy_for_stream
from paimon_nb.spark.errors import encode_raised_errors
from paimon_nb.table.read.stream import StreamOffset, starts_at_consumer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame

    from paimon_nb.session.core.jobs import Running
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.streaming.planner import StreamInput
    from paimon_nb.session.streaming.stream_statement import StreamStatement


class StatelessRun(SparkRun):
    """Reads the changes of one table or connector; other tables are read as of the time of a micro-batch."""

    @classmethod
    def of(cls, statement: StreamStatement) -> StatelessRun | None:
        return cls(statement) if statement.plan.mode is StreamMode.STATELESS else None

    def __init__(self, statement: StreamStatement) -> None:
        self.lookups = Lookups(statement.session, statement.query, statement.text, statement.plan.inputs)
        super().__init__(statement)
        self.session.lookups = self.lookups
        (self.only,) = self.plan.inputs

    def prepare(self) -> None:
        self._waiting = WaitingRows(self.checkpoint, self.lookups) if self.lookups.unordered else None
        self._snapshot_watermark = _snapshot_watermark_reader(self.only, self.checkpoint)
        looks_up_replaced = self.only.is_upsert and self.output.takes_update_before
        self._changes = (
            TableChanges(self.only, resumed=self.resumed or self._starts_at_consumer()) if looks_up_replaced else None
        )

    def _starts_at_consumer(self) -> bool:
        table = self.only.table
        return table is not None and starts_at_consumer(table.copy(self.only.ref.options).store)

    def frame(self) -> DataFrame:
        return changes_frame(
            self.session,
            self.only,
            self.checkpoint,
            max_snapshots=1 if isinstance(self.output, BufferOutput) else MAX_SNAPSHOTS,
            retries=None if self._waiting is None else self._waiting.files,
            records_consumer=False,
        )

    def started(self, running: Running) -> None:
        release_ended()
        register(self.lookups, running)

    def store(self, batch: DataFrame, number: int) -> None:
        with encode_raised_errors():
            session = session_copy_for_stream(self.session, batch.sparkSession)
            self.lookups.begin()
            table = self.output if isinstance(self.output, TableOutput) else None
            if self._waiting is not None and table is not None and table.has_stored(batch, number):
                return  # it runs again after a crash: the rows that wait are stored, too
            watermark = None if table is None else self.only.watermark
            if self.only.append_only and watermark is None and self._waiting is None:
                self._store_insertions(session, batch, number, self._snapshot_watermark())
                return
            batch = batch.persist()
            try:
                moved_to = self._snapshot_watermark() if watermark is None else watermark_after(batch, watermark)
                if self._waiting is not None:
                    with self._rows_that_need_not_wait(self._waiting, session, batch, number) as rows:
                        self._store_insertions(session, rows, number, moved_to)
                elif self.only.append_only:
                    self._store_insertions(session, batch, number, moved_to)
                elif batch.count():  # reads with all partitions, before one task sorts
                    self._store_changes(session, batch, number, moved_to)
            finally:
                batch.unpersist()

    def _store_insertions(self, session: Session, rows: DataFrame, number: int, watermark: int | None) -> None:
        result = self.statement.rows(session, {self.only.ref.parts: rows})
        self.output.accept(result, number, watermark, kinds=self.only.system is None)

    def _store_changes(self, session: Session, batch: DataFrame, number: int, watermark: int | None) -> None:
        changed = batch if self._changes is None else self._changes(batch)
        result = query_ordered_changes(self.statement, session, {self.only.ref.parts: changed})
        self.output.accept(result, number, watermark)

    @contextmanager
    def _rows_that_need_not_wait(
        self, waiting: WaitingRows, session: Session, batch: DataFrame, number: int
    ) -> Iterator[DataFrame]:
        """The rows of a micro-batch, and those that waited, which have a match in each lookup table or no longer wait for one."""
        statement, only = self.statement, self.only
        rows, later = waiting.with_due_rows(batch, number)
        rows = rows.persist()
        try:
            others = tuple(t for t in statement.query.tables if not t.lookup)
            with temporary_names_of_tables(session, others, statement.text, {only.ref.parts: rows}, HIDDEN) as names:
                unmatched = waiting.lookups.rows_without_match(
                    session, statement.query, statement.text, names, statement.params, HIDDEN
                )
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
