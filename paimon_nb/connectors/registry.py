"""All connectors by name, the value of `'connector'`. A connector is imported when a table uses it."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, cast

from paimon_nb.base.registry import Registry

if TYPE_CHECKING:
    from paimon_nb.connectors.api import ConnectorTable, Sink, Source

SOURCES = Registry(
    "source connector",
    {
        "datagen": "datagen:Datagen",
        "filesystem": "files:Files",
        "kafka": "kafka.connector:Kafka",
        "upsert-kafka": "kafka.connector:Kafka",
        "mysql-cdc": "mysql_cdc.connector:MySqlCdc",
        "postgres-cdc": "postgres_cdc.connector:PostgresCdc",
        "jdbc": "jdbc:Jdbc",
    },
)
SINKS = Registry(
    "sink connector",
    {
        "print": "print:Print",
        "blackhole": "blackhole:Blackhole",
        "filesystem": "files:FilesSink",
        "kafka": "kafka.connector:open_kafka_sink",
        "upsert-kafka": "kafka.connector:open_kafka_sink",
    },
)


def open_source(definition: ConnectorTable) -> Source:
    """Create the source of a table. Raises UnknownName: no such source. UnknownOption, BadOptionValue: invalid options."""
    return cast("Source", _import_factory(SOURCES.find(definition.connector))(definition))


def open_sink(definition: ConnectorTable) -> Sink:
    """Create the sink of a table. Raises UnknownName: no such sink. UnknownOption, BadOptionValue: invalid options."""
    return cast("Sink", _import_factory(SINKS.find(definition.connector))(definition))


def _import_factory(import_path: str) -> Any:
    return resolve_name(f"paimon_nb.connectors.{import_path}")
