"""Arrow tables in and out of Spark, columns and types kept. Knows no table of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.types import DataField, from_arrow_schema
from paimon_nb.spark.types import from_spark_arrow, spark_schema, to_spark_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def from_arrow(spark: SparkSession, table: pa.Table, fields: Sequence[DataField] | None = None) -> DataFrame:
    """A DataFrame of rows that are in memory; small ones become a local relation, so no job reads them.

    Args:
        table: rows in the types of `format/types/arrow.py`. fields: their logical types; None takes them from Arrow's.
    """
    fields = from_arrow_schema(table.schema) if fields is None else fields
    return spark.createDataFrame(without_empty_batches(to_spark_arrow(table, fields)), schema=spark_schema(fields))


def without_empty_batches(table: pa.Table) -> pa.Table:
    """The same rows in long pieces. Spark stops reading an Arrow stream at an empty batch and loses what comes behind."""
    return table if all(c.num_chunks <= 1 for c in table.columns) else table.combine_chunks()


def to_arrow(frame: DataFrame, fields: Sequence[DataField]) -> pa.Table:
    """All rows of a DataFrame, in the driver, in the Arrow types of `fields`; columns are taken by position."""
    return from_spark_arrow(collect(frame), fields, session_zone(frame.sparkSession))


def collect(frame: DataFrame) -> pa.Table:
    """All rows of a DataFrame in Spark's Arrow types."""
    batches = getattr(frame, "_collect_as_arrow", None)
    if batches is None:  # Spark Connect
        return frame.toArrow()
    # toArrow() casts at the end and fails on a NULL VARIANT; the batches are right without.
    return pa.Table.from_batches(batches(empty_list_if_zero_records=False))


def session_zone(spark: SparkSession) -> str:
    """The session's time zone, such as 'Europe/Berlin'."""
    return spark.conf.get("spark.sql.session.timeZone") or "UTC"
