"""SHOW and DESCRIBE from catalog metadata, without Spark. Column names are Spark's."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import (
    SqlAnalysisError,
    SqlSyntaxError,
    TableNotFound,
    UnknownName,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier, quote
from paimon_nb.base.redact import MASK, redact_options, redact_text
from paimon_nb.base.registry import did_you_mean
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.catalog.api import SYSTEM_DATABASE
from paimon_nb.catalog.state_tables import visible_tables
from paimon_nb.format.row import partition_names
from paimon_nb.format.schema import has_nullable_keys
from paimon_nb.options import table as opt
from paimon_nb.options.materialized import MATERIALIZED_TABLE
from paimon_nb.session.core.result import Result, rows_result
from paimon_nb.session.execute import flink_show, spark_show
from paimon_nb.session.query import watermark
from paimon_nb.session.query.computed_columns import computed_columns, has_computed_columns, is_computed_column_key
from paimon_nb.session.query.frames_and_files import data_of_reference, means_file
from paimon_nb.session.query.partition_predicates import partition_values
from paimon_nb.session.query.run_query import global_system_table
from paimon_nb.statements import TableRef
from paimon_nb.table.read.partition_spec import in_row_spec, partition_text_of_spec, spec_texts
from paimon_nb.table.tables.system import SYSTEM_TABLES
from paimon_nb.table.tables.system.global_tables import LISTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from paimon_nb.catalog import Catalog
    from paimon_nb.catalog.api import StoredView
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataField
    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.statements import Describe, Show, ShowCreate, Summarize
    from paimon_nb.table.tables.table import Table


_NULL = "null"
"""Spark's text for NULL in a partition."""


def show(context: StatementContext, statement: Show) -> Result:
    handler = _SHOW.get(statement.what)
    if handler is None:
        raise SqlSyntaxError(
            f"unknown statement SHOW {statement.what.upper()}",
            hint=did_you_mean(statement.what, _SHOW) or f"known: {', '.join(sorted(_SHOW))}",
        )
    result = handler(context, statement)
    return flink_show.with_flink_column(statement.what, result) if context.session.flink_semantics else result


def _matching_names(names: Iterable[str], statement: Show) -> list[str]:
    """Names that match the statement's [NOT] LIKE pattern: SQL's %% and _, or Spark's * and |."""
    listed = list(names)
    if statement.like is None:
        return listed
    globs = [p.strip().replace("%", "*").replace("_", "?") for p in statement.like.split("|")]
    return [n for n in listed if any(fnmatch.fnmatchcase(n.lower(), g.lower()) for g in globs) != statement.negated]


def _show_catalogs(context: StatementContext, statement: Show) -> Result:
    return rows_result({"catalog": _matching_names(sorted(context.session.catalogs), statement)})


def _show_databases(context: StatementContext, statement: Show) -> Result:
    catalog = context.session.catalog_named(statement.name[0]) if statement.name else context.session.catalog
    return rows_result({"namespace": _matching_names(catalog.databases(), statement)})


def _show_tables(context: StatementContext, statement: Show) -> Result:
    import pyarrow as pa

    session = context.session
    catalog, database = session.find_database(statement.name)
    stored = _matching_names(_listed_tables(catalog, database, statement), statement)
    if session.flink_semantics and database != SYSTEM_DATABASE:  # Flink lists views, too
        stored += _matching_names(catalog.views(database), statement)
    temporary = [] if statement.name else _matching_names(sorted({*session.temporary, *session.views}), statement)
    return rows_result(
        {
            "namespace": [database] * len(stored) + [""] * len(temporary),
            "tableName": stored + temporary,
            "isTemporary": [False] * len(stored) + [True] * len(temporary),
        },
        {"isTemporary": pa.bool_()},
    )


