"""CREATE [OR ALTER] MATERIALIZED TABLE, and another query for one that exists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    ColumnNotFound,
    SchemaChangeError,
    SchemaMismatch,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import quote
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.state_tables import drop_state_tables
from paimon_nb.format.types import parse_type
from paimon_nb.incremental import analyse
from paimon_nb.options import table as opt
from paimon_nb.options import validate_table_options
from paimon_nb.options.materialized import DEFINITION_PREFIXES
from paimon_nb.session.core.data_file_locations import allow_data_files
from paimon_nb.session.core.result import Result, message_result, rows_result
from paimon_nb.session.materialized.definition import (
    AUTOMATIC,
    CONTINUOUS,
    Definition,
    freshness_options,
    is_materialized,
    mode_and_freshness,
)
from paimon_nb.session.materialized.definition_query import full_names
from paimon_nb.session.materialized.prepared_query import prepare
from paimon_nb.session.materialized.refresh import (
    check_no_flink_job,
    fill,
    materialized_definition,
    refresh,
)
from paimon_nb.session.materialized.refresher import keep_fresh
from paimon_nb.session.query.new_table_schema import new_table_schema
from paimon_nb.statements import (
    AddColumn,
    CreateMaterializedTable,
    DropColumn,
    Query,
    ResetOptions,
    SetOptions,
    SetQuery,
)
from paimon_nb.table.tables.inspect.formatting import count_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataField
    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.session.materialized.prepared_query import PreparedQuery
    from paimon_nb.statements import AlterMaterializedTable, Change
    from paimon_nb.table.tables.table import Table

CHANGES_ROWS = {
    opt.MERGE_ENGINE.key: "deduplicate", opt.IGNORE_DELETE.key: "false", opt.SEQUENCE_FIELD.key: "", opt.ROWKIND_FIELD.key: "",
    opt.RECORD_LEVEL_EXPIRE_TIME.key: "",
}  # fmt: skip
"""Options with which the table would not hold the rows of its query, and the value that is allowed."""


def create(context: StatementContext, statement: CreateMaterializedTable) -> Result:
    """CREATE [OR ALTER] MATERIALIZED TABLE: computes the result first, so that a query that fails leaves nothing."""
    session, made = context.session, statement
    target = session.find(statement.name)
    existing = existing_table(target)
    if existing is not None and statement.or_alter:
        return _create_or_alter(context, statement, target, existing)
    if existing is not None:
        if statement.if_not_exists:
            return message_result(f"table {target.name} exists already")
        raise AlreadyExists(
            f"table {target.name} exists already",
            hint="CREATE OR ALTER MATERIALIZED TABLE changes the query of one that exists", name=str(target.name),
        )  # fmt: skip
    _check_start_mode(statement)
    assert made.query is not None
    _check_definition(made)
    query = _renamed(full_names(session, made.query, context.text), made)
    mode, freshness = mode_and_freshness(made.refresh_mode, made.freshness, session.settings)
    definition = Definition(query, session.dialect, freshness, made.refresh_mode or AUTOMATIC, mode)
    prepared = _checked_query(session, definition, target)
    schema = _schema(made, definition, prepared.fields())
    warnings = [*validate_table_options(schema.options), *allow_data_files(target.catalog, made.definition.options)]
    with target.catalog.creating_table(target.name, schema, if_not_exists=made.if_not_exists) as created:
        if not created:
            return message_result(f"table {target.name} exists already")
        try:
            done = fill(prepared, target.catalog.table(target.name))
        except BaseException:
            drop_state_tables(target.catalog, target.name)
            raise
    keep_fresh(session, target)
    return message_result(
        f"materialized table {target.name} created: {count_text(done.added, 'row')}, freshness {freshness.amount} {freshness.unit.lower()}"
        f"{'s' * (freshness.amount != 1)}, {mode.lower()}",
        notes=warnings, snapshots=[(target.name.text, s) for s in done.snapshots],
    )  # fmt: skip


def explain(context: StatementContext, statement: CreateMaterializedTable | AlterMaterializedTable) -> Result:
    """EXPLAIN: how each operator of the query is refreshed, and its state table. Of ALTER without a query: of the table's own query."""
    session, target = context.session, context.session.find(statement.name)
    change = statement.query if isinstance(statement, CreateMaterializedTable) else statement.change
    query = change.query if isinstance(change, SetQuery) else change if isinstance(change, Query) else None
    if query is None:
        definition = materialized_definition(target.catalog.table(target.name))
    else:
        freshness = mode_and_freshness(None, None, {})[1]
        text = full_names(session, query, context.text)
        definition = Definition(text, session.dialect, freshness, AUTOMATIC, CONTINUOUS)
    prepared = _checked_query(session, definition, target)
    return rows_result({"plan": [analyse(prepared.session, prepared.text).explain()]})


