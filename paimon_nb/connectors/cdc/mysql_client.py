"""A MySQL or MariaDB server, asked by SQL: is its binlog fit, which tables and columns are there, rows as of one moment."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from paimon_nb.base.errors import (
    BadOptionValue,
    EnvironmentError_,
    SourceUnavailable,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import quote
from paimon_nb.base.registry import did_you_mean
from paimon_nb.connectors.cdc.mysql_types import MySqlType

KNOWN = (
    "hostname", "port", "username", "password", "database-name", "table-name", "server-id", "server-time-zone",
    "scan.startup.mode", "scan.bounded.mode", "scan.snapshot.fetch.size", "scan.incremental.snapshot.enabled",
    "scan.incremental.snapshot.chunk.size", "scan.newly-added-table.enabled", "connect.timeout", "connect.max-retries",
    "connection.pool.size", "heartbeat.interval",
)  # fmt: skip
_STARTS = ("initial", "snapshot", "latest-offset")
_SYSTEM = ("mysql", "information_schema", "performance_schema", "sys")


@dataclass(frozen=True, slots=True)
class MySqlConf:
    """How to reach a server and what of it is meant; Flink CDC's option names."""

    host: str
    port: int
    user: str
    password: str
    database: str
    """Regular expression."""
    table: str
    """Regular expression; '' for all."""
    server_id: int
    start: str
    """initial: rows, then changes. snapshot: rows only. latest-offset: changes from now on."""
    until_now: bool
    """End with what the binlog holds at the start."""

    @staticmethod
    def of(settings: Mapping[str, str]) -> MySqlConf:
        """Raises BadOptionValue."""
        for key in settings:
            if key not in KNOWN and not key.startswith(("jdbc.properties.", "debezium.")):
                raise BadOptionValue(
                    f"mysql_conf has no {key!r}", hint=did_you_mean(key, KNOWN) or f"options: {', '.join(KNOWN)}", option=key
                )  # fmt: skip
        for key in ("hostname", "username", "database-name"):
            if not settings.get(key):
                raise BadOptionValue(f"mysql_conf needs {key!r}", hint=f"add '{key}'", option=key)
        start = settings.get("scan.startup.mode", "initial")
        if start not in _STARTS:
            raise BadOptionValue(f"scan.startup.mode cannot be {start!r}", hint=f"one of {', '.join(_STARTS)}")
        for key in ("database-name", "table-name"):
            try:
                re.compile(settings.get(key, ""))
            except re.error as error:
                raise BadOptionValue(f"{key!r} is no regular expression: {error}", option=key) from None
        try:
            port = int(settings.get("port", "3306"))
            server = int(settings["server-id"].split("-")[0]) if "server-id" in settings else _server_id()
        except ValueError:
            raise BadOptionValue("port and server-id are numbers", option="port") from None
        return MySqlConf(
            settings["hostname"], port, settings["username"], settings.get("password", ""), settings["database-name"],
            settings.get("table-name", ""), server, start,
            start == "snapshot" or settings.get("scan.bounded.mode") == "latest-offset",
        )  # fmt: skip

    def matches(self, schema: str, table: str) -> bool:
        """Whether a table is meant. `table-name` may also say `database.table`, as Flink CDC's does."""
        if schema in _SYSTEM or not re.fullmatch(self.database, schema):
            return False
        return not self.table or any(re.fullmatch(self.table, t) for t in (table, f"{schema}.{table}"))


def _server_id() -> int:
    """A replica's number of our own: two streams of one number throw each other out."""
    return 5_000_000 + (os.getpid() * 1009 + secrets.randbelow(1009)) % 1_000_000_000


@dataclass(frozen=True, slots=True)
class SourceColumn:
    name: str
    type: MySqlType
    nullable: bool
    comment: str | None


@dataclass(frozen=True, slots=True)
class SourceTable:
    schema: str
    name: str
    columns: tuple[SourceColumn, ...]
    primary_keys: tuple[str, ...]
    comment: str | None = None


def libraries() -> tuple[Any, Any]:
    """PyMySQL and python-mysql-replication. Raises EnvironmentError_."""
    try:
        import pymysql
        import pymysqlreplication
    except ImportError:
        raise EnvironmentError_(
            "MySQL CDC needs the package mysql-replication", hint="pip install 'paimon-nb[mysql]'"
        ) from None
    return pymysql, pymysqlreplication


