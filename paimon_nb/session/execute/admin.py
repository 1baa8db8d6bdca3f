"""USE, CALL, EXPLAIN, ANALYZE, and statements that Spark runs."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import DatabaseNotFound, SqlAnalysisError, UnsupportedOperation
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.api import SYSTEM_DATABASE
from paimon_nb.options import table as opt
from paimon_nb.options.read import FORMAT_TABLE_REPAIR_COLLECT_STATISTICS
from paimon_nb.session.core.result import Result, message_result, result_of_frame, rows_result
from paimon_nb.session.query.partition_predicates import partition_values
from paimon_nb.session.query.run_query import known_to_spark, temporary_names_of_tables
from paimon_nb.session.query.untrusted_text import analyse, must_be_checked
from paimon_nb.spark.runtime.jvm_bridge import explain_text
from paimon_nb.statements import (
    Analyze,
    Call,
    Constant,
    CopyIntoLocation,
    CopyIntoTable,
    Explain,
    Insert,
    NothingToDo,
    Query,
    RowChange,
    SparkCommand,
    Use,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.session.execute.engines import Fact
    from paimon_nb.session.execute.procedure_context import RunStatement
    from paimon_nb.table.tables.table import Table


def use(context: StatementContext, statement: Use) -> Result:
    """USE CATALOG c, USE db, USE c.db. Spark's USE x means a database, else a catalog."""
    session, parts = context.session, statement.name
    if statement.kind == "catalog" or (
        len(parts) == 1 and parts[0] not in session.catalog.databases() and session.has_catalog(parts[0])
    ):
        session.use_catalog(session.catalog_named(parts[0]))
        return message_result(f"using catalog {parts[0]}")
    catalog, database = session.find_database(parts)
    known = catalog.databases()
    if database not in (*known, SYSTEM_DATABASE) and not catalog.has_database(database):
        raise DatabaseNotFound(
            f"no database {database!r} in catalog {catalog.name!r}",
            hint=did_you_mean(database, known) or f"known: {', '.join(known[:10])}",
            name=database,
        )
    session.current_catalog, session.current_database = catalog.name, database
    return message_result(f"using {catalog.name}.{database}")


def call(context: StatementContext, statement: Call, run_statement: RunStatement) -> Result:
    """CALL. `run_statement`: runs the SQL of procedures."""
    from paimon_nb.procedures import call_procedure
    from paimon_nb.session.execute.procedure_context import ProcedureContext

    procedure_context = ProcedureContext(context.session, run_statement, statement.catalog)
    positional = tuple(_bind_parameters(context, v) for v in statement.positional)
    named = {k: _bind_parameters(context, v) for k, v in statement.named.items()}
    bound = replace(statement, positional=positional, named=named)
    arrow = call_procedure(procedure_context, bound, flink=context.session.flink_semantics)
    return Result(
        "rows",
        arrow=arrow,
        notes=procedure_context.notes,
        snapshots=procedure_context.snapshots,
        job=procedure_context.job,
    )


def _bind_parameters(context: StatementContext, value: object) -> object:
    """A procedure's argument with the values of its `:name` markers; dates and timestamps as text."""
    match value:
        case Constant(kind="parameter", text=name):
            parameter = context.params[name]
            return str(parameter) if isinstance(parameter, dt.date) else parameter
        case list():
            return [_bind_parameters(context, v) for v in value]
        case dict():
            return {k: _bind_parameters(context, v) for k, v in value.items()}
    return value


def _described_query(context: StatementContext, query: Query) -> Result:
    """DESCRIBE QUERY: the names and types of a query's columns, as Spark shows them."""
    import pyarrow as pa

    from paimon_nb.session.query.run_query import run_query
    from paimon_nb.spark.errors import spark_errors

    with spark_errors(context.text, query.span):
        fields = run_query(context.session, query, context.text, context.params).schema.fields
    comments = [f.metadata.get("comment") for f in fields]
    types = [f.dataType.simpleString() for f in fields]
    columns = {"col_name": [f.name for f in fields], "data_type": types, "comment": pa.array(comments, pa.string())}
    return rows_result(columns)


