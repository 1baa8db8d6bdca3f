"""Groups, windows and joins over append-only streams: Spark's streaming query with its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.session.query.watermark import local_time_as_utc_ms
from paimon_nb.session.streaming.frames import whole_frame
from paimon_nb.session.streaming.modes.recompute import RecomputeRun
from paimon_nb.session.streaming.modes.spark_run import SparkRun
from paimon_nb.session.streaming.modes.stream_run import cannot_resume
from paimon_nb.session.streaming.normalize import ResultChanges
from paimon_nb.session.streaming.planner import StreamMode, is_plain_time
from paimon_nb.session.streaming.relations import KINDS
from paimon_nb.session.streaming.sinks import BufferOutput, TableOutput
from paimon_nb.session.streaming.windows import LateRows
from paimon_nb.spark.errors import encode_raised_errors
from paimon_nb.spark.runtime.arrow_interop import session_zone

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from paimon_nb.session.core.jobs import Running
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.streaming.planner import StreamPlan
    from paimon_nb.session.streaming.stream_statement import StreamStatement


class StatefulRun(SparkRun):
    """Emits each changed result of a group, or each result once where the watermark closes it."""

    @classmethod
    def of(cls, statement: StreamStatement) -> StatefulRun | None:
        return cls(statement) if statement.plan.mode is StreamMode.STATEFUL else None

    def __init__(self, statement: StreamStatement) -> None:
        super().__init__(statement)
        self.session.lookups = None
        self.output_mode = "update" if self.plan.grouped else "append"

    def prepare(self) -> None:
        plan, output = self.plan, self.output
        if plan.grouped and output.merges and self.resumed:
            raise cannot_resume()
        live = isinstance(output, BufferOutput)
        self._changes = None
        if plan.grouped and plan.keys is not None and (output.merges or live):
            self._changes = ResultChanges(plan.keys, retractions_first=not live)
        self._has_kinds = plan.grouped or not any(i.system for i in plan.inputs)
        self._late = LateRows() if any(i.watermarked for i in plan.inputs) else None
        self._watermark: Callable[[], int | None] = lambda: None
        if self._late is not None and isinstance(output, TableOutput):
            self._watermark = _watermark_reader(self.session, plan, self._late)

    def frame(self) -> DataFrame:
        return whole_frame(self.statement, self.session, records_consumer=False)

    def started(self, running: Running) -> None:
        if self._late is not None:
            self._late.attach(running)

    def store(self, batch: DataFrame, number: int) -> None:
        from pyspark.sql import functions as F

        if self._late is not None:
            self._late.count()  # of earlier micro-batches, while Spark still has their progress
        with encode_raised_errors():
            if self._changes is not None:
                rows = self._changes(batch)
            else:
                rows = batch.withColumn(KINDS, F.lit("+U")) if self.plan.grouped else batch
            self.output.accept(rows, number, self._watermark(), kinds=self._has_kinds)

    def begin_otherwise(self, error: Exception) -> Running:
        """If all inputs are tables, the query runs again for each snapshot."""
        if any(i.table is None or i.system is not None for i in self.plan.inputs):
            return super().begin_otherwise(error)
        if isinstance(self.output, TableOutput):
            self.output.begin_results()
        return RecomputeRun(self.statement).begin()


def _watermark_reader(session: Session, plan: StreamPlan, late: LateRows) -> Callable[[], int | None]:
    """A function that returns the watermark in Flink's milliseconds; None if the inputs' time types differ."""
    plain_times = {is_plain_time(session, i) for i in plan.inputs if i.watermarked}
    if len(plain_times) != 1 or not all(i.watermarked for i in plan.inputs):
        return lambda: None
    zone = session_zone(session.spark) if plain_times.pop() else None

    def current_watermark() -> int | None:
        instant = late.watermark()
        return instant if instant is None or zone is None else local_time_as_utc_ms(instant, zone)

    return current_watermark
