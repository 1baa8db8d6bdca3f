"""`mysql-cdc` as a table: its options, checked before anything is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.connectors.api import Declared, Source
from paimon_nb.connectors.cdc.mysql_client import KNOWN, MySqlConf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class MySqlCdc(Source):
    """Options as Flink CDC's: `hostname`, `port`, `username`, `password`, `database-name`, `table-name`, `server-id`,
    `scan.startup.mode` (initial, snapshot, latest-offset). METADATA columns: `op_ts`, `database_name`, `table_name`."""

    bounded = False
    changes = True

    def __init__(self, declared: Declared) -> None:
        declared.only(
            *KNOWN, patterns=["jdbc.properties.", "debezium."], metadata=["op_ts", "database_name", "table_name"]
        )
        declared.need("table-name")
        self.declared = declared
        self.conf = MySqlConf.of({k: v for k, v in declared.options.items() if k != "connector"})

    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        from paimon_nb.connectors.mysql_cdc.reader import mysql_stream

        return mysql_stream(spark, self.declared, self.conf, begin)
