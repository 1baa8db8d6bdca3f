"""USE, SET, RESET, CALL, EXPLAIN, ANALYZE and the statements that are Spark's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, DatabaseNotFound, UnsupportedOperation
from paimon_nb.base.redact import MASK, is_secret
from paimon_nb.base.registry import did_you_mean
from paimon_nb.plan import Analyze, Call, Explain, Query, ResetOption, SetOption, SparkCommand, Use
from paimon_nb.session.query import replaced_names
from paimon_nb.session.result import Result, rows, summary

if TYPE_CHECKING:
    from paimon_nb.session.run import Job

FLINK_KEYS = {
    "execution.runtime-mode": "batch or streaming",
    "execution.checkpointing.interval": "time between commits of a streaming INSERT",
    "sql-client.execution.result-mode": "how Flink's client shows results; tables here are always shown as tables",
    "parallelism.default": "tasks of a job",
    "table.local-time-zone": "the session's time zone",
}
"""Flink settings that mean something here; others are kept and noted as without effect."""


def use(job: Job, statement: Use) -> Result:
    """USE CATALOG c, USE db, USE c.db; Spark's bare USE x takes a database first, then a catalog."""
    session, parts = job.session, statement.name
    if statement.kind == "catalog" or (
        len(parts) == 1 and parts[0] in session.catalogs and parts[0] not in session.catalog.databases()
    ):
        session.current_catalog = session.catalog_named(parts[0]).name
        session.current_database = "default"
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


def set_option(job: Job, statement: SetOption) -> Result:
    """SET k = v. `paimon.*` and Flink's keys stay here; everything else is Spark's."""
    session, key, value = job.session, statement.key, statement.value
    if key is None:
        shown = sorted(session.settings.items())
        return rows({"key": [k for k, _ in shown], "value": [MASK if is_secret(k) else v for k, v in shown]})
    if value is None:
        current = session.settings.get(key)
        if current is None and session.spark_started:
            current = session.spark.conf.get(key, None)
        return rows({"key": [key], "value": [MASK if is_secret(key) and current else current or "<undefined>"]})
    notes: list[str] = []
    if key == "execution.runtime-mode" and value.lower() not in ("batch", "streaming", "automatic"):
        raise BadOptionValue(
            f"execution.runtime-mode cannot be {value!r}",
            hint="'batch' or 'streaming'",
            option=key,
            value=value,
        )
    if key == "execution.runtime-mode" and not session.speaks_flink:
        notes.append("from here on 7 / 2 is 3, as in Flink; RESET 'execution.runtime-mode' for Spark's 3.5")
    if key == "table.local-time-zone":
        session.spark.conf.set("spark.sql.session.timeZone", value)
    if key.startswith("spark."):
        from paimon_nb.engine.errors import spark_errors

        with spark_errors(job.text, statement.span):
            session.spark.conf.set(key, value)
    elif not key.startswith("paimon.") and key not in FLINK_KEYS:
        notes.append(f"{key} is kept, but nothing here uses it")
    session.settings[key] = value
    return Result("rows", arrow=rows({"key": [key], "value": [MASK if is_secret(key) else value]}).arrow, notes=notes)


def reset_option(job: Job, statement: ResetOption) -> Result:
    session = job.session
    if statement.key is None:
        session.settings.clear()
        return summary("all settings reset")
    had = session.settings.pop(statement.key, None) is not None
    if statement.key.startswith("spark.") and session.spark_started:
        session.spark.conf.unset(statement.key)
        had = True
    return summary(f"{statement.key} reset" if had else f"{statement.key} was not set")


def call(job: Job, statement: Call) -> Result:
    from paimon_nb.procedures import call_procedure
    from paimon_nb.session.context import ProcedureContext

    context = ProcedureContext(job.session, statement.catalog)
    arrow = call_procedure(context, statement)
    return Result("rows", arrow=arrow, notes=context.notes, snapshots=context.snapshots)


def explain(job: Job, statement: Explain) -> Result:
    """Our part (snapshot, splits, files skipped and why) first, then Spark's plan."""
    from paimon_nb.engine.errors import spark_errors
    from paimon_nb.engine.explain import explain_relation
    from paimon_nb.sql import render

    session, inner = job.session, statement.statement
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
        frame = session.spark.sql(render(query, job.text, names), args=dict(job.params) or None)
        jvm = frame._jdf
        mode_object = session.spark._jvm.PythonSQLUtils.explainString(jvm.queryExecution(), mode)
    lines.append("== Spark ==\n" + str(mode_object).strip())
    return rows({"plan": ["\n\n".join(lines)]})


def analyze(job: Job, statement: Analyze) -> Result:
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


def spark_command(job: Job, statement: SparkCommand) -> Result:
    from paimon_nb.engine.errors import spark_errors

    with spark_errors(job.text, statement.span):
        return Result("rows", frame=job.session.spark.sql(statement.text))
