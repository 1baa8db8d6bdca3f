"""Spark statements without effect on Paimon tables: REFRESH, CACHE, MSCK; and COMMENT ON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.sql.grammar.query import query_of
from paimon_nb.statements import (
    AlterColumn,
    AlterTable,
    CreateView,
    NothingToDo,
    SetComment,
    Span,
    SparkCommand,
    Statement,
)

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor

_WHY = {
    "REFRESH": "each query reads the latest snapshot",
    "CACHE": "read files are cached automatically",
    "UNCACHE": "read files are cached automatically",
    "MSCK": "partitions are in the snapshot, so there is nothing to repair",
}


def about_table(cursor: Cursor, span: Span) -> Statement:
    """REFRESH [TABLE] t, [UN]CACHE [LAZY] TABLE t, [MSCK] REPAIR TABLE t [ADD | DROP | SYNC PARTITIONS]; other forms go to Spark.

    CACHE TABLE v AS SELECT ... creates a view, which is evaluated on each use, because tables change.
    """
    text, word = cursor.text_of(span), cursor.next().upper
    word = "MSCK" if word == "REPAIR" else word
    cursor.take_one("LAZY", "REPAIR")
    has_table = cursor.take("TABLE") or (
        word == "REFRESH" and cursor.peek().is_name and cursor.peek().upper != "FUNCTION"
    )
    if not has_table:
        cursor.at = len(cursor.tokens)
        return SparkCommand(text, span)
    if_exists = cursor.take("IF", "EXISTS")
    name = cursor.parts("table")
    if word == "CACHE":
        if cursor.take("OPTIONS"):
            cursor.options()
        if cursor.take("AS") or cursor.peek().upper in ("SELECT", "WITH", "VALUES", "FROM", "TABLE"):
            query = query_of(cursor, Span(cursor.start, span.stop))
            return CreateView(text, span, name, query, temporary=True)
    repairs = (cursor.take_one("ADD", "DROP", "SYNC") or "ADD") if word == "MSCK" else ""
    cursor.at = len(cursor.tokens)
    return NothingToDo(text, span, name, _WHY[word], if_exists, repairs)


def comment_on(cursor: Cursor, span: Span) -> Statement:
    """COMMENT ON TABLE t IS 'text' | NULL; COMMENT ON COLUMN t.c IS ..."""
    text = cursor.text_of(span)
    cursor.expect("COMMENT", "ON")
    what = cursor.take_one("TABLE", "COLUMN", "DATABASE", "SCHEMA", "NAMESPACE")
    if what not in ("TABLE", "COLUMN"):
        if what is None:
            cursor.fail("COMMENT ON what?", expected=["TABLE", "COLUMN"])
        cursor.refuse("a filesystem catalog cannot store a database comment", "COMMENT ON TABLE or COLUMN")
    name = cursor.parts(what.lower())
    cursor.expect("IS")
    comment = None if cursor.take("NULL") else cursor.string("comment")
    if what == "TABLE":
        return AlterTable(text, span, name, (SetComment(comment),))
    if len(name) < 2:
        cursor.refuse(f"column {name[0]!r} needs its table's name", "COMMENT ON COLUMN t.c IS '...'")
    return AlterTable(text, span, name[:-1], (AlterColumn((name[-1],), comment=comment or ""),))
