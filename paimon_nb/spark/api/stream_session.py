# ruff: noqa: N802, N803  the names are Spark's
"""`wb.spark.readStream` and `df.writeStream` with `format("paimon")` and Paimon tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

from paimon_nb.base.errors import BadOptionValue, TableNotFound
from paimon_nb.base.identifier import split_name
from paimon_nb.options import parse_duration_ms
from paimon_nb.spark.api.base_session import SparkClass, StreamWriteRequest
from paimon_nb.spark.api.reader_options import OptionsMixin, WriterOptionsMixin, table_name_or_path, without_path
from paimon_nb.spark.scan.current_state import with_current_tables
from paimon_nb.spark.streaming import idle_checkpoint_timer
from paimon_nb.spark.streaming.available_now import has_batch_to_repeat, start_available_now
from paimon_nb.spark.streaming.data_source import reads_with_limits
from paimon_nb.spark.streaming.start import start_query

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql._typing import OptionalPrimitiveType
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType

    from paimon_nb.spark.api.base_session import ResolvingMethods, ResolvingSession
    from paimon_nb.spark.streaming.sink import TableSink


class StreamReaderMethods(OptionsMixin, SparkClass):  # type: ignore[misc]
    """`load` and `table` of `spark.readStream`."""

    def __init__(self, session: ResolvingMethods) -> None:
        super().__init__(session)
        self._paimon = session

    def load(self, path: str | None = None, format: str | None = None,
             schema: StructType | str | None = None, **options: OptionalPrimitiveType) -> DataFrame:  # fmt: skip
        """With format "paimon": the stream of the table at `path`, or of the one in the options `database` and `table`."""
        if format is not None:
            self.format(format)
        self.options(**options)
        if not self._is_paimon:
            return self._paimon.bind_to_session(super().load(path, schema=schema))
        return self._read_stream_of(table_name_or_path(path, self._captured, "load"))

    def table(self, tableName: str) -> DataFrame:
        """The stream of a Paimon table, else of a table in Spark."""
        if self._is_foreign:
            return self._paimon.bind_to_session(super().table(tableName))
        frame = self._paimon._resolver.stream(split_name(tableName), _table_options(self._captured))
        return self._paimon.bind_to_session(super().table(tableName) if frame is None else frame)

    def _read_stream_of(self, target: tuple[str, ...] | str) -> DataFrame:
        frame = self._paimon._resolver.stream(target, _table_options(self._captured))
        if frame is None:
            raise TableNotFound(f"no table {'.'.join(target)}", hint="SHOW TABLES lists the tables")
        return self._paimon.bind_to_session(frame)


class PaimonStreamReader(StreamReaderMethods, DataStreamReader):
    """`spark.readStream`."""


class StreamWriterMethods(WriterOptionsMixin, SparkClass):  # type: ignore[misc]
    """The methods of `df.writeStream`. The arguments after the session are those of Spark's class."""

    def __init__(self, frame: DataFrame, session: ResolvingMethods, *spark: Any) -> None:
        super().__init__(*spark)
        self._frame, self._paimon, self._mode = frame, session, "append"
        self._trigger: dict[str, Any] | None = None
        self._name: str | None = None

    def outputMode(self, outputMode: str) -> Self:
        super().outputMode(outputMode)
        self._mode = outputMode.lower()
        return self

    def trigger(self, **when: Any) -> Self:
        super().trigger(**when)
        self._trigger = when
        return self

    def queryName(self, queryName: str) -> Self:
        super().queryName(queryName)
        self._name = queryName
        return self

    def start(self, path: str | None = None, format: str | None = None, outputMode: str | None = None,
              partitionBy: str | list[str] | None = None, queryName: str | None = None,
              **options: OptionalPrimitiveType) -> StreamingQuery:  # fmt: skip
        """With format "paimon": write to the table at `path`, or to the one in the options `database` and `table`."""
        self._apply_arguments(format, outputMode, partitionBy, queryName, options)
        if not self._is_paimon:
            return self._start_with_trigger(super().start, path)
        return self._start_into(table_name_or_path(path, self._captured, "start"))

    def toTable(self, tableName: str, format: str | None = None, outputMode: str | None = None,
                partitionBy: str | list[str] | None = None, queryName: str | None = None,
                **options: OptionalPrimitiveType) -> StreamingQuery:  # fmt: skip
        """Write to a named table, which is created if missing."""
        self._apply_arguments(format, outputMode, partitionBy, queryName, options)
        if self._is_foreign:
            return self._start_with_trigger(super().toTable, tableName)
        return self._start_into(split_name(tableName))

    def _apply_arguments(self, format: str | None, mode: str | None, partition_by: str | Sequence[str] | None, name: str | None,
              options: Mapping[str, OptionalPrimitiveType]) -> None:  # fmt: skip
        self._apply_common_arguments(format, partition_by, options)
        if mode is not None:
            self.outputMode(mode)
        if name is not None:
            self.queryName(name)

    @property
    def _ends(self) -> bool:
        """Whether the trigger ends the query when all available data is processed."""
        return bool(self._trigger and ({"availableNow", "once"} & self._trigger.keys()))

    def _start_with_trigger(self, start: Callable[..., Any], *arguments: Any) -> StreamingQuery:
        """Start the query; one that ends and reads tables with limits, or first repeats a micro-batch, runs until all is read."""
        checkpoint = self._captured.get("checkpointLocation")
        repeats = "availableNow" in (self._trigger or ()) and checkpoint is not None and has_batch_to_repeat(checkpoint)
        if repeats or (self._ends and reads_with_limits(self._frame)):
            query = start_available_now(lambda: start(*arguments), checkpoint)
            return cast("StreamingQuery", query)
        return start_query(lambda: start(*arguments))

    def _start_into(self, target: tuple[str, ...] | str) -> StreamingQuery:
        if self._mode not in ("append", "update", "complete"):
            raise BadOptionValue(f"output mode {self._mode!r} is unknown", hint="use append, update or complete")
        request = StreamWriteRequest(
            target,
            self._mode,
            _table_options(self._captured),
            self._captured.get("checkpointLocation"),
            self._partition_by,
            ends=self._ends,
        )
        frame, sink = self._paimon._resolver.sink(self._frame, request)
        writer = self._spark_writer(frame).outputMode(self._mode).options(**without_path(self._captured))
        if self._trigger is not None:
            writer = writer.trigger(**self._trigger)
        if self._name is not None:
            writer = writer.queryName(self._name)
        return self._start_with_sink(writer, sink)

    def _spark_writer(self, frame: DataFrame) -> Any:
        """Spark's own stream writer of a DataFrame."""
        raise NotImplementedError

    def _start_with_sink(self, writer: Any, sink: TableSink) -> StreamingQuery:
        """Start the query of a writer of Spark, whose micro-batches go to a sink."""
        raise NotImplementedError


