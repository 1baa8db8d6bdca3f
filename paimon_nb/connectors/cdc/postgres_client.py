"""SQL client of a PostgreSQL server: tables, a consistent snapshot of rows, and the logical replication slot."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import (
    BadOptionValue,
    EnvironmentError_,
    SourceLost,
    SourceUnavailable,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.connectors.cdc.pgoutput import Transaction, decode_transactions
from paimon_nb.connectors.cdc.postgres_types import PostgresType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

OPTIONS = (
    "hostname", "port", "username", "password", "database-name", "schema-name", "table-name", "slot.name", "decoding.plugin.name",
    "scan.startup.mode", "scan.snapshot.fetch.size", "connect.timeout", "connect.max-retries", "heartbeat.interval.ms",
)  # fmt: skip
_STARTUP_MODES = ("initial", "snapshot", "latest-offset")
_NAME = re.compile(r"[a-z0-9_]{1,56}")
_SETTINGS = "SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'; SET extra_float_digits = 1; SET client_encoding = 'UTF8'"
"""Values are read as text; these settings fix their format."""
_MAX_CHANGES = 100_000
"""Maximum number of changes per request, plus the rest of the last transaction."""


@dataclass(frozen=True, slots=True)
class PostgresConf:
    """Connection and table selection, with the option names of Flink CDC."""

    host: str
    port: int
    user: str
    password: str
    database: str
    schema: str
    """Regular expression."""
    table: str
    """Regular expression; '' for all tables."""
    slot: str
    start: str
    """initial: snapshot, then changes. snapshot: snapshot only. latest-offset: new changes only."""

    @staticmethod
    def of(settings: Mapping[str, str]) -> PostgresConf:
        """Parse the options. Raises BadOptionValue."""
        for key in settings:
            if key not in OPTIONS and not key.startswith("debezium."):
                raise BadOptionValue(
                    f"unknown option {key!r} in postgres_conf", hint=did_you_mean(key, OPTIONS) or f"options: {', '.join(OPTIONS)}", option=key
                )  # fmt: skip
        for key in ("hostname", "username", "database-name", "slot.name"):
            if not settings.get(key):
                raise BadOptionValue(f"postgres_conf needs {key!r}", hint=f"add '{key}' = '...'", option=key)
        start = settings.get("scan.startup.mode", "initial")
        if start not in _STARTUP_MODES:
            raise BadOptionValue(f"invalid scan.startup.mode {start!r}", hint=f"one of {', '.join(_STARTUP_MODES)}")
        if settings.get("decoding.plugin.name", "pgoutput") != "pgoutput":
            raise BadOptionValue(
                "decoding.plugin.name must be pgoutput", hint="remove the option; every server has pgoutput"
            )
        if not _NAME.fullmatch(settings["slot.name"]):
            raise BadOptionValue(f"invalid slot.name {settings['slot.name']!r}", hint="use lower-case letters, digits and _, at most 56", option="slot.name")  # fmt: skip
        for key in ("schema-name", "table-name"):
            try:
                re.compile(settings.get(key, ""))
            except re.error as error:
                raise BadOptionValue(f"{key!r} is not a regular expression: {error}", option=key) from None
        port = settings.get("port", "5432")
        if not port.isdecimal():
            raise BadOptionValue("port must be a number", option="port")
        return PostgresConf(
            settings["hostname"], int(port), settings["username"], settings.get("password", ""), settings["database-name"],
            settings.get("schema-name", "public"), settings.get("table-name", ""), settings["slot.name"], start,
        )  # fmt: skip

    def matches(self, schema: str, table: str) -> bool:
        """Whether a table is selected."""
        return bool(re.fullmatch(self.schema, schema)) and (not self.table or bool(re.fullmatch(self.table, table)))


@dataclass(frozen=True, slots=True)
class SourceColumn:
    name: str
    type: PostgresType
    oid: int
    nullable: bool
    comment: str | None


@dataclass(frozen=True, slots=True)
class SourceTable:
    schema: str
    name: str
    columns: tuple[SourceColumn, ...]
    primary_keys: tuple[str, ...]
    comment: str | None
    logs_full_rows: bool
    """Whether the log contains complete old rows: REPLICA IDENTITY FULL."""
    database: str = ""

    def check(self) -> None:
        """Raises UnsupportedOperation: the log does not contain the old rows of updates and deletes."""
        if not self.logs_full_rows:
            raise UnsupportedOperation(
                f"{self.schema}.{self.name} does not log old rows", hint=f"ALTER TABLE {self.schema}.{self.name} REPLICA IDENTITY FULL"
            )  # fmt: skip

    @property
    def relation_columns(self) -> tuple[tuple[str, int, int], ...]:
        """The columns as in `pgoutput.Relation.columns`."""
        return tuple((c.name, c.oid, c.type.modifier) for c in self.columns)


@dataclass(frozen=True, slots=True)
class SnapshotPoint:
    """A snapshot of the database. Transactions that it includes are skipped in the log."""

    snapshot: str
    """'xmin:xmax:xip,xip'."""
    until: int
    """An LSN after every transaction that the snapshot includes."""

    def contains_transaction(self, transaction: Transaction) -> bool:
        if transaction.lsn >= self.until:
            return False
        _low, high, running = self.snapshot.split(":")
        xids = {int(x) & 0xFFFFFFFF for x in running.split(",") if x}
        # Transaction ids wrap around at 32 bits: the shorter distance decides which one is later.
        later = (transaction.xid - (int(high) & 0xFFFFFFFF)) & 0xFFFFFFFF < 1 << 31
        return not later and transaction.xid not in xids


@dataclass(frozen=True, slots=True)
class SyncPosition:
    """Position of a target: it contains the commits up to `lsn` and the transactions of a snapshot."""

    lsn: int
    snapshot_point: SnapshotPoint | None = None

    def contains_transaction(self, transaction: Transaction) -> bool:
        return transaction.lsn <= self.lsn or (
            self.snapshot_point is not None and self.snapshot_point.contains_transaction(transaction)
        )

    def to_text(self) -> str:
        snapshot_point = "" if self.snapshot_point is None or self.snapshot_point.until <= self.lsn else f" {to_lsn(self.snapshot_point.until)} {self.snapshot_point.snapshot}"  # fmt: skip
        return to_lsn(self.lsn) + snapshot_point

    @staticmethod
    def from_text(text: str) -> SyncPosition:
        lsn, *snapshot_point = text.split(" ")
        return SyncPosition(
            from_lsn(lsn), SnapshotPoint(snapshot_point[1], from_lsn(snapshot_point[0])) if snapshot_point else None
        )


def import_psycopg() -> Any:
    """The module psycopg. Raises EnvironmentError_: it is not installed."""
    try:
        import psycopg
    except ImportError:
        raise EnvironmentError_(
            "PostgreSQL needs the package psycopg", hint="pip install 'paimon-nb[postgres]'"
        ) from None
    return psycopg


class PostgresClient:
    """A connection, used with `with`. Every method raises SourceUnavailable if the server does not answer."""

    def __init__(self, conf: PostgresConf) -> None:
        self.conf = conf
        self._errors = import_psycopg().Error
        with self._translate_errors():
            self.connection = import_psycopg().connect(
                host=conf.host, port=conf.port, user=conf.user, password=conf.password, dbname=conf.database,
                connect_timeout=10, autocommit=True,
            )  # fmt: skip
            self.connection.execute(_SETTINGS)

    def __enter__(self) -> PostgresClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def run_query(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._translate_errors():
            found = self.connection.execute(text, values or None)
            return list(found.fetchall()) if found.description else []

    def check(self) -> None:
        """Check wal_level. Raises UnsupportedOperation: the server has no logical log."""
        ((level,),) = self.run_query("SHOW wal_level")
        if level != "logical":
            raise UnsupportedOperation(
                f"the server at {self.conf.host}:{self.conf.port} has wal_level = {level}", hint="set wal_level = logical and restart the server"
            )  # fmt: skip

    # -- tables

    def tables(self) -> list[SourceTable]:
        """The selected tables, sorted. Raises TableNotFound: there is none."""
        rows = self.run_query(
            "SELECT n.nspname, c.relname, c.oid, "
            # The rows of a partitioned table are logged by its partitions: each of them needs full rows.
            "CASE WHEN c.relkind = 'r' THEN c.relreplident WHEN EXISTS (SELECT 1 FROM pg_partition_tree(c.oid) t "
            "JOIN pg_class l ON l.oid = t.relid WHERE t.isleaf AND l.relreplident <> 'f') THEN 'd' ELSE 'f' END, "
            "obj_description(c.oid, 'pg_class'), ARRAY(SELECT a.relid::oid FROM pg_partition_ancestors(c.oid) a WHERE a.relid <> c.oid) "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' "
            "AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1, 2"
        )
        matching = [row for row in rows if self.conf.matches(row[0], row[1])]
        selected = {row[2] for row in matching}
        # A partitioned table is one table: its partitions are not synced a second time.
        found = [self._source_table(*row[:5]) for row in matching if selected.isdisjoint(row[5])]
        if not found:
            raise TableNotFound(
                f"no table of {self.conf.database} at {self.conf.host} matches {self.conf.schema!r} and {self.conf.table!r}",
                hint="schema-name (public) and table-name are regular expressions",
            )
        return found

    def _source_table(self, schema: str, name: str, oid: int, identity: str, comment: str | None) -> SourceTable:
        result_rows = self.run_query(
            "SELECT a.attname, CASE WHEN t.typtype = 'e' THEN 'enum' ELSE t.typname END, a.atttypmod, a.atttypid, NOT a.attnotnull, "
            "col_description(a.attrelid, a.attnum) FROM pg_attribute a JOIN pg_type b ON b.oid = a.atttypid "
            "JOIN pg_type t ON t.oid = CASE WHEN b.typtype = 'd' THEN b.typbasetype ELSE b.oid END "
            "WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum", oid,
        )  # fmt: skip
        keys = self.run_query(
            "SELECT a.attname FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, n) "
            "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum WHERE i.indrelid = %s AND i.indisprimary ORDER BY k.n", oid,
        )  # fmt: skip
        columns = tuple(SourceColumn(n, PostgresType(t, m), o, null, c) for n, t, m, o, null, c in result_rows)
        return SourceTable(
            schema, name, columns, tuple(k for (k,) in keys), comment, _to_text(identity) == "f", self.conf.database
        )

    def rows(self, table: SourceTable) -> Iterator[tuple[str | None, ...]]:
        """All rows of a table. Values have the same text format as in the log."""
        from psycopg import sql

        columns = sql.SQL(", ").join(sql.Identifier(c.name) for c in table.columns)
        query = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(columns, sql.Identifier(table.schema, table.name))
        with self._translate_errors(), self.connection.cursor() as cursor, cursor.copy(query) as copy:
            yield from copy.rows()

    def begin_snapshot(self) -> SnapshotPoint:
        """Begin the snapshot that `tables` and `rows` read.

        The tables are locked before, in the mode of a SELECT: a statement that rewrites a table, such as a change of a column's type,
        would leave it empty for an older snapshot.
        """
        from psycopg import sql

        while True:
            locked = {(t.schema, t.name) for t in self.tables()}
            self.run_query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            listed = sql.SQL(", ").join(sql.Identifier(*name) for name in sorted(locked))
            self._run(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(listed))
            ((snapshot, until),) = self.run_query(
                "SELECT pg_current_snapshot()::text, pg_current_wal_insert_lsn()::text"
            )
            if locked.issuperset((t.schema, t.name) for t in self.tables()):
                return SnapshotPoint(snapshot, from_lsn(until))
            self.run_query("ROLLBACK")  # a table was created meanwhile

    # -- the log

    def position(self) -> int:
        """The flushed end of the log."""
        return from_lsn(str(self.run_query("SELECT pg_current_wal_flush_lsn()::text")[0][0]))

    def open_slot(self, tables: Sequence[SourceTable], *, resume_lsn: int | None = None) -> None:
        """Create the replication slot and the publication of the tables, or reuse existing ones.

        Args:
            tables: the tables to publish.
            resume_lsn: position of a restarted reader.

        Raises:
            SourceLost: the slot no longer has the log after `resume_lsn`.
            UnsupportedOperation: the slot belongs to another program.
        """
        from psycopg import sql

        name, listed = (
            sql.Identifier(self.publication),
            sql.SQL(", ").join(sql.Identifier(t.schema, t.name) for t in tables),
        )
        exists = self.run_query("SELECT pubname FROM pg_publication WHERE pubname = %s", self.publication)
        form = (
            "ALTER PUBLICATION {} SET TABLE {}"
            if exists
            else "CREATE PUBLICATION {} FOR TABLE {} WITH (publish = 'insert, update, delete', publish_via_partition_root = true)"
        )
        self._run(sql.SQL(form).format(name, listed))
        if exists:  # also one that an earlier release made
            self._run(sql.SQL("ALTER PUBLICATION {} SET (publish_via_partition_root = true)").format(name))
        slots = self.run_query(
            "SELECT confirmed_flush_lsn::text, plugin FROM pg_replication_slots WHERE slot_name = %s", self.conf.slot
        )
        if slots and slots[0][1] != "pgoutput":
            raise UnsupportedOperation(f"slot {self.conf.slot!r} belongs to another program ({slots[0][1]})", hint="use another slot.name for this sync")  # fmt: skip
        if resume_lsn is not None and (not slots or from_lsn(slots[0][0]) > resume_lsn):
            raise self._log_lost(resume_lsn)
        if not slots:
            self.run_query("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", self.conf.slot)

    def check_slot(self, lsn: int) -> None:
        """Check that the slot has the log after a position. Raises SourceLost."""
        found = self.run_query(
            "SELECT confirmed_flush_lsn::text, wal_status FROM pg_replication_slots WHERE slot_name = %s",
            self.conf.slot,
        )
        if not found or found[0][1] == "lost" or from_lsn(found[0][0]) > lsn:
            raise self._log_lost(lsn)

    def _log_lost(self, lsn: int) -> SourceLost:
        return SourceLost(
            f"PostgreSQL's slot {self.conf.slot!r} has no log after {to_lsn(lsn)}, the position of the sync: the slot was dropped, "
            "another reader advanced it, or the server removed its log",
            hint="the changes since then are lost to the sync. Drop the target tables and start the sync again: it copies all rows. "
            "Use one slot for each sync, and check max_slot_wal_keep_size",
        )

    def slot_start_lsn(self) -> int:
        """Start of the log that the slot retains; 0 if there is no slot."""
        found = self.run_query("SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = %s", self.conf.slot)  # fmt: skip
        return from_lsn(found[0][0]) if found else 0

    @property
    def publication(self) -> str:
        return f"{self.conf.slot}_tables"

    def peek_transactions(self, start_lsn: int, until: int | None = None) -> list[Transaction]:
        """Next transactions that committed after `start_lsn`. They stay in the slot."""
        found = self.run_query(
            "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, %s::pg_lsn, %s, 'proto_version', '1', 'publication_names', %s)",
            self.conf.slot, None if until is None else to_lsn(until), None if until is not None else _MAX_CHANGES, self.publication,
        )  # fmt: skip
        result_rows = decode_transactions(bytes(data) for (data,) in found)
        return [t for t in result_rows if t.lsn > start_lsn and (until is None or t.lsn <= until)]

    def advance_slot(self, up_to: int) -> None:
        """Advance the slot, so that the server can delete the log before `up_to`."""
        self.run_query(
            "SELECT pg_replication_slot_advance(slot_name, %s::pg_lsn) FROM pg_replication_slots WHERE slot_name = %s "
            "AND confirmed_flush_lsn < %s::pg_lsn AND restart_lsn < %s::pg_lsn",
            to_lsn(up_to), self.conf.slot, to_lsn(up_to), to_lsn(up_to),
        )  # fmt: skip

    def _run(self, statement: Any) -> None:
        with self._translate_errors():
            self.connection.execute(statement)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise SourceUnavailable(
                f"PostgreSQL at {self.conf.host}:{self.conf.port}: {str(error).strip()}",
                hint="check hostname, port, username, password and the privileges of the user (REPLICATION, owner of the tables)",
            ) from None


def to_lsn(sync_position: int) -> str:
    return f"{sync_position >> 32:X}/{sync_position & 0xFFFFFFFF:X}"


def from_lsn(text: str) -> int:
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


def _to_text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
