# ruff: noqa: N802  the names are Spark's
"""`mysql-cdc`: a MySQL or MariaDB table as a stream of changes: its rows, then the binlog. Runs in Python workers.

The place in the binlog is taken before the rows are read, so a change in between is told twice: a table with a primary key
takes it once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.connectors.api import TOLD, Declared
from paimon_nb.connectors.cdc.binlog import INSERT, Binlog, is_behind
from paimon_nb.connectors.cdc.mysql_client import MySqlClient, MySqlConf
from paimon_nb.connectors.cdc.mysql_types import to_column
from paimon_nb.connectors.cdc_rows import Told, batches
from paimon_nb.engine.data_source import stream_from
from paimon_nb.engine.errors import crossing_tasks, packed_errors
from paimon_nb.engine.types import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AWAY_S = 300.0
"""How long a task waits for a server that went away."""
_PAUSE_S = 0.5
_SNAPSHOT = "rows"
"""The offset before the rows."""


def mysql_stream(spark: SparkSession, declared: Declared, conf: MySqlConf, begin: Any) -> DataFrame:
    """The changes of the tables that `conf` means, `KIND` and `ORDER` behind the columns."""
    return stream_from(spark, MySqlSource, declared=declared, conf=conf, begin=begin)


class MySqlSource(DataSource):
    declared: Declared
    conf: MySqlConf
    begin: Mapping[str, Any] | str | None

    def schema(self) -> Any:
        return spark_schema((*self.declared.fields, *TOLD))

    def streamReader(self, schema: Any) -> MySqlReader:
        return MySqlReader(self)


class Stretch(InputPartition):
    """The binlog between two positions, or the rows."""

    def __init__(self, start: str, end: str) -> None:
        self.start, self.end = start, end


class MySqlReader(DataSourceStreamReader):
    """Offsets are {"at": position}."""

    def __init__(self, source: MySqlSource) -> None:
        self.source = source
        self._known: str | None = source.begin["at"] if isinstance(source.begin, dict) else None

    def initialOffset(self) -> dict[str, Any]:
        with packed_errors(), MySqlClient(self.source.conf) as client:
            client.check()
            client.tables()
            return {"at": client.position() if self.source.conf.start == "latest-offset" else _SNAPSHOT}

    def latestOffset(self) -> dict[str, Any]:
        with packed_errors():
            try:
                with MySqlClient(self.source.conf) as client:
                    self._known = client.position()
            except SourceUnavailable:
                if self._known is None:
                    raise  # else: a server that is away has nothing new; it goes on when it is back
            return {"at": self._known}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return [] if start["at"] == end["at"] else [Stretch(start["at"], end["at"])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Stretch)
        return _read(self.source.declared, self.source.conf, partition.start, partition.end)


@crossing_tasks
def _read(declared: Declared, conf: MySqlConf, start: str, end: str) -> Iterator[pa.RecordBatch]:
    with _answering(conf) as client:
        tables = client.tables()
        types = {c.name: c.type for t in tables for c in t.columns}
        changes = (
            _rows(client, tables) if start == _SNAPSHOT else _changes(conf, start, end, is_mariadb=client.is_mariadb)
        )
        yield from batches(declared, changes, lambda name, values, t: to_column(values, t, types.get(name)))


def _rows(client: MySqlClient, tables: Sequence[Any]) -> Iterator[Told]:
    client.begin_snapshot()
    for table in tables:
        names = [c.name for c in table.columns]
        for rows in client.rows(table):
            for row in rows:
                yield INSERT, _told(table.schema, table.name), 0, dict(zip(names, row, strict=True))


def _told(schema: str, table: str) -> dict[str, str]:
    return {"database_name": schema, "table_name": table}


def _answering(conf: MySqlConf) -> MySqlClient:
    """A connection, as soon as the server has one: it may be away for a while."""
    deadline = time.monotonic() + AWAY_S
    while True:
        try:
            return MySqlClient(conf)
        except SourceUnavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)


def _changes(conf: MySqlConf, start: str, end: str, *, is_mariadb: bool) -> Iterator[Told]:
    """Changes of the transactions behind `start`, up to `end`; a connection that is lost goes on behind the last of them."""
    at, deadline = start, None
    while not is_behind(at, end):
        try:
            with Binlog(conf, at, is_mariadb=is_mariadb) as binlog:
                for transaction in filter(None, binlog.transactions()):
                    for c in transaction.changes:
                        yield c.kind, _told(c.schema, c.table), transaction.time_ms, c.values
                    at, deadline = transaction.position, None
                    if is_behind(at, end):
                        return
        except SourceUnavailable:
            deadline = deadline or time.monotonic() + AWAY_S
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