def _listed_tables(catalog: Catalog, database: str, statement: Show) -> Iterable[str]:
    """The tables of a database. State tables of incremental tables are listed if the LIKE pattern has the word `state`."""
    if database == SYSTEM_DATABASE:
        return LISTED
    names_state = statement.like is not None and not statement.negated and "state" in statement.like.lower()
    return catalog.tables(database) if names_state else visible_tables(catalog, database)


def _show_views(context: StatementContext, statement: Show) -> Result:
    import pyarrow as pa

    session = context.session
    catalog, database = session.find_database(statement.name)
    stored = _matching_names(catalog.views(database), statement)
    temporary = [] if statement.name else _matching_names(sorted(session.views), statement)
    return rows_result(
        {
            "namespace": [database] * len(stored) + [""] * len(temporary),
            "viewName": stored + temporary,
            "isTemporary": [False] * len(stored) + [True] * len(temporary),
        },
        {"isTemporary": pa.bool_()},
    )


def _show_columns(context: StatementContext, statement: Show) -> Result:
    schema = context.session.table(statement.name).schema
    if context.session.flink_semantics:
        all_columns = flink_show.describe_columns(schema.fields, _flink_keys(schema), schema.options)
        assert all_columns.arrow is not None
        found = all_columns.arrow.column("name").to_pylist()
        matching = set(_matching_names(found, statement))
        all_columns.arrow = all_columns.arrow.filter([name in matching for name in found])
        return all_columns
    names = list(schema.names)
    for c in computed_columns(schema.options):
        names.insert(c.position, c.name)
    return rows_result({"col_name": _matching_names(names, statement)})


def _show_partitions(context: StatementContext, statement: Show) -> Result:
    table = context.session.table(statement.name)
    if not table.partition_keys:
        raise UnsupportedOperation(
            f"{table.name} is not partitioned", hint="PARTITIONED BY makes partitions, when a table is created"
        )
    flink = context.session.flink_semantics
    legacy = flink and bool(table.options.get(opt.PARTITION_LEGACY_NAME))
    null = table.options.get(opt.PARTITION_DEFAULT_NAME) if flink else _NULL
    spec = _named_partition(statement, table, flink=flink, legacy=legacy, default_name=null)
    found = [
        "/".join(f"{k}={v}" for k, v in row.items())
        for row in table.partition_specs(legacy=legacy, default_name=null)
        if spec.items() <= row.items()
    ]
    return rows_result({"partition": sorted(found)})


def _named_partition(statement: Show, table: Table, *, flink: bool, legacy: bool, default_name: str) -> dict[str, str]:
    """The values of the statement's PARTITION clause, as partition names have them: the legacy name of a date is a number of days.

    Raises: ColumnNotFound: no such partition column. BadOptionValue: not a value of the column's type.
    """
    literals = {k: v for k, v in statement.partition.items() if v is not None}
    values = partition_values(literals, table.partition_keys, flink=flink)
    values = in_row_spec(table.schema, values)
    fields = [table.schema.field(name) for name in values]
    return dict(partition_names(fields, tuple(values.values()), legacy=legacy, default_name=default_name))


def _show_tags(context: StatementContext, statement: Show) -> Result:
    return rows_result({"tag": list(context.session.table(statement.name).store.tags.names())})


def _show_branches(context: StatementContext, statement: Show) -> Result:
    return rows_result({"branch": list(context.session.table(statement.name).store.branches.names())})


def _show_procedures(context: StatementContext, statement: Show) -> Result:
    from paimon_nb.procedures import PROCEDURES

    return rows_result({"procedure": _matching_names(sorted(PROCEDURES), statement)})


def _show_materialized_tables(context: StatementContext, statement: Show) -> Result:
    """Materialized tables, of this engine and of Flink."""
    catalog, database = context.session.find_database(statement.name)
    tables = (
        t
        for t in catalog.tables(database)
        if catalog.table(Identifier(database, t)).options.get(opt.TYPE) == MATERIALIZED_TABLE
    )
    return rows_result({"table name": _matching_names(tables, statement)})


