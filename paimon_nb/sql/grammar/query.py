"""Parses a query: its table references, and the edits that translate its text for Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.base.identifier import quote
from paimon_nb.sql.clause_mistakes import clause_mistake
from paimon_nb.sql.pushdown import with_pushdown
from paimon_nb.sql.table_references import find_tables
from paimon_nb.statements import Query, Span
from paimon_nb.statements.query import FILE_PATH
from paimon_nb.syntax.queries import query_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.syntax.lexer import Cursor, Token

FILE_NAME_FUNCTION = "INPUT_FILE_NAME"
METADATA_PREFIX = "__paimon_"
"""Prefix of the metadata columns with a row's position."""
ROW_TRACKING_COLUMNS = frozenset({"_ROW_ID", "_SEQUENCE_NUMBER"})
"""Metadata columns of tables with row tracking."""


def _needs_quotes(name: str) -> bool:
    """Whether Spark needs quotes where Flink and we do not: non-ASCII letters, and system tables such as `t$files`."""
    return not name.isascii() or "$" in name


def metadata_columns_of(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The metadata columns among these names."""
    return tuple(dict.fromkeys(t.name for t in tokens if t.is_name and is_metadata_column(t.name)))


def is_metadata_column(name: str) -> bool:
    return name.startswith(METADATA_PREFIX) or name in ROW_TRACKING_COLUMNS


def _star_exclusions(tokens: Sequence[Token], table: Span, metadata_columns: Sequence[str]) -> list[tuple[Span, str]]:
    """Edits that exclude metadata columns from the `*` of the SELECT that reads the table."""
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
    exclusion = f" EXCEPT ({', '.join(map(quote, metadata_columns))})"
    return [(Span(stop, stop), exclusion) for at, stop in stars if at == level]


def _file_path_edit(tokens: Sequence[Token], at: int) -> tuple[Span, str]:
    """The edit that reads input_file_name() from the table's own column: Spark knows names of files that it opens itself."""
    before = tokens[at - 1].upper if at else ""
    behind = tokens[at + 3].upper if at + 3 < len(tokens) else ""
    alone = before in ("SELECT", "DISTINCT", ",") and behind in ("FROM", ",")
    name = " AS `input_file_name()`" if alone else ""
    return Span(tokens[at].start, tokens[at + 2].stop), quote(FILE_PATH) + name


def query(cursor: Cursor, span: Span) -> Query:
    """All the cursor's remaining tokens as one query."""
    return query_of(cursor, Span(cursor.start, span.stop))


def query_of(cursor: Cursor, span: Span) -> Query:
    """The remaining tokens as a query whose text is `span`."""
    if cursor.done:
        cursor.fail("expected a query")
    rest = cursor.tokens[cursor.at :]
    metadata_columns = metadata_columns_of(rest)
    files = [
        i
        for i, t in enumerate(rest)
        if t.upper == FILE_NAME_FUNCTION and [n.text for n in rest[i + 1 : i + 3]] == ["(", ")"]
    ]
    found = find_tables(cursor)
    found.edits += [(Span(t.start, t.stop), quote(t.text)) for t in rest if t.kind == "word" and _needs_quotes(t.text)]
    cursor.at = len(cursor.tokens)
    text = cursor.text_of(span)
    tree = query_tree(rest, [ref.span for ref in found.tables])
    mistake = clause_mistake(rest, is_understood=tree is not None)
    if mistake is not None:
        raise SqlSyntaxError(
            mistake.message, hint=mistake.hint, sql=cursor.text, start=mistake.at.start, stop=mistake.at.stop
        )
    tables = with_pushdown(tree, found.tables)
    if any(
        "\\" in by for _, by in [*found.flink_edits, *found.edits]
    ):  # a string with a backslash has another meaning in Flink
        tables = tuple(replace(t, filter=None) for t in tables)
    if files and len(tables) == 1:
        found.edits += [_file_path_edit(rest, i) for i in files]
        metadata_columns = tuple(dict.fromkeys([*metadata_columns, FILE_PATH]))
    if metadata_columns and len(tables) == 1:
        found.edits += _star_exclusions(rest, tables[0].span, metadata_columns)
    if metadata_columns:
        tables = tuple(replace(t, metadata_columns=metadata_columns) for t in tables)
    parameters = tuple(dict.fromkeys(found.parameters))
    flink = tuple(found.flink_edits)
    return Query(text, span, tables, tuple(found.edits), parameters, flink, tuple(found.unnested), tree)