def explain(context: StatementContext, statement: Explain) -> Result:
    """The scan of each Paimon table (snapshot, splits, skipped files), then what each engine says to the query.

    Spark's plan follows if Spark must run the query, and it has started or the plan is a detailed one.
    """
    from paimon_nb.session.execute.engines import Question, facts_of
    from paimon_nb.session.execute.known_errors import raise_known_error
    from paimon_nb.session.query.searches import explain_search, is_search
    from paimon_nb.spark.scan.explain import explain_relation
    from paimon_nb.sql import source_query

    session, explained = context.session, statement.statement
    if isinstance(explained, RowChange):
        return rows_result({"plan": ["\n\n".join(_change_plan(context, explained))]})
    if isinstance(explained, CopyIntoTable):
        name = ".".join(explained.target.parts)
        return rows_result({"plan": [f"Spark reads the files of {explained.path}; their rows are appended to {name}"]})
    if isinstance(explained, CopyIntoLocation) and explained.table is not None:
        return rows_result(
            {"plan": [f"Spark writes the rows of {'.'.join(explained.table.parts)} to {explained.path}"]}
        )
    query = explained if isinstance(explained, Query) else getattr(explained, "query", None)
    if statement.mode == "QUERY" and query is not None:
        return _described_query(context, query)
    if isinstance(explained, Insert):
        query = source_query(context.text, explained)
    if query is None:
        return rows_result({"plan": [f"{type(explained).__name__}: changes metadata only; no job runs"]})
    lines: list[str] = []
    for ref in query.tables:
        if ref.function is not None and ref.function.outer is None and is_search(ref.function):
            lines.append(explain_search(session, ref))
        elif (
            ref.function is None
            and not ref.file
            and session.exists(ref.parts)
            and session.find(ref.parts).name.system is None
        ):
            table = session.table(ref.parts, ref.options)
            lines.append(explain_relation(table, filter=ref.filter, columns=ref.columns))
    answered_here = False
    if isinstance(explained, Query):
        question = Question(session, query, context.text, context.params, displayed=True)
        facts = list(facts_of(question))
        answered_here = facts[-1].engine != "spark"
        lines.append(_engine_lines(facts))
        if not answered_here:
            raise_known_error(session, context.text, query)
    mode = statement.mode.lower()
    in_detail = mode in ("extended", "formatted", "cost", "codegen")
    if not answered_here and (in_detail or session.spark_started or must_be_checked(session)):
        lines.append("== Spark ==\n" + _spark_plan(context, statement, query, mode if in_detail else "simple"))
    elif not answered_here:
        lines.append("== Spark ==\nnot started: EXPLAIN EXTENDED starts it and shows its plan")
    return rows_result({"plan": ["\n\n".join(lines)]})


def _engine_lines(facts: Sequence[Fact]) -> str:
    """The engines that were tried, a line each: which one answers and how, and why the others cannot."""
    width = max(len(fact.engine) for fact in facts)
    tried = [f"{f.engine:<{width}}  {'answers' if f.answers else 'cannot '}  {f.why}" for f in facts]
    plan = ["", "== Plan ==", *facts[-1].plan] if facts[-1].plan else []
    return "\n".join(["== Engine ==", *tried, *plan])


def _spark_plan(context: StatementContext, statement: Explain, query: Query, mode: str) -> str:
    """Spark's plan of a query. Starts Spark."""
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.sql import render

    session = context.session
    with (
        temporary_names_of_tables(session, query.tables, context.text) as names,
        spark_errors(context.text, statement.span),
    ):
        frame = analyse(session, render(query, context.text, names, flink=session.flink_semantics), context.params)
        return explain_text(frame, mode)


def _change_plan(context: StatementContext, change: RowChange) -> list[str]:
    """The plan of an UPDATE, DELETE or MERGE: what it reads and how it writes. Writes nothing."""
    from paimon_nb.session.execute.dml_target import open_target
    from paimon_nb.spark.scan.explain import explain_relation

    session, target = context.session, open_target(context, change)
    strategy = (
        "rows with their keys are written, and merged with the stored ones"
        if target.table.store.has_keys and not target.deletes_from_files
        else "rows are marked in deletion vectors, new ones written"
        if target.table.options.get(opt.DELETION_VECTORS_ENABLED)
        else "files with changed rows are rewritten"
    )
    lines = [f"{type(change).__name__} of {target.table.name}: {strategy}"]
    filter = change.target.filter if change.target else None
    lines.append(explain_relation(target.table, filter=filter))
    for ref in change.tables:
        is_paimon = ref.function is None and session.exists(ref.parts) and session.find(ref.parts).name.system is None
        if is_paimon:
            source = session.table(ref.parts, ref.options)
            lines.append(explain_relation(source, filter=ref.filter, columns=ref.columns))
    return lines


