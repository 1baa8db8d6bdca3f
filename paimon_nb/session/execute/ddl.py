"""CREATE, DROP, ALTER of catalogs, databases, tables and views."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    InvalidName,
    PaimonError,
    SchemaChangeError,
    SchemaMismatch,
    SqlAnalysisError,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog import open_catalog
from paimon_nb.catalog.alter import is_schema_change
from paimon_nb.catalog.api import StoredView
from paimon_nb.catalog.state_tables import drop_with_state, rename_with_state
from paimon_nb.format.data import PLAIN_FORMATS
from paimon_nb.format.schema import FORMAT_TABLE
from paimon_nb.options import validate_table_options
from paimon_nb.options.materialized import DEFINITION_PREFIXES, MATERIALIZED_TABLE
from paimon_nb.options.spelling import misspelled_catalog_keys
from paimon_nb.options.table import FILE_FORMAT, TYPE
from paimon_nb.session.core.data_file_locations import allow_data_files
from paimon_nb.session.core.result import Result, message_result
from paimon_nb.session.core.spark_catalogs import with_store_settings
from paimon_nb.session.execute.alter_computed_columns import as_stored_changes
from paimon_nb.session.execute.known_errors import raise_known_error
from paimon_nb.session.execute.local_source import rows_of_query_over_data
from paimon_nb.session.query import temporary_tables
from paimon_nb.session.query.computed_columns import computed_columns, computed_options
from paimon_nb.session.query.local.answer import can_be_answered_without_spark
from paimon_nb.session.query.new_table_schema import new_table_schema, stored_columns
from paimon_nb.session.query.partition_predicates import partition_values
from paimon_nb.session.query.run_query import run_query
from paimon_nb.session.query.stored_views import inside_view
from paimon_nb.session.query.watermark import check_watermark_column, watermark_changes_as_options, watermark_options
from paimon_nb.session.streaming.planner import empty_unbounded_inputs
from paimon_nb.statements import (
    AddColumn,
    AddPartition,
    AlterDatabase,
    AlterTable,
    AlterView,
    CreateCatalog,
    CreateDatabase,
    CreateTable,
    CreateTag,
    CreateView,
    DeleteTag,
    DropCatalog,
    DropDatabase,
    DropPartition,
    DropTable,
    DropView,
    Query,
    RenameColumn,
    RenameTable,
    RenameTag,
    SetOptions,
    SparkCommand,
    TableDef,
    Undrop,
)
from paimon_nb.table.read.partition_spec import in_row_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame

    from paimon_nb.catalog.api import Catalog
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.table.tables.table import Table

_PAIMON_CONNECTORS = ("paimon", None, "")


def create_catalog(context: StatementContext, statement: CreateCatalog) -> Result:
    session = context.session
    # The first catalog's name is a default of the workbench: CREATE CATALOG may replace it.
    first = session.catalogs.get(statement.name) if statement.name == session.first_catalog else None
    if statement.name in session.catalogs and first is None:
        if statement.if_not_exists:
            return message_result(f"catalog {statement.name} exists already")
        raise AlreadyExists(f"catalog {statement.name!r} exists already", hint="USE CATALOG, or DROP CATALOG first")
    is_paimon = statement.options.get("type", "paimon") == "paimon"
    if (
        is_paimon
        and statement.options.get("metastore", "filesystem") == "filesystem"
        and not statement.options.get("warehouse")
    ):
        raise BadOptionValue(
            f"catalog {statement.name!r} has no warehouse",
            hint="WITH ('type' = 'paimon', 'warehouse' = '/path/to/tables')",
            option="warehouse",
        )
    made = open_catalog(statement.name, with_store_settings(statement.options, session.spark_setting))
    misspelled = misspelled_catalog_keys(statement.options).items()
    notes = [f"unknown catalog option {key!r}; did you mean {near!r}?" for key, near in misspelled]
    if first is not None and first.warehouse == made.warehouse and _adds_no_option(made, first):
        return message_result(
            f"catalog {made.name} exists already",
            notes=[*notes, f"catalog {made.name} was open on {made.warehouse} already; nothing changed"],
        )
    if first is not None and first.warehouse != made.warehouse:
        if first.has_created and statement.if_not_exists:
            return message_result(f"catalog {first.name} exists already", notes=[f"it is open on {first.warehouse}"])
        if first.has_created:
            raise AlreadyExists(
                f"catalog {first.name!r} exists already: it is open on {first.warehouse}, where this session made tables",
                hint=f"use another name, or start with connect({made.warehouse!r})",
            )
        notes += [f"catalog {made.name} was open on {first.warehouse}; it is now {made.warehouse}"]
    if first is not None:
        session.first_catalog = None
    session.add_catalog(made)
    return message_result(f"catalog {statement.name} created", notes=notes)


def _adds_no_option(made: Catalog, first: Catalog) -> bool:
    """Whether the first catalog has each option of the new one."""
    known = {"type": "paimon", "metastore": "filesystem", **first.options}
    return all(known.get(k) == v for k, v in made.options.items() if k != "warehouse")


def drop_catalog(context: StatementContext, statement: DropCatalog) -> Result:
    session = context.session
    if statement.name not in session.catalogs and statement.if_exists:
        return message_result(f"no catalog {statement.name}")
    session.catalog_named(statement.name)
    if statement.name == session.current_catalog:
        raise UnsupportedOperation(
            f"catalog {statement.name!r} is in use",
            hint="USE CATALOG another one first; DROP CATALOG deletes no tables",
        )
    del session.catalogs[statement.name]
    return message_result(f"catalog {statement.name} removed from the session; its tables are not deleted")


def create_database(context: StatementContext, statement: CreateDatabase) -> Result:
    catalog, name = context.session.find_database(statement.name)
    properties = {**statement.options, **({"comment": statement.comment} if statement.comment else {})}
    made = catalog.create_database(name, if_not_exists=statement.if_not_exists, properties=properties)
    return message_result(f"database {name} created" if made else f"database {name} exists already")


def alter_database(context: StatementContext, statement: AlterDatabase) -> Result:
    catalog, name = context.session.find_database(statement.name)
    catalog.alter_database(name, statement.options)
    return message_result(f"database {name} altered")


def drop_database(context: StatementContext, statement: DropDatabase) -> Result:
    catalog, name = context.session.find_database(statement.name)
    keeps = statement.cascade and catalog.keeps_dropped_tables
    trashed = catalog.tables(name) if keeps and name in catalog.databases() else []
    dropped = catalog.drop_database(name, if_exists=statement.if_exists, cascade=statement.cascade)
    notes = (
        [f"in the trash: {', '.join(trashed)}; UNDROP TABLE {name}.{trashed[0]} restores that one"] if trashed else []
    )
    return message_result(f"database {name} dropped" if dropped else f"no database {name}", notes=notes)


def create_table(context: StatementContext, statement: CreateTable) -> Result:
    """CREATE TABLE: a Paimon, temporary or connector table; also LIKE and AS SELECT."""
    session = context.session
    definition = statement.definition
    connector = definition.options.get("connector")
    if statement.temporary or connector not in _PAIMON_CONNECTORS or (connector and "path" in definition.options):
        return temporary_tables.create(context, statement)
    if definition.external and not session.find(statement.name).catalog.has_external_tables:
        raise UnsupportedOperation(
            "the catalog has no external tables: it stores tables in its warehouse",
            hint="CREATE TEMPORARY TABLE t WITH ('connector' = 'paimon', 'path' = '...')",
        )
    if definition.options.get(TYPE.key) == MATERIALIZED_TABLE:
        raise UnsupportedOperation(
            "CREATE TABLE cannot make a materialized table", hint="CREATE MATERIALIZED TABLE t ... AS SELECT ..."
        )
    definition = _with_file_format(definition)
    statement = replace(statement, definition=definition)
    found = session.find(statement.name)
    notes = allow_data_files(found.catalog, definition.options)
    can_be_local = not statement.or_replace and statement.like is None and not definition.columns
    local = rows_of_query_over_data(session, statement.query) if can_be_local else None
    query = statement.query if local is None else None
    frame = run_query(session, query, context.text, context.params) if query else None
    if statement.like is not None:
        schema = _schema_of_like(context, statement)
    elif local is not None:
        of_rows = [(f.name, f.type.with_nullable(True), None, None) for f in local[1]]
        schema = new_table_schema(replace(definition, columns=()), fields=tuple(of_rows))
    elif frame is not None and not definition.columns:
        from paimon_nb.session.query.result_columns import result_columns

        assert statement.query is not None
        columns = result_columns(session, statement.query, frame)
        schema = new_table_schema(replace(definition, columns=()), fields=tuple(columns))
    else:
        schema = new_table_schema(definition)
    if statement.or_replace and not schema.fields:
        raise SchemaMismatch("the new table has no columns", hint="name at least one column and its type")
    if session.answers_like_spark and definition.comment is None:
        # Flink's tables have an empty comment, Spark's have none.
        schema = replace(schema, comment=None)
    if any(not c.is_physical for c in definition.columns):
        schema = replace(schema, options={**schema.options, **_computed_column_options(context, definition, schema)})
    warnings = [*validate_table_options(schema.options), *notes]
    replaced = False
    snapshots: list[tuple[str, int]] = []
    if statement.or_replace:
        _refuse_materialized(
            found, "REPLACE TABLE", f"DROP MATERIALIZED TABLE {found.name}, or CREATE OR ALTER MATERIALIZED TABLE"
        )
        new = _replace_table(context, statement, schema, frame)
        replaced, snapshots = new.replaced, new.snapshots
        if replaced and new.keeps_snapshots:
            warnings = [*warnings, f"snapshots of the previous {found.name} stay readable: VERSION AS OF"]
        elif replaced and found.catalog.keeps_dropped_tables:
            warnings = [*warnings, f"the previous {found.name} is in the trash"]
    else:
        with found.catalog.creating_table(found.name, schema, if_not_exists=statement.if_not_exists) as created:
            if not created:
                return message_result(f"table {found.name} exists already")
            if local is not None:
                snapshots = [(found.name.text, i) for i in found.catalog.table(found.name).append(local[0])]
            if frame is not None:
                from paimon_nb.session.execute.insert import store_rows

                table = found.catalog.table(found.name)
                snapshots = store_rows(session, _rows_for(session, frame, table), table).snapshots
    verb = "replaced" if replaced else "created"
    return message_result(f"table {found.name} {verb}", notes=warnings, snapshots=snapshots)


@dataclass(frozen=True, slots=True)
class _Replaced:
    """What CREATE OR REPLACE TABLE did."""

    replaced: bool
    """Whether there was a table before."""
    keeps_snapshots: bool
    snapshots: list[tuple[str, int]]


def _replace_table(
    context: StatementContext, statement: CreateTable, schema: TableSchema, frame: DataFrame | None
) -> _Replaced:
    """Replace a table, which `frame` may read. Until all rows are written, the old table is as it was."""
    session, found = context.session, context.session.find(statement.name)
    with ExitStack() as stack:
        if frame is not None:
            from paimon_nb.session.execute.replaced_table import rows_computed_before
            from paimon_nb.spark.errors import spark_errors

            assert statement.query is not None
            with spark_errors(context.text, statement.query.span):
                frame = stack.enter_context(rows_computed_before(found, schema, frame))
        replacing = found.catalog.replacing_table(found.name, schema, create=not statement.only_replace)
        new = stack.enter_context(replacing)
        snapshots: list[tuple[str, int]] = []
        if frame is not None:
            from paimon_nb.session.execute.insert import store_rows

            rows = _rows_for(session, frame, new.table)
            snapshots = store_rows(
                session, rows, new.table, overwrite=new.overwrites, dynamic=False, before_commit=new.before_commit
            ).snapshots
        return _Replaced(new.replaced, new.overwrites, snapshots)


def _rows_for(session: Session, frame: DataFrame, table: Table) -> DataFrame:
    """The rows of CREATE TABLE ... AS with the table's columns."""
    if not session.flink_semantics:
        return frame
    from paimon_nb.session.query.projection import align_with_table

    return align_with_table(frame, table, None, {}, flink=True)


