"""Runs a function on many items: in Spark tasks, which get and return pickled objects, or in threads of the driver."""

from __future__ import annotations

import pickle
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from paimon_nb.spark.errors import encode_errors_of_task
from paimon_nb.spark.runtime.jvm_bridge import BLOCK_BYTES, has_bridge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

_PARALLELISM_OF_SERVER = 8
T = TypeVar("T")
R = TypeVar("R")


def frame_of_pickled_pieces(spark: SparkSession, pieces: Sequence[object], sizes: Sequence[int]) -> DataFrame:
    """A DataFrame with one pickled piece per row, column `piece`, partitioned so that tasks process similar amounts of data.

    Args:
        spark: the session.
        pieces: the objects to send to the tasks.
        sizes: bytes that each piece reads.
    """
    tasks = max(1, min(len(pieces), parallelism(spark) * 3))
    loads = [0] * tasks
    shares: list[list[tuple[bytes]]] = [[] for _ in range(tasks)]
    # Largest piece first, each to the task with the least load.
    for number in sorted(range(len(pieces)), key=lambda i: -sizes[i]):
        lightest = loads.index(min(loads))
        loads[lightest] += max(sizes[number], 1)
        shares[lightest].append((pickle.dumps(pieces[number]),))
    if not has_bridge(spark):
        return _frame_of_shares(spark, shares)
    # Spark does not know the size of an RDD. It would estimate the result from a local relation's size, and broadcast it
    # in joins.
    rows = spark.sparkContext.parallelize(shares, tasks).flatMap(lambda share: share)
    return spark.createDataFrame(rows, "piece binary", verifySchema=False)


def parallelism(spark: SparkSession) -> int:
    """Tasks that run at the same time; in Spark Connect the setting of the server, or a guess if it is not set."""
    if has_bridge(spark):
        return spark.sparkContext.defaultParallelism
    return int(spark.conf.get("spark.default.parallelism", None) or _PARALLELISM_OF_SERVER)


def _frame_of_shares(spark: SparkSession, shares: Sequence[Sequence[tuple[bytes]]]) -> DataFrame:
    """The rows of each share in a partition of its own, without a SparkContext: a task picks its share by its number."""
    packed = [[piece for (piece,) in share] for share in shares]

    def rows_of_shares(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pa.RecordBatch.from_pydict({"piece": pa.array(packed[number], pa.binary())})

    return spark.range(0, len(shares), 1, len(shares)).mapInArrow(rows_of_shares, "piece binary")


def unpickle_pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
    """Inside a task: its pieces."""
    for batch in batches:
        for packed in batch.column(0):
            yield pickle.loads(packed.as_py())


def run_in_tasks(spark: SparkSession, pieces: Sequence[T], sizes: Sequence[int], work: Callable[[T], R]) -> list[R]:
    """`work` on every piece in Spark tasks; results in the order of the pieces.

    Each piece has exactly one result: those of failed and speculative attempts are dropped.
    """

    @encode_errors_of_task
    def run_on_pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, piece in unpickle_pieces(batches):
            result = pickle.dumps(work(piece))
            for begin in range(0, len(result), BLOCK_BYTES):
                block = {
                    "number": pa.array([number], pa.int32()),
                    "begin": pa.array([begin], pa.int64()),
                    "block": pa.array([result[begin : begin + BLOCK_BYTES]], pa.binary()),
                }
                yield pa.RecordBatch.from_pydict(block)

    numbered = frame_of_pickled_pieces(spark, list(enumerate(pieces)), sizes)
    rows = numbered.mapInArrow(run_on_pieces, "number int, begin bigint, block binary").collect()
    blocks: list[list[bytes]] = [[] for _ in pieces]
    for number, _, block in sorted(rows, key=itemgetter("number", "begin")):
        blocks[number].append(block)
    return [pickle.loads(b"".join(of_piece)) for of_piece in blocks]
