"""Shuffles rows before they are written, so that one task writes all rows of a (partition, bucket).

The bucket of a row is a hash of its bucket key (docs/spec/format.md section 10): a Spark expression for integers and dates,
and `format.row` in Python tasks, from the key columns only, for other types.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.options import table as opt
from paimon_nb.spark.errors import encode_raised_errors
from paimon_nb.spark.types import from_spark_arrow
from paimon_nb.spark.versions import arrow_udf, repartition_by_id
from paimon_nb.spark.write.bucket_hash import bucket_expression
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import Column, DataFrame

    from paimon_nb.format.types import DataField


_BUCKET = "__paimon_bucket"


class Shuffle(Enum):
    """How rows are distributed to the writing tasks."""

    NONE = "no shuffle: any task may write any row"
    BY_BUCKET = "one task writes a bucket"
    BY_PARTITION = "one task writes a partition, because it assigns keys to buckets"
    BY_KEY = "shuffled by key"
    ONE_TASK = "one task: keys may move between partitions"


def shuffle_of(store: TableStore) -> Shuffle:
    """The shuffle that the table's bucket mode needs."""
    count, keyed = store.bucket_option, store.has_keys
    if count == POSTPONE_BUCKET:
        return Shuffle.BY_KEY
    if count > 0:
        return Shuffle.BY_BUCKET
    if not keyed:
        return Shuffle.NONE
    if not set(store.schema.partition_keys) <= set(store.schema.primary_keys):
        return Shuffle.ONE_TASK
    return Shuffle.BY_PARTITION


def shuffle_for_write(frame: DataFrame, store: TableStore) -> DataFrame:
    """The rows, shuffled as the table needs."""
    schema = store.schema
    match shuffle_of(store):
        case Shuffle.NONE:
            return frame
        case Shuffle.BY_BUCKET:
            return _shuffle_by_bucket(frame, store)
        case Shuffle.BY_PARTITION:
            return (
                frame.repartition(*columns_by_name(schema.partition_keys))
                if schema.partition_keys
                else frame.coalesce(1)
            )
        case Shuffle.BY_KEY:
            return frame.repartition(*columns_by_name(schema.bucket_keys or schema.primary_keys))
        case Shuffle.ONE_TASK:
            return frame.coalesce(1)


def _shuffle_by_bucket(frame: DataFrame, store: TableStore) -> DataFrame:

    partitions, buckets = store.schema.partition_keys, store.bucket_option
    if buckets == 1 and not partitions:
        return frame.coalesce(1)
    keys = [store.schema.field(name) for name in store.schema.bucket_keys]
    numbered, bucket = with_bucket_number(frame, keys, buckets, str(store.options.get(opt.BUCKET_FUNCTION_TYPE)))
    return _repartition_by_bucket(numbered, partitions, buckets, bucket).drop(_BUCKET)


def _repartition_by_bucket(frame: DataFrame, partitions: Sequence[str], buckets: int, bucket: Column) -> DataFrame:
    from pyspark.sql import functions as F

    tasks = _shuffle_partitions(frame)
    if not partitions:
        # One bucket per task: a hash could assign two buckets to one task and none to another.
        tasks = min(buckets, tasks)
        return repartition_by_id(frame, tasks, F.pmod(bucket, F.lit(tasks)))
    partition = F.hash(*columns_by_name(partitions)).cast("bigint")
    return repartition_by_id(frame, tasks, F.pmod(partition + bucket, F.lit(tasks)).cast("int"))


def with_bucket_number(
    frame: DataFrame, fields: Sequence[DataField], count: int, function: str = "default"
) -> tuple[DataFrame, Column]:
    """The rows, and the bucket number of each, 0 to count - 1, as an INT column. Runs in Python only for keys that Spark cannot hash.

    Args:
        frame: the rows.
        fields: the bucket key, in the order of the option `bucket-key`.
        count: number of buckets of a partition.
        function: `bucket-function.type`.

    Returns:
        The rows and the bucket as a column of them. Without Arrow UDFs (Spark 4.0), the rows have one more column.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import IntegerType

    fields = tuple(fields)
    expression = bucket_expression(fields, count) if function == "default" else None
    if expression:
        # A key column is NULL despite NOT NULL: any task may have the row, and its writer reports the column and the row.
        return frame, F.coalesce(F.expr(expression), F.lit(0))

    def buckets(keys: pa.Array) -> pa.Array:
        return _buckets_of([keys.field(i) for i in range(len(fields))], fields, count, function)

    udf = arrow_udf(buckets, IntegerType())
    if udf is None:
        return _with_bucket_column(frame, fields, count, function), F.col(_BUCKET)
    return frame, udf(F.struct(*columns_by_name([f.name for f in fields])))


def _buckets_of(columns: Sequence[pa.Array], fields: Sequence[DataField], count: int, function: str) -> pa.Array:
    from paimon_nb.format.row import bucket_of

    with encode_raised_errors():
        rows = from_spark_arrow(pa.table(list(columns), names=[f.name for f in fields]), fields)
        arrays = [rows.column(i).combine_chunks() for i in range(len(fields))]
        return pa.array(bucket_of([f.type for f in fields], arrays, count, function), pa.int32())


def _with_bucket_column(frame: DataFrame, fields: Sequence[DataField], count: int, function: str) -> DataFrame:
    """The rows with their bucket in one more column, for Spark without Arrow UDFs. All columns pass through Python."""
    from pyspark.sql import types as T

    positions = [frame.columns.index(f.name) for f in fields]

    def append_bucket_column(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            bucket = _buckets_of([batch.column(i) for i in positions], fields, count, function)
            yield batch.append_column(_BUCKET, bucket)

    return frame.mapInArrow(
        append_bucket_column, T.StructType([*frame.schema.fields, T.StructField(_BUCKET, T.IntegerType())])
    )


def _shuffle_partitions(frame: DataFrame) -> int:
    return int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or "200")


def columns_by_name(names: Iterable[str]) -> list[Column]:
    from pyspark.sql import functions as F

    from paimon_nb.base.identifier import quote

    return [F.col(quote(name)) for name in names]