def _with_file_format(definition: TableDef) -> TableDef:
    """The definition with the options of a format table for USING csv and the like.

    Raises:
        UnsupportedOperation: USING names no format of files.
    """
    provider = definition.provider
    if provider in (None, "paimon"):
        return definition
    if provider not in PLAIN_FORMATS:
        raise UnsupportedOperation(
            f"USING {provider} is not a Paimon table, nor a format table",
            hint=f"USING paimon, {', '.join(PLAIN_FORMATS)}, or use plain Spark for that table",
        )
    kind = {"type": FORMAT_TABLE, FILE_FORMAT.key: provider}
    return replace(definition, options={**definition.options, **kind})


def _computed_column_options(context: StatementContext, definition: TableDef, schema: TableSchema) -> dict[str, str]:
    """The options of computed columns (`c AS expr`). Starts Spark."""
    known = {f.name for f in schema.fields}
    twice = [c.name for c in definition.columns if not c.is_physical and c.name in known]
    if twice:
        raise SchemaMismatch(f"duplicate column {twice[0]!r}", hint="rename the computed column")
    columns = definition.columns
    inherited = len(schema.fields) - sum(c.is_physical for c in columns) + len(computed_columns(schema.options))
    options = computed_options(lambda: context.session.spark, columns, schema.fields, first=inherited)
    types = {c.name: c.type for c in computed_columns(options)}
    if definition.watermark is not None and definition.watermark.column in types:
        options |= watermark_options(definition.watermark, types)
    return options


