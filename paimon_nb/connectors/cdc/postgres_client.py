"""A PostgreSQL server, asked by SQL: tables, rows as of one moment, and what a logical replication slot holds behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from paimon_nb.base.errors import (
    BadOptionValue,
    EnvironmentError_,
    SourceLost,
    SourceUnavailable,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.registry import did_you_mean
from paimon_nb.connectors.cdc.pgoutput import Transaction, transactions
from paimon_nb.connectors.cdc.postgres_types import PostgresType

KNOWN = (
    "hostname", "port", "username", "password", "database-name", "schema-name", "table-name", "slot.name", "decoding.plugin.name",
    "scan.startup.mode", "scan.snapshot.fetch.size", "connect.timeout", "connect.max-retries", "heartbeat.interval.ms",
)  # fmt: skip
_STARTS = ("initial", "snapshot", "latest-offset")
_NAME = re.compile(r"[a-z0-9_]{1,56}")
_SETTINGS = "SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET bytea_output = 'hex'; SET extra_float_digits = 1; SET client_encoding = 'UTF8'"
"""Values are texts, and always the same ones."""
_CHANGES = 100_000
"""Changes that one question brings at most, and the rest of the transaction of the last."""


@dataclass(frozen=True, slots=True)
class PostgresConf:
    """How to reach a server and what of it is meant; Flink CDC's option names."""

    host: str
    port: int
    user: str
    password: str
    database: str
    schema: str
    """Regular expression."""
    table: str
    """Regular expression; '' for all."""
    slot: str
    start: str
    """initial: rows, then changes. snapshot: rows only. latest-offset: changes from now on."""

    @staticmethod
    def of(settings: Mapping[str, str]) -> PostgresConf:
        """Raises BadOptionValue."""
        for key in settings:
            if key not in KNOWN and not key.startswith("debezium."):
                raise BadOptionValue(
                    f"postgres_conf has no {key!r}", hint=did_you_mean(key, KNOWN) or f"options: {', '.join(KNOWN)}", option=key
                )  # fmt: skip
        for key in ("hostname", "username", "database-name", "slot.name"):
            if not settings.get(key):
                raise BadOptionValue(f"postgres_conf needs {key!r}", hint=f"add '{key}'", option=key)
        start = settings.get("scan.startup.mode", "initial")
        if start not in _STARTS:
            raise BadOptionValue(f"scan.startup.mode cannot be {start!r}", hint=f"one of {', '.join(_STARTS)}")
        if settings.get("decoding.plugin.name", "pgoutput") != "pgoutput":
            raise BadOptionValue("decoding.plugin.name is pgoutput", hint="leave it out: every server has it")
        if not _NAME.fullmatch(settings["slot.name"]):
            raise BadOptionValue(f"slot.name cannot be {settings['slot.name']!r}", hint="small letters, digits and _", option="slot.name")  # fmt: skip
        for key in ("schema-name", "table-name"):
            try:
                re.compile(settings.get(key, ""))
            except re.error as error:
                raise BadOptionValue(f"{key!r} is no regular expression: {error}", option=key) from None
        port = settings.get("port", "5432")
        if not port.isdecimal():
            raise BadOptionValue("port is a number", option="port")
        return PostgresConf(
            settings["hostname"], int(port), settings["username"], settings.get("password", ""), settings["database-name"],
            settings.get("schema-name", "public"), settings.get("table-name", ""), settings["slot.name"], start,
        )  # fmt: skip

    def matches(self, schema: str, table: str) -> bool:
        """Whether a table is meant."""
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
    full: bool
    """Its log tells old rows whole: REPLICA IDENTITY FULL."""

    def check(self) -> None:
        """Raises UnsupportedOperation: updates and deletes cannot be followed."""
        if not self.full:
            raise UnsupportedOperation(
                f"{self.schema}.{self.name} does not log old rows", hint=f"ALTER TABLE {self.schema}.{self.name} REPLICA IDENTITY FULL"
            )  # fmt: skip

    @property
    def shape(self) -> tuple[tuple[str, int, int], ...]:
        """As `pgoutput.Relation.columns` tells it."""
        return tuple((c.name, c.oid, c.type.modifier) for c in self.columns)


