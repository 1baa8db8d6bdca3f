"""Registers streaming sources in Spark: a subclass of the data source per stream, with the parameters as attributes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource

_counter = itertools.count()


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
    spark.dataSource.register(source if has_bridge(spark) else source_with_package(name, source))
    with spark_errors():
        return spark.readStream.format(name).load()
