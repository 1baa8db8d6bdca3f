"""USE, CALL, EXPLAIN, ANALYZE and the statements that are Spark's own."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import DatabaseNotFound, UnsupportedOperation
from paimon_nb.base.registry import did_you_mean
from paimon_nb.options import table as opt
from paimon_nb.plan import Analyze, Call, Constant, Explain, NothingToDo, Query, RowChange, SparkCommand, Use
from paimon_nb.session.core.result import Result, of_frame, rows, summary
from paimon_nb.session.query.run_query import known_to_spark, replaced_names

if TYPE_CHECKING:
    from paimon_nb.session.executor import StatementContext


def use(job: StatementContext, statement: Use) -> Result:
    """USE CATALOG c, USE db, USE c.db; Spark's bare USE x takes a database first, then a catalog."""
    session, parts = job.session, statement.name
    if statement.kind == "catalog" or (
        len(parts) == 1 and parts[0] in session.catalogs and parts[0] not in session.catalog.databases()
    ):
        session.use_catalog(session.catalog_named(parts[0]))
        return summary(f"using catalog {parts[0]}")
    catalog, database = session.find_database(parts)
    known = catalog.databases()
    if database not in known:
        raise DatabaseNotFound(
            f"no database {database!r} in catalog {catalog.name!r}",
            hint=did_you_mean(database, known) or f"known: {', '.join(known[:10])}",
            name=database,
        )
    session.current_catalog, session.current_database = catalog.name, database
    return summary(f"using {catalog.name}.{database}")


def call(job: StatementContext, statement: Call) -> Result:
    from paimon_nb.procedures import call_procedure
    from paimon_nb.session.statements.procedure_context import ProcedureContext

    context = ProcedureContext(job.session, statement.catalog)
    positional = tuple(_bound(job, v) for v in statement.positional)
    named = {k: _bound(job, v) for k, v in statement.named.items()}
    arrow = call_procedure(context, replace(statement, positional=positional, named=named))
    return Result("rows", arrow=arrow, notes=context.notes, snapshots=context.snapshots, job=context.job)


def _bound(job: StatementContext, value: object) -> object:
    """A procedure's argument with the values of its `:name` markers; a moment as the text that procedures read."""
    match value:
        case Constant(kind="parameter", text=name):
            given = job.params[name]
            return str(given) if isinstance(given, dt.date) else given
        case list():
            return [_bound(job, v) for v in value]
        case dict():
            return {k: _bound(job, v) for k, v in value.items()}
    return value


def explain(job: StatementContext, statement: Explain) -> Result:
    """Our part (snapshot, splits, files skipped and why) first, then Spark's plan."""
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.scan.explain import explain_relation
    from paimon_nb.sql import render

    session, inner = job.session, statement.statement
    if isinstance(inner, RowChange):
        return rows({"plan": ["\n\n".join(_change_plan(job, inner))]})
    query = inner if isinstance(inner, Query) else getattr(inner, "query", None)
    if query is None:
        return rows({"plan": [f"{type(inner).__name__}: changes metadata only; no job runs"]})
    lines: list[str] = []
    for ref in query.tables:
        if ref.function is None and session.exists(ref.parts) and session.find(ref.parts).name.system is None:
            table = session.table(ref.parts, ref.options)
            lines.append(explain_relation(session.spark, table, filter=ref.filter, columns=ref.columns))
    mode = (
        statement.mode.lower() if statement.mode.lower() in ("extended", "formatted", "cost", "codegen") else "simple"
    )
    with replaced_names(session, query.tables, job.text) as names, spark_errors(job.text, statement.span):
        frame = session.spark.sql(
            render(query, job.text, names, flink=session.flink_semantics), args=dict(job.params) or None
        )
        jvm = frame._jdf
        gateway: Any = session.spark._jvm
        mode_object = gateway.PythonSQLUtils.explainString(jvm.queryExecution(), mode)
    lines.append("== Spark ==\n" + str(mode_object).strip())
    return rows({"plan": ["\n\n".join(lines)]})


def _change_plan(job: StatementContext, change: RowChange) -> list[str]:
    """What an UPDATE, DELETE or MERGE reads, and how its rows get into the table. Nothing is written."""
    from paimon_nb.session.statements.dml_target import open_target
    from paimon_nb.spark.scan.explain import explain_relation

    session, target = job.session, open_target(job, change)
    how = (
        "rows with their keys are written, and merged with the stored ones"
        if target.table.store.has_keys
        else "rows are marked in deletion vectors, new ones written"
        if target.table.options.get(opt.DELETION_VECTORS_ENABLED)
        else "files with touched rows are written anew"
    )
    lines = [f"{type(change).__name__} of {target.table.name}: {how}"]
    filter = change.target.filter if change.target else None
    lines.append(explain_relation(None, target.table, filter=filter))
    for ref in change.tables:
        ours = ref.function is None and session.exists(ref.parts) and session.find(ref.parts).name.system is None
        if ours:
            source = session.table(ref.parts, ref.options)
            lines.append(explain_relation(None, source, filter=ref.filter, columns=ref.columns))
    return lines


def analyze(job: StatementContext, statement: Analyze) -> Result:
    table = job.session.table(statement.name)
    if statement.of_partition and statement.columns == ():
        raise UnsupportedOperation(
            f"{table.name}: Paimon keeps statistics of whole tables, not of partitions",
            hint="leave PARTITION out: ANALYZE TABLE ... COMPUTE STATISTICS reads the whole table",
        )
    snapshot = table.analyze(statement.columns)
    # Spark drops PARTITION when columns are named, before Paimon sees it; only the count of rows refuses it.
    ignored = " (PARTITION ignored: statistics are kept of whole tables)" if statement.of_partition else ""
    return summary(f"{table.name} analyzed{ignored}", snapshots=[(str(table.name), snapshot)] if snapshot else [])


def nothing_to_do(job: StatementContext, statement: NothingToDo) -> Result:
    """For a table of ours nothing; Spark's own tables and views are Spark's."""
    session, parts = job.session, statement.name
    ours = parts[-1] in session.views or parts[-1] in session.temporary or session.exists(parts)
    if not ours and known_to_spark(session, parts):
        return spark_command(job, SparkCommand(statement.text, statement.span))
    if not ours and statement.if_exists:
        return summary(f"no table {'.'.join(parts)}")
    if not ours:
        session.table(parts)  # raises with the nearest name
    return summary(f"nothing to do for {'.'.join(parts)}: {statement.why}")


def spark_command(job: StatementContext, statement: SparkCommand) -> Result:
    from paimon_nb.spark.errors import spark_errors

    with spark_errors(job.text, statement.span):
        return of_frame(job.session.spark.sql(statement.text))
