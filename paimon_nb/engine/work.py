"""Pieces of work as Spark tasks: each piece goes out pickled, what it made comes back pickled. Knows no table."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from paimon_nb.engine.errors import crossing_tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
R = TypeVar("R")


def work_frame(spark: SparkSession, pieces: Sequence[Any], sizes: Sequence[int]) -> DataFrame:
    """One row a piece, column `piece` (pickled), spread so that tasks get about the same bytes.

    Args:
        sizes: bytes of each piece's work, for the balance.
    """
    tasks = max(1, min(len(pieces), spark.sparkContext.defaultParallelism * 3))
    loads = [0] * tasks
    shares: list[list[tuple[bytes]]] = [[] for _ in range(tasks)]
    # Biggest first, to the lightest task so far: no task is left with all the big ones.
    for number in sorted(range(len(pieces)), key=lambda i: -sizes[i]):
        lightest = loads.index(min(loads))
        loads[lightest] += max(sizes[number], 1)
        shares[lightest].append((pickle.dumps(pieces[number]),))
    # An RDD's size is unknown to Spark; from a local relation it would conclude that what the pieces become is tiny, and
    # broadcast it in joins.
    rows = spark.sparkContext.parallelize(shares, tasks).flatMap(lambda share: share)
    return spark.createDataFrame(rows, "piece binary", verifySchema=False)


def pieces_of(batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
    """Inside a task: the pieces it was given."""
    for batch in batches:
        for packed in batch.column(0):
            yield pickle.loads(packed.as_py())


def run_everywhere(
    spark: SparkSession,
    pieces: Sequence[T],
    sizes: Sequence[int],
    work: Callable[[T], R],
    failed: Callable[[list[R]], None],
) -> list[R]:
    """`work` on every piece in Spark tasks; results in no special order. Each piece's result counts exactly once.

    Args:
        failed: called with the results of attempts that had ended well, when the job as a whole fails.
    """
    finished = Finished(spark)

    @crossing_tasks
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for piece in pieces_of(batches):
            packed = pickle.dumps(work(piece))
            finished.add(packed)
            yield pa.RecordBatch.from_pydict({"result": pa.array([packed], pa.binary())})

    try:
        rows = work_frame(spark, pieces, sizes).mapInArrow(task, "result binary").collect()
    except BaseException:
        failed(finished.results())
        raise
    return [pickle.loads(row["result"]) for row in rows]


class Finished:
    """Results of attempts that ended well, told to the driver as they end: also known when the job fails later.

    Good for cleaning up only: an attempt may be in it twice, or be in it and not count.
    """

    def __init__(self, spark: SparkSession) -> None:
        from pyspark.accumulators import AccumulatorParam

        class Lists(AccumulatorParam[list[bytes]]):
            def zero(self, value: list[bytes]) -> list[bytes]:
                return []

            def addInPlace(self, value1: list[bytes], value2: list[bytes]) -> list[bytes]:  # noqa: N802
                value1.extend(value2)
                return value1

        self._list: Any = None
        with suppress(Exception):  # Spark Connect has no accumulators
            self._list = spark.sparkContext.accumulator([], Lists())

    def add(self, packed: bytes) -> None:
        """In a task: this result is made."""
        if self._list is not None:
            self._list.add([packed])

    def results(self) -> list[Any]:
        """In the driver: what is known so far."""
        return [pickle.loads(packed) for packed in (self._list.value if self._list is not None else [])]
