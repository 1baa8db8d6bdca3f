"""Reads data files with Spark's own readers: one scan for all files of a schema, columns matched by field id."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.spark.jobs.task_runner import parallelism
from paimon_nb.spark.runtime.jvm_bridge import has_bridge
from paimon_nb.spark.scan.position_filter import Mask, without_hidden
from paimon_nb.spark.scan.pushdown import condition_for_native_scan
from paimon_nb.spark.types import spark_schema, spark_type
from paimon_nb.table.read.strategy.routes import spark_reads_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.predicate.model import Predicate

_OPTIONS = {
    "recursiveFileLookup": "true",  # no partition columns from directory names: the files contain them
    "__globPaths__": "false",  # names of partition directories may contain '*', '{' etc.
    "mergeSchema": "false",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
    "datetimeRebaseMode": "CORRECTED",  # Paimon writes proleptic Gregorian dates
    "int96RebaseMode": "CORRECTED",
}
_LISTING_TASKS = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
_LISTED_IN_DRIVER = 32
"""Spark lists more paths in tasks, by default."""


_SETTING = Lock()


@contextmanager
def _few_listing_tasks(spark: SparkSession, paths: int) -> Iterator[None]:
    """In the block, Spark asks for the sizes of many paths in as many tasks as run at the same time, not in one per path.

    A task per file would cost the driver more than the rest of the query.
    """
    if not has_bridge(spark) or paths <= _LISTED_IN_DRIVER:
        yield
        return
    with _SETTING:  # another thread would take the changed value for the user's
        before = spark.conf.get(_LISTING_TASKS)
        assert before is not None, "a setting of Spark with a default"
        spark.conf.set(_LISTING_TASKS, min(int(before), parallelism(spark)))
        try:
            yield
        finally:
            spark.conf.set(_LISTING_TASKS, before)


def scan_files(
    spark: SparkSession,
    kind: str,
    paths: Sequence[str],
    file_fields: Sequence[DataField],
    read_fields: Sequence[DataField],
    mask: Mask | None = None,
    condition: Predicate | None = None,
) -> DataFrame:
    """Rows of files with one schema.

    Args:
        spark: the session.
        kind: 'parquet' or 'orc'.
        paths: URIs or absolute paths that Spark can read.
        file_fields: the schema of the files.
        read_fields: the columns to return; a column that the files lack is NULL.
        mask: the rows to hide, for every file of `paths`; None: no rows are hidden.
        condition: a predicate of `pushable`. With a mask, its conjuncts on unchanged columns are evaluated before the mask.
            It may be ignored.
    """
    from pyspark.sql import functions as F

    by_id = {f.id: f for f in file_fields}
    file_columns = [by_id[f.id] for f in read_fields if f.id in by_id]
    if not file_columns:  # no common column: the scan must still return one row per row
        file_columns = [f for f in file_fields if spark_reads_type(f.type, kind)][:1]
    reader = spark.read.format(kind).options(**_OPTIONS).schema(spark_schema(file_columns))
    with _few_listing_tasks(spark, len(paths)):
        frame = reader.load(list(paths))
    if mask is not None:
        same = [f for f in file_columns if any(f == r for r in read_fields)]
        native = condition_for_native_scan(condition, same)
        frame = without_hidden(frame if native is None else frame.where(native), mask)
    if spark_schema(file_columns) == spark_schema(read_fields):
        return frame  # selecting each column costs a dozen calls to the JVM
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
