"""Target table of a CDC sync: evolves its schema with the sources and applies each change once.

The position in the log of the source is a property of the snapshot, so data and progress are committed atomically. A
restarted sync continues from the position in the table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base import clock
from paimon_nb.base.errors import MissingFile, SchemaChangeError, SnapshotNotFound, UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.connectors.cdc.checked_rows import BufferedChange, CheckedRows
from paimon_nb.connectors.cdc.computed import Computed, parse_computed
from paimon_nb.connectors.cdc.dead_letters import DeadLetters
from paimon_nb.connectors.cdc.position_note import NotedPosition, PositionNote
from paimon_nb.connectors.cdc.type_widening import common_wider_type
from paimon_nb.connectors.cdc.values import ERRORS_COLUMN, OnValueError, Unreadable, within_length
from paimon_nb.format.schema import TableSchema, create_schema
from paimon_nb.format.types import DataType, parse_type
from paimon_nb.statements.ddl import AddColumn, AlterColumn, Change, SetOptions
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.stream_committer import StreamCommitter

if TYPE_CHECKING:
    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.api import Catalog
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.format.types import DataField
    from paimon_nb.table.tables.table import Table

POSITION = "cdc.position"
"""Property of a snapshot: the table contains all changes before this position in the log of the source."""
_BUFFER_ROWS = 50_000
"""Maximum number of buffered changes before they are passed to the writer."""

ToColumn = Callable[[str, Sequence[Any], DataType], pa.Array]
"""Converts a column to Arrow: name, values of the source, type in the table."""


@dataclass(frozen=True, slots=True)
class SourceSchema:
    """Schema of the source tables of a target."""

    columns: Mapping[str, tuple[DataType, str | None]]
    """Type and comment by name, in order."""
    primary_keys: tuple[str, ...]
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """Options of the user for targets."""

    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    options: Mapping[str, str] | None = None
    on_value_error: OnValueError = OnValueError.JAVA
    skip_records: frozenset[str] = frozenset()
    """Ids of records that are left out if one of their values does not fit."""


class Target:
    """Created with `open_target`. Not thread-safe."""

    def __init__(self, catalog: Catalog, name: Identifier, user: str, options: TargetOptions) -> None:
        self.catalog, self.name, self.user, self.target_options = catalog, name, user, options
        self.table: Table = catalog.table(name)
        self.computed: tuple[Computed, ...] = ()
        self.rows = 0
        """Number of changes committed since the start."""
        self._uncommitted = 0
        rule = options.on_value_error
        self._dead_letters = DeadLetters(catalog, name, user) if rule is OnValueError.DEAD_LETTER else None
        self.checked = CheckedRows(rule, options.skip_records, self._dead_letters)
        """Handles the values that do not fit, and counts them."""
        self.last_commit_ms: int | None = None
        """The time of the last commit with changes since the start."""
        self._writing: TableWrite | None = None
        self._buffer: list[BufferedChange] = []
        self._columns: ToColumn | None = None
        self._note = PositionNote(self.table.store, user)
        last = self._last_commit()
        noted = self._note.read()
        expired = noted if noted is not None and last is None and self._note.has_expired(noted) else None
        self.was_rolled_back = noted is not None and expired is None and (last is None or last.id < noted.snapshot)
        """Whether the table had a newer position, and a rollback removed it with its rows."""
        self.position: str | None = None if last is None or not last.properties else last.properties.get(POSITION)
        """Position in the log of the source to continue from; None: the table has no data of this sync yet."""
        self.stored_position = self.position
        """The position that the table has: a sync that is started again continues there."""
        self._identifier = 0 if last is None else last.commit_identifier
        if expired is not None:
            self.position = self.stored_position = expired.position
            self._identifier = expired.identifier
        self._checkpoints = StreamCommitter(self.table.store, user)
        if last is not None:
            self._checkpoints.continue_after(last)
        self._is_full_compaction = False
        """Whether the current commit is a full compaction."""
        self._last_idle_s = time.monotonic()

    def buffer_change(self, kind: str, row: Mapping[str, Any], columns: ToColumn, at: str = "") -> None:
        """Buffer a change.

        Args:
            columns: converts such rows to Arrow columns.
            at: the position in the source and the source table, for messages.
        """
        if self._columns is not columns or len(self._buffer) >= _BUFFER_ROWS:
            self._write_buffered()
            self._columns = columns
        self._buffer.append(BufferedChange(kind, row, at))

    @property
    def pending(self) -> bool:
        return bool(self._buffer) or self._writing is not None

    def commit(self, position: str) -> None:
        """Commit the buffered changes with the position after them. Does nothing if there are none.

        Raises:
            TimeTravelError: the table was rolled back to before the last commit.
        """
        try:
            self._commit(position)
        except MissingFile:
            self._checkpoints.check_not_rolled_back(self.table.store)  # it names the cause
            raise

    def _commit(self, position: str) -> None:
        self._write_buffered()
        if self._dead_letters is not None:
            self._dead_letters.commit()
        if self._writing is None:
            self.position = position if self.position is not None else None
            return
        writing, self._writing = self._writing, None
        with writing:
            messages = writing.prepare_commit()
            self._identifier += 1
            self._checkpoints.commit(
                self.table.store, messages, self._identifier, full=self._is_full_compaction, properties={POSITION: position},
                ignore_empty=False,
            )  # fmt: skip
        self._note_position(position)
        self.position, self.stored_position, self.last_commit_ms = position, position, clock.now_ms()
        self.rows, self._uncommitted = self.rows + self._uncommitted, 0

    def on_idle_checkpoint(self, interval_s: float) -> None:
        """Handle an interval without changes, as a streaming writer handles an empty checkpoint."""
        if self.position is None or time.monotonic() - self._last_idle_s < interval_s:
            return
        self._last_idle_s = time.monotonic()
        self._checkpoints.check_not_rolled_back(self.table.store)
        if StreamCommitter.empty_checkpoint_may_commit(self.table.store):
            self._checkpoints.on_idle_checkpoint(self.table.store, properties={POSITION: self.position})

    def store_start_position(self, position: str) -> None:
        """Store `position`, also if there are no changes."""
        self._write_buffered()
        if self._writing is None:
            if self._dead_letters is not None:
                self._dead_letters.commit()
            self._identifier += 1
            self._checkpoints.commit(
                self.table.store, [], self._identifier, full=False, properties={POSITION: position}, ignore_empty=False
            )
            self._note_position(position)
            self.position = self.stored_position = position
        else:
            self.commit(position)

    def evolve_schema(self, source_schema: SourceSchema) -> None:
        """Add new columns and widen the types of existing ones. The caller commits earlier changes first.

        Raises:
            SchemaChangeError: a type cannot be widened, or the source does not have a key column.
        """
        assert not self.pending, "commit rows of the old schema first"
        self.table = self.table.refresh()  # another session may have changed it
        schema, changes = self.table.schema, list[Change]()
        have = {f.name: f for f in schema.fields}
        types = {f.name: f.type for f in schema.fields} | {n: t for n, (t, _) in source_schema.columns.items()}
        computed_columns = {c.name: (c.type, None) for c in parse_computed(self.target_options.computed, types)}
        extra_columns: dict[str, tuple[DataType, str | None]] = {}
        if self.target_options.on_value_error is OnValueError.TEXT:
            extra_columns[ERRORS_COLUMN] = (parse_type("STRING"), "texts of values that do not fit their columns")
        for key in schema.primary_keys:
            if source_schema.columns and key not in source_schema.columns and key not in computed_columns:
                raise SchemaChangeError(
                    f"key column {key!r} of {self.name} is not a column of the source",
                    hint=f"rename it back (ALTER TABLE {self.name.quoted()} RENAME {quote(key)} TO ...), or sync into a new table",
                    column=key,
                )
        for name, (t, comment) in {**source_schema.columns, **computed_columns, **extra_columns}.items():
            if name not in have:
                changes.append(AddColumn((name,), str(t.with_nullable(True)), comment))
                continue
            grown = common_wider_type(have[name].type, t, f"{self.name.table}.{name}")
            if grown != have[name].type:
                if name in schema.partition_keys:
                    raise SchemaChangeError(
                        f"partition key {name!r} cannot become {grown}", hint="sync into a new table"
                    )
                changes.append(AlterColumn((name,), str(grown.with_nullable(True))))
        if changes:
            self.catalog.alter_table(self.name, changes)
            self.table = self.table.refresh()
        self._bind()

    def abort(self) -> None:
        """Discard changes that are not committed."""
        self._buffer = []
        if self._dead_letters is not None:
            self._dead_letters.abort()
        if self._writing is not None:
            self._writing.abort()
            self._writing = None
        self._uncommitted = 0

    # -- rows to files

    def _write_buffered(self) -> None:
        if not self._buffer:
            return
        assert self._columns is not None
        buffered, self._buffer = self._buffer, []
        if self.computed:
            for change in buffered:
                change.row = self._with_computed(change.row)
        computed_columns = {c.name for c in self.computed}
        columns = self._columns

        def convert(field: DataField, values: Sequence[Any]) -> pa.Array:
            computed = field.name in computed_columns
            array = _plain_column(values, field.type) if computed else columns(field.name, values, field.type)
            return within_length(array, field.type)

        batch, kinds = self.checked.batch(self.table, buffered, convert)
        if not batch.num_rows:
            return
        if self._writing is None:
            self._is_full_compaction = self._checkpoints.is_full(self.table.store, self._identifier + 1)
            self._writing = TableWrite(self.table.store, full=self._is_full_compaction)
        self._writing.write(batch, kinds)
        self._uncommitted += batch.num_rows

    def _with_computed(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {**row, **{c.name: _computed_value(c, row) for c in self.computed}}

    def _note_position(self, position: str) -> None:
        if self._checkpoints.snapshot is not None:
            self._note.write(NotedPosition(self._checkpoints.snapshot, self._identifier, position))

    def _bind(self) -> None:
        self.computed = parse_computed(self.target_options.computed, {f.name: f.type for f in self.table.schema.fields})

    def _last_commit(self) -> Snapshot | None:
        """The latest snapshot of this sync, or None."""
        snapshots = self.table.store.snapshots
        for snapshot_id in range(snapshots.latest_id() or 0, (snapshots.earliest_id() or 1) - 1, -1):
            try:
                found = snapshots.get(snapshot_id)
            except SnapshotNotFound:
                return None
            if found.commit_user == self.user and found.properties and POSITION in found.properties:
                return found
        return None


def open_target(
    catalog: Catalog, name: Identifier, user: str, source_schema: SourceSchema, target_options: TargetOptions
) -> Target:
    """The target table. Creates it if it does not exist; evolves its schema if the source has more columns.

    Raises:
        UnsupportedOperation: no primary key.
        SchemaChangeError, SchemaMismatch: the schema of the source does not fit.
    """
    if name.table not in _existing_tables(catalog, name):
        catalog.create_database(name.database, if_not_exists=True)
        catalog.create_table(name, _new_table_schema(name, source_schema, target_options), if_not_exists=True)
    elif target_options.options:
        table = catalog.table(name)
        table.store.check_not_materialized("a synchronization")
        changed = {
            k: v for k, v in target_options.options.items() if table.schema.options.get(k) != v and k != "bucket"
        }
        if changed:
            catalog.alter_table(name, [SetOptions(changed)])
    target = Target(catalog, name, user, target_options)
    target.table.store.check_not_materialized("a synchronization")
    if not target.table.primary_keys:
        raise UnsupportedOperation(f"{name} has no primary key", hint="a sync needs it for updates and deletes")
    target.evolve_schema(source_schema)
    return target


def _existing_tables(catalog: Catalog, name: Identifier) -> Iterable[str]:
    return catalog.tables(name.database) if name.database in catalog.databases() else ()


def _new_table_schema(name: Identifier, source_schema: SourceSchema, target_options: TargetOptions) -> TableSchema:
    keys = target_options.primary_keys or source_schema.primary_keys
    if not keys:
        raise UnsupportedOperation(
            f"the source of {name} has no primary key", hint="set the key columns, for example primary_keys => 'id'"
        )
    columns: dict[str, tuple[DataType, str | None]] = dict(source_schema.columns)
    types = {n: t for n, (t, _) in columns.items()}
    columns |= {c.name: (c.type, None) for c in parse_computed(target_options.computed, types)}
    return create_schema(
        [(n, t, comment, None) for n, (t, comment) in columns.items()],
        target_options.partition_keys, keys, dict(target_options.options or {}), source_schema.comment,
    )  # fmt: skip


def _computed_value(computed: Computed, row: Mapping[str, Any]) -> Any:
    """The value of a computed column; `Unreadable` if its function cannot use the value of the source."""
    try:
        return computed.of(row)
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:
        return Unreadable(
            row.get(computed.column or ""), f"its function cannot use the value of {computed.column} ({error})"
        )


def _plain_column(values: Sequence[Any], t: DataType) -> pa.Array:
    from paimon_nb.connectors.cdc.mysql_types import to_column

    return to_column(values, t, None)


def merge_schemas(schemas: Sequence[SourceSchema]) -> SourceSchema:
    """The merged schema of several sources of a target. Raises SchemaChangeError: their columns do not fit."""
    columns: dict[str, tuple[DataType, str | None]] = {}
    for schema in schemas:
        for name, (t, comment) in schema.columns.items():
            if name in columns:
                columns[name] = (common_wider_type(columns[name][0], t, name), columns[name][1] or comment)
            else:
                columns[name] = (t, comment)
    return SourceSchema(columns, schemas[0].primary_keys, next((o.comment for o in schemas if o.comment), None))
