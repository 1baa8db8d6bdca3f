"""MySQL or MariaDB tables into Paimon tables: rows as of one moment, then the binlog, until somebody stops it.

Source of the options: Paimon's mysql_sync_table and mysql_sync_database actions.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.catalog.api import Catalog
from paimon_nb.connectors.cdc.binlog import INSERT, Binlog, Transaction, is_behind
from paimon_nb.connectors.cdc.database_sync import PAUSE_S, DatabaseSync, Source
from paimon_nb.connectors.cdc.job import AWAY_S, SyncOptions
from paimon_nb.connectors.cdc.mysql_client import MySqlClient, MySqlConf, SourceTable
from paimon_nb.connectors.cdc.mysql_types import MySqlType, paimon_type, to_column
from paimon_nb.connectors.cdc.target import Target
from paimon_nb.format.types import DataType


class MySqlSync(DatabaseSync[SourceTable]):
    """A sync of the tables that `conf` means."""

    def __init__(self, catalog: Catalog, conf: Mapping[str, str], options: SyncOptions) -> None:
        """Nobody is asked yet. Raises BadOptionValue."""
        self.conf = MySqlConf.of(conf)
        source_name = f"{self.conf.host}:{self.conf.port}/{self.conf.database}/{self.conf.table}"
        super().__init__(catalog, options, source_name)
        self.position = ""
        self._last_event = 0.0
        """When the server spoke last."""

    def prepare(self) -> None:
        """Raises SourceUnavailable, TableNotFound, UnsupportedOperation, SchemaChangeError."""
        with MySqlClient(self.conf) as client:
            client.check()
            self.adopt(client.tables(), first=True)

    def work(self) -> None:
        self._last_event = time.monotonic()
        is_mariadb, until = self._begin()
        if self.conf.start == "snapshot":
            return
        self._last_event = time.monotonic()
        while not self._stop.is_set():
            try:
                idle_s = min(self.options.interval_s, 0.2)
                with Binlog(self.conf, self.position, is_mariadb=is_mariadb, idle_s=idle_s) as reader:
                    self._follow(reader, until)
                    return
            except SourceUnavailable as error:
                self._wait_for_server(error)

    def _begin(self) -> tuple[bool, str | None]:
        """Take the rows; (whether it is MariaDB, where the binlog need not be followed further)."""
        while not self._stop.is_set():
            try:
                with MySqlClient(self.conf) as client:
                    self.position = self._snapshot(client)
                    return client.is_mariadb, client.position() if self.conf.until_now else None
            except SourceUnavailable as error:  # also: a table was altered while its rows were read
                self._wait_for_server(error)
        return False, None

    def _wait_for_server(self, error: SourceUnavailable) -> None:
        """Forget what is not committed. Raises `error` when the server is away for too long."""
        self._restart_from_tables()
        if time.monotonic() - self._last_event > AWAY_S:
            raise error
        self._stop.wait(PAUSE_S)

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

    def _snapshot(self, client: MySqlClient) -> str:
        """The rows of targets that have none of this sync yet. Returns where the binlog goes on."""
        if all(t.position is not None for t in self.targets.values()):
            return self._slowest() or client.position()
        at = client.begin_snapshot()
        # Once more: what changed its shape since `prepare` did so before this moment, and the binlog after it is silent.
        self.adopt(client.tables(), first=True)
        for target in [t for t in self.targets.values() if t.position is None]:
            for source in [
                s for s in self.sources.values() if s.target is target and self.conf.start != "latest-offset"
            ]:
                for rows in client.rows(source.table):
                    for row in rows:
                        target.put(INSERT, source.row(row), source.columns)
                    if self._stop.is_set():
                        target.abort()
                        return at
            target.begin(at)
        client.run_query("COMMIT")
        return self._slowest() or at

    def _follow(self, reader: Binlog, until: str | None) -> None:
        """Take transactions until the sync is over."""
        committed = time.monotonic()
        if until is not None and is_behind(self.position, until):
            return
        for transaction in reader.transactions():
            self._last_event = time.monotonic()
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
                self.adopt(client.tables(), first=False)
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

    def source_of(self, table: SourceTable, target: Target) -> Source[SourceTable]:
        return Source(table, target, to_column)

    def column_type(self, source_type: MySqlType, *, nullable: bool) -> DataType:
        return paimon_type(source_type, self.options.modes, nullable=nullable)

    def adopt_group(self, name: str, sources: Sequence[SourceTable], *, first: bool) -> Target:
        born = name not in self.targets
        target = super().adopt_group(name, sources, first=first)
        if born and not first and target.position is None:
            target.begin(self.position)  # born while we were watching: all its rows are in the binlog
        return target
