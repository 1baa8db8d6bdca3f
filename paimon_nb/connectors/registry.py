"""All connectors by name, the value of `'connector'`. A connector is imported when a table uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.plugins import PluginGroup
from paimon_nb.base.redact import remember_secrets
from paimon_nb.base.registry import LazyRegistry

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.connectors.api import ConnectorTable, Sink, Source

SOURCES: LazyRegistry[Callable[[ConnectorTable], Source]] = LazyRegistry(
    "source connector",
    "paimon_nb.connectors",
    {
        "datagen": "datagen:Datagen",
        "filesystem": "files:Files",
        "kafka": "kafka.connector:Kafka",
        "upsert-kafka": "kafka.connector:Kafka",
        "mysql-cdc": "mysql_cdc.connector:MySqlCdc",
        "postgres-cdc": "postgres_cdc.connector:PostgresCdc",
        "jdbc": "jdbc:Jdbc",
    },
    plugins=PluginGroup("sources", "a function from a ConnectorTable to a Source"),
)
SINKS: LazyRegistry[Callable[[ConnectorTable], Sink]] = LazyRegistry(
    "sink connector",
    "paimon_nb.connectors",
    {
        "print": "print:Print",
        "blackhole": "blackhole:Blackhole",
        "filesystem": "files:FilesSink",
        "kafka": "kafka.connector:open_kafka_sink",
        "upsert-kafka": "kafka.connector:open_kafka_sink",
    },
    plugins=PluginGroup("sinks", "a function from a ConnectorTable to a Sink"),
)

_BY_KAFKA = (
    "send its changes to Kafka with Debezium, and read the topic with connector 'kafka' and format 'debezium-json'"
)
_NOT_HERE = {
    **dict.fromkeys(
        ("mongodb", "mongodb-cdc", "oracle-cdc", "sqlserver-cdc", "db2-cdc", "tidb-cdc", "oceanbase-cdc", "vitess-cdc"), _BY_KAFKA
    ),
    "pulsar": "use Pulsar's Kafka protocol handler with connector 'kafka'",
    "upsert-pulsar": "use Pulsar's Kafka protocol handler with connector 'upsert-kafka'",
}  # fmt: skip
"""Connectors of Flink that are not supported, with the way to the same rows."""
SOURCES.unsupported = SINKS.unsupported = _NOT_HERE


def open_source(definition: ConnectorTable) -> Source:
    """Create the source of a table. Raises UnknownName: no such source. UnsupportedOperation: one of Flink only. UnknownOption, BadOptionValue: invalid options."""
    remember_secrets(definition.options)
    return SOURCES.find(definition.connector)(definition)


def open_sink(definition: ConnectorTable) -> Sink:
    """Create the sink of a table. Raises UnknownName: no such sink. UnsupportedOperation: one of Flink only. UnknownOption, BadOptionValue: invalid options."""
    remember_secrets(definition.options)
    return SINKS.find(definition.connector)(definition)
