"""Passes hidden columns (row kind, change order) of a stream through a query to its result.

They are inserted into the select lists of the user's text, before each FROM. This covers stateless queries (see
`streaming.planner`): projections, filters and lookups over one stream, also in subqueries and views.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.sql import tokens
from paimon_nb.syntax.operands import Operands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame

    from paimon_nb.sql import Token

_ENDS_RELATION = frozenset({",", "WHERE", "JOIN", "LEFT", "INNER", "RIGHT", "CROSS", "FULL", "ON", ";"})


def with_hidden_columns_selected(text: str, hidden: Sequence[str]) -> str:
    """Spark SQL with the `hidden` columns in every select list that does not have them through a *."""
    operands = Operands(tokens(text))
    added = ", " + ", ".join(f"`{c}`" for c in hidden)
    out, position = [], 0
    for i, token in enumerate(operands.tokens):
        if token.upper != "SELECT":
            continue
        items, end = _select_list(operands, i)
        if end is not None and not _has_star(items, _first_relation(operands, end)):
            start = operands.tokens[end].start
            out += [text[position:start], added + " "]
            position = start
    return "".join([*out, text[position:]])


def has_hidden(frame: DataFrame, hidden: Sequence[str]) -> bool:
    """Whether a result has each hidden column exactly once."""
    return all(frame.columns.count(c) == 1 for c in hidden)


def _tokens_outside_brackets(operands: Operands, start: int) -> Iterator[tuple[int, Token]]:
    """The tokens from `start` to the end of its bracket, without what is in inner brackets; with their indices."""
    at = start
    while at < len(operands.tokens) and operands.tokens[at].text != ")":
        if operands.tokens[at].text == "(":
            at = operands.closing(at)
        else:
            yield at, operands.tokens[at]
        at += 1


def _select_list(operands: Operands, select: int) -> tuple[list[Token], int | None]:
    """The tokens of a select list, the SELECT included, and the index of its FROM; None if there is none."""
    found: list[Token] = []
    for at, token in _tokens_outside_brackets(operands, select):
        if token.upper == "FROM" and found[-1].upper != "DISTINCT":  # IS [NOT] DISTINCT FROM
            return found, at
        found.append(token)
    return found, None


def _has_star(items: Sequence[Token], relation: str) -> bool:
    """Whether a select list has a *, or the `s.*` of this relation."""
    for i, token in enumerate(items):
        if token.text != "*":
            continue
        if items[i - 1].upper in ("SELECT", ","):
            return True
        if items[i - 1].text == "." and items[i - 2].name.lower() == relation.lower():
            return True
    return False


def _first_relation(operands: Operands, begin: int) -> str:
    """The name of the first relation after a FROM: its alias, else the last part of its name."""
    last = ""
    for _, token in _tokens_outside_brackets(operands, begin + 1):
        if token.upper in _ENDS_RELATION:
            break
        last = token.name
    return last
