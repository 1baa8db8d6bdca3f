"""ALTER, DROP and SHOW CREATE MATERIALIZED TABLE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import (
    BadOptionValue,
    ColumnNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_options
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.catalog.state_tables import drop_with_state, rename_with_state
from paimon_nb.options import table as opt
from paimon_nb.options import validate_table_options
from paimon_nb.options.materialized import DEFINITION_PREFIXES
from paimon_nb.session.core.data_file_locations import allow_data_files
from paimon_nb.session.core.result import Result, message_result, rows_result
from paimon_nb.session.materialized.create import CHANGES_ROWS, change_query, check_options, existing_table
from paimon_nb.session.materialized.definition import (
    ACTIVATED,
    SUSPENDED,
    Definition,
    checked_freshness,
    freshness_options,
    is_materialized,
)
from paimon_nb.session.materialized.refresh import (
    check_no_flink_job,
    materialized_definition,
    refresh,
)
from paimon_nb.session.materialized.refresher import keep_fresh
from paimon_nb.statements import (
    Refresh,
    RenameTable,
    ResetOptions,
    Resume,
    SetFreshness,
    SetOptions,
    SetQuery,
    SetRefreshMode,
    Suspend,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.session.core.session import ResolvedTable
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.statements import (
        AlterMaterializedTable,
        Change,
        DropMaterializedTable,
        ShowCreate,
    )
    from paimon_nb.table.tables.table import Table

# -- ALTER


def alter(context: StatementContext, statement: AlterMaterializedTable) -> Result:
    """ALTER MATERIALIZED TABLE, and REFRESH MATERIALIZED VIEW."""
    target = context.session.find(statement.name)
    table = target.catalog.table(target.name)
    definition = materialized_definition(table)
    altering = _Altering(context, target, table, definition)
    return _CHANGES[type(statement.change)](altering, statement.change)


@dataclass(frozen=True, slots=True)
class _Altering:
    """The table that a statement alters."""

    context: StatementContext
    target: ResolvedTable
    table: Table
    definition: Definition


def _suspend(altering: _Altering, _change: Change) -> Result:
    check_no_flink_job(altering.definition, altering.target)
    if altering.definition.is_suspended:
        return message_result(f"materialized table {altering.target.name} is suspended already")
    altering.target.catalog.alter_table(
        altering.target.name, [SetOptions({opt.MATERIALIZED_TABLE_REFRESH_STATUS.key: SUSPENDED})]
    )
    return message_result(f"materialized table {altering.target.name} suspended; RESUME refreshes it again")


def _resume(altering: _Altering, _change: Change) -> Result:
    if altering.definition.handler is not None:
        raise UnsupportedOperation(
            f"{altering.target.name} was refreshed by {altering.definition.handler}, which only Flink can resume",
            hint=f"RESUME it in Flink; ALTER MATERIALIZED TABLE {altering.target.name} REFRESH works here",
        )
    if altering.definition.is_suspended:
        altering.target.catalog.alter_table(
            altering.target.name, [SetOptions({opt.MATERIALIZED_TABLE_REFRESH_STATUS.key: ACTIVATED})]
        )
    keep_fresh(altering.context.session, altering.target)
    what = "resumed" if altering.definition.is_suspended else "is active; this session keeps it fresh"
    return message_result(f"materialized table {altering.target.name} {what}")


def _refresh(altering: _Altering, change: Change) -> Result:
    assert isinstance(change, Refresh)
    partition_keys = altering.table.partition_keys
    unknown = [k for k in change.partition if k.lower() not in {p.lower() for p in partition_keys}]
    if unknown:
        raise ColumnNotFound(
            f"{altering.target.name} has no partition column {unknown[0]!r}",
            hint=f"partition columns: {', '.join(partition_keys) or 'none'}", column=unknown[0],
        )  # fmt: skip
    done = refresh(altering.context.session, altering.target, full=change.full)
    if not altering.definition.is_suspended:
        keep_fresh(altering.context.session, altering.target)
    return message_result(
        f"materialized table {altering.target.name} {done}",
        snapshots=[(altering.target.name.text, s) for s in done.snapshots],
    )


def _set_freshness(altering: _Altering, change: Change) -> Result:
    assert isinstance(change, SetFreshness)
    freshness = checked_freshness(change.freshness, altering.definition.mode)
    altering.target.catalog.alter_table(altering.target.name, [SetOptions(freshness_options(freshness))])
    return message_result(f"materialized table {altering.target.name} altered: freshness {freshness}")


def _set_mode(altering: _Altering, change: Change) -> Result:
    assert isinstance(change, SetRefreshMode)
    checked_freshness(altering.definition.freshness, change.mode)
    keys = (opt.MATERIALIZED_TABLE_LOGICAL_REFRESH_MODE.key, opt.MATERIALIZED_TABLE_REFRESH_MODE.key)
    altering.target.catalog.alter_table(altering.target.name, [SetOptions(dict.fromkeys(keys, change.mode.lower()))])
    return message_result(f"materialized table {altering.target.name} altered: refresh mode {change.mode}")


def _set_options(altering: _Altering, change: Change) -> Result:
    assert isinstance(change, SetOptions)
    check_options(change.options)
    notes = allow_data_files(altering.target.catalog, change.options)
    schema = altering.target.catalog.alter_table(altering.target.name, [change])
    return message_result(
        f"materialized table {altering.target.name} altered: schema {schema.id}",
        notes=[*notes, *validate_table_options(schema.options)],
    )


def _reset_options(altering: _Altering, change: Change) -> Result:
    assert isinstance(change, ResetOptions)
    if "connector" in change.keys:
        raise BadOptionValue("option 'connector' cannot be reset", hint="leave it out", option="connector")
    check_options(dict.fromkeys((k for k in change.keys if k not in CHANGES_ROWS), ""))
    known = tuple(k for k in change.keys if k in altering.table.schema.options)
    if not known:
        return message_result(f"materialized table {altering.target.name} altered: nothing changed")
    schema = altering.target.catalog.alter_table(altering.target.name, [ResetOptions(known)])
    return message_result(f"materialized table {altering.target.name} altered: schema {schema.id}")


def _rename(altering: _Altering, change: Change) -> Result:
    assert isinstance(change, RenameTable)
    session = altering.context.session
    own = (altering.target.catalog.name, altering.target.name.database)
    new = session.find((*own[: 3 - len(change.new_name)], *change.new_name))
    rename_with_state(altering.target.catalog, altering.target.name, new.name)
    keep_fresh(session, new)
    return message_result(f"materialized table {altering.target.name} renamed to {new.name}")


def _set_query(altering: _Altering, change: Change) -> Result:
    assert isinstance(change, SetQuery)
    return change_query(altering.context, altering.target, altering.table, altering.definition, change.query, {})


_CHANGES: Mapping[type[Change], Callable[..., Result]] = {
    Suspend: _suspend,
    Resume: _resume,
    Refresh: _refresh,
    SetFreshness: _set_freshness,
    SetRefreshMode: _set_mode,
    SetOptions: _set_options,
    ResetOptions: _reset_options,
    RenameTable: _rename,
    SetQuery: _set_query,
}


# -- DROP, SHOW CREATE


def drop(context: StatementContext, statement: DropMaterializedTable) -> Result:
    """DROP MATERIALIZED TABLE."""
    target = context.session.find(statement.name)
    table = existing_table(target)
    if table is None and statement.if_exists:
        return message_result(f"no materialized table {target.name}")
    if table is None or not is_materialized(table.schema.options):
        target.catalog.table(target.name)  # raises with the nearest name
        raise UnsupportedOperation(
            f"{target.name} is a table, not a materialized table", hint=f"DROP TABLE {target.name}"
        )
    drop_with_state(target.catalog, target.name)
    in_trash = target.catalog.keeps_dropped_tables
    notes = [f"in the trash; UNDROP TABLE {target.name} restores it"] if in_trash else []
    return message_result(f"materialized table {target.name} dropped", notes=notes)


def show_create(context: StatementContext, statement: ShowCreate) -> Result:
    """SHOW CREATE MATERIALIZED TABLE: the clauses in Flink's order."""
    target = context.session.find(statement.name)
    table = target.catalog.table(target.name)
    definition = materialized_definition(table)
    return rows_result({"result": [create_text(target, table, definition)]})