def _current_catalog(context: StatementContext, statement: Show) -> Result:
    return rows_result({"catalog": [context.session.current_catalog]})


def _current_database(context: StatementContext, statement: Show) -> Result:
    return rows_result({"catalog": [context.session.current_catalog], "namespace": [context.session.current_database]})


def _show_properties(context: StatementContext, statement: Show) -> Result:
    table = context.session.stored(statement.name)
    options = redact_options(table.schema.options)
    if statement.key is not None:  # Spark also returns a row for a missing option
        missing = f"Table {table.name} does not have property: {statement.key}"
        options = {statement.key: options.get(statement.key, missing)}
    return rows_result({"key": list(options), "value": list(options.values())})


def _show_functions(context: StatementContext, statement: Show) -> Result:
    """SHOW FUNCTIONS with our LIKE: Spark's LIKE has no %, and takes a name instead of a pattern."""
    from paimon_nb.session.query.blob_functions import BLOB_FUNCTIONS
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.runtime.flink_json import FLINK_JSON
    from paimon_nb.spark.write.bucket_function import BUCKET_FUNCTIONS

    scope = statement.text.split()[1].upper()
    if statement.name[-1:] == ("sys",):
        database, names = "sys", ["max_pt", *BUCKET_FUNCTIONS, *BLOB_FUNCTIONS]
    else:
        catalog, database = context.session.find_database(statement.name)
        names = catalog.functions(database)
    prefix = "" if context.session.flink_semantics else f"{database}."  # Flink names a database's functions alone
    stored = [] if scope == "SYSTEM" else [f"{prefix}{name}" for name in names]
    with spark_errors(context.text, statement.span):
        listed = context.session.spark.sql(f"SHOW {'' if scope == 'FUNCTIONS' else scope} FUNCTIONS").collect()
    own = [r[0] for r in listed if r[0] != FLINK_JSON]  # made by this package for a query
    return rows_result({"function": _matching_names([*own, *stored], statement)})


def _show_table_extended(context: StatementContext, statement: Show) -> Result:
    import pyarrow as pa

    session = context.session
    catalog, database = session.find_database(statement.name)
    names = _matching_names(_listed_tables(catalog, database, statement), statement)
    text = []
    for name in names:
        table = session.stored((catalog.name, database, name))
        found = _partition_text(table, statement.partition) if statement.partition else ""
        text.append(found or _information_text(catalog.name, table))
    return rows_result(
        {
            "namespace": [database] * len(names), "tableName": names, "isTemporary": [False] * len(names),
            "information": text,
        },
        {"isTemporary": pa.bool_()},
    )  # fmt: skip


def _information_text(catalog: str, table: Table) -> str:
    """The information column of SHOW TABLE EXTENDED, as in Java."""
    options = redact_options(table.schema.options)
    external = "EXTERNAL" if "path" in table.schema.options else "MANAGED"
    facts = {"Catalog": catalog, "Namespace": table.name.database, "Table": table.name.table, "Type": external}
    if table.schema.comment:
        facts["Comment"] = table.schema.comment
    facts |= {"Location": table.path, "Provider": spark_show.provider_of(table.schema)}
    if options:
        facts["Table Properties"] = f"[{', '.join(f'{k}={v}' for k, v in sorted(options.items()))}]"
    if table.partition_keys:
        facts |= {
            "Partition Provider": "Catalog",
            "Partition Columns": f"[{', '.join(map(quote, table.partition_keys))}]",
        }
    columns = [
        f" |-- {f.name}: {f.type.bare()} (nullable = {str(f.type.nullable).lower()})" for f in table.schema.fields
    ]
    facts["Schema"] = "\n".join(["root", *columns])
    return "\n".join(f"{key}: {value}" for key, value in facts.items()) + "\n"