def analyze(context: StatementContext, statement: Analyze) -> Result:
    table = context.session.table(statement.name)
    if table.store.partitions is not None:
        return _analyzed_partitions(context, statement, table)
    if statement.noscan is not None:
        raise SqlAnalysisError(
            "NOSCAN has no effect: a Paimon table's size and row count are in its manifests",
            hint="leave NOSCAN out",
            sql=statement.text,
        )
    if table.store.is_format_table:
        raise UnsupportedOperation(
            f"{table.name} is a format table: it has no snapshot that could keep statistics",
            hint="the files of Parquet and ORC have their own, which queries use; CREATE TABLE ... AS SELECT makes a Paimon table",
        )
    if statement.partition is not None and statement.columns == ():
        raise UnsupportedOperation(
            f"{table.name}: Paimon keeps statistics of whole tables, not of partitions",
            hint="leave PARTITION out: ANALYZE TABLE ... COMPUTE STATISTICS reads the whole table",
        )
    snapshot = table.maintain.analyze(statement.columns, spark=not context.session.flink_semantics)
    # With FOR COLUMNS, Spark drops PARTITION before Paimon sees it; only the plain row count is rejected.
    ignored = " (PARTITION ignored: statistics are kept of whole tables)" if statement.partition is not None else ""
    return message_result(
        f"{table.name} analyzed{ignored}", snapshots=[(str(table.name), snapshot)] if snapshot else []
    )


def _analyzed_partitions(context: StatementContext, statement: Analyze, table: Table) -> Result:
    """ANALYZE of a format table whose partitions a catalog registers: what it knows of them."""
    from paimon_nb.table.tables.inspect.formatting import count_text
    from paimon_nb.table.write.commit.partition_register import analyze_partitions

    if statement.columns != ():
        raise UnsupportedOperation(
            f"{table.name} is a format table: its catalog keeps no statistics of columns",
            hint="ANALYZE TABLE ... COMPUTE STATISTICS, without FOR COLUMNS",
        )
    clause = statement.partition or {}
    keys, flink = table.partition_keys, context.session.flink_semantics
    spec = partition_values({k: v for k, v in clause.items() if v is not None}, keys, flink=flink)
    unbound = partition_values({k: "NULL" for k, v in clause.items() if v is None}, keys)
    count = analyze_partitions(table.store, spec, unbound, rows=statement.noscan is None)
    return message_result(f"{table.name} analyzed: {count_text(count, 'partition')}")


def _repaired_partitions(table: Table, repairs: str) -> Result:
    """MSCK REPAIR of a format table whose partitions a catalog registers."""
    from paimon_nb.table.write.commit.partition_register import repair_partitions

    measure = bool(table.store.options.get(FORMAT_TABLE_REPAIR_COLLECT_STATISTICS))
    added, dropped = repair_partitions(
        table.store, add=repairs != "DROP", drop=repairs in ("DROP", "SYNC"), measure=measure
    )
    return message_result(f"{table.name}: {added:,} registered, {dropped:,} dropped")


def _checked_partitions(table: Table) -> Result:
    """MSCK REPAIR of a format table, whose partitions are its directories. Raises ReadError: a directory is not a partition."""
    from paimon_nb.table.read.format_table import find_partitions

    found = find_partitions(table.store) if table.store.schema.partition_keys else []
    count = (
        f"{len(found):,} partition{'s' * (len(found) != 1)}" if table.store.schema.partition_keys else "no partitions"
    )
    return message_result(f"{table.name} has {count}: its directories, so there is nothing to register")


def run_without_effect(context: StatementContext, statement: NothingToDo) -> Result:
    """Does nothing for a Paimon table; Spark runs the statement for its own tables and views."""
    session, parts = context.session, statement.name
    is_paimon = parts[-1] in session.views or parts[-1] in session.temporary or session.exists(parts)
    if not is_paimon and known_to_spark(session, parts):
        return spark_command(context, SparkCommand(statement.text, statement.span))
    if not is_paimon and statement.if_exists:
        return message_result(f"no table {'.'.join(parts)}")
    if not is_paimon:
        session.table(parts)  # raises with the nearest name
    if statement.repairs and session.exists(parts):
        table = session.table(parts)
        if table.store.partitions is not None:
            return _repaired_partitions(table, statement.repairs)
        if table.store.is_format_table:
            return _checked_partitions(table)
    return message_result(f"nothing to do for {'.'.join(parts)}: {statement.why}")


def spark_command(context: StatementContext, statement: SparkCommand) -> Result:
    from paimon_nb.spark.errors import spark_errors

    with spark_errors(context.text, statement.span):
        return result_of_frame(context.session.spark.sql(statement.text))
