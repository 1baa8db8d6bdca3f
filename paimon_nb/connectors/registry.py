"""All connectors, by the name that `'connector' = '...'` says."""

from __future__ import annotations

from collections.abc import Callable

from paimon_nb.base.registry import Registry
from paimon_nb.connectors.api import Declared, Sink, Source
from paimon_nb.connectors.blackhole import Blackhole
from paimon_nb.connectors.datagen import Datagen
from paimon_nb.connectors.files import Files, FilesSink
from paimon_nb.connectors.jdbc import Jdbc
from paimon_nb.connectors.kafka import Kafka, open_kafka_sink
from paimon_nb.connectors.mysql_source import MySqlCdc
from paimon_nb.connectors.postgres_source import PostgresCdc
from paimon_nb.connectors.print import Print

SOURCES: Registry[Callable[[Declared], Source]] = Registry(
    "source connector",
    {
        "datagen": Datagen,
        "filesystem": Files,
        "kafka": Kafka,
        "upsert-kafka": Kafka,
        "mysql-cdc": MySqlCdc,
        "postgres-cdc": PostgresCdc,
        "jdbc": Jdbc,
    },
)
SINKS: Registry[Callable[[Declared], Sink]] = Registry(
    "sink connector",
    {
        "print": Print,
        "blackhole": Blackhole,
        "filesystem": FilesSink,
        "kafka": open_kafka_sink,
        "upsert-kafka": open_kafka_sink,
    },
)


def open_source(declared: Declared) -> Source:
    """Raises UnknownName: no such source. UnknownOption, BadOptionValue: its options."""
    return SOURCES.find(declared.connector)(declared)


def open_sink(declared: Declared) -> Sink:
    """Raises UnknownName: no such sink. UnknownOption, BadOptionValue: its options."""
    return SINKS.find(declared.connector)(declared)
