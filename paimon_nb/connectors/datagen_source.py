# ruff: noqa: N802  the names are defined by Spark
"""Spark data sources for rows that are a function of their row number. Runs in Spark's Python workers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from paimon_nb.base import clock
from paimon_nb.base.override import override
from paimon_nb.spark.errors import encode_errors_of_task
from paimon_nb.spark.jobs.task_runner import frame_of_pickled_pieces, unpickle_pieces
from paimon_nb.spark.streaming.data_source import stream_of_data_source
from paimon_nb.spark.types import spark_schema, task_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.format.types import DataField

_TASK_ROWS = 10_000


class RowGenerator(Protocol):
    """Generates rows by row number. Pickled into tasks."""

    def batches(self, start: int, stop: int) -> Iterator[pa.Table]: ...

    def due(self, now_ms: int) -> int: ...


def generated_batch(spark: SparkSession, source: RowGenerator, fields: Sequence[DataField], total: int) -> DataFrame:
    """The first `total` rows."""
    pieces = _row_ranges(0, total, spark.sparkContext.defaultParallelism)
    fields = tuple(fields)

    @encode_errors_of_task
    def generate_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for start, stop in unpickle_pieces(batches):
            yield from _spark_batches(source, fields, start, stop)

    return frame_of_pickled_pieces(spark, pieces, [b - a for a, b in pieces]).mapInArrow(
        generate_rows, spark_schema(fields)
    )


def generated_stream(spark: SparkSession, source: RowGenerator, fields: Sequence[DataField]) -> DataFrame:
    """The rows as a stream, at the rate of the generator."""
    tasks = spark.sparkContext.defaultParallelism
    return stream_of_data_source(spark, GeneratedSource, source=source, fields=tuple(fields), tasks=tasks)


class GeneratedSource(DataSource):
    source: RowGenerator
    fields: tuple[DataField, ...]
    tasks: int

    def schema(self) -> Any:
        return spark_schema(self.fields)

    @override
    def streamReader(self, schema: Any) -> GeneratedReader:
        return GeneratedReader(self)


class RowRange(InputPartition):
    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop


class GeneratedReader(DataSourceStreamReader):
    """Offsets are row numbers."""

    def __init__(self, source: GeneratedSource) -> None:
        self.source = source

    def initialOffset(self) -> dict[str, Any]:
        return {"row": 0}

    def latestOffset(self) -> dict[str, Any]:  # type: ignore[override]  # before release 4.3 Spark passes no arguments
        return {"row": self.source.source.due(clock.now_ms())}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        low, high = start["row"], end["row"]
        if high <= low:  # the checkpoint is of an earlier generator; row numbers start again at 0
            return []
        return [RowRange(a, b) for a, b in _row_ranges(low, high, self.source.tasks)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, RowRange)
        return _spark_batches(self.source.source, self.source.fields, partition.start, partition.stop)


def _spark_batches(
    source: RowGenerator, fields: tuple[DataField, ...], start: int, stop: int
) -> Iterator[pa.RecordBatch]:
    for rows in source.batches(start, stop):
        yield from task_batches(rows.combine_chunks(), fields)


def _row_ranges(low: int, high: int, max_tasks: int) -> list[tuple[int, int]]:
    """Split a range of row numbers into at most `max_tasks` ranges of at least `_TASK_ROWS` rows."""
    tasks = max(1, min(max_tasks, (high - low) // _TASK_ROWS))
    return list(itertools.pairwise(low + (high - low) * i // tasks for i in range(tasks + 1)))
