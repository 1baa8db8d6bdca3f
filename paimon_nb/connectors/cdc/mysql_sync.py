"""MySQL or MariaDB tables into Paimon tables: rows as of one moment, then the binlog, until somebody stops it.

Source of the options: Paimon's mysql_sync_table and mysql_sync_database actions.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, PaimonError, SourceUnavailable, UnsupportedOperation
from paimon_nb.base.name import Name
from paimon_nb.catalog.api import Catalog
from paimon_nb.connectors.cdc.binlog import INSERT, Binlog, Transaction, is_behind
from paimon_nb.connectors.cdc.mysql_client import MySqlClient, MySqlConf, SourceTable, names
from paimon_nb.connectors.cdc.mysql_types import MySqlType, paimon_type, to_column
from paimon_nb.connectors.cdc.target import Target, TargetOptions, ToColumn, Wanted, merged, open_target
from paimon_nb.format.types import DataType

_AWAY_S = 600.0
"""How long a sync waits for a server that went away."""


@dataclass(frozen=True, slots=True)
class Naming:
    """Which target a source table has."""

    database: str
    table: str | None = None
    """All sources into this one; None: each into one of its name."""
    prefix: str = ""
    suffix: str = ""
    including: str = ".*"
    excluding: str | None = None
    merge_shards: bool = True
    """Tables of one name in several databases share a target."""

    def of(self, source: SourceTable) -> str | None:
        """The target table's name, None when the source is left out."""
        if self.table is not None:
            return self.table
        if not re.fullmatch(self.including, source.name):
            return None
        if self.excluding is not None and re.fullmatch(self.excluding, source.name):
            return None
        plain = source.name if self.merge_shards else f"{source.schema}_{source.name}"
        return f"{self.prefix}{plain}{self.suffix}"


@dataclass(frozen=True, slots=True)
class SyncOptions:
    naming: Naming
    target: TargetOptions = field(default_factory=TargetOptions)
    modes: frozenset[str] = frozenset()
    """Of the type mapping."""
    ignore_incompatible: bool = False
    """Leave source tables out that do not fit their target, instead of failing."""
    interval_s: float = 1.0
    """Between commits."""


class Source:
    """A source table, and how its values become columns."""

    def __init__(self, table: SourceTable, target: Target) -> None:
        self.target = target
        self._types: dict[str, MySqlType] = {}
        self.reshape(table)

    def reshape(self, table: SourceTable) -> None:
        """Take the columns that the source has now; those it had stay known, for rows of that time."""
        self.table = table
        types = self._types = {**self._types, **{c.name: c.type for c in table.columns}}

        def columns(name: str, values: Sequence[Any], t: DataType) -> pa.Array:
            return to_column(values, t, types.get(name))

        self.columns: ToColumn = columns


