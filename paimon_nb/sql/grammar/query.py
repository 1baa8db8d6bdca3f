"""A query: where its text names tables, and what must be said differently for Spark. The text itself stays the user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paimon_nb.base.identifier import quote
from paimon_nb.plan import Query, Span
from paimon_nb.sql.cursor import Cursor
from paimon_nb.sql.lexer import Token
from paimon_nb.sql.pushdown import with_needs
from paimon_nb.sql.table_references import find_tables

PLACE_PREFIX = "__paimon_"
"""Begins the names of the columns that say where a row lies."""
TRACKING = frozenset({"_ROW_ID", "_SEQUENCE_NUMBER"})
"""Columns that say which row it is, in tables that track their rows."""


def _wants_quotes(name: str) -> bool:
    """Flink takes letters of any script as they are, and a table `t$files` is known here without; Spark knows neither."""
    return not name.isascii() or "$" in name


def _without(tokens: Sequence[Token], table: Span, places: Sequence[str]) -> list[tuple[Span, str]]:
    """Edits that keep the named columns out of the `*` of the SELECT that reads the table: only who names them wants them."""
    brackets, stack, stars, level = 0, [0], [], None
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        if token.text == "(":
            brackets += 1
            stack.append(brackets)
        elif token.text == ")" and len(stack) > 1:
            stack.pop()
        if token.start == table.start:
            level = stack[-1]
        is_item = before is not None and before.upper in ("SELECT", "DISTINCT", "ALL", ",", ".")
        if token.text == "*" and is_item and (after is None or after.upper in ("FROM", ",")):
            stars.append((stack[-1], token.stop))
    said = f" EXCEPT ({', '.join(map(quote, places))})"
    return [(Span(stop, stop), said) for at, stop in stars if at == level]


def query(cursor: Cursor, span: Span) -> Query:
    """All the cursor's remaining tokens as one query."""
    return query_of(cursor, Span(cursor.start, span.stop))


def query_of(cursor: Cursor, span: Span) -> Query:
    """The remaining tokens as a query whose text is `span`."""
    if cursor.done:
        cursor.fail("expected a query")
    rest = cursor.tokens[cursor.at :]
    places = tuple(
        dict.fromkeys(t.name for t in rest if t.is_name and (t.name.startswith(PLACE_PREFIX) or t.name in TRACKING))
    )
    found = find_tables(cursor)
    found.edits += [(Span(t.start, t.stop), quote(t.text)) for t in rest if t.kind == "word" and _wants_quotes(t.text)]
    cursor.at = len(cursor.tokens)
    text = cursor.text_of(span)
    tables = tuple(found.tables) if found.whole else with_needs(cursor.text, span, found.tables, found.edits)
    if any(
        "\\" in by for _, by in [*found.flink_edits, *found.edits]
    ):  # a text with a backslash means another one in Flink
        tables = tuple(replace(t, filter=None) for t in tables)
    if places and len(tables) == 1:
        found.edits += _without(rest, tables[0].span, places)
    if places:
        tables = tuple(replace(t, places=places) for t in tables)
    parameters = tuple(dict.fromkeys(found.parameters))
    flink = tuple(found.flink_edits)
    return Query(text, span, tables, tuple(found.edits), parameters, flink, tuple(found.unnested))
