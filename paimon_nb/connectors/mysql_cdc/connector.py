"""`mysql-cdc` tables. Options are validated before a connection is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.connectors.api import ConnectorTable, Source
from paimon_nb.connectors.cdc.mysql_client import OPTIONS, MySqlConf
from paimon_nb.connectors.cdc.values import RULE_OPTION, rule_of_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class MySqlCdc(Source):
    """Options as in Flink CDC: `hostname`, `port`, `username`, `password`, `database-name`, `table-name`, `server-id`,
    `scan.startup.mode` (initial, snapshot, latest-offset). METADATA columns: `op_ts`, `database_name`, `table_name`."""

    bounded = False
    changes = True

    def __init__(self, definition: ConnectorTable) -> None:
        definition.check_options(
            *OPTIONS,
            RULE_OPTION,
            patterns=["jdbc.properties.", "debezium."],
            metadata=["op_ts", "database_name", "table_name"],
        )
        definition.require("table-name")
        rule_of_table(definition.options)
        self.definition = definition
        self.conf = MySqlConf.of({k: v for k, v in definition.options.items() if k not in ("connector", RULE_OPTION)})

    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        from paimon_nb.connectors.mysql_cdc.reader import mysql_stream

        return mysql_stream(spark, self.definition, self.conf, begin)
