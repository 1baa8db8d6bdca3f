"""`postgres-cdc` tables. Options are validated before a connection is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.override import override
from paimon_nb.connectors.api import ConnectorTable, Source
from paimon_nb.connectors.cdc.postgres_client import OPTIONS, PostgresConf
from paimon_nb.connectors.cdc.values import RULE_OPTION, rule_of_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class PostgresCdc(Source):
    """Options as in Flink CDC: `hostname`, `port`, `username`, `password`, `database-name`, `schema-name`, `table-name`, `slot.name`,
    `scan.startup.mode` (initial, latest-offset). METADATA columns: `op_ts`, `database_name`, `schema_name`, `table_name`."""

    bounded = False
    changes = True

    def __init__(self, definition: ConnectorTable) -> None:
        definition.check_options(
            *OPTIONS,
            RULE_OPTION,
            patterns=["debezium."],
            metadata=["op_ts", "database_name", "schema_name", "table_name"],
        )
        definition.require("table-name")
        rule_of_table(definition.options)
        self.definition = definition
        self.conf = PostgresConf.of(
            {k: v for k, v in definition.options.items() if k not in ("connector", RULE_OPTION)}
        )

    @override
    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        from paimon_nb.connectors.postgres_cdc.reader import postgres_stream

        return postgres_stream(spark, self.definition, self.conf)
