"""Data files through Spark's own readers: one scan for all files of the same schema, columns matched by field id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.format.types import DataField
from paimon_nb.spark.scan.position_filter import Mask, without_hidden
from paimon_nb.spark.scan.pushdown import native_condition
from paimon_nb.spark.scan.scan_strategy import spark_reads_type
from paimon_nb.spark.types import spark_schema, spark_type
from paimon_nb.table.scan.predicate.model import Predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OPTIONS = {
    "recursiveFileLookup": "true",  # no partition columns from directory names: the files hold them
    "__globPaths__": "false",  # partition directories may hold '*', '{' and the like
    "mergeSchema": "false",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
    "datetimeRebaseMode": "CORRECTED",  # Paimon writes proleptic dates; Spark must not shift old ones
    "int96RebaseMode": "CORRECTED",
}


def scan_files(
    spark: SparkSession,
    kind: str,
    paths: Sequence[str],
    file_fields: Sequence[DataField],
    read_fields: Sequence[DataField],
    mask: Mask | None = None,
    first: Predicate | None = None,
) -> DataFrame:
    """Rows of files that share one schema, as `read_fields` want them.

    Args:
        kind: 'parquet' or 'orc'. paths: URIs or absolute paths that Spark knows.
        file_fields: the files' schema. Columns that it lacks are NULL.
        mask: the rows to leave out, for every file of `paths`; None shows all.
        first: a condition on the rows, as `usable` gives it; with a mask, what can be asked of the file's own columns is
            asked before the mask. Nobody may rely on it.
    """
    from pyspark.sql import functions as F

    by_id = {f.id: f for f in file_fields}
    file_columns = [by_id[f.id] for f in read_fields if f.id in by_id]
    if not file_columns:  # no column in common: the scan still counts the rows
        file_columns = [f for f in file_fields if spark_reads_type(f.type, kind)][:1]
    frame = spark.read.format(kind).options(**_OPTIONS).schema(spark_schema(file_columns)).load(list(paths))
    if mask is not None:
        same = [f for f in file_columns if any(f == r for r in read_fields)]
        condition = native_condition(first, same)
        frame = without_hidden(frame if condition is None else frame.where(condition), mask)
    if spark_schema(file_columns) == spark_schema(read_fields):
        return frame  # each column named again would be a dozen calls to the JVM
    columns = []
    for field in read_fields:
        stored, target = by_id.get(field.id), spark_type(field.type)
        if stored is None:
            column = F.lit(None).cast(target)
        else:
            column = F.col(quote(stored.name))
            if spark_type(stored.type) != target:
                column = column.cast(target)
        columns.append(column.alias(field.name))
    return frame.select(*columns)