def _schema_of_like(context: StatementContext, statement: CreateTable) -> TableSchema:
    """Schema 0 of CREATE TABLE ... LIKE: the source table's columns, then the statement's own."""
    source, definition = context.session.stored(statement.like or ()).schema, statement.definition
    options = {} if statement.like_excluding_options else _without_definition(source.options)
    comment = definition.comment or source.comment
    if not (definition.columns or definition.primary_keys or definition.partition_keys or definition.watermark):
        return replace(source, id=0, options={**options, **definition.options}, comment=comment)
    for what, own, source_keys in (
        ("PRIMARY KEY", definition.primary_keys, source.primary_keys),
        ("PARTITIONED BY", definition.partition_keys, source.partition_keys),
    ):
        if own and source_keys:
            raise SchemaMismatch(f"{'.'.join(statement.like or ())} has a {what} already", hint=f"leave {what} out")
    stored = stored_columns(definition) if definition.columns else ()
    known = {f.name.lower() for f in source.fields}
    twice = [str(c[0]) for c in stored if str(c[0]).lower() in known]
    if twice:
        raise SchemaMismatch(f"column {twice[0]!r} is in {'.'.join(statement.like or ())} already", hint="leave it out")
    fields = tuple((f.name, f.type, f.description, f.default_value) for f in source.fields)
    merged = replace(
        definition,
        primary_keys=definition.primary_keys or source.primary_keys,
        partition_keys=definition.partition_keys or source.partition_keys,
        options={**options, **definition.options},
        comment=comment,
    )
    return new_table_schema(merged, (*fields, *stored))


