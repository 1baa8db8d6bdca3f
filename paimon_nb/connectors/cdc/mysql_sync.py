"""MySQL and MariaDB CDC sync: a consistent snapshot of the rows, then the binlog, until it is stopped.

Source of the options: Paimon's mysql_sync_table and mysql_sync_database actions.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from paimon_nb.base.errors import DatabaseNotFound, SourceUnavailable, TableNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.override import override
from paimon_nb.connectors.cdc.binlog import INSERT, Binlog, Transaction, has_reached
from paimon_nb.connectors.cdc.database_sync import RETRY_INTERVAL_S, DatabaseSync, Source
from paimon_nb.connectors.cdc.job import RECONNECT_TIMEOUT_S, SyncOptions
from paimon_nb.connectors.cdc.metadata import OF_MYSQL
from paimon_nb.connectors.cdc.mysql_client import MySqlClient, MySqlConf, SourceTable
from paimon_nb.connectors.cdc.mysql_types import MySqlType, paimon_type, to_column
from paimon_nb.format.types import LocalZonedTimestamp, Timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.catalog.api import Catalog
    from paimon_nb.connectors.cdc.target import SourceSchema, Target
    from paimon_nb.format.types import DataField, DataType


class MySqlSync(DatabaseSync[SourceTable]):
    """A sync of the tables that match `conf`."""

    known_metadata = OF_MYSQL

    def __init__(self, catalog: Catalog, conf: Mapping[str, str], options: SyncOptions) -> None:
        """Does not connect. Raises BadOptionValue."""
        self.conf = MySqlConf.of(conf)
        source_name = f"{self.conf.host}:{self.conf.port}/{self.conf.database}/{self.conf.table}"
        super().__init__(catalog, options, source_name)
        self.position = ""
        self._last_event = 0.0
        """Time of the last event from the server."""

    def prepare_targets(self) -> None:
        """Raises SourceUnavailable, TableNotFound, UnsupportedOperation, SchemaChangeError."""
        with MySqlClient(self.conf) as client:
            client.check()
            self.register_tables(client.tables(), first=True)

    def run_sync(self) -> None:
        self._last_event = time.monotonic()
        is_mariadb, end = self._take_snapshot()
        if self.conf.start == "snapshot":
            return
        self._last_event = time.monotonic()
        while not self._stop.is_set():
            try:
                idle_s = min(self.options.interval_s, 0.2)
                with Binlog(self.conf, self.position, is_mariadb=is_mariadb, idle_s=idle_s) as reader:
                    self._read_binlog(reader, end)
                    return
            except SourceUnavailable as error:
                self._wait_for_server(error)

    def _take_snapshot(self) -> tuple[bool, str | None]:
        """Copy the rows. Returns whether the server is MariaDB, and the end position of a bounded sync."""
        while not self._stop.is_set():
            try:
                with MySqlClient(self.conf) as client:
                    self.position = self._copy_rows(client)
                    return client.is_mariadb, client.position() if self.conf.stop_at_end else None
            except SourceUnavailable as error:  # also raised if a table was altered while its rows were read
                self._wait_for_server(error)
        return False, None

    def _wait_for_server(self, error: SourceUnavailable) -> None:
        """Discard uncommitted changes and wait. Raises `error` if the server is unreachable for too long."""
        self._restart_from_tables()
        if time.monotonic() - self._last_event > RECONNECT_TIMEOUT_S:
            raise error
        self._stop.wait(RETRY_INTERVAL_S)

    @override
    def position_of(self, target: Target) -> str:
        ahead = target.position is not None and has_reached(target.position, self.position)  # after a restart
        return str(target.position) if ahead else self.position

    def _restart_from_tables(self) -> None:
        """Discard uncommitted changes and continue from the positions stored in the targets."""
        for target in self.targets.values():
            target.abort()
        self.position = self._earliest_position() or self.position

    def _earliest_position(self) -> str | None:
        known = [t.position for t in self.targets.values() if t.position is not None]
        earliest = known[0] if known else None
        for position in known[1:]:
            if earliest is not None and has_reached(earliest, position):
                earliest = position
        return earliest

    def _copy_rows(self, client: MySqlClient) -> str:
        """Copy the rows of targets that have no data of this sync yet. Returns the binlog position to continue from."""
        if all(t.position is not None for t in self.targets.values()):
            return self._earliest_position() or client.position()
        at = client.begin_snapshot()
        # Read the schemas again: changes between `prepare_targets` and the snapshot are not in the binlog that follows.
        self.register_tables(client.tables(), first=True)
        for target in [t for t in self.targets.values() if t.position is None]:
            for source in [
                s for s in self.sources.values() if s.target is target and self.conf.start != "latest-offset"
            ]:
                for rows in client.rows(source.table):
                    for row in rows:
                        target.buffer_change(INSERT, source.row(row), source.columns, source.at("snapshot"))
                    if self._stop.is_set():
                        target.abort()
                        return at
            target.store_start_position(at)
        client.run_query("COMMIT")
        return self._earliest_position() or at

    def _read_binlog(self, reader: Binlog, end: str | None) -> None:
        """Apply transactions until the sync ends."""
        committed = time.monotonic()
        if end is not None and has_reached(self.position, end):
            return
        for transaction in reader.transactions():
            self._last_event = time.monotonic()
            if transaction is not None:
                self._apply_transaction(transaction)
            finished = self._stop.is_set() or (end is not None and has_reached(self.position, end))
            if finished or transaction is None or time.monotonic() - committed > self.options.interval_s:
                self.commit()
                self.save_positions()
                committed = time.monotonic()
            if finished:
                return

    def _apply_transaction(self, transaction: Transaction) -> None:
        if transaction.schema_changed:
            self.commit()
            with MySqlClient(self.conf) as client:
                self.register_tables(client.tables(), first=False)
            self.position = (
                transaction.position
            )  # set last: rows with the same GTID may follow (CREATE TABLE ... SELECT)
            return
        for change in transaction.changes:
            source = self.sources.get((change.schema, change.table))
            if source is None:
                continue
            done = source.target.position
            if done is not None and has_reached(done, transaction.position):
                continue  # applied before the restart: this target was ahead of the others
            row = source.change(change.values, transaction.time_ms)
            source.target.buffer_change(change.kind, row, source.columns, source.at(transaction.position))
        self.position = transaction.position

    # -- schemas

    def source_of(self, table: SourceTable, target: Target) -> Source[SourceTable]:
        zone = ZoneInfo(self.conf.time_zone) if self.conf.time_zone else None
        return Source(table, target, partial(to_column, zone=zone), self.metadata)

    def column_type(self, source_type: MySqlType, *, nullable: bool) -> DataType:
        return paimon_type(source_type, self.options.modes, nullable=nullable)

    @override
    def open(self, name: str, source_schema: SourceSchema) -> Target:
        """As of the base class. A target that Java's sync made has TIMESTAMP without a zone for MySQL's TIMESTAMP."""
        columns = dict(source_schema.columns)
        for field in self._fields_of_target(name):
            t, comment = columns.get(field.name, (None, None))
            if isinstance(t, LocalZonedTimestamp) and isinstance(field.type, Timestamp):
                columns[field.name] = (Timestamp(t.precision, t.nullable), comment)
        return super().open(name, replace(source_schema, columns=columns))

    def _fields_of_target(self, name: str) -> Sequence[DataField]:
        """The columns of a target; none if it does not exist."""
        known = self.targets.get(name)
        if known is not None:
            return known.table.schema.fields
        try:
            return self.catalog.table(Identifier(self.options.naming.database, name)).schema.fields
        except (DatabaseNotFound, TableNotFound):
            return ()

    def register_target(self, name: str, sources: Sequence[SourceTable], *, first: bool) -> Target:
        is_new_target = name not in self.targets
        target = super().register_target(name, sources, first=first)
        if is_new_target and not first and target.position is None:
            target.store_start_position(self.position)  # created during the sync: all its rows are in the binlog
        return target
