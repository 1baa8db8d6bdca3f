"""Runs statements. `HANDLERS` lists every statement that a session supports."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError, SqlAnalysisError, SqlSyntaxError
from paimon_nb.base.redact import redact_text
from paimon_nb.base.scalars import to_python
from paimon_nb.session.core.default_catalog import CATALOG, without_default_catalog
from paimon_nb.session.core.result import Result, message_result
from paimon_nb.session.core.statement_context import StatementContext
from paimon_nb.session.execute import (
    admin,
    copy_into,
    ddl,
    functions,
    immediate,
    insert,
    merge,
    settings,
    show,
    update_delete,
)
from paimon_nb.session.execute.engines import Question, answer
from paimon_nb.session.query.error_location import locate_more_exactly, span_named_by_error
from paimon_nb.session.query.run_query import with_position
from paimon_nb.sql import parse
from paimon_nb.statements import (
    AlterDatabase,
    AlterMaterializedTable,
    AlterTable,
    AlterView,
    Analyze,
    Call,
    CopyIntoLocation,
    CopyIntoTable,
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateMaterializedTable,
    CreateTable,
    CreateView,
    Delete,
    Describe,
    DropCatalog,
    DropDatabase,
    DropFunction,
    DropMaterializedTable,
    DropTable,
    DropView,
    ExecuteImmediate,
    Explain,
    Insert,
    Merge,
    NothingToDo,
    Query,
    ResetOption,
    SetOption,
    Show,
    ShowCreate,
    SparkCommand,
    Statement,
    StatementSet,
    StopJob,
    Summarize,
    Truncate,
    Undrop,
    Update,
    Use,
)
from paimon_nb.table.read.plan.shared_plans import shared_plans
from paimon_nb.table.write.publish.changes import recorded_as

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from paimon_nb.session.core.session import Session


def _run_query_statement(context: StatementContext, statement: Query) -> Result:
    from paimon_nb.session.streaming.planner import wants_stream, with_time_travel_as_start

    statement = with_time_travel_as_start(context.session, statement)
    if wants_stream(context.session, statement, context.text):
        from paimon_nb.session.streaming.statements import select

        return select(context, statement)
    question = Question(context.session, statement, context.text, context.params, context.displayed)
    with shared_plans():
        return answer(question)


def _stop_job(context: StatementContext, statement: StopJob) -> Result:
    from paimon_nb.session.streaming.statements import stop_job

    return stop_job(context, statement)


def _call_procedure(context: StatementContext, statement: Call) -> Result:
    return admin.call(context, statement, run_statement)


def _summarize(context: StatementContext, statement: Summarize) -> Result:
    return show.summarize(context, statement, run_statement)


def _create_materialized_table(context: StatementContext, statement: CreateMaterializedTable) -> Result:
    from paimon_nb.session.materialized.create import create

    return create(context, statement)


def _alter_materialized_table(context: StatementContext, statement: AlterMaterializedTable) -> Result:
    from paimon_nb.session.materialized.statements import alter

    return alter(context, statement)


def _drop_materialized_table(context: StatementContext, statement: DropMaterializedTable) -> Result:
    from paimon_nb.session.materialized.statements import drop

    return drop(context, statement)


def _explain(context: StatementContext, statement: Explain) -> Result:
    if not isinstance(statement.statement, CreateMaterializedTable | AlterMaterializedTable):
        return admin.explain(context, statement)
    from paimon_nb.session.materialized.create import explain

    return explain(context, statement.statement)


def _show_create(context: StatementContext, statement: ShowCreate) -> Result:
    if statement.what != "materialized table":
        return show.show_create(context, statement)
    from paimon_nb.session.materialized.statements import show_create

    return show_create(context, statement)


def _execute_immediate(context: StatementContext, statement: ExecuteImmediate) -> Result:
    return immediate.execute_immediate(context, statement, run_statement)


HANDLERS: Mapping[type[Statement], Callable[..., Result]] = {
    Query: _run_query_statement,
    CreateCatalog: ddl.create_catalog,
    DropCatalog: ddl.drop_catalog,
    CreateDatabase: ddl.create_database,
    AlterDatabase: ddl.alter_database,
    DropDatabase: ddl.drop_database,
    CreateTable: ddl.create_table,
    DropTable: ddl.drop_table,
    Undrop: ddl.undrop,
    AlterTable: ddl.alter_table,
    AlterView: ddl.alter_view,
    CreateView: ddl.create_view,
    DropView: ddl.drop_view,
    CreateFunction: functions.create_function,
    DropFunction: functions.drop_function,
    Truncate: update_delete.truncate,
    Insert: insert.insert,
    StatementSet: insert.statement_set,
    Update: update_delete.update,
    Delete: update_delete.delete,
    Merge: merge.merge,
    CopyIntoTable: copy_into.copy_into_table,
    CopyIntoLocation: copy_into.copy_into_location,
    Call: _call_procedure,
    StopJob: _stop_job,
    Use: admin.use,
    SetOption: settings.set_option,
    ResetOption: settings.reset_option,
    Explain: _explain,
    ExecuteImmediate: _execute_immediate,
    Analyze: admin.analyze,
    SparkCommand: admin.spark_command,
    NothingToDo: admin.run_without_effect,
    Show: show.show,
    ShowCreate: _show_create,
    CreateMaterializedTable: _create_materialized_table,
    AlterMaterializedTable: _alter_materialized_table,
    DropMaterializedTable: _drop_materialized_table,
    Describe: show.describe,
    Summarize: _summarize,
}


def _operation_of(statement: Statement) -> str | None:
    """What Paimon records in the snapshots of a statement. Source: Paimon 2.1 `Snapshot.Operation`."""
    match statement:
        case Insert():
            return "OVERWRITE" if statement.overwrite else "WRITE"
        case CopyIntoTable():
            return "WRITE"
        case Update():
            return "UPDATE"
        case Delete():
            return "DELETE"
        case Merge():
            return "MERGE"
        case CreateTable(query=Query()):
            replaces = (
                "REPLACE_" if statement.only_replace else "CREATE_OR_REPLACE_" if statement.or_replace else "CREATE_"
            )
            return f"{replaces}TABLE_AS_SELECT"
    return None


def run_text(session: Session, text: str, params: Mapping[str, Any], *, displayed: bool = False) -> Iterator[Result]:
    """Run the statements of a text one by one and yield their results.

    Args:
        params: values of `:name` markers.
        displayed: the rows of queries are only shown; an embedded engine may compute them.

    Raises:
        SqlSyntaxError: the text has no statement, or an invalid one.
        SqlAnalysisError: a marker has no value.
        PaimonError: see `run_statement`.
    """
    statements = parse(text)
    if not statements and text.strip():
        yield message_result("the text has only comments; nothing to run")
        return
    if not statements:
        raise SqlSyntaxError("the text contains no statement", hint="for example SHOW TABLES", sql=text)
    markers = {name for s in statements for name in getattr(s, "parameters", ())}
    missing = sorted(markers - params.keys())
    if missing:
        raise SqlAnalysisError(
            f":{missing[0]} has no value",
            hint=f"in a cell, define a Python variable {missing[0]}; in Python, pass sql(..., {missing[0]}=...)",
            sql=text,
            missing=missing,
        )
    values = {name: to_python(value) for name, value in params.items()}
    for statement in statements:
        yield run_statement(session, statement, text, values, displayed=displayed)


def run_statement(
    session: Session, statement: Statement, text: str, params: Mapping[str, Any], *, displayed: bool = False
) -> Result:
    """Run one statement.

    Args:
        statement: an element of `sql.parse(text)`.
        text: the whole text.
        params: values of `:name` markers.

    Raises:
        PaimonError: the facts `sql`, `start` and `stop` locate the error in the text.
    """
    if CATALOG in text:
        statement = without_default_catalog(session, statement)
    session.notes.clear()
    session.random_sources.clear()
    try:
        operation = _operation_of(statement)
        with recorded_as(operation) if operation else nullcontext():
            result = HANDLERS[type(statement)](StatementContext(session, text, params, displayed), statement)
        result.notes += [note for note in session.notes if note not in result.notes]
        if result.job is not None:
            result.job.statement = redact_text(statement.text.strip())
        return result
    except PaimonError as error:
        if "start" not in error.facts:
            with_position(error, text, span_named_by_error(error, text, statement.span))
        locate_more_exactly(error, text, statement.span)
        raise error from error.__cause__
