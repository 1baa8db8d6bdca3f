"""PostgreSQL tables into Paimon tables: rows as of one moment, then what a replication slot holds behind it, until it is stopped.

Each round asks the slot without taking anything from it, commits, and only then lets the slot forget: what was not committed
comes again. Source of the options: Paimon's postgres_sync_table action.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.catalog.api import Catalog
from paimon_nb.connectors.cdc.database_sync import PAUSE_S, DatabaseSync, Source
from paimon_nb.connectors.cdc.job import AWAY_S, SyncOptions
from paimon_nb.connectors.cdc.pgoutput import INSERT, Relation, Transaction
from paimon_nb.connectors.cdc.postgres_client import PostgresClient, PostgresConf, SourceTable, SyncPosition
from paimon_nb.connectors.cdc.postgres_types import PostgresType, paimon_type, to_column
from paimon_nb.connectors.cdc.target import Target
from paimon_nb.format.types import DataType

_IDLE = 64 << 20
"""Bytes of the log without a change of ours, behind which the tables note that they are further."""


class LoggedSource(Source[SourceTable]):
    """A source table, and the shapes of it that the target can hold."""

    def __init__(self, table: SourceTable, target: Target) -> None:
        self.shapes: set[tuple[tuple[str, int, int], ...]] = set()
        super().__init__(table, target, to_column)

    def reshape(self, table: SourceTable) -> None:
        super().reshape(table)
        self.shapes.add(table.shape)


class PostgresSync(DatabaseSync[SourceTable]):
    """A sync of the tables that `conf` means."""

    def __init__(self, catalog: Catalog, conf: Mapping[str, str], options: SyncOptions) -> None:
        """Nobody is asked yet. Raises BadOptionValue."""
        self.conf = PostgresConf.of(conf)
        c = self.conf
        super().__init__(catalog, options, f"{c.host}:{c.port}/{c.database}/{c.schema}/{c.table}/{c.slot}")
        self.sync_position = SyncPosition(0)
        self._positions: dict[str, SyncPosition] = {}
        """By target."""

    def prepare(self) -> None:
        """Raises SourceUnavailable, SourceLost, TableNotFound, UnsupportedOperation, SchemaChangeError."""
        with PostgresClient(self.conf) as client:
            client.check()
            self.adopt(client.tables(), first=True)
            known = [SyncPosition.from_text(t.position).lsn for t in self.targets.values() if t.position is not None]
            if self.conf.start != "snapshot":
                client.open_slot([s.table for s in self.sources.values()], known=min(known) if known else None)

    def work(self) -> None:
        last_message = time.monotonic()
        while not self._stop.is_set():
            try:
                with PostgresClient(self.conf) as client:
                    self._snapshot(client)
                    while not self._stop.is_set() and self.conf.start != "snapshot":
                        began = last_message = time.monotonic()
                        if not self._round(client):
                            self._stop.wait(max(0.0, self.options.interval_s - (time.monotonic() - began)))
                    return
            except SourceUnavailable:
                for target in self.targets.values():
                    target.abort()
                if time.monotonic() - last_message > AWAY_S:
                    raise
                self._stop.wait(PAUSE_S)

    def position_of(self, target: Target) -> str:
        known = self._positions.get(target.name.table)
        return SyncPosition(self.sync_position.lsn, None if known is None else known.snapshot_point).to_text()

    # -- rows

    def _snapshot(self, client: PostgresClient) -> None:
        """The rows of targets that have none of this sync yet."""
        new = [t for t in self.targets.values() if t.position is None]
        if new:
            slot_start = client.slot_start_lsn()  # all before it is in the snapshot
            snapshot_point = client.begin_snapshot()
            # Once more: what changed its shape since `prepare` did so before this moment.
            self.adopt(client.tables(), first=True)
            for target in new:
                self._positions[target.name.table] = sync_position = SyncPosition(slot_start, snapshot_point)
                for source in self.sources.values():
                    if source.target is target and self.conf.start != "latest-offset":
                        for row in client.rows(source.table):
                            target.put(INSERT, source.row(row), source.columns)
                target.begin(sync_position.to_text())
            client.run_query("COMMIT")
        self._positions = {
            name: SyncPosition.from_text(t.position) for name, t in self.targets.items() if t.position is not None
        }
        self.sync_position = SyncPosition(min((p.lsn for p in self._positions.values()), default=0))

    # -- the log

    def _round(self, client: PostgresClient) -> bool:
        """Take what the slot holds, commit it, let the slot forget it. Returns whether it held anything."""
        end = client.position()
        found = client.peek(self.sync_position.lsn)
        for transaction in found:
            self._take(client, transaction)
        self.commit()
        if not found and end - self.sync_position.lsn > _IDLE:
            # What others wrote to the log is of no use here, and would be kept for ever.
            self.sync_position = SyncPosition(end)
            for target in self.targets.values():
                target.begin(self.position_of(target))
        client.forget(self.sync_position.lsn)
        return bool(found)

    def _take(self, client: PostgresClient, transaction: Transaction) -> None:
        for change in transaction.changes:
            source = self.sources.get((change.relation.schema, change.relation.table))
            if source is None or self._positions[source.target.name.table].has(transaction):
                continue
            assert isinstance(source, LoggedSource)
            if change.relation.columns not in source.shapes:
                self._reshape(client, source, change.relation)
            source.target.put(change.kind, change.values, source.columns)
        self.sync_position = SyncPosition(transaction.lsn)

    def _reshape(self, client: PostgresClient, source: LoggedSource, relation: Relation) -> None:
        """The log tells a shape that was not seen yet: let the target hold what the table holds now."""
        # What came before in this transaction becomes visible with the place before it, and would be taken again after a
        # crash right now: rows of a key replace each other.
        self.commit()
        tables = [t for t in client.tables() if (t.schema, t.name) == (relation.schema, relation.table)]
        self.adopt(tables, first=False)
        source.shapes.add(relation.columns)

    # -- shapes

    def source_of(self, table: SourceTable, target: Target) -> LoggedSource:
        return LoggedSource(table, target)

    def column_type(self, source_type: PostgresType, *, nullable: bool) -> DataType:
        return paimon_type(source_type, self.options.modes, nullable=nullable)

    def adopt_group(self, name: str, sources: Sequence[SourceTable], *, first: bool) -> Target:
        for table in sources:
            table.check()
        return super().adopt_group(name, sources, first=first)