class MySqlClient:
    """A connection. Close it. Every method raises SourceUnavailable when the server does not answer."""

    def __init__(self, conf: MySqlConf) -> None:
        self.conf = conf
        pymysql, _ = libraries()
        self._errors = pymysql.MySQLError
        try:
            self.connection = pymysql.connect(
                host=conf.host, port=conf.port, user=conf.user, password=conf.password, charset="utf8mb4",
                connect_timeout=10, autocommit=True, init_command="SET time_zone = '+00:00'",
            )  # fmt: skip
        except pymysql.MySQLError as error:
            raise away(conf, error) from None
        self.is_mariadb = "mariadb" in str(self.connection.get_server_info()).lower()

    def __enter__(self) -> MySqlClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def run_query(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(text, values or None)
                return list(cursor.fetchall())
        except self._errors as error:
            raise away(self.conf, error) from None

    def check(self) -> None:
        """Raises UnsupportedOperation: the binlog does not tell what a sync needs, and which settings would."""
        required = {"log_bin": ("ON", "1"), "binlog_format": ("ROW",), "binlog_row_image": ("FULL",), "binlog_row_metadata": ("FULL",)}  # fmt: skip
        for name, allowed in required.items():
            found = self.run_query("SHOW GLOBAL VARIABLES LIKE %s", name)
            value = str(found[0][1]).upper() if found else "absent"
            if value not in allowed:
                raise UnsupportedOperation(
                    f"the server at {self.conf.host}:{self.conf.port} has {name} = {value}",
                    hint=f"set {name} = {allowed[0]} on the server" + (" (MySQL 8.0 or MariaDB 10.5 on)" if "metadata" in name else ""),
                )  # fmt: skip

    def tables(self) -> list[SourceTable]:
        """The tables that are meant, in order. Raises TableNotFound: none."""
        names = self.run_query(
            "SELECT table_schema, table_name, table_comment FROM information_schema.tables WHERE table_type = 'BASE TABLE' "
            "ORDER BY table_schema, table_name"
        )
        found = [self.table(s, t, c) for s, t, c in names if self.conf.matches(s, t)]
        if not found:
            raise TableNotFound(
                f"no table of {self.conf.host} matches {self.conf.database!r} and {self.conf.table!r}",
                hint="both are regular expressions; SHOW TABLES in the database tells the names",
            )
        return found

    def table(self, schema: str, name: str, comment: str | None = None) -> SourceTable:
        """A table's columns as they are now; none if it is gone."""
        found_rows = self.run_query(
            "SELECT column_name, column_type, is_nullable, column_comment, column_key FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position", schema, name,
        )  # fmt: skip
        keys = self.run_query(
            "SELECT column_name FROM information_schema.key_column_usage WHERE table_schema = %s AND table_name = %s "
            "AND constraint_name = 'PRIMARY' ORDER BY ordinal_position", schema, name,
        )  # fmt: skip
        columns = tuple(
            SourceColumn(n, MySqlType.parse(_as_text(t)), null == "YES", c or None) for n, t, null, c, _ in found_rows
        )
        return SourceTable(schema, name, columns, tuple(k for (k,) in keys), comment or None)

    def begin_snapshot(self) -> str:
        """Freeze what `rows` sees. Returns the binlog position of that moment, or of one just before."""
        before = self.position()
        self.run_query("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        self.run_query("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        if not self.is_mariadb:
            return before
        found_rows = dict(self.run_query("SHOW STATUS LIKE 'binlog_snapshot_%'"))
        file, position = found_rows.get("Binlog_snapshot_file"), found_rows.get("Binlog_snapshot_position")
        if not file or position is None:
            return before
        return str(self.run_query("SELECT BINLOG_GTID_POS(%s, %s)", file, int(position))[0][0] or "")

    def position(self) -> str:
        """Where the binlog is now: MariaDB's GTID, else 'file:position'."""
        if self.is_mariadb:
            return str(self.run_query("SELECT @@GLOBAL.gtid_binlog_pos")[0][0] or "")
        try:
            found = self.run_query("SHOW MASTER STATUS")
        except SourceUnavailable:
            found = self.run_query("SHOW BINARY LOG STATUS")  # MySQL 8.4's word
        return f"{found[0][0]}:{found[0][1]}"

    def rows(self, table: SourceTable, size: int = 20_000) -> Iterator[list[tuple[Any, ...]]]:
        """All rows of a table, some at a time."""
        from pymysql.cursors import SSCursor

        columns = ", ".join(quote(c.name) for c in table.columns)
        try:
            with self.connection.cursor(SSCursor) as cursor:
                cursor.execute(f"SELECT {columns} FROM {quote(table.schema)}.{quote(table.name)}")
                while rows := cursor.fetchmany(size):
                    yield list(rows)
        except self._errors as error:
            raise away(self.conf, error) from None


def away(conf: MySqlConf, error: BaseException) -> SourceUnavailable:
    """The error for a server that does not answer, or refuses."""
    why = error.args[1] if len(getattr(error, "args", ())) > 1 else error
    return SourceUnavailable(
        f"MySQL at {conf.host}:{conf.port}: {why}",
        hint="check hostname, port, username, password and the user's rights",
    )


def _as_text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
