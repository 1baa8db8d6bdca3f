"""`kafka` and `upsert-kafka`: topics as tables, read as streams or between bounds, and written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.connectors.api import Declared, Source
from paimon_nb.connectors.kafka.options import At, read_options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.connectors.kafka.sink import KafkaSink


class Kafka(Source):
    """Options as Flink's; see `kafka_options`."""

    def __init__(self, declared: Declared) -> None:
        from paimon_nb.connectors.kafka.record_rows import RecordRows

        self.table = read_options(declared)
        self.changes = RecordRows(self.table).changes
        self.bounded = self.table.end.at is not At.NEVER

    def batch(self, spark: SparkSession) -> DataFrame:
        from paimon_nb.connectors.kafka.source import kafka_batch

        if not self.bounded:
            raise UnsupportedOperation(
                f"table {self.table.declared.name!r} never ends, so batch mode cannot read it",
                hint="SET 'execution.runtime-mode' = 'streaming', or 'scan.bounded.mode' = 'latest-offset' in the table",
            )
        if self.changes:
            word = "upsert-kafka" if self.table.upserts else self.table.value.options.format
            raise UnsupportedOperation(
                f"table {self.table.declared.name!r} tells changes ({word}), which batch mode cannot read",
                hint="SET 'execution.runtime-mode' = 'streaming', and INSERT INTO a table with a primary key",
            )
        return kafka_batch(spark, self.table)

    def stream(self, spark: SparkSession, begin: Any = None) -> DataFrame:
        from paimon_nb.connectors.kafka.source import kafka_stream

        return kafka_stream(spark, self.table, begin)


def open_kafka_sink(declared: Declared) -> KafkaSink:
    """Raises UnknownOption, BadOptionValue, UnsupportedOperation."""
    from paimon_nb.connectors.kafka.sink import KafkaSink

    return KafkaSink(read_options(declared))
