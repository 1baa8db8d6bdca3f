"""`postgres-cdc` as a table: its options, checked before anything is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.connectors.api import Declared, Source
from paimon_nb.connectors.cdc.postgres_client import KNOWN, PostgresConf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class PostgresCdc(Source):
    """Options as Flink CDC's: `hostname`, `port`, `username`, `password`, `database-name`, `schema-name`, `table-name`, `slot.name`,
    `scan.startup.mode` (initial, latest-offset). METADATA columns: `op_ts`, `database_name`, `schema_name`, `table_name`."""

    bounded = False
    changes = True

    def __init__(self, declared: Declared) -> None:
        declared.only(*KNOWN, patterns=["debezium."], metadata=["op_ts", "database_name", "schema_name", "table_name"])
        declared.need("table-name")
        self.declared = declared
        self.conf = PostgresConf.of({k: v for k, v in declared.options.items() if k != "connector"})

    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        from paimon_nb.connectors.postgres_cdc.reader import postgres_stream

        return postgres_stream(spark, self.declared, self.conf)