def _without_definition(options: Mapping[str, str]) -> dict[str, str]:
    """The options without the definition of a materialized table: a copy is a plain table."""
    if options.get(TYPE.key) != MATERIALIZED_TABLE:
        return dict(options)
    return {k: v for k, v in options.items() if k != TYPE.key and not k.startswith(DEFINITION_PREFIXES)}


def drop_table(context: StatementContext, statement: DropTable) -> Result:
    session = context.session
    if len(statement.name) == 1 and statement.name[0] in session.temporary:
        del session.temporary[statement.name[0]]
        return message_result(f"temporary table {statement.name[0]} dropped")
    if statement.temporary:
        if statement.if_exists:
            return message_result(f"no temporary table {statement.name[-1]}")
        raise TableNotFound(
            f"no temporary table {statement.name[-1]!r}", hint=did_you_mean(statement.name[-1], session.temporary)
        )
    if len(statement.name) == 1 and not session.flink_semantics and _drop_temporary_view(session, statement.name[0]):
        return message_result(f"view {statement.name[0]} dropped")
    found = session.find(statement.name)
    _refuse_materialized(found, "DROP TABLE", f"DROP MATERIALIZED TABLE {found.name}")
    if not drop_with_state(found.catalog, found.name, if_exists=statement.if_exists, purge=statement.purge):
        return message_result(f"no table {found.name}")
    if not found.catalog.keeps_dropped_tables:
        return message_result(f"table {found.name} dropped")
    note = "permanently deleted" if statement.purge else f"in the trash; UNDROP TABLE {found.name} restores it"
    return message_result(f"table {found.name} dropped", notes=[note])