def existing_table(target: ResolvedTable) -> Table | None:
    try:
        return target.catalog.table(target.name)
    except TableNotFound:
        return None


def _check_start_mode(statement: CreateMaterializedTable) -> None:
    """Raises UnsupportedOperation: the table would not have the result of its query, or there is nothing to resume."""
    mode = statement.start_mode
    if mode is None:
        return
    if mode.endswith(("NOW", "TIMESTAMP")):
        raise UnsupportedOperation(
            f"START_MODE = {mode} is not supported: the table would lack the rows from before",
            hint="START_MODE = FROM_BEGINNING, with a condition on a time column in the query",
        )
    if mode.startswith("RESUME") and not statement.or_alter:
        raise UnsupportedOperation(
            f"START_MODE = {mode} is only for CREATE OR ALTER MATERIALIZED TABLE", hint="START_MODE = FROM_BEGINNING"
        )


def _check_definition(statement: CreateMaterializedTable) -> None:
    """Raises UnsupportedOperation, BadOptionValue: columns or options with which the table would not equal its query."""
    for column in statement.definition.columns:
        if not column.is_physical or column.default is not None:
            raise UnsupportedOperation(
                f"column {column.name!r} of a materialized table cannot be computed, METADATA or have a default",
                hint="write the expression in the query",
            )
    if statement.definition.provider not in (None, "paimon") or statement.definition.location is not None:
        raise UnsupportedOperation(
            "a materialized table is a Paimon table of its catalog", hint="leave USING and LOCATION out"
        )
    check_options(statement.definition.options)


def check_options(options: Mapping[str, str]) -> None:
    """Check options that a user sets for a materialized table.

    Raises:
        BadOptionValue: its definition is changed by statements of its own, or the table would not equal its query.
    """
    for key, value in options.items():
        if key == opt.TYPE.key or key.startswith(DEFINITION_PREFIXES):
            raise BadOptionValue(
                f"option {key!r} is part of the definition of a materialized table",
                hint="SET FRESHNESS, SET REFRESH_MODE, SUSPEND, RESUME or AS SELECT ...", option=key,
            )  # fmt: skip
        if key == "connector" and value not in ("paimon", ""):
            raise BadOptionValue(
                "a materialized table is a Paimon table", hint="leave 'connector' out", option=key, value=value
            )
        if value.lower() != CHANGES_ROWS.get(key, value.lower()):
            raise BadOptionValue(
                f"with {key!r} = {value!r} a materialized table would not have the rows of its query",
                hint="leave the option out", option=key, value=value,
            )  # fmt: skip


def _renamed(query: str, statement: CreateMaterializedTable) -> str:
    """The query with the column names of a view, which are by position."""
    if not (statement.is_view and statement.columns):
        return query
    return f"SELECT * FROM ({query}) AS `v` ({', '.join(map(quote, statement.columns))})"


def _checked_query(session: Session, definition: Definition, target: ResolvedTable) -> PreparedQuery:
    """The query. Raises UnsupportedOperation: the table would read itself."""
    prepared = prepare(session, definition, target)
    for one in prepared.inputs:
        _check_no_cycle(session, target, one.catalog, one.name.text, (one.name.database, one.name.table), ())
    return prepared


