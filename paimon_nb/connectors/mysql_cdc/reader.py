"""`mysql-cdc`: a changelog stream of MySQL or MariaDB tables: their rows, then the binlog. Runs in Python workers.

The binlog position is taken before the rows are read, so a change in between is read twice. A target with a primary key
stores it once.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.base.override import override
from paimon_nb.connectors.api import CHANGELOG_FIELDS, ConnectorTable
from paimon_nb.connectors.cdc.binlog import INSERT, Binlog, has_reached
from paimon_nb.connectors.cdc.changelog_rows import ChangeRow, changelog_batches
from paimon_nb.connectors.cdc.mysql_client import MySqlClient, MySqlConf
from paimon_nb.connectors.cdc.mysql_types import to_column
from paimon_nb.connectors.cdc.spark_source import (
    RECONNECT_TIMEOUT_S,
    RETRY_INTERVAL_S,
    SNAPSHOT,
    ChangeReader,
    connect_with_retry,
)
from paimon_nb.spark.errors import encode_errors_of_task
from paimon_nb.spark.streaming.data_source import stream_of_data_source
from paimon_nb.spark.types import spark_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


def mysql_stream(spark: SparkSession, definition: ConnectorTable, conf: MySqlConf, begin: Any) -> DataFrame:
    """The changes of the tables that match `conf`, with the columns `KIND` and `ORDER`."""
    return stream_of_data_source(spark, MySqlSource, definition=definition, conf=conf, begin=begin)


class MySqlSource(DataSource):
    definition: ConnectorTable
    conf: MySqlConf
    begin: Mapping[str, Any] | str | None

    def schema(self) -> Any:
        return spark_schema((*self.definition.fields, *CHANGELOG_FIELDS))

    @override
    def streamReader(self, schema: Any) -> MySqlReader:
        return MySqlReader(self)


class MySqlReader(ChangeReader):
    def __init__(self, source: MySqlSource) -> None:
        self.definition, self.conf = source.definition, source.conf
        self.latest_position = source.begin["at"] if isinstance(source.begin, dict) else None

    def start_position(self) -> str:
        with MySqlClient(self.conf) as client:
            client.check()
            client.tables()
            return client.position() if self.conf.start == "latest-offset" else SNAPSHOT

    def end_position(self) -> str:
        with MySqlClient(self.conf) as client:
            return client.position()

    def changes(self, start: str, end: str) -> Iterator[pa.RecordBatch]:
        return _read_changes(self.definition, self.conf, start, end)


@encode_errors_of_task
def _read_changes(definition: ConnectorTable, conf: MySqlConf, start: str, end: str) -> Iterator[pa.RecordBatch]:
    with connect_with_retry(lambda: MySqlClient(conf)) as client:
        tables = client.tables()
        types = {c.name: c.type for t in tables for c in t.columns}
        changes = (
            _snapshot_rows(client, tables)
            if start == SNAPSHOT
            else _binlog_changes(conf, start, end, is_mariadb=client.is_mariadb)
        )
        yield from changelog_batches(definition, changes, lambda name, values, t: to_column(values, t, types.get(name)))


def _snapshot_rows(client: MySqlClient, tables: Sequence[Any]) -> Iterator[ChangeRow]:
    client.begin_snapshot()
    for table in tables:
        names = [c.name for c in table.columns]
        for rows in client.rows(table):
            for row in rows:
                yield INSERT, _metadata_columns(table.schema, table.name), 0, dict(zip(names, row, strict=True))


def _metadata_columns(schema: str, table: str) -> dict[str, str]:
    return {"database_name": schema, "table_name": table}


def _binlog_changes(conf: MySqlConf, start: str, end: str, *, is_mariadb: bool) -> Iterator[ChangeRow]:
    """Changes of the transactions after `start`, up to `end`. After a lost connection it continues after the last transaction."""
    at, deadline = start, None
    while not has_reached(at, end):
        try:
            with Binlog(conf, at, is_mariadb=is_mariadb) as binlog:
                for transaction in filter(None, binlog.transactions()):
                    for c in transaction.changes:
                        yield c.kind, _metadata_columns(c.schema, c.table), transaction.time_ms, c.values
                    at, deadline = transaction.position, None
                    if has_reached(at, end):
                        return
        except SourceUnavailable:
            deadline = deadline or time.monotonic() + RECONNECT_TIMEOUT_S
            if time.monotonic() > deadline:
                raise
            time.sleep(RETRY_INTERVAL_S)