def create_text(target: ResolvedTable, table: Table, definition: Definition) -> str:
    """The statement that creates the table."""
    schema = table.schema
    name = ".".join(map(quote, (target.catalog.name, target.name.database, target.name.table)))
    items = [
        f"  {quote(f.name)} {f.type}" + (f" COMMENT {text_literal(f.description)}" if f.description else "")
        for f in schema.fields
    ]
    if schema.primary_keys:
        items.append(f"  PRIMARY KEY ({', '.join(map(quote, schema.primary_keys))}) NOT ENFORCED")
    options = redact_options(
        {k: v for k, v in schema.options.items() if k != opt.TYPE.key and not k.startswith(DEFINITION_PREFIXES)}
    )
    lines = [f"CREATE MATERIALIZED TABLE {name} (\n" + ",\n".join(items) + "\n)"]
    if schema.comment:
        lines.append(f"COMMENT {text_literal(schema.comment)}")
    if schema.partition_keys:
        lines.append(f"PARTITIONED BY ({', '.join(map(quote, schema.partition_keys))})")
    if options:
        pairs = ",\n".join(f"  {text_literal(k)} = {text_literal(v)}" for k, v in options.items())
        lines.append(f"WITH (\n{pairs}\n)")
    lines += [f"FRESHNESS = {definition.freshness}", f"REFRESH_MODE = {definition.mode}", f"AS {definition.query}"]
    return "\n".join(lines)
