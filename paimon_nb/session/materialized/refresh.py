"""One refresh of a materialized table, by the incremental engine; errors are stored in the table."""

from __future__ import annotations

import datetime as dt
import logging
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import (
    Cancelled,
    CommitConflict,
    PaimonError,
    QueryChanged,
    TargetChanged,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_text
from paimon_nb.incremental import analyse
from paimon_nb.options.materialized import LAST_ERROR
from paimon_nb.session.materialized.definition import definition_of, is_materialized
from paimon_nb.session.materialized.prepared_query import prepare
from paimon_nb.statements import ResetOptions, SetOptions
from paimon_nb.table.tables.inspect.formatting import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.incremental import IncrementalPlan
    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.session.materialized.definition import Definition
    from paimon_nb.session.materialized.prepared_query import PreparedQuery
    from paimon_nb.table.tables.table import Table

log = logging.getLogger(__name__)
_ERROR_LENGTH = 500
UNCHANGED, BY_ANOTHER = "unchanged", "by another"
"""Actions beside those of `incremental.RefreshResult`: built, incremental, recomputed."""


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did."""

    action: str
    """UNCHANGED, BY_ANOTHER, or as in `incremental.RefreshResult`."""
    added: int = 0
    """Rows that were added, new values of changed rows among them."""
    removed: int = 0
    """Rows that were removed, old values of changed rows among them."""
    snapshots: tuple[int, ...] = ()
    reason: str = ""
    """Why everything was computed again; '' if it was not."""

    def __str__(self) -> str:
        if self.action == UNCHANGED:
            return "is up to date"
        if self.action == BY_ANOTHER:
            return "was refreshed by another process"
        why = f": {self.reason}" if self.reason else ""
        return f"refreshed ({self.action}{why}): {count_text(self.added, 'row')} added, {self.removed:,} removed"


def refresh(session: Session, target: ResolvedTable, *, full: bool = False) -> Refreshed:
    """Bring a materialized table to the newest snapshots of its inputs, and store or remove its last error.

    Args:
        session: the user's; the query runs in a copy.
        full: compute everything again, also the state.

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
        done = fill(prepare(session, definition, target), table, full=full)
    except Cancelled:
        raise
    except PaimonError as error:
        _store_error(target, definition, error)
        raise
    if definition.last_error is not None:
        target.catalog.alter_table(target.name, [ResetOptions((LAST_ERROR.key,), if_exists=True)])
    return done


def fill(prepared: PreparedQuery, table: Table, *, full: bool = False) -> Refreshed:
    """Move a table to the result of a query, in one commit. Rows that another query or writer left are replaced.

    Raises:
        SchemaMismatch, NullNotAllowed: the rows do not fit the table.
    """
    plan = plan_for(prepared, table.schema.names)
    reason = ""
    try:
        try:
            done = plan.refresh(table, rebuild=full)
        except QueryChanged:
            reason, done = "the query is another one", plan.refresh(table, rebuild=True)
        except TargetChanged:
            reason, done = "others had changed its rows", plan.refresh(table, rebuild=True)
    except CommitConflict:
        return Refreshed(BY_ANOTHER)
    snapshots = () if done.snapshot is None else (done.snapshot,)
    return Refreshed(done.action, done.added, done.removed, snapshots, reason or done.reason)


def plan_for(prepared: PreparedQuery, columns: Sequence[str]) -> IncrementalPlan:
    """The plan of a query whose result has these columns, in this order."""
    plan = analyse(prepared.session, prepared.text)
    names = [n or "" for n in plan.names]
    if [n.lower() for n in names] == [c.lower() for c in columns]:
        return plan
    if not names and prepared.column_names() == tuple(columns):
        return plan
    return analyse(prepared.session, f"SELECT {', '.join(map(quote, columns))} FROM ({prepared.text}) AS `q`")


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