def _refuse_materialized(found: ResolvedTable, what: str, hint: str) -> None:
    """Raises UnsupportedOperation: the name is that of a materialized table, which has statements of its own."""
    try:
        kind = found.catalog.table(found.name).schema.options.get(TYPE.key)
    except (PaimonError, OSError):  # absent or broken: the statement itself says so
        return
    if kind == MATERIALIZED_TABLE:
        raise UnsupportedOperation(f"{found.name} is a materialized table: {what} is not for it", hint=hint)


def undrop(context: StatementContext, statement: Undrop) -> Result:
    found = context.session.find(statement.name)
    found.catalog.undrop_table(found.name)
    return message_result(f"table {found.name} restored")


def _check_no_new_default(changes: Sequence[object]) -> None:
    """Raises SchemaChangeError for a new column with a default: rows written before would not have it, as Spark's rows do."""
    for change in changes:
        if isinstance(change, AddColumn) and change.default is not None and change.default.upper() != "NULL":
            name = ".".join(change.path)
            raise SchemaChangeError(
                f"column {name!r} cannot be added with a default: rows written before have NULL",
                hint=f"ADD COLUMN {name}, then ALTER COLUMN {name} SET DEFAULT {change.default}",
            )


def _check_names_without_case(changes: Sequence[object], names: Iterable[str]) -> None:
    """Spark takes names that differ in case only for one name. Raises SchemaChangeError for a new name that is taken."""
    taken = {name.lower(): name for name in names}
    for change in changes:
        match change:
            case RenameColumn(path=(_,), new_name=new) | AddColumn(path=(new,), if_not_exists=False):
                pass
            case _:
                continue
        if new.lower() in taken:
            raise SchemaChangeError(
                f"column {taken[new.lower()]!r} exists already",
                hint="choose another name, or SET spark.sql.caseSensitive = true",
            )


