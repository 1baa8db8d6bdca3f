"""Registers streaming sources in Spark: a subclass of the data source per stream, with the parameters as attributes."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from paimon_nb.options.read import (
    READ_STREAM_MAXBYTESPERTRIGGER,
    READ_STREAM_MAXFILESPERTRIGGER,
    READ_STREAM_MAXROWSPERTRIGGER,
    SCAN_MAX_SNAPSHOT_COUNT,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource

    from paimon_nb.options import TableOptions

_counter = itertools.count()
_limited: set[str] = set()
"""The names of the data sources with limits of a micro-batch."""
_NAME = re.compile(r"paimon_\w+_\d+")

_LIMITS = (
    READ_STREAM_MAXFILESPERTRIGGER,
    READ_STREAM_MAXBYTESPERTRIGGER,
    READ_STREAM_MAXROWSPERTRIGGER,
    SCAN_MAX_SNAPSHOT_COUNT,
)


def limits_of_micro_batch(options: TableOptions) -> dict[str, int]:
    """The limits of a micro-batch, by the key of the option. Files, bytes, rows or snapshots."""
    limits = {o.key: options.get(o) for o in _LIMITS}
    return {key: int(limit) for key, limit in limits.items() if limit is not None and limit > 0}


def reads_with_limits(frame: DataFrame) -> bool:
    """Whether a streaming DataFrame reads a table with limits of a micro-batch."""
    from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan, has_bridge

    if not _limited:
        return False
    if has_bridge(frame):
        text = str(analyzed_plan(frame).toString())
    else:
        connected: Any = frame
        text = str(connected._plan.to_proto(connected.sparkSession.client))
    return any(name in _limited for name in _NAME.findall(text))


def stream_of_data_source(spark: SparkSession, kind: type[DataSource], **carried: Any) -> DataFrame:
    """The stream of a subclass of `kind`. Options would be visible in the query plan; attributes are not.

    Args:
        spark: the session.
        kind: the data source.
        carried: class attributes of the subclass.

    Raises:
        EngineError: Spark's Python process has ended.
    """
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.runtime.jvm_bridge import has_bridge
    from paimon_nb.spark.runtime.python_workers import forget_dead_workers
    from paimon_nb.spark.streaming.connect_source import source_with_package

    forget_dead_workers()
    name = f"paimon_{kind.__name__.lower()}_{next(_counter)}"
    attributes = {"name": classmethod(lambda _: name), **carried}
    source = type(name, (kind,), attributes)
    if "store" in carried and limits_of_micro_batch(carried["store"].options):
        _limited.add(name)
    spark.dataSource.register(source if has_bridge(spark) else source_with_package(name, source))
    with spark_errors():
        return spark.readStream.format(name).load()