def _partition_text(table: Table, partition: Mapping[str, str | None]) -> str:
    """What SHOW TABLE EXTENDED ... PARTITION tells. Raises SqlAnalysisError, UnknownName."""
    texts = _one_partition(table, partition)
    facts = spark_show.partition_facts(table, texts)
    statistics = f"{facts['recordCount']} rows, {facts['fileSizeInBytes']} bytes"
    parameters = ", ".join(f"{k}={v}" for k, v in facts.items())
    return (
        f"Partition Values: [{', '.join(f'{k}={v}' for k, v in texts.items())}]\n"
        f"Partition Parameters: {{{parameters}}}\nPartition Statistics: {statistics}\n"
    )


def _one_partition(table: Table, partition: Mapping[str, str | None]) -> dict[str, str]:
    """The values, as texts, of a PARTITION clause that names one partition. Raises SqlAnalysisError, UnknownName."""
    named = {k: v for k, v in partition.items() if v is not None}
    values = partition_values(named, table.partition_keys)
    missing = [key for key in table.partition_keys if key not in values]
    if missing or len(values) != len(table.partition_keys):
        raise SqlAnalysisError(
            f"a partition of {table.name} needs values of {', '.join(table.partition_keys) or 'nothing'}",
            hint="name each partition column; SHOW PARTITIONS lists what is there",
        )
    spec = in_row_spec(table.schema, values)
    texts = spec_texts(table.schema, {k: spec[k] for k in table.partition_keys})
    if texts in table.partition_specs(legacy=False, default_name=_NULL):
        return texts
    raise UnknownName(
        f"no partition ({partition_text_of_spec(table.schema, spec)}) in {table.name}",
        hint=f"SHOW PARTITIONS {table.name}",
    )


def _show_jobs(context: StatementContext, _statement: Show) -> Result:
    from paimon_nb.session.streaming.job_list import show_jobs
    from paimon_nb.session.streaming.other_jobs import other_jobs

    return show_jobs(context.session.jobs, other_jobs(context.session))


_SHOW: Mapping[str, Callable[[StatementContext, Show], Result]] = {
    "catalogs": _show_catalogs,
    "databases": _show_databases,
    "namespaces": _show_databases,
    "schemas": _show_databases,
    "tables": _show_tables,
    "materialized tables": _show_materialized_tables,
    "views": _show_views,
    "columns": _show_columns,
    "partitions": _show_partitions,
    "tags": _show_tags,
    "branches": _show_branches,
    "procedures": _show_procedures,
    "functions": _show_functions,
    "jobs": _show_jobs,
    "table extended": _show_table_extended,
    "tblproperties": _show_properties,
    "current catalog": _current_catalog,
    "current database": _current_database,
    "current namespace": _current_database,
}


def summarize(context: StatementContext, statement: Summarize, run: Callable[..., Result]) -> Result:
    """SUMMARIZE: count, NULLs, least and greatest value, quartiles of each column, as DuckDB computes them."""
    from paimon_nb.files.summary import summary_of
    from paimon_nb.sql import parse

    rows = run(context.session, parse(statement.query)[0], statement.query, context.params)
    return Result("rows", arrow=summary_of(rows.to_arrow()), notes=rows.notes)


def _describe_file(context: StatementContext, ref: TableRef) -> Result:
    data = data_of_reference(context.session, ref)
    assert data is not None
    fields = data.fields
    if context.session.flink_semantics:
        return flink_show.describe_columns(fields, (), {})
    return rows_result(
        {"col_name": [f.name for f in fields], "data_type": [str(f.type) for f in fields], "comment": [None] * len(fields)}
    )  # fmt: skip