def alter_table(context: StatementContext, statement: AlterTable) -> Result:
    """ALTER TABLE: all schema changes in one new schema; tags, partitions and renames one by one."""
    session = context.session
    found = session.find(statement.name)
    if found.name.system is not None:
        raise InvalidName(f"{found.name} is a system table", hint="ALTER the table itself")
    try:
        table = found.catalog.table(found.name)
    except TableNotFound:
        if statement.if_exists:
            return message_result(f"no table {found.name}")
        raise
    if not all(isinstance(change, CreateTag | DeleteTag | RenameTag) for change in statement.changes):
        _refuse_materialized(
            found, "ALTER TABLE", f"ALTER MATERIALIZED TABLE {found.name} ...; tags are created with ALTER TABLE"
        )
    effects: list[str] = []
    snapshots: list[tuple[str, int]] = []
    check_watermark_column(statement.changes, table.schema)
    _check_no_new_default(statement.changes)
    if session.answers_like_spark and session.spark_setting("spark.sql.caseSensitive") != "true":
        _check_names_without_case(statement.changes, table.schema.names)
    stored, computed = as_stored_changes(statement.changes, table.schema, lambda: session.spark)
    changes = watermark_changes_as_options(stored, table.schema, computed)
    schema_changes = [c for c in changes if is_schema_change(c)]
    notes: list[str] = []
    for change in statement.changes:
        if isinstance(change, SetOptions):
            notes += allow_data_files(found.catalog, change.options)
    if schema_changes:
        schema = found.catalog.alter_table(found.name, schema_changes)
        effects.append(f"schema {schema.id}")
        notes += validate_table_options(schema.options)
    for change in statement.changes:
        match change:
            case RenameTable(new_name):
                prefix = statement.name[:-1] if len(new_name) == 1 else ()
                target = session.find((*prefix, *new_name))
                rename_with_state(found.catalog, found.name, target.name)
                effects.append(f"renamed to {target.name}")
            case CreateTag(name, snapshot, retain, if_not_exists, or_replace, only_replace):
                if or_replace or only_replace:
                    table.tags.replace(name, snapshot=snapshot, retained=retain, create=or_replace)
                elif not (if_not_exists and name in table.store.tags.names()):
                    table.tags.create(name, snapshot=snapshot, retained=retain)
                effects.append(f"tag {name}")
            case DeleteTag(names, if_exists):
                from paimon_nb.table.write.maintenance import delete_tags

                known = table.store.tags.names()
                delete_tags(table.store, [name for name in names if name in known or not if_exists])
                effects.append(f"tag {', '.join(names)} deleted")
            case RenameTag(name, new_name):
                table.tags.rename(name, new_name)
                effects.append(f"tag {name} renamed to {new_name}")
            case DropPartition(partitions, if_exists):
                specs = [partition_values(p, table.partition_keys, flink=session.flink_semantics) for p in partitions]
                if not session.flink_semantics:
                    _check_leading_columns(table, specs)
                    if not if_exists and not table.store.is_format_table:
                        _refuse_missing_partitions(table, specs)
                        if_exists = True
                ids = table.drop_partitions(specs, must_exist=not if_exists)
                snapshots += [(str(found.name), i) for i in ids]
                done = bool(ids) or table.store.is_format_table
                effects.append("partitions dropped" if done else "no such partition, nothing dropped")
            case AddPartition(partitions, if_not_exists):
                from paimon_nb.table.write.commit import add_format_table_partitions
                from paimon_nb.table.write.maintenance import refuse_existing_partitions

                specs = [partition_values(p, table.partition_keys, flink=session.flink_semantics) for p in partitions]
                if table.store.is_format_table:
                    made = add_format_table_partitions(table.store, specs, if_not_exists=if_not_exists)
                    effects.append(f"partitions added: {', '.join(made) or 'none, they exist'}")
                    continue
                refuse_existing_partitions(table.store, [] if if_not_exists else specs)
                notes.append("nothing to add: a partition is created with its first row")
    return message_result(
        f"table {found.name} altered: {', '.join(effects) or 'nothing changed'}", notes=notes, snapshots=snapshots
    )


def _check_leading_columns(table: Table, specs: Sequence[Mapping[str, object]]) -> None:
    """Spark names a partition by its columns or by the first ones; Flink by any of them. Raises SqlAnalysisError."""
    keys = table.partition_keys
    for spec in specs:
        missing = [key for key in keys[: len(spec)] if key not in spec]
        if spec and missing and all(key in keys for key in spec):
            raise SqlAnalysisError(
                f"partitions of {table.name} are named by {', '.join(keys)}, or by the first of them; {missing[0]!r} is missing",
                hint=f"DELETE FROM {table.name} WHERE {next(iter(spec))} = ... drops all matching partitions",
                column=missing[0],
            )


def _refuse_missing_partitions(table: Table, specs: Sequence[Mapping[str, object]]) -> None:
    """Raises UnknownName: a spec of all columns matches no partition. In Spark, one of the first columns need not match any."""
    from paimon_nb.table.write.maintenance import refuse_missing_partitions

    whole = [in_row_spec(table.schema, s) for s in specs if len(s) == len(table.partition_keys)]
    refuse_missing_partitions(table.store, table.store.latest(), whole)


def create_view(context: StatementContext, statement: CreateView) -> Result:
    session, name = context.session, statement.name[-1]
    if not statement.temporary:
        return _store_view(context, statement)
    if name in session.views and not statement.or_replace:
        if statement.if_not_exists:
            return message_result(f"view {name} exists already")
        raise AlreadyExists(f"view {name!r} exists already", hint="CREATE OR REPLACE TEMPORARY VIEW")
    if statement.query is not None:
        _check_no_cycle(session, name, statement.query)
        substitutes = empty_unbounded_inputs(session, statement.query, context.text)
        # reject an invalid view now
        if substitutes or not can_be_answered_without_spark(session, statement.query, context.text, context.params):
            raise_known_error(session, context.text, statement)
            run_query(session, statement.query, context.text, context.params, substitutes)
    session.views[name] = (statement, context.text)
    session.note_temporary(statement.name)
    return message_result(f"temporary view {name} created")


