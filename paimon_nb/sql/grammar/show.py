"""SHOW and DESCRIBE in both dialects."""

from __future__ import annotations

from paimon_nb.plan import Describe, Show, ShowCreate, Span, Statement
from paimon_nb.sql.cursor import Cursor
from paimon_nb.sql.grammar.partition import partition_spec

_LISTS = (
    "CATALOGS", "DATABASES", "SCHEMAS", "NAMESPACES", "TABLES", "VIEWS", "COLUMNS", "PARTITIONS", "TAGS", "BRANCHES",
    "PROCEDURES", "FUNCTIONS", "JOBS", "TBLPROPERTIES", "MODULES",
)  # fmt: skip


def show(cursor: Cursor, span: Span) -> Statement:
    text = cursor.text_of(span)
    cursor.need("SHOW")
    if cursor.take("CREATE"):
        what = cursor.take_one("TABLE", "VIEW", "CATALOG") or "TABLE"
        name = cursor.parts()
        cursor.take("AS", "SERDE")
        return ShowCreate(text, span, what.lower(), name)
    if cursor.take("CURRENT"):
        word = cursor.take_one("CATALOG", "DATABASE", "NAMESPACE", "SCHEMA")
        if word is None:
            cursor.fail("expected CATALOG or DATABASE", expected=["CATALOG", "DATABASE"])
        return Show(text, span, f"current {'catalog' if word == 'CATALOG' else 'database'}")
    if cursor.take("TABLE", "EXTENDED"):
        what = "table extended"
    else:
        cursor.take_one("USER", "SYSTEM", "ALL", "FULL")
        word = cursor.take_one(*_LISTS)
        if word is None:
            cursor.fail("SHOW what?", expected=[*_LISTS, "CREATE", "CURRENT"])
        what = word.lower()
    name: tuple[str, ...] = ()
    if cursor.take_one("IN", "FROM") or what in ("partitions", "tags", "branches", "tblproperties"):
        name = cursor.parts()
        if what == "columns" and cursor.take_one("IN", "FROM"):
            name = (*cursor.parts(), name[-1])
    partition = partition_spec(cursor) if cursor.take("PARTITION") else {}
    cursor.take("NOT")
    like = None
    if cursor.take_one("LIKE", "ILIKE") or cursor.peek().kind == "string":
        like = cursor.string("pattern")
    if what == "tblproperties" and cursor.sees("("):
        cursor.listed(cursor.option_key)
    return Show(text, span, what, name, like, partition)


def describe(cursor: Cursor, span: Span) -> Statement:
    text = cursor.text_of(span)
    cursor.need(cursor.peek().upper)
    if cursor.take_one("QUERY"):
        from paimon_nb.plan import Explain
        from paimon_nb.sql.parse import statement

        inner = statement(cursor.text, cursor.tokens[cursor.at :])
        cursor.at = len(cursor.tokens)
        return Explain(text, span, inner, "")
    what = "table"
    # `DESCRIBE table` may also name a table called so: a further name decides.
    if cursor.peek(1).is_name and (
        word := cursor.take_one("CATALOG", "DATABASE", "SCHEMA", "NAMESPACE", "TABLE", "FUNCTION")
    ):
        what = "database" if word in ("SCHEMA", "NAMESPACE") else word.lower()
    extended = bool(cursor.peek(1).is_name and cursor.take_one("EXTENDED", "FORMATTED"))
    name = cursor.parts()
    if cursor.take("PARTITION"):
        partition_spec(cursor)
    column = cursor.name("column") if cursor.peek().is_name else None
    return Describe(text, span, what, name, extended, column)
