"""SQL client of a MySQL or MariaDB server: binlog settings, tables and columns, and a consistent snapshot of rows."""

from __future__ import annotations

import os
import re
import secrets
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from paimon_nb.base.errors import (
    BadOptionValue,
    EnvironmentError_,
    SourceUnavailable,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.connectors.cdc.mysql_types import MySqlType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OPTIONS = (
    "hostname", "port", "username", "password", "database-name", "table-name", "server-id", "server-time-zone",
    "scan.startup.mode", "scan.bounded.mode", "scan.snapshot.fetch.size", "scan.incremental.snapshot.enabled",
    "scan.incremental.snapshot.chunk.size", "scan.newly-added-table.enabled", "connect.timeout", "connect.max-retries",
    "connection.pool.size", "heartbeat.interval",
)  # fmt: skip
_STARTUP_MODES = ("initial", "snapshot", "latest-offset")
_SYSTEM = ("mysql", "information_schema", "performance_schema", "sys")


@dataclass(frozen=True, slots=True)
class MySqlConf:
    """Connection and table selection, with the option names of Flink CDC."""

    host: str
    port: int
    user: str
    password: str
    database: str
    """Regular expression."""
    table: str
    """Regular expression; '' for all tables."""
    server_id: int
    start: str
    """initial: snapshot, then changes. snapshot: snapshot only. latest-offset: new changes only."""
    stop_at_end: bool
    """Stop at the position that the binlog has at the start."""
    time_zone: str = ""
    """Zone of TIMESTAMP values in targets that have them without a zone, as Java's sync made them; '': the machine's."""

    @staticmethod
    def of(settings: Mapping[str, str]) -> MySqlConf:
        """Parse the options. Raises BadOptionValue."""
        for key in settings:
            if key not in OPTIONS and not key.startswith(("jdbc.properties.", "debezium.")):
                raise BadOptionValue(
                    f"unknown option {key!r} in mysql_conf", hint=did_you_mean(key, OPTIONS) or f"options: {', '.join(OPTIONS)}", option=key
                )  # fmt: skip
        for key in ("hostname", "username", "database-name"):
            if not settings.get(key):
                raise BadOptionValue(f"mysql_conf needs {key!r}", hint=f"add '{key}' = '...'", option=key)
        start = settings.get("scan.startup.mode", "initial")
        if start not in _STARTUP_MODES:
            raise BadOptionValue(f"invalid scan.startup.mode {start!r}", hint=f"one of {', '.join(_STARTUP_MODES)}")
        for key in ("database-name", "table-name"):
            try:
                re.compile(settings.get(key, ""))
            except re.error as error:
                raise BadOptionValue(f"{key!r} is not a regular expression: {error}", option=key) from None
        try:
            port = int(settings.get("port", "3306"))
            server = int(settings["server-id"].split("-")[0]) if "server-id" in settings else _server_id()
        except ValueError:
            raise BadOptionValue("port and server-id must be numbers", option="port") from None
        return MySqlConf(
            settings["hostname"], port, settings["username"], settings.get("password", ""), settings["database-name"],
            settings.get("table-name", ""), server, start,
            start == "snapshot" or settings.get("scan.bounded.mode") == "latest-offset", _checked_zone(settings.get("server-time-zone", "")),
        )  # fmt: skip

    def matches(self, schema: str, table: str) -> bool:
        """Whether a table is selected. As in Flink CDC, `table-name` may also match `database.table`."""
        if schema in _SYSTEM or not re.fullmatch(self.database, schema):
            return False
        return not self.table or any(re.fullmatch(self.table, t) for t in (table, f"{schema}.{table}"))


def _checked_zone(name: str) -> str:
    try:
        if name:
            ZoneInfo(name)
    except (ValueError, ZoneInfoNotFoundError):
        raise BadOptionValue(
            f"unknown server-time-zone {name!r}", hint="for example 'Europe/Berlin'", option="server-time-zone"
        ) from None
    return name


def _server_id() -> int:
    """A random server id: the server disconnects the older of two streams with the same id."""
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


def import_mysql_libraries() -> tuple[Any, Any]:
    """The modules pymysql and pymysqlreplication. Raises EnvironmentError_: they are not installed."""
    try:
        import pymysql
        import pymysqlreplication
    except ImportError:
        raise EnvironmentError_(
            "MySQL CDC needs the package mysql-replication", hint="pip install 'paimon-nb[mysql]'"
        ) from None
    return pymysql, pymysqlreplication


class MySqlClient:
    """A connection, used with `with`. Every method raises SourceUnavailable if the server does not answer."""

    def __init__(self, conf: MySqlConf) -> None:
        self.conf = conf
        pymysql, _ = import_mysql_libraries()
        self._errors = pymysql.MySQLError
        try:
            self.connection = pymysql.connect(
                host=conf.host, port=conf.port, user=conf.user, password=conf.password, charset="utf8mb4",
                connect_timeout=10, autocommit=True, init_command="SET time_zone = '+00:00'",
            )  # fmt: skip
        except pymysql.MySQLError as error:
            raise unavailable(conf, error) from None
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
            raise unavailable(self.conf, error) from None

    def check(self) -> None:
        """Check the binlog settings. Raises UnsupportedOperation: a setting does not allow CDC."""
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
        """The selected tables, sorted. Raises TableNotFound: there is none."""
        names = self.run_query(
            "SELECT table_schema, table_name, table_comment FROM information_schema.tables WHERE table_type = 'BASE TABLE' "
            "ORDER BY table_schema, table_name"
        )
        found = [self.table(s, t, c) for s, t, c in names if self.conf.matches(s, t)]
        if not found:
            raise TableNotFound(
                f"no table of {self.conf.host} matches {self.conf.database!r} and {self.conf.table!r}",
                hint="both are regular expressions; SHOW TABLES in the database lists the names",
            )
        return found

    def table(self, schema: str, name: str, comment: str | None = None) -> SourceTable:
        """A table with its current columns; without columns if it does not exist."""
        result_rows = self.run_query(
            "SELECT column_name, column_type, is_nullable, column_comment, column_key FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position", schema, name,
        )  # fmt: skip
        keys = self.run_query(
            "SELECT column_name FROM information_schema.key_column_usage WHERE table_schema = %s AND table_name = %s "
            "AND constraint_name = 'PRIMARY' ORDER BY ordinal_position", schema, name,
        )  # fmt: skip
        columns = tuple(
            SourceColumn(n, MySqlType.parse(_as_text(t)), null == "YES", c or None) for n, t, null, c, _ in result_rows
        )
        return SourceTable(schema, name, columns, tuple(k for (k,) in keys), comment or None)

    def begin_snapshot(self) -> str:
        """Begin the snapshot that `rows` reads. Returns its binlog position, or one shortly before it."""
        before = self.position()
        self.run_query("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        self.run_query("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        if not self.is_mariadb:
            return before
        result_rows = dict(self.run_query("SHOW STATUS LIKE 'binlog_snapshot_%'"))
        file, position = result_rows.get("Binlog_snapshot_file"), result_rows.get("Binlog_snapshot_position")
        if not file or position is None:
            return before
        return str(self.run_query("SELECT BINLOG_GTID_POS(%s, %s)", file, int(position))[0][0] or "")

    def position(self) -> str:
        """Current position of the binlog: GTID of MariaDB, or 'file:position'."""
        if self.is_mariadb:
            return str(self.run_query("SELECT @@GLOBAL.gtid_binlog_pos")[0][0] or "")
        try:
            found = self.run_query("SHOW MASTER STATUS")
        except SourceUnavailable:
            found = self.run_query("SHOW BINARY LOG STATUS")  # MySQL 8.4
        return f"{found[0][0]}:{found[0][1]}"

    def rows(self, table: SourceTable, size: int = 20_000) -> Iterator[list[tuple[Any, ...]]]:
        """All rows of a table, in lists of `size` rows."""
        from pymysql.cursors import SSCursor

        columns = ", ".join(quote(c.name) for c in table.columns)
        try:
            with self.connection.cursor(SSCursor) as cursor:
                cursor.execute(f"SELECT {columns} FROM {quote(table.schema)}.{quote(table.name)}")
                while rows := cursor.fetchmany(size):
                    yield list(rows)
        except self._errors as error:
            raise unavailable(self.conf, error) from None


def unavailable(conf: MySqlConf, error: BaseException) -> SourceUnavailable:
    """The error for a server that does not answer or rejects a statement."""
    why = error.args[1] if len(getattr(error, "args", ())) > 1 else error
    return SourceUnavailable(
        f"MySQL at {conf.host}:{conf.port}: {why}",
        hint="check hostname, port, username, password and the privileges of the user",
    )


def _as_text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