def _store_view(context: StatementContext, statement: CreateView) -> Result:
    """CREATE VIEW without TEMPORARY, where the catalog stores views."""
    from paimon_nb.spark.types import fields_of_spark

    session, query = context.session, statement.query
    found = session.find(statement.name)
    if not found.catalog.stores_views or query is None:
        found.catalog.create_view(found.name, StoredView("", ()))  # raises
        raise UnsupportedOperation(f"view {found.name} needs a query", hint="CREATE VIEW ... AS SELECT ...")
    if found.catalog.view(found.name) is not None:
        if statement.if_not_exists:
            return message_result(f"view {found.name} exists already")
        if not statement.or_replace:
            raise AlreadyExists(
                f"view {found.name} exists already", hint="CREATE OR REPLACE VIEW", name=str(found.name)
            )
    if found.name.table in found.catalog.tables(found.name.database):
        raise AlreadyExists(f"{found.name} is a table", hint="choose another name", name=str(found.name))
    text = context.text[query.span.start : query.span.stop]
    with inside_view(session, found.catalog.name, found.name):
        frame = run_query(
            session, query, context.text, context.params
        )  # rejects a wrong query, or one that reads itself
    fields = fields_of_spark((frame.toDF(*statement.columns) if statement.columns else frame).schema)
    if statement.columns:
        names = ", ".join(map(quote, statement.columns))
        text = f"SELECT * FROM ({text}) AS v({names})"
        comments = zip(fields, statement.column_comments, strict=True)
        fields = tuple(f if comment is None else replace(f, description=comment) for f, comment in comments)
    dialects = {session.dialect: text}
    view = StoredView(text, tuple(fields), statement.comment, statement.options, dialects)
    store = found.catalog.replace_view if statement.or_replace else found.catalog.create_view
    store(found.name, view)
    return message_result(f"view {found.name} created")


def _check_no_cycle(session: Session, name: str, query: Query) -> None:
    """Raises SqlAnalysisError if a view of this name would read itself, also through other views."""
    seen: set[str] = set()
    waiting = [query]
    while waiting:
        read = {r.parts[0] for r in waiting.pop().tables if len(r.parts) == 1}
        if name in read:
            raise SqlAnalysisError(
                f"view {name!r} would read itself",
                hint="use another view name, or qualify the table with its database",
                name=name,
            )
        new = (read & session.views.keys()) - seen
        seen |= new
        waiting += [q for n in new if (q := session.views[n][0].query) is not None]


def alter_view(context: StatementContext, statement: AlterView) -> Result:
    """ALTER VIEW of a session view: a new query or name. Spark handles all other views."""
    views, name = context.session.views, statement.name[-1]
    if len(statement.name) != 1 or name not in views:
        from paimon_nb.session.execute.admin import spark_command

        return spark_command(context, SparkCommand(statement.text, statement.span))
    if statement.view is not None:
        create_view(context, statement.view)
        return message_result(f"temporary view {name} altered")
    new = statement.new_name[-1]
    if new in views:
        raise AlreadyExists(f"view {new!r} exists already", hint="choose another name", name=new)
    views[new] = views.pop(name)
    return message_result(f"temporary view {name} renamed to {new}")


def drop_view(context: StatementContext, statement: DropView) -> Result:
    name = statement.name[-1]
    is_temporary = len(statement.name) == 1 and name in context.session.views
    if not statement.temporary and not is_temporary:
        found = context.session.find(statement.name)
        if found.catalog.drop_view(found.name):
            return message_result(f"view {found.name} dropped")
    if _drop_temporary_view(context.session, name):
        return message_result(f"view {name} dropped")
    if not statement.if_exists:
        context.session.view(name)  # raises with the nearest name
    return message_result(f"no view {name}")


def _drop_temporary_view(session: Session, name: str) -> bool:
    """Drop a temporary view of the session or of Spark. Returns whether there was one.

    Spark's DROP TABLE drops one, too: it hides a table of the same name, which a second DROP TABLE drops.
    """
    if session.views.pop(name, None) is not None:
        return True
    return session.spark_started and bool(session.spark.catalog.dropTempView(name))
