"""CREATE FUNCTION and DROP FUNCTION, as far as a catalog may store the function; Spark runs all other forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql.grammar.columns import parse_column_definition, parse_sql_type, with_spark_semantics
from paimon_nb.statements import ColumnDef, CreateFunction, DropFunction, Span, SparkCommand, Statement

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor


def create_function(cursor: Cursor, span: Span, or_replace: bool) -> Statement:
    """After CREATE [OR REPLACE] FUNCTION."""
    start = cursor.at
    try:
        return _create_sql_function(cursor, span, or_replace)
    except SqlSyntaxError:  # a form that only Spark knows
        cursor.at = start
    text = cursor.text_of(span)
    cursor.at = len(cursor.tokens)
    return SparkCommand(text, span)


def _create_sql_function(cursor: Cursor, span: Span, or_replace: bool) -> CreateFunction:
    if_not_exists = cursor.take("IF", "NOT", "EXISTS")
    name = cursor.parts("function")
    if cursor.take("AS"):
        cursor.string("class")
        cursor.at = len(cursor.tokens)  # USING JAR ...
        return CreateFunction(
            cursor.text_of(span), span, name, or_replace=or_replace, if_not_exists=if_not_exists, is_java=True
        )
    columns = cursor.listed(lambda: parse_column_definition(cursor))
    parameters = tuple(ColumnDef(c.path[0], with_spark_semantics(c.type), c.comment, c.default) for c in columns)
    cursor.expect("RETURNS")
    returns = with_spark_semantics(parse_sql_type(cursor))
    comment, deterministic = None, True
    while not cursor.take("RETURN"):
        if cursor.take("COMMENT"):
            comment = cursor.string()
        elif cursor.take("NOT", "DETERMINISTIC"):
            deterministic = False
        elif not (
            cursor.take("DETERMINISTIC")
            or cursor.take("LANGUAGE", "SQL")
            or cursor.take("CONTAINS", "SQL")
            or cursor.take("READS", "SQL", "DATA")
        ):
            cursor.fail("expected RETURN", expected=["RETURN", "COMMENT", "DETERMINISTIC"])
    body = cursor.text_of(Span(cursor.start, span.stop)).strip()
    cursor.at = len(cursor.tokens)
    return CreateFunction(
        cursor.text_of(span), span, name, parameters, returns, body, or_replace, if_not_exists, comment, deterministic
    )


def drop_function(cursor: Cursor, span: Span) -> DropFunction:
    """After DROP FUNCTION."""
    if_exists = cursor.take("IF", "EXISTS")
    return DropFunction(cursor.text_of(span), span, cursor.parts("function"), if_exists)