def _check_no_cycle(
    session: Session, target: ResolvedTable, catalog: str, text: str, parts: tuple[str, ...], seen: tuple[str, ...]
) -> None:
    """Raises UnsupportedOperation: the table would read itself, perhaps through other materialized tables."""
    from paimon_nb.session.materialized.definition import definition_of

    if catalog == target.catalog.name and parts == (target.name.database, target.name.table):
        way = " reads ".join((target.name.text, *seen, target.name.text))
        raise UnsupportedOperation(
            f"materialized table {target.name} would read itself: {way}", hint="read the tables that it reads"
        )
    found = session.find((catalog, *parts))
    options = found.catalog.table(found.name).schema.options
    if not is_materialized(options) or text in seen:
        return
    for one in prepare(session, definition_of(options, found.name), found).inputs:
        _check_no_cycle(session, target, one.catalog, one.name.text, (one.name.database, one.name.table), (*seen, text))


def _schema(statement: CreateMaterializedTable, definition: Definition, fields: Sequence[DataField]) -> TableSchema:
    """The schema of the new table: the query's columns, in the order and with the types that the statement names."""
    declared, names = statement.definition, [f.name for f in fields]
    by_name = {f.name: f for f in fields}
    named = [c.name for c in declared.columns] or ([] if statement.is_view else list(statement.columns))
    for name in named:
        if name not in by_name:
            raise ColumnNotFound(
                f"column {name!r} is not in the query: all columns of a materialized table come from it",
                hint=did_you_mean(name, names) or f"the query has {', '.join(names)}", column=name,
            )  # fmt: skip
    if statement.columns and not statement.is_view and len(set(named)) != len(names):
        missing = next((n for n in names if n not in named), named[0])
        raise SchemaMismatch(
            f"{len(named)} columns are named, the query has {len(names)}: {missing!r} is missing or named twice",
            hint=f"name each of {', '.join(names)} once",
        )
    types = {c.name: parse_type(c.type) for c in declared.columns if c.type is not None}
    comments = {c.name: c.comment for c in declared.columns}
    order = [*named, *(n for n in names if n not in named)]
    columns = tuple(
        (n, types.get(n) or by_name[n].type.with_nullable(True), comments.get(n) or by_name[n].description, None)
        for n in order
    )
    merged = {**declared.options, **definition.options()}
    return new_table_schema(replace(declared, columns=(), options=merged, provider=None), fields=columns)


def _create_or_alter(
    context: StatementContext, statement: CreateMaterializedTable, target: ResolvedTable, table: Table
) -> Result:
    """CREATE OR ALTER of a table that exists: another query, freshness, mode or options."""
    if not is_materialized(table.schema.options):
        raise UnsupportedOperation(
            f"{target.name} is a table, not a materialized table: CREATE OR ALTER would replace its rows",
            hint="use another name, or DROP TABLE first",
        )
    _check_start_mode(statement)
    definition = materialized_definition(table)
    for what, new, old in (
        ("PRIMARY KEY", statement.definition.primary_keys, table.primary_keys),
        ("PARTITIONED BY", statement.definition.partition_keys, table.partition_keys),
    ):
        if new and tuple(new) != tuple(old):
            raise SchemaChangeError(
                f"{what} of materialized table {target.name} cannot change", hint="DROP MATERIALIZED TABLE, and create it again"
            )  # fmt: skip
    check_options(statement.definition.options)
    mode, freshness = definition.mode, definition.freshness
    if statement.refresh_mode or statement.freshness:
        logical = statement.refresh_mode or (None if definition.logical_mode == AUTOMATIC else definition.logical_mode)
        mode, freshness = mode_and_freshness(logical, statement.freshness or freshness, context.session.settings)
    options = {
        **statement.definition.options,
        **freshness_options(freshness),
        opt.MATERIALIZED_TABLE_REFRESH_MODE.key: mode.lower(),
        opt.MATERIALIZED_TABLE_LOGICAL_REFRESH_MODE.key: (statement.refresh_mode or definition.logical_mode).lower(),
    }
    assert statement.query is not None
    return change_query(context, target, table, definition, statement.query, options, statement)


