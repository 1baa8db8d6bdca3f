"""`postgres-cdc`: a changelog stream of PostgreSQL tables: their rows, then the replication slot. Runs in Python workers.

The slot is created before the rows are read, so a change in between is read twice. A target with a primary key stores it
once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.base.override import override
from paimon_nb.connectors.api import CHANGELOG_FIELDS, ConnectorTable
from paimon_nb.connectors.cdc.changelog_rows import ChangeRow, changelog_batches
from paimon_nb.connectors.cdc.pgoutput import INSERT
from paimon_nb.connectors.cdc.postgres_client import PostgresClient, PostgresConf, SourceTable
from paimon_nb.connectors.cdc.postgres_types import arrow_column_of_texts
from paimon_nb.connectors.cdc.spark_source import SNAPSHOT, ChangeReader, connect_with_retry
from paimon_nb.spark.errors import encode_errors_of_task, encode_raised_errors
from paimon_nb.spark.streaming.data_source import stream_of_data_source
from paimon_nb.spark.types import spark_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


def postgres_stream(spark: SparkSession, definition: ConnectorTable, conf: PostgresConf) -> DataFrame:
    """The changes of the tables that match `conf`, with the columns `KIND` and `ORDER`."""
    return stream_of_data_source(spark, PostgresSource, definition=definition, conf=conf)


class PostgresSource(DataSource):
    definition: ConnectorTable
    conf: PostgresConf

    def schema(self) -> Any:
        return spark_schema((*self.definition.fields, *CHANGELOG_FIELDS))

    @override
    def streamReader(self, schema: Any) -> PostgresReader:
        return PostgresReader(self)


class PostgresReader(ChangeReader):
    def __init__(self, source: PostgresSource) -> None:
        self.definition, self.conf = source.definition, source.conf

    def start_position(self) -> int | str:
        with PostgresClient(self.conf) as client:
            client.check()
            client.open_slot(_checked_source_tables(client))
            return client.position() if self.conf.start == "latest-offset" else SNAPSHOT

    def end_position(self) -> int:
        with PostgresClient(self.conf) as client:
            return client.position()

    def changes(self, start: int | str, end: int) -> Iterator[pa.RecordBatch]:
        return _read_changes(self.definition, self.conf, start, end)

    def commit(self, end: dict[str, Any]) -> None:
        if end["at"] == SNAPSHOT:
            return
        with encode_raised_errors():
            try:
                with PostgresClient(self.conf) as client:
                    client.advance_slot(end["at"])
            except SourceUnavailable:
                return  # the next commit advances the slot


@encode_errors_of_task
def _read_changes(
    definition: ConnectorTable, conf: PostgresConf, start: int | str, end: int
) -> Iterator[pa.RecordBatch]:
    with connect_with_retry(lambda: PostgresClient(conf)) as client:
        tables = _checked_source_tables(client)
        types = {c.name: c.type for t in tables for c in t.columns}
        changes = _snapshot_rows(client, tables) if isinstance(start, str) else _replication_changes(client, start, end)
        yield from changelog_batches(
            definition, changes, lambda name, values, t: arrow_column_of_texts(values, t, types.get(name))
        )


def _checked_source_tables(client: PostgresClient) -> list[SourceTable]:
    """The source tables. Raises TableNotFound. UnsupportedOperation: a table does not log old rows."""
    tables = client.tables()
    for table in tables:
        table.check()
    return tables


def _snapshot_rows(client: PostgresClient, tables: Sequence[SourceTable]) -> Iterator[ChangeRow]:
    client.begin_snapshot()
    for table in tables:
        names, metadata = [c.name for c in table.columns], _metadata_columns(client.conf, table.schema, table.name)
        for row in client.rows(table):
            yield INSERT, metadata, 0, dict(zip(names, row, strict=True))


def _replication_changes(client: PostgresClient, start: int, end: int) -> Iterator[ChangeRow]:
    client.check_slot(start)
    for transaction in client.peek_transactions(start, end):
        for c in transaction.changes:
            metadata = _metadata_columns(client.conf, c.relation.schema, c.relation.table)
            yield c.kind, metadata, transaction.time_ms, c.values


def _metadata_columns(conf: PostgresConf, schema: str, table: str) -> dict[str, str]:
    return {"database_name": conf.database, "schema_name": schema, "table_name": table}