def describe(context: StatementContext, statement: Describe) -> Result:
    """DESCRIBE a table (columns, keys, defaults, watermark), a database or a catalog."""
    import pyarrow as pa

    from paimon_nb.format.types import arrow_type

    session = context.session
    if statement.file is not None:
        return _describe_file(context, statement.file)
    if statement.what == "table" and means_file(session, ref := TableRef(statement.name, statement.span)):
        return _describe_file(context, ref)
    if statement.what == "function":
        from paimon_nb.session.execute.functions import describe_function

        return describe_function(context, statement)
    if statement.what == "procedure":
        from paimon_nb.procedures import describe_procedure

        return rows_result(describe_procedure(statement.name[-1]))
    if statement.what == "catalog":
        catalog = session.catalog_named(statement.name[0])
        info = {"type": "paimon", "warehouse": catalog.warehouse, **redact_options(catalog.options)}
        return rows_result({"info_name": list(info), "info_value": list(info.values())})
    if statement.what in ("database", "schema", "namespace"):
        catalog, database = session.find_database(statement.name)
        count = len(visible_tables(catalog, database))
        more = redact_options(catalog.database_properties(database))
        if session.answers_like_spark:
            return spark_show.describe_database(catalog.name, database, more, extended=statement.extended)
        return rows_result(
            {
                "info_name": ["Catalog Identifier", "Namespace Identifier", "Tables", *more],
                "info_value": [catalog.name, database, str(count), *more.values()],
            }
        )
    if len(statement.name) == 1 and statement.name[0] in session.views:
        from paimon_nb.session.query.run_query import view_rows
        from paimon_nb.spark.types import fields_of_spark

        fields = fields_of_spark(view_rows(session, statement.name[0]).schema)
        if session.flink_semantics:
            return flink_show.describe_columns(fields, (), {})
        return rows_result(
            {"col_name": [f.name for f in fields], "data_type": [f.type.bare() for f in fields],
             "comment": [f.description for f in fields]}
        )  # fmt: skip
    if len(statement.name) == 1 and statement.name[0] in session.temporary:
        definition = session.temporary[statement.name[0]].definition
        if session.flink_semantics:
            return flink_show.describe_temporary_table(definition.columns, definition.primary_keys)
        return rows_result(
            {"col_name": [c.name for c in definition.columns], "data_type": [c.type for c in definition.columns],
             "comment": [c.comment for c in definition.columns]}
        )  # fmt: skip
    system_fields = _system_table_fields(session.find(statement.name))
    if system_fields is not None:
        if session.flink_semantics:
            return flink_show.describe_columns(system_fields, (), {}, statement.column)
        if session.answers_like_spark:
            return spark_show.describe_columns(system_fields)
        return rows_result(
            {
                "col_name": [f.name for f in system_fields], "data_type": [str(arrow_type(f.type)) for f in system_fields],
                "comment": [None] * len(system_fields),
            }
        )  # fmt: skip
    try:
        table = session.stored(statement.name)
    except TableNotFound:
        if (stored := _stored_view(session, statement.name)) is None:
            raise
        if session.flink_semantics:
            return flink_show.describe_columns(stored[1].fields, (), {}, statement.column)
        return spark_show.describe_view(*stored, extended=statement.extended)
    columns = [f for f in table.schema.fields if statement.column in (None, f.name)]
    computed = [c for c in computed_columns(table.schema.options) if statement.column in (None, c.name)]
    if statement.column is not None and not columns and not computed:
        table.schema.field(statement.column)  # raises with a did-you-mean
    if session.flink_semantics and not statement.extended:
        return flink_show.describe_columns(
            table.schema.fields, _flink_keys(table.schema), table.schema.options, statement.column
        )
    if session.answers_like_spark and statement.column is None:
        if not statement.extended:
            return spark_show.describe_columns(table.schema.fields, table.partition_keys)
        texts = _one_partition(table, statement.partition) if statement.partition else {}
        return spark_show.describe_extended(session.find(statement.name).catalog.name, table, texts)
    keys = [_key_membership(table.schema, f.name) for f in columns]
    out: dict[str, list[Any]] = {
        "col_name": [f.name for f in columns],
        "data_type": [f.type.bare() for f in columns],
        "comment": [f.description for f in columns],
        "nullable": [f.type.nullable for f in columns],
        "key": keys,
        "default": [f.default_value for f in columns],
    }
    for c in computed:
        position = c.position if statement.column is None else 0
        for values, cell in zip(out.values(), (c.name, c.type, c.comment, True, c.clause, None), strict=True):
            values.insert(position, cell)
    if (declared := watermark.watermark_of_options(table.schema.options)) is not None:
        out["watermark"] = [declared.expression if name == declared.column else None for name in out["col_name"]]
    if statement.extended:
        extra = {
            "": "", "# Detailed Table Information": "", "Identifier": str(table.name), "Path": table.path, "Provider": spark_show.provider_of(table.schema),
            "Schema id": str(table.schema.id), "Primary keys": ", ".join(table.primary_keys),
            "Partition keys": ", ".join(table.partition_keys),
            **({"Comment": table.schema.comment} if table.schema.comment else {}),
            **{f"Option {k}": v for k, v in redact_options(table.schema.options).items()},
        }  # fmt: skip
        if statement.partition:
            extra |= spark_show.partition_details(table, _one_partition(table, statement.partition))
        for name, value in extra.items():
            for column, cell in zip(out, (name, value, *[None] * (len(out) - 2)), strict=True):
                out[column].append(cell)
    return rows_result(out, {"nullable": pa.bool_()})