def change_query(
    context: StatementContext,
    target: ResolvedTable,
    table: Table,
    definition: Definition,
    query: Query,
    options: Mapping[str, str],
    statement: CreateMaterializedTable | None = None,
) -> Result:
    """Another query: new columns may be added at the end, as in Flink. The result is computed first, then stored."""
    session = context.session
    check_no_flink_job(definition, target)
    text = full_names(session, query, context.text)
    text = text if statement is None else _renamed(text, statement)
    new = replace(definition, query=text, dialect=session.dialect)
    same_query = (text, session.dialect) == (definition.query, definition.dialect)
    changed = {k: v for k, v in options.items() if table.schema.options.get(k, "").lower() != v.lower()}
    if same_query:
        if changed:
            target.catalog.alter_table(target.name, [SetOptions(changed)])
        done = refresh(session, target)
        what = ", ".join(sorted(changed)) if changed else "its definition is the same"
        keep_fresh(session, target)
        return message_result(
            f"materialized table {target.name} altered: {what}; {done}",
            snapshots=[(target.name.text, s) for s in done.snapshots],
        )
    prepared = _checked_query(session, new, target)
    added = _added_columns(table, prepared.fields(), statement)
    before = {k: table.schema.options.get(k) for k in (*changed, *new.options())}
    target.catalog.alter_table(target.name, [*added, SetOptions({**new.options(), **changed})])
    try:
        done = fill(prepared, target.catalog.table(target.name))
    except BaseException:
        _undo_alter(target, before, added)
        raise
    keep_fresh(session, target)
    columns = f"; new columns {', '.join(c.path[0] for c in added)}" if added else ""
    return message_result(
        f"materialized table {target.name} altered: {done}{columns}",
        snapshots=[(target.name.text, s) for s in done.snapshots],
    )


def _undo_alter(target: ResolvedTable, before: Mapping[str, str | None], added: Sequence[AddColumn]) -> None:
    old = {k: v for k, v in before.items() if v is not None}
    unset = tuple(k for k, v in before.items() if v is None)
    changes: list[Change] = [DropColumn(c.path) for c in added]
    changes += [SetOptions(old), ResetOptions(unset, if_exists=True)]
    target.catalog.alter_table(target.name, changes)


def _added_columns(
    table: Table, fields: Sequence[DataField], statement: CreateMaterializedTable | None
) -> list[AddColumn]:
    """The columns of a new query that the table lacks.

    Raises:
        SchemaChangeError: the query lacks a column of the table, or has another type or place for it.
    """
    hint = "only columns at the end can be added; DROP MATERIALIZED TABLE, and create it again"
    old = table.schema.fields
    by_name = {f.name: f for f in fields}
    declared = {} if statement is None else {c.name: c.type for c in statement.definition.columns if c.type}
    for field in old:
        new = by_name.get(field.name)
        if new is None:
            raise SchemaChangeError(f"the new query has no column {field.name!r} of {table.name}", hint=hint)
        kind = parse_type(declared[field.name]) if field.name in declared else new.type
        if kind.bare() != field.type.bare() and field.name not in declared:
            raise SchemaChangeError(
                f"column {field.name!r} of the new query is {kind.bare()}, in {table.name} it is {field.type.bare()}",
                hint=f"CAST({field.name} AS {field.type.bare()}) AS {field.name}, or DROP and create the table again",
            )
    names = [f.name for f in fields]
    known = set(table.schema.names)
    first_new = next((i for i, n in enumerate(names) if n not in known), len(names))
    if any(n in known for n in names[first_new:]):
        raise SchemaChangeError(f"column {names[first_new]!r} of the new query is not at the end", hint=hint)
    return [AddColumn((f.name,), f.type.with_nullable(True).bare(), f.description) for f in fields[first_new:]]