class MySqlSync:
    """A running sync. Answers as the session's jobs ask: `isActive`, `stop`, `awaitTermination`, `exception`."""

    def __init__(self, catalog: Catalog, conf: Mapping[str, str], options: SyncOptions) -> None:
        """Nobody is asked yet. Raises BadOptionValue."""
        self.catalog, self.options = catalog, options
        self.conf = MySqlConf.of(conf)
        self.notes: list[str] = []
        told = f"{self.conf.host}:{self.conf.port}/{self.conf.database}/{self.conf.table}"
        self.user = "cdc-" + hashlib.sha256(told.encode()).hexdigest()[:16]
        self.sources: dict[tuple[str, str], Source] = {}
        self.targets: dict[str, Target] = {}
        self.position = ""
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._reader: Binlog | None = None

    @property
    def rows(self) -> int:
        """Changes stored since the start."""
        return sum(t.rows for t in self.targets.values())

    # -- as a job

    def start(self) -> MySqlSync:
        """Prepare now, so that what is wrong is said here; the rest in a thread. Raises what `prepare` raises."""
        self.prepare()
        self._thread = threading.Thread(target=self._guarded, name="paimon-mysql-sync", daemon=True)
        self._thread.start()
        return self

    @property
    def isActive(self) -> bool:  # noqa: N802  Spark's name
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None and threading.current_thread() is not self._thread:
            self._thread.join(60)

    def awaitTermination(self, timeout: float | None = None) -> bool:  # noqa: N802
        if self._thread is not None:
            self._thread.join(timeout)
        return not self.isActive

    def exception(self) -> BaseException | None:
        return self._error

    def run(self) -> None:
        """The whole sync in this thread, until it ends or is stopped. Raises its error."""
        self.prepare()
        self._work()

    def _guarded(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self._error = error
            for target in self.targets.values():
                target.abort()

    # -- the work

    def prepare(self) -> None:
        """Check the server, make and grow the targets. Raises SourceUnavailable, TableNotFound, UnsupportedOperation,
        SchemaChangeError."""
        with MySqlClient(self.conf) as client:
            client.check()
            self._adopt(client.tables(), first=True)

    def _work(self) -> None:
        with MySqlClient(self.conf) as client:
            is_mariadb = client.is_mariadb
            self.position = self._snapshot(client)
            until = client.position() if self.conf.until_now else None
        if self.conf.start == "snapshot":
            return
        away_since: float | None = None
        while not self._stop.is_set():
            try:
                with Binlog(self.conf, self.position, is_mariadb=is_mariadb) as reader:
                    away_since = None
                    if self._follow(reader, until):
                        return
            except SourceUnavailable:
                away_since = away_since or time.monotonic()
                self._restart_from_tables()
                if time.monotonic() - away_since > _AWAY_S:
                    raise
                self._stop.wait(0.5)

    def _restart_from_tables(self) -> None:
        """Forget what is not committed and go on from what the tables say."""
        for target in self.targets.values():
            target.abort()
        self.position = self._slowest() or self.position

    def _slowest(self) -> str | None:
        known = [t.position for t in self.targets.values() if t.position is not None]
        slowest = known[0] if known else None
        for position in known[1:]:
            if slowest is not None and is_behind(slowest, position):
                slowest = position
        return slowest

    def _snapshot(self, client: MySqlClient) -> str:
        """The rows of targets that have none of this sync yet. Returns where the binlog goes on."""
        if all(t.position is not None for t in self.targets.values()):
            return self._slowest() or client.position()
        at = client.begin_snapshot()
        # Once more: what changed its shape since `prepare` did so before this moment, and the binlog after it is silent.
        self._adopt(client.tables(), first=True)
        for target in [t for t in self.targets.values() if t.position is None]:
            for source in [
                s for s in self.sources.values() if s.target is target and self.conf.start != "latest-offset"
            ]:
                names_of = [c.name for c in source.table.columns]
                for rows in client.rows(source.table):
                    for row in rows:
                        target.put(INSERT, dict(zip(names_of, row, strict=True)), source.columns)
                    if self._stop.is_set():
                        target.abort()
                        return at
            target.begin(at)
        client.ask("COMMIT")
        return self._slowest() or at

    def _follow(self, reader: Binlog, until: str | None) -> bool:
        """Take transactions. True when the sync is over."""
        committed = time.monotonic()
        with MySqlClient(self.conf) as client:
            while True:
                if until is not None and is_behind(self.position, until):
                    self._commit()
                    return True
                for transaction in reader.transactions():
                    self._take(transaction)
                    if time.monotonic() - committed > self.options.interval_s:
                        self._commit()
                        committed = time.monotonic()
                    if self._stop.is_set():
                        break
                self._commit()
                committed = time.monotonic()
                if self._stop.wait(0.05):
                    return True
                if until is not None or not is_behind(self.position, client.position()):
                    return False  # the stream ended at what there was; a new one goes on from here
                self._stop.wait(min(self.options.interval_s, 0.2))

    def _take(self, transaction: Transaction) -> None:
        if transaction.reshaped:
            self._commit()
            with MySqlClient(self.conf) as client:
                self._adopt(client.tables(), first=False)
            self.position = transaction.position  # only now: rows of the same GTID may follow (CREATE TABLE ... SELECT)
            return
        for change in transaction.changes:
            source = self.sources.get((change.schema, change.table))
            if source is None:
                continue
            done = source.target.position
            if done is not None and is_behind(done, transaction.position):
                continue  # this table has it: it went further than the others before the restart
            source.target.put(change.kind, change.values, source.columns)
        self.position = transaction.position

    def _commit(self) -> None:
        for target in self.targets.values():
            if target.pending:
                target.commit(self.position)

    # -- shapes

    def _adopt(self, tables: Sequence[SourceTable], *, first: bool) -> None:
        """Know these source tables, and let their targets hold what they hold."""
        groups: dict[str, list[SourceTable]] = {}
        for table in tables:
            target = self.options.naming.of(table)
            if target is not None:
                groups.setdefault(target, []).append(table)
        for name, sources in groups.items():
            try:
                self._adopt_group(name, sources, first=first)
            except PaimonError as error:
                keyless = self.options.naming.table is None and isinstance(error, UnsupportedOperation)
                if not (self.options.ignore_incompatible or keyless):
                    raise
                self.notes.append(f"left out: {names(sources)}: {error.message}")
        if first and not self.targets:
            raise BadOptionValue("no table is left to sync", hint="; ".join(self.notes) or "check including_tables")

    def _adopt_group(self, name: str, sources: list[SourceTable], *, first: bool) -> None:
        wanted = merged([self._wanted(s) for s in sources])
        target = self.targets.get(name)
        if target is None:
            full = Name(self.options.naming.database, name)
            target = self.targets[name] = open_target(self.catalog, full, self.user, wanted, self.options.target)
            if not first and target.position is None:
                target.begin(self.position)  # born while we were watching: all its rows are in the binlog
        else:
            target.grow(wanted)
        for table in sources:
            known = self.sources.get((table.schema, table.name))
            if known is None:
                self.sources[table.schema, table.name] = Source(table, target)
            else:
                known.reshape(table)

    def _wanted(self, table: SourceTable) -> Wanted:
        columns = {
            c.name: (paimon_type(c.type, self.options.modes, nullable=c.nullable and c.name not in table.primary_keys), c.comment)
            for c in table.columns
        }  # fmt: skip
        return Wanted(columns, table.primary_keys, table.comment)
