"""Positions in a statement for errors that Spark reports without one, or with the position of the whole statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.syntax.lexer import Token


def error_span(condition: str, parameters: Mapping[str, str], text: str, low: int, high: int) -> tuple[int, int] | None:
    """The part of text[low:high] that an error is about; None: not known.

    Args:
        condition: Spark's error condition. parameters: the message's parameters.

    Examples:
        >>> text = "SELECT a, sum(b) FROM t"
        >>> error_span("MISSING_GROUP_BY", {}, text, 0, len(text))
        (7, 8)
    """
    try:
        words = [t for t in tokens(text[:high]) if t.start >= low]
    except SqlSyntaxError:
        return None
    if condition == "MISSING_GROUP_BY":
        return _ungrouped_column(words)
    if condition.startswith("INVALID_INLINE_TABLE"):
        return _inline_row(words, parameters.get("rowIndex", ""))
    if condition.startswith(("CAST_INVALID_INPUT", "CAST_OVERFLOW")):
        return _literal(words, parameters.get("expression", ""))
    return None


def _ungrouped_column(words: list[Token]) -> tuple[int, int] | None:
    """The first column of the SELECT list that is outside every function."""
    depth, inside = 0, False
    for i, word in enumerate(words):
        depth += (word.text == "(") - (word.text == ")")
        if depth == 0 and word.upper in ("SELECT", "FROM"):
            inside = word.upper == "SELECT"
            continue
        following = words[i + 1].text if i + 1 < len(words) else ""
        if inside and depth == 0 and word.is_name and word.upper not in ("DISTINCT", "ALL", "AS") and following != "(":
            return word.start, word.stop
    return None


def _inline_row(words: list[Token], index: str) -> tuple[int, int] | None:
    """Row `index`, counted from 0, of a VALUES list."""
    if not index.isdecimal():
        return None
    at, depth, row, start = next((i for i, w in enumerate(words) if w.upper == "VALUES"), len(words)), 0, -1, 0
    for word in words[at + 1 :]:
        if word.text == "(":
            depth += 1
            if depth == 1:
                row, start = row + 1, word.start
        elif word.text == ")":
            depth -= 1
            if depth == 0 and row == int(index):
                return start, word.stop
    return None


def _literal(words: list[Token], expression: str) -> tuple[int, int] | None:
    """The string literal with the value that cannot be converted."""
    value = expression.strip("'\"")
    return next(((w.start, w.stop) for w in words if w.kind == "string" and w.value == value), None)
