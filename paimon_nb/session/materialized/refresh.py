"""One refresh of a materialized table: compute, compare with what is stored, commit once.

Two processes may refresh one table at the same time: the commit is refused if another refresh came between.
"""

from __future__ import annotations

import datetime as dt
import logging
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import Cancelled, CommitConflict, PaimonError, SnapshotNotFound, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_text
from paimon_nb.options.materialized import LAST_ERROR
from paimon_nb.session.materialized.definition import definition_of, is_materialized
from paimon_nb.session.materialized.positions import content_of, hash_of, properties_of
from paimon_nb.session.materialized.result_rows import as_columns, prepare, rows_at
from paimon_nb.session.materialized.row_difference import difference
from paimon_nb.statements import ResetOptions, SetOptions
from paimon_nb.table.read.partition_spec import in_row_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.session.materialized.definition import Definition
    from paimon_nb.session.materialized.positions import Positions
    from paimon_nb.table.tables.table import Table

log = logging.getLogger(__name__)
_ERROR_LENGTH = 500
_WITHOUT_ROWS = frozenset({"COMPACT", "ANALYZE"})
REFRESHED, UNCHANGED, BY_ANOTHER = "refreshed", "is up to date", "was refreshed by another process"


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did."""

    what: str
    """REFRESHED, UNCHANGED or BY_ANOTHER."""
    written: int = 0
    """Rows that were added or got other values."""
    removed: int = 0
    snapshots: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.what != REFRESHED:
            return self.what
        return f"{self.what}: {count_text(self.written, 'row')} written, {self.removed:,} removed"


def count_text(number: int, thing: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number:,} {thing}{'s' * (number != 1)}"


def refresh(
    session: Session,
    target: ResolvedTable,
    *,
    partition: Mapping[str, object] | None = None,
    full: bool = False,
) -> Refreshed:
    """Bring a materialized table to the newest snapshots of its inputs, and store or remove its last error.

    Args:
        session: the user's; the query runs in a copy.
        partition: values of partition columns; only their rows are refreshed.
        full: also if no input has changed.

    Returns:
        What was done; nothing is committed if no input has changed.

    Raises:
        UnsupportedOperation: it is not a materialized table, or a job of Flink refreshes it.
        PaimonError: the query or the write failed; the table is as it was.
    """
    table = target.catalog.table(target.name)
    definition = materialized_definition(table)
    check_no_flink_job(definition, target)
    try:
        done = _refresh(session, target, table, definition, partition, full=full)
    except Cancelled:
        raise
    except PaimonError as error:
        _store_error(target, definition, error)
        raise
    if definition.last_error is not None:
        target.catalog.alter_table(target.name, [ResetOptions((LAST_ERROR.key,), if_exists=True)])
    return done


def materialized_definition(table: Table) -> Definition:
    """Raises UnsupportedOperation: the table is not a materialized table. UnsupportedFormat: its options are not readable."""
    if not is_materialized(table.schema.options):
        raise UnsupportedOperation(
            f"{table.name} is not a materialized table", hint=f"SHOW MATERIALIZED TABLES IN {table.name.database}"
        )
    return definition_of(table.schema.options, table.name)


def check_no_flink_job(definition: Definition, target: ResolvedTable) -> None:
    """Raises UnsupportedOperation: a job of Flink writes the table."""
    if definition.handler is not None and not definition.is_suspended:
        raise UnsupportedOperation(
            f"{target.name} is refreshed by {definition.handler}, and two writers would contradict each other",
            hint=f"ALTER MATERIALIZED TABLE {target.name} SUSPEND in Flink first",
        )


def _refresh(
    session: Session,
    target: ResolvedTable,
    table: Table,
    definition: Definition,
    partition: Mapping[str, object] | None,
    *,
    full: bool,
) -> Refreshed:
    prepared = prepare(session, definition, target)
    base = table.store.snapshots.latest()
    content = content_of(table.store)
    query = hash_of(definition.query, definition.dialect)
    positions = prepared.newest_positions()
    if (
        not full
        and content is not None
        and content.is_newest
        and content.query == query
        and positions is not None
        and content.positions == positions
    ):
        return Refreshed(UNCHANGED)
    rows, _ = rows_at(session, prepared, positions)
    if partition is not None:
        known = content.positions if content is not None and content.query == query else None
        return store_result(table, rows, known, query, base, partition)
    return store_result(table, rows, positions, query, base)


def store_result(
    table: Table,
    rows: pa.Table,
    positions: Positions | None,
    query: str,
    base: Snapshot | None,
    partition: Mapping[str, object] | None = None,
) -> Refreshed:
    """Make the table's content equal to the result, in one commit that names the positions. Equal rows are not written again.

    Args:
        rows: the query's result.
        base: the table's snapshot that is compared; None: the table is empty.
        partition: only rows with these values are compared.

    Raises:
        SchemaMismatch, NullNotAllowed: the rows do not fit the table.
    """
    import pyarrow as pa

    from paimon_nb.format.types.arrow_builders import arrow_column
    from paimon_nb.table.write import TableWrite
    from paimon_nb.table.write.commit import TableCommit
    from paimon_nb.table.write.publish.overwrite import Overwrite

    result = as_columns(rows, table.schema.fields)
    stored = result.slice(0, 0) if base is None else _stored_rows(table, base).cast(result.schema)
    if partition is not None:
        spec = in_row_spec(table.schema, partition)
        result, stored = _of_partition(result, spec), _of_partition(stored, spec)
    keys = table.primary_keys
    change = difference(stored, result, keys)
    replaces = not keys and change.removed.num_rows > 0
    overwrite = Overwrite(in_row_spec(table.schema, partition or {}), dynamic=False) if replaces else None
    written = result if replaces else pa.concat_tables([change.added, change.removed] if keys else [change.added])
    kinds = [0] * change.added.num_rows + [3] * change.removed.num_rows if keys else None
    with TableWrite(table.store, overwrite=True) if replaces else TableWrite(table.store) as writing:
        if written.num_rows:
            writing.write(written, None if kinds is None else arrow_column(kinds, pa.int8()))
        messages = writing.prepare_commit()
    try:
        made = TableCommit(table.store).commit(
            messages,
            overwrite=overwrite,
            properties=properties_of(positions, query),
            ignore_empty=False,
            check=lambda latest: _check_alone(table, base, latest),
        )
    except _AnotherRefresh:
        return Refreshed(BY_ANOTHER)
    return Refreshed(REFRESHED, change.added.num_rows, change.removed.num_rows, tuple(made))


class _AnotherRefresh(CommitConflict):
    """Another process changed the table since its rows were read."""


def _check_alone(table: Table, base: Snapshot | None, latest: Snapshot | None) -> None:
    """Raises _AnotherRefresh: a snapshot after `base` changed rows."""
    first = 0 if base is None else base.id
    for number in range(first + 1, 0 if latest is None else latest.id + 1):
        try:
            if table.store.snapshots.get(number).commit_kind in _WITHOUT_ROWS:
                continue
        except SnapshotNotFound:
            pass
        raise _AnotherRefresh(f"{table.name}: another process has refreshed it", hint="nothing is to be done")


def _stored_rows(table: Table, base: Snapshot) -> pa.Table:
    return table.copy({"scan.snapshot-id": str(base.id)}).to_arrow()


def _of_partition(rows: pa.Table, spec: Mapping[str, object]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, value in spec.items():
        column = rows.column(name)
        same = pc.is_null(column) if value is None else pc.equal(column, pa.scalar(value, column.type))
        rows = rows.filter(same)
    return rows


def _store_error(target: ResolvedTable, definition: Definition, error: PaimonError) -> None:
    """Remember an error in the table, unless it is the one that is there."""
    text = redact_text(f"{type(error).__name__}: {error.one_line}")[:_ERROR_LENGTH]
    if definition.last_error is not None and definition.last_error.partition(" ")[2] == text:
        return
    when = dt.datetime.fromtimestamp(clock.now_ms() / 1000, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        target.catalog.alter_table(target.name, [SetOptions({LAST_ERROR.key: f"{when} {text}"})])
    except PaimonError as second:  # the table is gone, or cannot be written
        log.warning("%s: the error of its refresh was not stored: %s", target.name, second)
