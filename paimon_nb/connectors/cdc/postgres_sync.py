"""PostgreSQL CDC sync: a consistent snapshot of the rows, then the changes of a replication slot, until it is stopped.

Each round peeks at the slot, commits, and only then advances the slot, so changes that were not committed are read again.
Source of the options: Paimon's postgres_sync_table action.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.connectors.cdc.database_sync import RETRY_INTERVAL_S, DatabaseSync, Source
from paimon_nb.connectors.cdc.job import RECONNECT_TIMEOUT_S, SyncOptions
from paimon_nb.connectors.cdc.metadata import OF_POSTGRES, MetadataColumns
from paimon_nb.connectors.cdc.pgoutput import INSERT, Relation, Transaction
from paimon_nb.connectors.cdc.postgres_client import PostgresClient, PostgresConf, SourceTable, SyncPosition, to_lsn
from paimon_nb.connectors.cdc.postgres_types import PostgresType, arrow_column_of_texts, paimon_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.catalog.api import Catalog
    from paimon_nb.connectors.cdc.target import Target
    from paimon_nb.format.types import DataType

_IDLE_LOG_BYTES = 64 << 20
"""Bytes of the log without changes of the synced tables after which the targets store a newer position."""


class LoggedSource(Source[SourceTable]):
    """A source table and its column lists that fit the target."""

    def __init__(self, table: SourceTable, target: Target, metadata: MetadataColumns) -> None:
        self.known_columns: set[tuple[tuple[str, int, int], ...]] = set()
        super().__init__(table, target, arrow_column_of_texts, metadata)

    def update_columns(self, table: SourceTable) -> None:
        super().update_columns(table)
        self.known_columns.add(table.relation_columns)


class PostgresSync(DatabaseSync[SourceTable]):
    """A sync of the tables that match `conf`."""

    known_metadata = OF_POSTGRES

    def __init__(self, catalog: Catalog, conf: Mapping[str, str], options: SyncOptions) -> None:
        """Does not connect. Raises BadOptionValue."""
        self.conf = PostgresConf.of(conf)
        c = self.conf
        super().__init__(catalog, options, f"{c.host}:{c.port}/{c.database}/{c.schema}/{c.table}/{c.slot}")
        self.sync_position = SyncPosition(0)
        self._positions: dict[str, SyncPosition] = {}
        """Position by target."""

    def prepare_targets(self) -> None:
        """Raises SourceUnavailable, SourceLost, TableNotFound, UnsupportedOperation, SchemaChangeError."""
        with PostgresClient(self.conf) as client:
            client.check()
            self.register_tables(client.tables(), first=True)
            if self.conf.start != "snapshot":
                client.open_slot([s.table for s in self.sources.values()], resume_lsn=self._resume_lsn())

    def run_sync(self) -> None:
        last_message = time.monotonic()
        while not self._stop.is_set():
            try:
                with PostgresClient(self.conf) as client:
                    self._copy_rows(client)
                    while not self._stop.is_set() and self.conf.start != "snapshot":
                        started = last_message = time.monotonic()
                        if not self._read_slot(client):
                            self._stop.wait(max(0.0, self.options.interval_s - (time.monotonic() - started)))
                    return
            except SourceUnavailable:
                for target in self.targets.values():
                    target.abort()
                if time.monotonic() - last_message > RECONNECT_TIMEOUT_S:
                    raise
                self._stop.wait(RETRY_INTERVAL_S)

    def position_of(self, target: Target) -> str:
        known = self._positions.get(target.name.table)
        return SyncPosition(self.sync_position.lsn, None if known is None else known.snapshot_point).to_text()

    # -- snapshot

    def _copy_rows(self, client: PostgresClient) -> None:
        """Copy the rows of targets that have no data of this sync yet."""
        new = [t for t in self.targets.values() if t.position is None]
        if new:
            slot_start = client.slot_start_lsn()  # all earlier changes are in the snapshot
            snapshot_point = client.begin_snapshot()
            # Read the schemas again: they may have changed between `prepare_targets` and the snapshot.
            self.register_tables(client.tables(), first=True)
            for target in new:
                self._positions[target.name.table] = sync_position = SyncPosition(slot_start, snapshot_point)
                for source in self.sources.values():
                    if source.target is target and self.conf.start != "latest-offset":
                        for row in client.rows(source.table):
                            target.buffer_change(INSERT, source.row(row), source.columns, source.at("snapshot"))
                target.store_start_position(sync_position.to_text())
            client.run_query("COMMIT")
        self._positions = {
            name: SyncPosition.from_text(t.position) for name, t in self.targets.items() if t.position is not None
        }
        lowest = min((p.lsn for p in self._positions.values()), default=0)
        self.sync_position = SyncPosition(max(lowest, min(client.slot_start_lsn(), self._resume_lsn() or 0)))

    # -- the log

    def _read_slot(self, client: PostgresClient) -> bool:
        """Apply the changes in the slot, commit, and advance the slot. Returns whether there were changes."""
        end = client.position()
        client.check_slot(self.sync_position.lsn)
        pending = client.peek_transactions(self.sync_position.lsn)
        for transaction in pending:
            self._apply_transaction(client, transaction)
        self.commit()
        if not pending and end - self.sync_position.lsn > _IDLE_LOG_BYTES:
            self.sync_position = SyncPosition(end)
        self._store_position()
        client.advance_slot(self.sync_position.lsn)
        return bool(pending)

    def _store_position(self) -> None:
        """Let one target have the position of the sync, before the slot goes there. Others had no changes since theirs."""
        if self.targets and max(self._stored_lsns(), default=0) < self.sync_position.lsn:
            target = next(iter(self.targets.values()))
            target.store_start_position(self.position_of(target))

    def _stored_lsns(self, *, rolled_back: bool = False) -> list[int]:
        """The positions that the targets have. `rolled_back`: only of those whose newer position a rollback removed."""
        targets = [t for t in self.targets.values() if t.was_rolled_back or not rolled_back]
        return [SyncPosition.from_text(t.stored_position).lsn for t in targets if t.stored_position is not None]

    def _resume_lsn(self) -> int | None:
        """From where on the slot must have the log; None: the targets have no rows of this sync.

        The slot was advanced when all targets had the changes before: those with an older position had none since, unless they were
        rolled back.
        """
        return min([max(self._stored_lsns(), default=0), *self._stored_lsns(rolled_back=True)]) or None

    def _apply_transaction(self, client: PostgresClient, transaction: Transaction) -> None:
        for change in transaction.changes:
            source = self.sources.get((change.relation.schema, change.relation.table))
            if source is None or self._positions[source.target.name.table].contains_transaction(transaction):
                continue
            assert isinstance(source, LoggedSource)
            if change.relation.columns not in source.known_columns:
                self._update_schema(client, source, change.relation)
            at = source.at(to_lsn(transaction.lsn))
            source.target.buffer_change(
                change.kind, source.change(change.values, transaction.time_ms), source.columns, at
            )
        self.sync_position = SyncPosition(transaction.lsn)

    def _update_schema(self, client: PostgresClient, source: LoggedSource, relation: Relation) -> None:
        """Evolve the schema of the target after the log contains new columns."""
        # Earlier changes of this transaction are committed with the position before it, so after a crash they are applied
        # again. This is correct, because rows replace earlier rows of their key.
        self.commit()
        tables = [t for t in client.tables() if (t.schema, t.name) == (relation.schema, relation.table)]
        self.register_tables(tables, first=False)
        source.known_columns.add(relation.columns)

    # -- schemas

    def source_of(self, table: SourceTable, target: Target) -> LoggedSource:
        return LoggedSource(table, target, self.metadata)

    def column_type(self, source_type: PostgresType, *, nullable: bool) -> DataType:
        return paimon_type(source_type, self.options.modes, nullable=nullable)

    def register_target(self, name: str, sources: Sequence[SourceTable], *, first: bool) -> Target:
        for table in sources:
            table.check()
        return super().register_target(name, sources, first=first)