@dataclass(frozen=True, slots=True)
class SnapshotPoint:
    """What a snapshot of the database sees: transactions that it has are not taken again from the log."""

    snapshot: str
    """'xmin:xmax:xip,xip'."""
    until: int
    """A place in the log behind every transaction that the snapshot has."""

    def has(self, transaction: Transaction) -> bool:
        if transaction.lsn >= self.until:
            return False
        _low, high, running = self.snapshot.split(":")
        xids = {int(x) & 0xFFFFFFFF for x in running.split(",") if x}
        # Of two numbers that go round, the nearer way tells which is later.
        later = (transaction.xid - (int(high) & 0xFFFFFFFF)) & 0xFFFFFFFF < 1 << 31
        return not later and transaction.xid not in xids


@dataclass(frozen=True, slots=True)
class SyncPosition:
    """Where a table stands: it has what committed up to `lsn`, and what a snapshot saw."""

    lsn: int
    snapshot_point: SnapshotPoint | None = None

    def has(self, transaction: Transaction) -> bool:
        return transaction.lsn <= self.lsn or (self.snapshot_point is not None and self.snapshot_point.has(transaction))

    def to_text(self) -> str:
        snapshot_point = "" if self.snapshot_point is None or self.snapshot_point.until <= self.lsn else f" {to_lsn(self.snapshot_point.until)} {self.snapshot_point.snapshot}"  # fmt: skip
        return to_lsn(self.lsn) + snapshot_point

    @staticmethod
    def from_text(text: str) -> SyncPosition:
        lsn, *snapshot_point = text.split(" ")
        return SyncPosition(
            from_lsn(lsn), SnapshotPoint(snapshot_point[1], from_lsn(snapshot_point[0])) if snapshot_point else None
        )


def driver() -> Any:
    """Psycopg. Raises EnvironmentError_."""
    try:
        import psycopg
    except ImportError:
        raise EnvironmentError_(
            "PostgreSQL needs the package psycopg", hint="pip install 'paimon-nb[postgres]'"
        ) from None
    return psycopg


