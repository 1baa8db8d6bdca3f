"""Metadata columns of a row: its file, position, partition and bucket, as in paimon-spark.

A row of a primary-key table that is merged from several files has no position. Java rejects this, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.format.data import TRACKING_FIELDS
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.spark.runtime.arrow_interop import from_arrow
from paimon_nb.spark.scan.located_rows import FILE, ROW, LocatedRows, locate_rows
from paimon_nb.statements.query import BUCKET, FILE_PATH, PARTITION, ROW_INDEX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.tables.table import Table

_FILES = (
    DataField(-1, FILE, parse_type("INT")),
    DataField(-2, FILE_PATH, parse_type("STRING")),
    DataField(-3, BUCKET, parse_type("INT")),
)


def with_metadata_columns(
    spark: SparkSession, table: Table, filter: Predicate | None, requested: Sequence[str]
) -> DataFrame:
    """The table's rows, with the requested metadata columns after the table's own.

    Raises:
        UnsupportedOperation: the rows of a primary-key table must be merged.
    """
    found = locate_rows(spark, table, filter)
    if table.store.has_keys and not all(split.raw for split in found.plan.splits):
        raise UnsupportedOperation(
            f"{table.name}: rows that are merged from several files have no position in a file",
            hint="append tables, tables with deletion vectors and fully compacted tables have metadata columns; CALL sys.compact first",
        )
    rows, known = _with_file_facts(spark, table, found)
    known |= {f.name: col(f.name) for f in TRACKING_FIELDS if f.name in found.carried}
    own = [col(n) for n in table.schema.names]
    return rows.select(*own, *(column for name, column in known.items() if name in requested))


def add_metadata_columns(
    spark: SparkSession, table: Table, found: LocatedRows, requested: Sequence[str]
) -> LocatedRows:
    """The same rows with the requested metadata columns between the table's columns and `found.carried`."""
    rows, known = _with_file_facts(spark, table, found)
    named = [column for name, column in known.items() if name in requested]
    columns = [*(col(n) for n in table.schema.names), *named, *(col(n) for n in found.carried)]
    return replace(found, frame=rows.select(*columns)) if named else found


def _with_file_facts(spark: SparkSession, table: Table, found: LocatedRows) -> tuple[DataFrame, dict[str, Column]]:
    """The rows joined with their files, and each metadata column by name."""
    from pyspark.sql import functions as F

    store = found.plan.store
    files = pa.table(
        [
            pa.array(range(len(found.files)), pa.int32()),
            pa.array([store.data_path(s.partition, s.bucket, s.files[0]) for s in found.files], pa.string()),
            pa.array([s.bucket for s in found.files], pa.int32()),
        ],
        names=[f.name for f in _FILES],
    )
    rows = found.frame.join(F.broadcast(from_arrow(spark, files, _FILES)), FILE)
    return rows, {
        FILE_PATH: F.col(FILE_PATH),
        ROW_INDEX: F.col(ROW).alias(ROW_INDEX),
        PARTITION: F.struct(*[col(k) for k in table.partition_keys]).alias(PARTITION),
        BUCKET: F.col(BUCKET),
    }


def col(name: str) -> Column:
    """A column by its exact name, which may contain dots."""
    from pyspark.sql import functions as F

    return F.col(quote(name))
