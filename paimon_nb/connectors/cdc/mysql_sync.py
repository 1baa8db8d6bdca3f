"""MySQL or MariaDB tables into Paimon tables: rows as of one moment, then the binlog, until somebody stops it.

Source of the options: Paimon's mysql_sync_table and mysql_sync_database actions.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, PaimonError, SourceUnavailable
from paimon_nb.catalog.api import Catalog
from paimon_nb.connectors.cdc.binlog import INSERT, Binlog, Transaction, is_behind
from paimon_nb.connectors.cdc.job import AWAY_S, SyncJob, SyncOptions
from paimon_nb.connectors.cdc.mysql_client import MySqlClient, MySqlConf, SnapshotOutdated, SourceTable, names
from paimon_nb.connectors.cdc.mysql_types import MySqlType, paimon_type, to_column
from paimon_nb.connectors.cdc.target import Target, ToColumn, Wanted, merged
from paimon_nb.format.types import DataType


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


class MySqlSync(SyncJob):
    """A sync of the tables that `conf` means."""

    def __init__(self, catalog: Catalog, conf: Mapping[str, str], options: SyncOptions) -> None:
        """Nobody is asked yet. Raises BadOptionValue."""
        self.conf = MySqlConf.of(conf)
        told = f"{self.conf.host}:{self.conf.port}/{self.conf.database}/{self.conf.table}"
        super().__init__(catalog, options, told)
        self.sources: dict[tuple[str, str], Source] = {}
        self.position = ""
        self._heard = 0.0
        """When the server spoke last."""

    def prepare(self) -> None:
        """Raises SourceUnavailable, TableNotFound, UnsupportedOperation, SchemaChangeError."""
        with MySqlClient(self.conf) as client:
            client.check()
            self._adopt(client.tables(), first=True)

    def work(self) -> None:
        with MySqlClient(self.conf) as client:
            is_mariadb = client.is_mariadb
            self.position = self._settled_snapshot(client)
            until = client.position() if self.conf.until_now else None
        if self.conf.start == "snapshot":
            return
        self._heard = time.monotonic()
        while not self._stop.is_set():
            try:
                idle_s = min(self.options.interval_s, 0.2)
                with Binlog(self.conf, self.position, is_mariadb=is_mariadb, idle_s=idle_s) as reader:
                    self._follow(reader, until)
                    return
            except SourceUnavailable:
                self._restart_from_tables()
                if time.monotonic() - self._heard > AWAY_S:
                    raise
                self._stop.wait(0.5)

    def position_of(self, target: Target) -> str:
        return self.position

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

    def _settled_snapshot(self, client: MySqlClient) -> str:
        """`_snapshot`, again when a table changed its shape under it. Raises SnapshotOutdated: each time, for as long as a server may be away."""
        began = time.monotonic()
        while True:
            try:
                return self._snapshot(client)
            except SnapshotOutdated:
                for target in self.targets.values():
                    target.abort()
                if self._stop.wait(0.1):
                    return client.position()
                if time.monotonic() - began > AWAY_S:
                    raise

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

    def _follow(self, reader: Binlog, until: str | None) -> None:
        """Take transactions until the sync is over."""
        committed = time.monotonic()
        if until is not None and is_behind(self.position, until):
            return
        for transaction in reader.transactions():
            self._heard = time.monotonic()
            if transaction is not None:
                self._take(transaction)
            over = self._stop.is_set() or (until is not None and is_behind(self.position, until))
            if over or transaction is None or time.monotonic() - committed > self.options.interval_s:
                self.commit()
                committed = time.monotonic()
            if over:
                return

    def _take(self, transaction: Transaction) -> None:
        if transaction.reshaped:
            self.commit()
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

    # -- shapes

    def _adopt(self, tables: Sequence[SourceTable], *, first: bool) -> None:
        """Know these source tables, and let their targets hold what they hold."""
        groups: dict[str, list[SourceTable]] = {}
        for table in tables:
            target = self.options.naming.of(table.schema, table.name)
            if target is not None:
                groups.setdefault(target, []).append(table)
        for name, sources in groups.items():
            try:
                self._adopt_group(name, sources, first=first)
            except PaimonError as error:
                self.leave_out(names(sources), error)
        if first and not self.targets:
            raise BadOptionValue("no table is left to sync", hint="; ".join(self.notes) or "check including_tables")

    def _adopt_group(self, name: str, sources: list[SourceTable], *, first: bool) -> None:
        wanted = merged([self._wanted(s) for s in sources])
        born = name not in self.targets
        target = self.open(name, wanted)
        if born and not first and target.position is None:
            target.begin(self.position)  # born while we were watching: all its rows are in the binlog
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
