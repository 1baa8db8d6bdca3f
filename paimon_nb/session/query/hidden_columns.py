"""Passes hidden columns (row kind, change order) of a stream through a query to its result.

They are inserted into the select lists of the user's text, before each FROM. This covers stateless queries (see
`streaming.planner`): projections, filters and lookups over one stream, also in subqueries and views.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame


def project_hidden(text: str, hidden: Sequence[str]) -> str:
    """Spark SQL with the `hidden` columns in every select list that does not have them through a *."""
    from sqlglot import TokenType, tokenize

    tokens = tokenize(text, read="spark")
    added = ", " + ", ".join(f"`{c}`" for c in hidden)
    out, position = [], 0
    for i, token in enumerate(tokens):
        if token.token_type is not TokenType.SELECT:
            continue
        end = _from_index(tokens, i)
        if end is not None and not _has_star(tokens, i, end):
            out += [text[position : tokens[end].start], added + " "]
            position = tokens[end].start
    return "".join([*out, text[position:]])


def has_hidden(frame: DataFrame, hidden: Sequence[str]) -> bool:
    """Whether a result has each hidden column exactly once."""
    return all(frame.columns.count(c) == 1 for c in hidden)


def _from_index(tokens: Sequence[Any], select: int) -> int | None:
    """The index of a SELECT's FROM."""
    from sqlglot import TokenType

    depth = 0
    for i in range(select + 1, len(tokens)):
        kind = tokens[i].token_type
        if kind is TokenType.L_PAREN:
            depth += 1
        elif kind is TokenType.R_PAREN:
            depth -= 1
            if depth < 0:
                return None
        elif kind is TokenType.FROM and depth == 0:
            return i
    return None


def _has_star(tokens: Sequence[Any], select: int, end: int) -> bool:
    """Whether the select list has a *, or the `s.*` of the first relation after FROM."""
    from sqlglot import TokenType

    depth = 0
    for i in range(select + 1, end):
        kind = tokens[i].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if kind is not TokenType.STAR or depth:
            continue
        before = tokens[i - 1].token_type
        if before in (TokenType.SELECT, TokenType.COMMA):
            return True
        if before is TokenType.DOT and tokens[i - 2].text.lower() == _first_relation(tokens, end).lower():
            return True
    return False


def _first_relation(tokens: Sequence[Any], begin: int) -> str:
    """The name of the first relation after a FROM: its alias, else the last part of its name."""
    from sqlglot import TokenType

    stops = {TokenType.COMMA, TokenType.WHERE, TokenType.JOIN, TokenType.LEFT, TokenType.INNER, TokenType.RIGHT,
             TokenType.CROSS, TokenType.FULL, TokenType.ON, TokenType.SEMICOLON}  # fmt: skip
    depth, last = 0, ""
    for token in tokens[begin + 1 :]:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth < 0 or (not depth and token.token_type in stops):
            break
        if not depth and token.token_type is not TokenType.R_PAREN:
            last = token.text
    return last
