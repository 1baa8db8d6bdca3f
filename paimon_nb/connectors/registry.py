"""All connectors, by the name that `'connector' = '...'` says. Only the one that is asked for is loaded."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any, cast

from paimon_nb.base.registry import Registry
from paimon_nb.connectors.api import Declared, Sink, Source

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


def open_source(declared: Declared) -> Source:
    """Raises UnknownName: no such source. UnknownOption, BadOptionValue: its options."""
    return cast(Source, _called(SOURCES.find(declared.connector))(declared))


def open_sink(declared: Declared) -> Sink:
    """Raises UnknownName: no such sink. UnknownOption, BadOptionValue: its options."""
    return cast(Sink, _called(SINKS.find(declared.connector))(declared))


def _called(import_path: str) -> Any:
    return resolve_name(f"paimon_nb.connectors.{import_path}")
