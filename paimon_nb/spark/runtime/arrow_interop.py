"""Converts Arrow tables to DataFrames and back, with Paimon's types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.types import DataField, from_arrow_schema
from paimon_nb.format.types.arrow_from_outside import sound_table
from paimon_nb.spark.runtime.jvm_bridge import collect_batches, has_bridge
from paimon_nb.spark.types import from_spark_arrow, spark_schema, to_spark_arrow, with_microsecond_times
from paimon_nb.spark.versions import has_time_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType as SparkType


def from_arrow(spark: SparkSession, table: pa.Table, fields: Sequence[DataField] | None = None) -> DataFrame:
    """A DataFrame of rows in memory. Few rows become a local relation, which Spark reads without a job.

    Args:
        spark: the session.
        table: rows in the types of `format/types/arrow.py`.
        fields: their Paimon types; None: derived from the Arrow types.
    """
    fields = from_arrow_schema(table.schema) if fields is None else fields
    rows, schema = without_empty_batches(to_spark_arrow(table, fields)), spark_schema(fields)
    if has_bridge(spark) or not has_time_type():
        return spark.createDataFrame(rows, schema=schema)
    # A server of Spark Connect reads each time of Arrow as TIME(6), and does not shorten it by itself.
    wide = with_microsecond_times(schema)
    frame = spark.createDataFrame(rows, schema=wide)
    if wide == schema:
        return frame
    return frame.select(*(frame[i].cast(f.dataType).alias(f.name) for i, f in enumerate(schema.fields)))


def without_empty_batches(table: pa.Table) -> pa.Table:
    """The same rows in one chunk per column. Spark stops reading an Arrow stream at an empty batch and loses the rest."""
    return table if all(c.num_chunks <= 1 for c in table.columns) else table.combine_chunks()


def to_arrow(frame: DataFrame, fields: Sequence[DataField]) -> pa.Table:
    """Collect a DataFrame in the Arrow types of `fields`; columns are matched by position."""
    return from_spark_arrow(collect(frame), fields, session_zone(frame.sparkSession))


def collect(frame: DataFrame) -> pa.Table:
    """Collect a DataFrame in Spark's Arrow types."""
    batches = collect_batches(frame)
    return as_arrow(frame) if batches is None else sound_table(pa.Table.from_batches(batches))


def as_arrow(frame: DataFrame) -> pa.Table:
    """The rows of a DataFrame as `toArrow` returns them; of lists that are all NULL or empty, of NULL VARIANT, and of intervals of months, too.

    Arrow has no such intervals: they are Spark's texts, `INTERVAL '1-3' YEAR TO MONTH`.
    """
    schema = frame.schema.simpleString()
    if "interval" in schema:
        frame = _with_intervals_as_text(frame)
    batches = collect_batches(frame) if "variant" in schema else None
    return sound_table(frame.toArrow() if batches is None else pa.Table.from_batches(batches))


def _with_intervals_as_text(frame: DataFrame) -> DataFrame:
    """The frame with texts in place of intervals that Arrow does not have, at any depth."""
    from pyspark.sql import functions as F

    by_position = frame.toDF(*[f"c{i}" for i in range(len(frame.columns))])  # two columns may have one name
    columns = []
    for i, field in enumerate(frame.schema.fields):
        target = _without_months(field.dataType)
        column = F.col(f"c{i}") if target == field.dataType else F.col(f"c{i}").cast(target)
        columns.append(column.alias(field.name))
    return by_position.select(*columns)


def _without_months(t: SparkType) -> SparkType:
    from pyspark.sql import types as T

    match t:
        case T.YearMonthIntervalType() | T.CalendarIntervalType():
            return T.StringType()
        case T.ArrayType():
            return T.ArrayType(_without_months(t.elementType), t.containsNull)
        case T.MapType():
            return T.MapType(_without_months(t.keyType), _without_months(t.valueType), t.valueContainsNull)
        case T.StructType():
            return T.StructType([T.StructField(f.name, _without_months(f.dataType), f.nullable) for f in t.fields])
    return t


def session_zone(spark: SparkSession) -> str:
    """The session's time zone, such as 'Europe/Berlin'."""
    return spark.conf.get("spark.sql.session.timeZone") or "UTC"