def _stored_view(session: Session, parts: tuple[str, ...]) -> tuple[Identifier, StoredView] | None:
    """The view of this name that its catalog stores; None if there is none."""
    found = session.find(parts)
    view = found.catalog.view(found.name)
    return None if view is None else (found.name, view)


def _system_table_fields(found: ResolvedTable) -> Sequence[DataField] | None:
    """The columns of a system table, or None for another table. Raises TableNotFound."""
    from paimon_nb.format.types import from_arrow_schema

    if found.name.system is not None:
        table, kind = found.catalog.table(found.name), SYSTEM_TABLES.get(found.name.system.lower())
        return from_arrow_schema(table.system(found.name.system).schema) if kind is None else kind.fields(table.store)
    if found.name.database == SYSTEM_DATABASE:
        return from_arrow_schema(global_system_table(found.catalog, found.name).schema)
    return None


def _key_membership(schema: TableSchema, column: str) -> str | None:
    marks = []
    if column in schema.primary_keys:
        marks.append("PRIMARY")
    if column in schema.partition_keys:
        marks.append("PARTITION")
    return " ".join(marks) or None


def show_create(context: StatementContext, statement: ShowCreate) -> Result:
    """CREATE TABLE text in Flink's syntax, which can express the whole schema."""
    session = context.session
    if statement.what == "catalog":
        catalog = session.catalog_named(statement.name[0])
        options = {"type": "paimon", "warehouse": catalog.warehouse, **redact_options(catalog.options)}
        return rows_result({"result": [f"CREATE CATALOG {quote(catalog.name)} WITH (\n{_with_clause(options)}\n)"]})
    if statement.what == "database":
        catalog, database = session.find_database(statement.name)
        catalog.tables(database)  # raises for an unknown one
        return rows_result({"createdb_stmt": [f"CREATE DATABASE {quote(catalog.name)}.{quote(database)}"]})
    if statement.what == "view":
        if statement.name[-1] not in session.views and (stored := _stored_view(session, statement.name)) is not None:
            return rows_result({"createtab_stmt": [spark_show.spark_create_view_text(*stored)]})
        view, _ = session.view(statement.name[-1])
        return rows_result({"createtab_stmt": [view.text]})
    if len(statement.name) == 1 and statement.name[0] in session.temporary:
        created = session.temporary[statement.name[0]]
        return rows_result({"createtab_stmt": [_create_text_without_secrets(created.text, created.definition.options)]})
    found = session.find(statement.name)
    full_name = f"{quote(found.catalog.name)}.{found.name.quoted()}"
    if (fields := _system_table_fields(found)) is not None:
        table_options = (
            found.catalog.table(found.name).schema.options if has_computed_columns(found.name.system) else {}
        )
        return rows_result(
            {
                "createtab_stmt": [
                    flink_show.flink_create_table_text(full_name, fields, table_options, {}, computed_last=True)
                ]
            }
        )
    try:
        table = session.stored(statement.name)
    except TableNotFound:
        if (stored := _stored_view(session, statement.name)) is None:
            raise
        return rows_result({"createtab_stmt": [spark_show.spark_create_view_text(*stored)]})
    if table.schema.options.get(opt.TYPE.key) == MATERIALIZED_TABLE:
        raise UnsupportedOperation(
            f"{table.name} is a materialized table: SHOW CREATE TABLE is not for it",
            hint=f"SHOW CREATE MATERIALIZED TABLE {table.name}",
        )
    if session.flink_semantics:
        schema = table.schema
        text = flink_show.flink_create_table_text(
            full_name, schema.fields, schema.options, _flink_options(schema), primary_keys=_flink_keys(schema),
            partition_keys=schema.partition_keys, comment=schema.comment,
        )  # fmt: skip
        return rows_result({"result": [text]})
    if session.answers_like_spark:
        return rows_result({"createtab_stmt": [spark_show.spark_create_table_text(found.catalog.name, table)]})
    return rows_result({"createtab_stmt": [create_table_text(table.schema, table.name.quoted())]})


