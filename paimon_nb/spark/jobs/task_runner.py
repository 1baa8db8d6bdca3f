"""Pieces of work as Spark tasks: each piece goes out pickled, what it made comes back pickled. Knows no table."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from paimon_nb.spark.errors import crossing_tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
R = TypeVar("R")


def work_frame(spark: SparkSession, pieces: Sequence[object], sizes: Sequence[int]) -> DataFrame:
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


def pieces_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    """Inside a task: the pieces it was given."""
    for batch in batches:
        for packed in batch.column(0):
            yield pickle.loads(packed.as_py())


def run_everywhere(spark: SparkSession, pieces: Sequence[T], sizes: Sequence[int], work: Callable[[T], R]) -> list[R]:
    """`work` on every piece in Spark tasks; results in no special order.

    Each piece's result counts exactly once: attempts that failed, or ran beside the one that counts, bring nothing.
    """

    @crossing_tasks
    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for piece in pieces_of(batches):
            yield pa.RecordBatch.from_pydict({"result": pa.array([pickle.dumps(work(piece))], pa.binary())})

    rows = work_frame(spark, pieces, sizes).mapInArrow(task, "result binary").collect()
    return [pickle.loads(row["result"]) for row in rows]


def run_in_threads(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """`work` on every item in threads of the driver; results in the order of the items."""
    if len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        return list(pool.map(work, items))