class PaimonStreamWriter(StreamWriterMethods, DataStreamWriter):
    """`df.writeStream`."""

    def __init__(self, frame: DataFrame, session: ResolvingSession) -> None:
        frame = with_current_tables(frame)
        super().__init__(frame, session, frame)

    def foreachBatch(self, func: Callable[[DataFrame, int], None]) -> PaimonStreamWriter:
        """The function's DataFrames know Paimon tables too; their `sparkSession` finds their temporary views."""
        sessions: list[ResolvingMethods] = []

        def call_in_our_session(batch: DataFrame, number: int) -> None:
            if not sessions:  # one per stream, so that a batch sees the views of the previous ones
                sessions.append(self._paimon.over_session(batch.sparkSession))
            func(sessions[0].bind_to_session(batch), number)

        super().foreachBatch(call_in_our_session)
        return self

    def _spark_writer(self, frame: DataFrame) -> DataStreamWriter:
        return DataStreamWriter(frame)

    def _start_with_sink(self, writer: DataStreamWriter, sink: TableSink) -> StreamingQuery:
        query = self._start_with_trigger(writer.foreachBatch(sink).start)
        if sink.handles_empty_checkpoints:
            idle_checkpoint_timer.run_checkpoints_until_end(
                query, lambda: sink.on_idle_checkpoint(str(query.id)), self._seconds_between_idle_checkpoints()
            )
        return query

    def _seconds_between_idle_checkpoints(self) -> float:
        """Interval of checkpoints without rows: the trigger's processing time if set."""
        captured = (self._trigger or {}).get("processingTime")
        try:
            return (0 if captured is None else parse_duration_ms(str(captured)) / 1000) or idle_checkpoint_timer.PAUSE_S
        except ValueError:  # another spelling that Spark accepts
            return idle_checkpoint_timer.PAUSE_S


def _table_options(captured: Mapping[str, str]) -> dict[str, str]:
    """The table options."""
    return {k: v for k, v in without_path(captured).items() if k != "checkpointLocation"}
