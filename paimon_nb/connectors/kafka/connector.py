"""`kafka` and `upsert-kafka`: topics as tables. Sources are unbounded or bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.connectors.api import ConnectorTable, Source
from paimon_nb.connectors.kafka.options import OffsetMode, read_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.connectors.kafka.sink import KafkaSink


class Kafka(Source):
    """Options as in Flink; see `paimon_nb.connectors.kafka.options`."""

    def __init__(self, definition: ConnectorTable) -> None:
        from paimon_nb.connectors.kafka.record_rows import RecordRows

        self.table = read_options(definition)
        self.changes = RecordRows(self.table).changes
        self.bounded = self.table.end.mode is not OffsetMode.UNBOUNDED

    def batch(self, spark: SparkSession) -> DataFrame:
        from paimon_nb.connectors.kafka.source import kafka_batch

        if not self.bounded:
            raise UnsupportedOperation(
                f"table {self.table.definition.name!r} never ends, so batch mode cannot read it",
                hint="SET 'execution.runtime-mode' = 'streaming', or 'scan.bounded.mode' = 'latest-offset' in the table",
            )
        if self.changes:
            word = "upsert-kafka" if self.table.is_upsert else self.table.value.options.format
            raise UnsupportedOperation(
                f"table {self.table.definition.name!r} is a changelog source ({word}), which batch mode cannot read",
                hint="SET 'execution.runtime-mode' = 'streaming', and INSERT INTO a table with a primary key",
            )
        return kafka_batch(spark, self.table)

    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        from paimon_nb.connectors.kafka.source import kafka_stream

        return kafka_stream(spark, self.table, begin)


def open_kafka_sink(definition: ConnectorTable) -> KafkaSink:
    """Raises UnknownOption, BadOptionValue, UnsupportedOperation."""
    from paimon_nb.connectors.kafka.sink import KafkaSink

    return KafkaSink(read_options(definition))
