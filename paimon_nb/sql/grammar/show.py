"""SHOW and DESCRIBE in both dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.sql.file_functions import FILE_FUNCTIONS
from paimon_nb.sql.grammar.partition import partition_spec
from paimon_nb.sql.table_references import find_source
from paimon_nb.statements import Describe, Show, ShowCreate, Span, SparkCommand, Statement, Summarize

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor

_QUERIES = ("SELECT", "WITH", "VALUES", "FROM")
_DELTA_LAKE = {
    "DETAIL": "DESCRIBE EXTENDED {0}, or SELECT * FROM `{0}$options`",
    "HISTORY": "SELECT * FROM `{0}$snapshots`",
}
_LISTS = (
    "CATALOGS", "DATABASES", "SCHEMAS", "NAMESPACES", "TABLES", "VIEWS", "COLUMNS", "PARTITIONS", "TAGS", "BRANCHES",
    "PROCEDURES", "FUNCTIONS", "JOBS", "TBLPROPERTIES", "MODULES",
)  # fmt: skip


def show(cursor: Cursor, span: Span) -> Statement:
    text = cursor.text_of(span)
    cursor.expect("SHOW")
    if cursor.take("CREATE"):
        is_materialized = cursor.peek(1).upper in ("TABLE", "VIEW") and cursor.take("MATERIALIZED")
        what = cursor.take_one("TABLE", "VIEW", "CATALOG", "DATABASE", "SCHEMA", "NAMESPACE") or "TABLE"
        what = "MATERIALIZED TABLE" if is_materialized else what
        what = "DATABASE" if what in ("SCHEMA", "NAMESPACE") else what
        name: tuple[str, ...] = cursor.parts()
        cursor.take("AS", "SERDE")
        return ShowCreate(text, span, what.lower(), name)
    if cursor.take("CURRENT"):
        word = cursor.take_one("CATALOG", "DATABASE", "NAMESPACE", "SCHEMA")
        if word is None:
            cursor.fail("expected CATALOG or DATABASE", expected=["CATALOG", "DATABASE"])
        return Show(text, span, f"current {'catalog' if word == 'CATALOG' else 'database'}")
    if cursor.take("TABLE", "EXTENDED"):
        what = "table extended"
    elif cursor.take("MATERIALIZED", "TABLES") or cursor.take("MATERIALIZED", "VIEWS"):
        what = "materialized tables"
    else:
        cursor.take_one("USER", "SYSTEM", "ALL", "FULL")
        word = cursor.take_one(*_LISTS)
        if word is None:
            cursor.fail("SHOW needs an object such as TABLES", expected=[*_LISTS, "CREATE", "CURRENT"])
        what = word.lower()
    name = ()
    if cursor.take_one("IN", "FROM") or what in ("partitions", "tags", "branches", "tblproperties"):
        name = cursor.parts()
        if what == "columns" and cursor.take_one("IN", "FROM"):
            name = (*cursor.parts(), name[-1])
    partition = partition_spec(cursor) if cursor.take("PARTITION") else {}
    negated = cursor.take("NOT")
    like = key = None
    if cursor.take_one("LIKE", "ILIKE") or negated or cursor.peek().kind == "string":
        like = cursor.string("pattern")
    if cursor.take("PARTITION"):  # Spark: SHOW TABLE EXTENDED LIKE 't' PARTITION (...)
        partition = partition_spec(cursor)
    if what == "tblproperties" and cursor.take("("):
        key = cursor.option_key()
        cursor.expect(")")
    return Show(text, span, what, name, like, partition, negated, key)


def summarize(cursor: Cursor, span: Span) -> Statement:
    text = cursor.text_of(span)
    cursor.expect("SUMMARIZE")
    rest = cursor.text_of(Span(cursor.start, span.stop))
    if cursor.peek().upper not in _QUERIES:
        find_source(cursor, cursor.tokens[cursor.at :])
        rest = f"SELECT * FROM {rest}"
    cursor.at = len(cursor.tokens)
    return Summarize(text, span, rest)


def describe(cursor: Cursor, span: Span) -> Statement:
    text = cursor.text_of(span)
    cursor.expect(cursor.peek().upper)
    is_query = cursor.sees("QUERY") and (cursor.peek(1).upper in _QUERIES or cursor.peek(1).upper == "TABLE")
    if cursor.peek().upper in _QUERIES or is_query:
        cursor.take("QUERY")
        from paimon_nb.statements import Explain

        return Explain(text, span, cursor.statement(), "QUERY")
    if cursor.sees("FUNCTION") and cursor.peek(1).kind != "end":
        cursor.take("FUNCTION")
        extended = bool(cursor.peek(1).is_name and cursor.take("EXTENDED"))
        if cursor.peek().is_name:
            return Describe(text, span, "function", cursor.parts("function"), extended)
        cursor.at = len(cursor.tokens)
        return SparkCommand(text, span)
    if cursor.peek(1).is_name and cursor.peek().upper in _DELTA_LAKE:
        what = cursor.next().upper
        cursor.refuse(f"DESCRIBE {what} is a Delta Lake statement", _DELTA_LAKE[what].format(".".join(cursor.parts())))
    what = "table"
    # In `DESCRIBE table`, `table` may be the table's name: a second name decides.
    if cursor.peek(1).is_name and (
        word := cursor.take_one("CATALOG", "DATABASE", "SCHEMA", "NAMESPACE", "TABLE", "PROCEDURE")
    ):
        what = "database" if word in ("SCHEMA", "NAMESPACE") else word.lower()
    extended = bool(cursor.peek(1).is_name and cursor.take_one("EXTENDED", "FORMATTED"))
    if cursor.peek().kind == "string" or (cursor.peek().text.lower() in FILE_FUNCTIONS and cursor.peek(1).text == "("):
        found, _ = find_source(cursor, cursor.tokens[cursor.at :])
        cursor.at = len(cursor.tokens)
        return Describe(text, span, "file", file=found.tables[0])
    name = cursor.parts()
    partition = partition_spec(cursor) if cursor.take("PARTITION") else {}
    column = cursor.name("column") if cursor.peek().is_name else None
    return Describe(text, span, what, name, extended, column, partition=partition)
