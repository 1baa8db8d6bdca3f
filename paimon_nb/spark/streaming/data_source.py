"""Streaming sources of ours in Spark: each stream has a data source class of its own, which carries what it needs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource

_counter = itertools.count()


def stream_from(spark: SparkSession, kind: type[DataSource], **carried: Any) -> DataFrame:
    """The stream of a subclass of `kind` with these attributes; what an option of a query plan must not show goes here.

    Raises EngineError: Spark's Python process is gone.
    """
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.runtime.worker_pool import forget_dead_workers

    forget_dead_workers()
    name = f"paimon_{kind.__name__.lower()}_{next(_counter)}"
    attributes = {"name": classmethod(lambda cls: name), **carried}
    spark.dataSource.register(type(name, (kind,), attributes))
    with spark_errors():
        return spark.readStream.format(name).load()
