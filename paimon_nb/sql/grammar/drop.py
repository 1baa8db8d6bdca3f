"""DROP, UNDROP, TRUNCATE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.sql.grammar.functions import drop_function
from paimon_nb.sql.grammar.partition import partition_spec
from paimon_nb.statements import (
    DropCatalog,
    DropDatabase,
    DropTable,
    DropView,
    Span,
    SparkCommand,
    Statement,
    Truncate,
    Undrop,
)

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor


def drop(cursor: Cursor, span: Span) -> Statement:
    text = cursor.text_of(span)
    cursor.expect("DROP")
    temporary = cursor.take_one("TEMPORARY", "TEMP") is not None
    if not temporary and cursor.take("FUNCTION"):
        return drop_function(cursor, span)
    if cursor.take_one("FUNCTION", "SYSTEM"):
        cursor.at = len(cursor.tokens)
        return SparkCommand(text, span)
    what = cursor.take_one("CATALOG", "DATABASE", "SCHEMA", "NAMESPACE", "TABLE", "VIEW")
    if what is None:
        cursor.fail("DROP what?", expected=["CATALOG", "DATABASE", "TABLE", "VIEW"])
    if_exists = cursor.take("IF", "EXISTS")
    if what == "CATALOG":
        return DropCatalog(text, span, cursor.name("catalog"), if_exists)
    name = cursor.parts(what.lower())
    if what == "TABLE":
        return DropTable(text, span, name, if_exists, cursor.take("PURGE"), temporary)
    if what == "VIEW":
        return DropView(text, span, name, if_exists, temporary)
    cascade = cursor.take_one("CASCADE", "RESTRICT") == "CASCADE"
    return DropDatabase(text, span, name, if_exists, cascade)


def undrop(cursor: Cursor, span: Span) -> Statement:
    cursor.expect("UNDROP", "TABLE")
    return Undrop(cursor.text_of(span), span, cursor.parts("table"))


def truncate(cursor: Cursor, span: Span) -> Statement:
    cursor.expect("TRUNCATE", "TABLE")
    name = cursor.parts("table")
    partition = partition_spec(cursor) if cursor.take("PARTITION") else {}
    return Truncate(cursor.text_of(span), span, name, partition)
