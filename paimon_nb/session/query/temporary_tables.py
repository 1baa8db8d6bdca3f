"""Temporary tables and connector tables: they live in the session, not in a catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import AlreadyExists, BadOptionValue, SchemaMismatch, TableNotFound, UnsupportedOperation
from paimon_nb.base.identifier import check_name
from paimon_nb.format.types import parse_type
from paimon_nb.fs import open_fs
from paimon_nb.session.core.result import Result, message_result
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.statements import CreateTable, TableRef


def create(context: StatementContext, statement: CreateTable) -> Result:
    """CREATE TEMPORARY TABLE, and CREATE TABLE of a connector: validated now, opened on use."""
    session, name = context.session, check_name(statement.name[-1], "table")
    if name in session.temporary and not statement.or_replace:
        if statement.if_not_exists:
            return message_result(f"table {name} exists already")
        raise AlreadyExists(f"temporary table {name!r} exists already", hint="DROP TABLE it first", name=name)
    for column in statement.definition.columns:
        if column.type is not None:
            parse_type(column.type)
    options = statement.definition.options
    session.note_temporary(statement.name)
    if options.get("connector", "paimon") == "paimon":
        if "path" not in options:
            raise BadOptionValue(
                "a temporary Paimon table needs 'path'", hint="WITH ('connector'='paimon', 'path'='...')"
            )
        session.temporary[name] = statement
        notes = []
        if options.get("auto-create") == "true":
            try:
                target_table(session, statement)
            except SchemaMismatch as error:  # as in Java, which looks at the table when it is used
                notes.append(f"{name} cannot be used: {error.message}")
        return message_result(f"temporary table {name} created", notes=notes)
    session.temporary[name] = statement
    return message_result(
        f"source table {name} registered", notes=[f"connector {options['connector']!r} is opened when it is first read"]
    )


def is_connector(statement: CreateTable) -> bool:
    """Whether a temporary table belongs to a connector; otherwise it is a Paimon table at a path."""
    return statement.definition.options.get("connector", "paimon") != "paimon"


def target_table(session: Session, statement: CreateTable) -> Table:
    """The Paimon table of a temporary table; created at its path if 'auto-create' is true.

    Raises:
        TableNotFound: there is none, and `auto-create` is not set. SchemaMismatch: it has other columns than the definition.
    """
    from paimon_nb.base.identifier import Identifier
    from paimon_nb.fs import RootedFileIO
    from paimon_nb.session.query.new_table_schema import new_table_schema

    options = dict(statement.definition.options)
    if is_connector(statement):
        raise UnsupportedOperation(
            f"rows of connector {options['connector']!r} cannot be changed", hint="INSERT INTO adds rows to it"
        )
    path = options.pop("path")
    auto_create = options.pop("auto-create", "false") == "true"
    fs = RootedFileIO(open_fs(path, {}), path)
    name = Identifier(session.current_database, statement.name[-1])
    dynamic = {k: v for k, v in options.items() if k != "connector"}
    try:
        table = Table(TableStore.open(fs, fs.root, dynamic=None), name=name)
        _check_columns(statement, table)
        return table
    except TableNotFound:
        if not auto_create:
            raise TableNotFound(
                f"no table at {path}", hint="add 'auto-create' = 'true' to create it", path=path
            ) from None
    from dataclasses import replace

    from paimon_nb.format.schema import SchemaDirectory

    SchemaDirectory(fs, fs.root).create(new_table_schema(replace(statement.definition, options=dynamic)))
    return Table(TableStore.open(fs, fs.root), name=name)


def _check_columns(statement: CreateTable, table: Table) -> None:
    """As in Flink, a definition has the columns that are stored; whether they are NOT NULL is not compared."""
    columns = statement.definition.columns
    defined = [(c.name, parse_type(c.type).bare()) for c in columns if c.is_physical and c.type is not None]
    stored = [(f.name, f.type.bare()) for f in table.schema.fields]
    if defined and defined != stored:
        raise SchemaMismatch(
            f"{table.path} has the columns {', '.join(map(' '.join, stored))}, and {statement.name[-1]} is defined with "
            + ", ".join(map(" ".join, defined)),
            hint="define the same columns, or none",
        )


def read_temporary(session: Session, statement: CreateTable, ref: TableRef) -> DataFrame:
    """Reads a temporary table in batch mode."""
    from paimon_nb.spark.scan.table_scan import read_table

    if is_connector(statement):
        from paimon_nb.session.query.connector_tables import source_frame, source_of

        return source_frame(session.spark, source_of(session, statement), statement, stream=False)
    return read_table(
        session.spark, target_table(session, statement), options=ref.options, filter=ref.filter, columns=ref.columns
    )