def _flink_keys(schema: TableSchema) -> tuple[str, ...]:
    """The primary key that Flink knows: its columns are NOT NULL there, so that a nullable one is an option only."""
    return () if has_nullable_keys(schema.options) else schema.primary_keys


def _flink_options(schema: TableSchema) -> dict[str, str]:
    keys = {"primary-key": ",".join(schema.primary_keys)} if has_nullable_keys(schema.options) else {}
    return {**redact_options(schema.options), **keys}


def _create_text_without_secrets(text: str, options: Mapping[str, str]) -> str:
    """A statement's text with secrets masked."""
    for key, value in options.items():
        if value and redact_options({key: value})[key] != value:
            text = text.replace(text_literal(value), text_literal(MASK)).replace(f'"{value}"', text_literal(MASK))
    return redact_text(text)


def create_table_text(schema: TableSchema, name: str) -> str:
    """CREATE TABLE text for a schema."""
    lines = []
    for f in schema.fields:
        default = f" DEFAULT {text_literal(f.default_value)}" if f.default_value is not None else ""
        comment = f" COMMENT {text_literal(f.description)}" if f.description else ""
        lines.append(f"  {quote(f.name)} {f.type}{default}{comment}")
    for c in computed_columns(schema.options):
        comment = f" COMMENT {text_literal(c.comment)}" if c.comment else ""
        kind = "" if c.metadata is None else f"{c.type} "
        lines.insert(c.position, f"  {quote(c.name)} {kind}{c.clause}{comment}")
    options = {
        k: v for k, v in schema.options.items() if not k.startswith(watermark.PREFIX) and not is_computed_column_key(k)
    }
    if watermark.COLUMN in schema.options:
        expression = schema.options.get(watermark.EXPRESSION, quote(schema.options[watermark.COLUMN]))
        lines.append(f"  WATERMARK FOR {quote(schema.options[watermark.COLUMN])} AS {expression}")
    if schema.primary_keys:
        lines.append(f"  PRIMARY KEY ({', '.join(map(quote, schema.primary_keys))}) NOT ENFORCED")
    out = f"CREATE TABLE {name} (\n" + ",\n".join(lines) + "\n)"
    if schema.comment:
        out += f" COMMENT {text_literal(schema.comment)}"
    if schema.partition_keys:
        out += f" PARTITIONED BY ({', '.join(map(quote, schema.partition_keys))})"
    if options:
        out += f" WITH (\n{_with_clause(redact_options(options))}\n)"
    return out


def _with_clause(options: Mapping[str, str]) -> str:
    return ",\n".join(f"  {text_literal(k)} = {text_literal(v)}" for k, v in options.items())
