"""USE, SET, RESET, EXPLAIN, ANALYZE, STOP JOB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.sql.grammar.partition import partition_spec
from paimon_nb.statements import Analyze, Explain, ResetOption, SetOption, Span, SparkCommand, StopJob, Use

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor

_EXPLAIN_MODES = ("EXTENDED", "FORMATTED", "COST", "CODEGEN", "ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN")


def use(cursor: Cursor, span: Span) -> Use:
    cursor.expect("USE")
    kind = "either"
    if cursor.peek(1).is_name:
        word = cursor.take_one("CATALOG", "DATABASE", "NAMESPACE", "SCHEMA")
        kind = "catalog" if word == "CATALOG" else "database" if word else kind
    return Use(cursor.text_of(span), span, cursor.parts("database"), kind)


def set_option(cursor: Cursor, span: Span) -> SetOption | SparkCommand:
    """SET | SET k | SET 'k' = 'v' | SET k = anything | SET TIME ZONE x | SET CATALOG c; SET VAR x = ... is Spark's."""
    text = cursor.text_of(span)
    cursor.expect("SET")
    if cursor.sees("VAR") or cursor.sees("VARIABLE"):
        cursor.at = len(cursor.tokens)
        return SparkCommand(text, span)
    if cursor.done:
        return SetOption(text, span)
    if cursor.take("TIME", "ZONE"):
        value = cursor.text[cursor.start : span.stop].strip("'\"")
        cursor.at = len(cursor.tokens)
        return SetOption(text, span, "spark.sql.session.timeZone", value)
    if cursor.peek().kind == "string":
        key = cursor.string()
    else:
        start = cursor.start
        while not cursor.done and not cursor.sees("="):
            cursor.next()
        key = cursor.text[start : cursor.stop].strip().strip("`")
    if cursor.done:
        return SetOption(text, span, key)
    cursor.expect("=")
    if cursor.done:
        cursor.fail("expected a value")
    if cursor.peek().kind == "string" and cursor.at == len(cursor.tokens) - 1:
        return SetOption(text, span, key, cursor.string())
    value = cursor.text[cursor.start : span.stop].strip()
    cursor.at = len(cursor.tokens)
    return SetOption(text, span, key, value)


def reset_option(cursor: Cursor, span: Span) -> ResetOption:
    cursor.expect("RESET")
    if cursor.done:
        return ResetOption(cursor.text_of(span), span)
    if cursor.peek().kind == "string":
        return ResetOption(cursor.text_of(span), span, cursor.string())
    key = cursor.text[cursor.start : span.stop].strip().strip("`")
    cursor.at = len(cursor.tokens)
    return ResetOption(cursor.text_of(span), span, key)


def explain(cursor: Cursor, span: Span) -> Explain:
    cursor.expect("EXPLAIN")
    modes = []
    cursor.take("PLAN", "FOR")
    while word := cursor.take_one(*_EXPLAIN_MODES):
        modes.append(word)
        cursor.take(",")
    cursor.take("FOR")
    if cursor.done:
        cursor.fail("EXPLAIN needs a statement")
    return Explain(cursor.text_of(span), span, cursor.statement(), " ".join(modes))


def analyze(cursor: Cursor, span: Span) -> Analyze:
    cursor.expect("ANALYZE")
    if cursor.sees("TABLES"):
        cursor.refuse("ANALYZE TABLES is not supported", "ANALYZE TABLE t COMPUTE STATISTICS")
    cursor.expect("TABLE")
    name = cursor.parts("table")
    partition = partition_spec(cursor) if cursor.take("PARTITION") else None
    cursor.expect("COMPUTE", "STATISTICS")
    columns: tuple[str, ...] | None = ()
    if cursor.take("FOR", "ALL", "COLUMNS"):
        columns = None
    elif cursor.take("FOR", "COLUMNS"):
        names = [*cursor.names()] if cursor.sees("(") else [cursor.name("column")]
        while cursor.take(","):
            names.append(cursor.name("column"))
        columns = tuple(names)
    start = cursor.peek()
    noscan = Span(start.start, start.stop) if cursor.take("NOSCAN") else None
    return Analyze(cursor.text_of(span), span, name, columns, partition, noscan)


def stop_job(cursor: Cursor, span: Span) -> StopJob:
    """STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]."""
    text = cursor.text_of(span)
    cursor.expect("STOP", "JOB")
    job = cursor.string("job id")
    ways = set()
    while cursor.take("WITH"):
        way = cursor.take_one("SAVEPOINT", "DRAIN")
        if way is None:
            cursor.fail("expected SAVEPOINT or DRAIN", expected=["SAVEPOINT", "DRAIN"])
        ways.add(way)
    return StopJob(text, span, job, "SAVEPOINT" in ways)