class PostgresClient:
    """A connection. Close it. Every method raises SourceUnavailable when the server does not answer."""

    def __init__(self, conf: PostgresConf) -> None:
        self.conf = conf
        self._errors = driver().Error
        with self._answers():
            self.connection = driver().connect(
                host=conf.host, port=conf.port, user=conf.user, password=conf.password, dbname=conf.database,
                connect_timeout=10, autocommit=True,
            )  # fmt: skip
            self.connection.execute(_SETTINGS)

    def __enter__(self) -> PostgresClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def run_query(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._answers():
            found = self.connection.execute(text, values or None)
            return list(found.fetchall()) if found.description else []

    def check(self) -> None:
        """Raises UnsupportedOperation: the server keeps no logical log."""
        ((level,),) = self.run_query("SHOW wal_level")
        if level != "logical":
            raise UnsupportedOperation(
                f"the server at {self.conf.host}:{self.conf.port} has wal_level = {level}", hint="set wal_level = logical and start it again"
            )  # fmt: skip

    # -- tables

    def tables(self) -> list[SourceTable]:
        """The tables that are meant, in order. Raises TableNotFound: none."""
        names = self.run_query(
            "SELECT n.nspname, c.relname, c.oid, c.relreplident, obj_description(c.oid, 'pg_class') FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND c.relpersistence = 'p' "
            "AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1, 2"
        )
        found = [self._table(*found_rows) for found_rows in names if self.conf.matches(found_rows[0], found_rows[1])]
        if not found:
            raise TableNotFound(
                f"no table of {self.conf.database} at {self.conf.host} matches {self.conf.schema!r} and {self.conf.table!r}",
                hint="schema-name (public) and table-name are regular expressions",
            )
        return found

    def _table(self, schema: str, name: str, oid: int, identity: str, comment: str | None) -> SourceTable:
        found_rows = self.run_query(
            "SELECT a.attname, CASE WHEN t.typtype = 'e' THEN 'enum' ELSE t.typname END, a.atttypmod, a.atttypid, NOT a.attnotnull, "
            "col_description(a.attrelid, a.attnum) FROM pg_attribute a JOIN pg_type b ON b.oid = a.atttypid "
            "JOIN pg_type t ON t.oid = CASE WHEN b.typtype = 'd' THEN b.typbasetype ELSE b.oid END "
            "WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum", oid,
        )  # fmt: skip
        keys = self.run_query(
            "SELECT a.attname FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, n) "
            "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum WHERE i.indrelid = %s AND i.indisprimary ORDER BY k.n", oid,
        )  # fmt: skip
        columns = tuple(SourceColumn(n, PostgresType(t, m), o, null, c) for n, t, m, o, null, c in found_rows)
        return SourceTable(schema, name, columns, tuple(k for (k,) in keys), comment, _text(identity) == "f")

    def rows(self, table: SourceTable) -> Iterator[tuple[str | None, ...]]:
        """All rows of a table, each value as the log would write it."""
        from psycopg import sql

        columns = sql.SQL(", ").join(sql.Identifier(c.name) for c in table.columns)
        query = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(columns, sql.Identifier(table.schema, table.name))
        with self._answers(), self.connection.cursor() as cursor, cursor.copy(query) as copy:
            yield from copy.rows()

    def begin_snapshot(self) -> SnapshotPoint:
        """Freeze what `tables` and `rows` see from now on."""
        self.run_query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        ((snapshot, until),) = self.run_query("SELECT pg_current_snapshot()::text, pg_current_wal_insert_lsn()::text")
        return SnapshotPoint(snapshot, from_lsn(until))

    # -- the log

    def position(self) -> int:
        """The end of the log that is written."""
        return from_lsn(str(self.run_query("SELECT pg_current_wal_flush_lsn()::text")[0][0]))

    def open_slot(self, tables: Sequence[SourceTable], *, known: int | None = None) -> None:
        """A slot that keeps the log from now on, and a publication of these tables; those that are there are taken.

        Args:
            known: where a reader stands already. Raises SourceLost: the slot does not reach back to there.
        """
        from psycopg import sql

        name, listed = (
            sql.Identifier(self.publication),
            sql.SQL(", ").join(sql.Identifier(t.schema, t.name) for t in tables),
        )
        there = self.run_query("SELECT pubname FROM pg_publication WHERE pubname = %s", self.publication)
        form = (
            "ALTER PUBLICATION {} SET TABLE {}"
            if there
            else "CREATE PUBLICATION {} FOR TABLE {} WITH (publish = 'insert, update, delete')"
        )
        self._run(sql.SQL(form).format(name, listed))
        slots = self.run_query(
            "SELECT confirmed_flush_lsn::text, plugin FROM pg_replication_slots WHERE slot_name = %s", self.conf.slot
        )
        if slots and slots[0][1] != "pgoutput":
            raise UnsupportedOperation(f"slot {self.conf.slot!r} is another program's ({slots[0][1]})", hint="give this sync a slot.name of its own")  # fmt: skip
        if known is not None and (not slots or from_lsn(slots[0][0]) > known):
            raise SourceLost(
                f"PostgreSQL's slot {self.conf.slot!r} keeps nothing behind {to_lsn(known)}",
                hint="sync anew into new tables: the slot was dropped, or another reader moved it",
            )
        if not slots:
            self.run_query("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", self.conf.slot)

    def slot_start_lsn(self) -> int:
        """The place behind which the slot keeps the log; 0 without a slot."""
        found = self.run_query("SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = %s", self.conf.slot)  # fmt: skip
        return from_lsn(found[0][0]) if found else 0

    @property
    def publication(self) -> str:
        return f"{self.conf.slot}_tables"

    def peek(self, behind: int, until: int | None = None) -> list[Transaction]:
        """Transactions that committed behind a place in the log, some at a time; they stay in the slot."""
        found = self.run_query(
            "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, %s::pg_lsn, %s, 'proto_version', '1', 'publication_names', %s)",
            self.conf.slot, None if until is None else to_lsn(until), None if until is not None else _CHANGES, self.publication,
        )  # fmt: skip
        found_rows = transactions(bytes(data) for (data,) in found)
        return [t for t in found_rows if t.lsn > behind and (until is None or t.lsn <= until)]

    def forget(self, up_to: int) -> None:
        """Let the slot drop what lies before a place in the log."""
        self.run_query(
            "SELECT pg_replication_slot_advance(slot_name, %s::pg_lsn) FROM pg_replication_slots WHERE slot_name = %s "
            "AND confirmed_flush_lsn < %s::pg_lsn AND restart_lsn < %s::pg_lsn",
            to_lsn(up_to), self.conf.slot, to_lsn(up_to), to_lsn(up_to),
        )  # fmt: skip

    def _run(self, statement: Any) -> None:
        with self._answers():
            self.connection.execute(statement)

    @contextmanager
    def _answers(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise SourceUnavailable(
                f"PostgreSQL at {self.conf.host}:{self.conf.port}: {str(error).strip()}",
                hint="check hostname, port, username, password and the user's rights (REPLICATION, and owner of the tables)",
            ) from None


def to_lsn(sync_position: int) -> str:
    return f"{sync_position >> 32:X}/{sync_position & 0xFFFFFFFF:X}"


def from_lsn(text: str) -> int:
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
