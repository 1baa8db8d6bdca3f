"""Parses VALUES of plain literals. Everything else goes to Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.plan import Constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.sql.lexer import Token

Row = tuple[Constant, ...]


def constant_rows(tokens: Sequence[Token]) -> tuple[Row, ...] | None:
    """The rows of `VALUES (1, 'a'), (2, NULL)`; None for other queries, or if an item is not a plain literal."""
    if not tokens or tokens[0].upper != "VALUES":
        return None
    rows: list[Row] = []
    at = 1
    while True:
        found = _row(tokens, at)
        if found is None or (rows and len(found[0]) != len(rows[0])):
            return None
        row, at = found
        rows.append(row)
        if at == len(tokens):
            return tuple(rows)
        if tokens[at].text != ",":
            return None
        at += 1


def _row(tokens: Sequence[Token], at: int) -> tuple[Row, int] | None:
    """`( constant, ... )` and its end; a single constant needs no brackets."""
    bracket = at < len(tokens) and tokens[at].text == "("
    at += bracket
    row: list[Constant] = []
    while True:
        found = _constant(tokens, at)
        if found is None:
            return None
        constant, at = found
        row.append(constant)
        if not bracket:
            return tuple(row), at
        if at >= len(tokens) or tokens[at].text not in (",", ")"):
            return None
        at += 1
        if tokens[at - 1].text == ")":
            return tuple(row), at


def _constant(tokens: Sequence[Token], at: int) -> tuple[Constant, int] | None:
    words = [t.upper for t in tokens[at : at + 4]]
    if not words:
        return None
    first = tokens[at]
    if words[:4] == ["CAST", "(", "NULL", "AS"]:
        end = next(
            (i for i in range(at + 4, len(tokens)) if tokens[i].text == ")" and not _open(tokens[at + 2 : i])), None
        )
        return None if end is None else (Constant("null"), end + 1)
    if words[0] == "DEFAULT":
        return Constant("default"), at + 1
    if words[0] == "NULL":
        return Constant("null"), at + 1
    if words[0] in ("TRUE", "FALSE"):
        return Constant("boolean", words[0].lower()), at + 1
    if words[0] in ("-", "+") and at + 1 < len(tokens) and tokens[at + 1].kind == "number":
        number = tokens[at + 1]
        return (Constant("number", ("-" if words[0] == "-" else "") + number.text), at + 2) if _plain(number) else None
    if first.kind == "number":
        return (Constant("number", first.text), at + 1) if _plain(first) else None
    if first.kind == "param":
        return Constant("parameter", first.text[1:]), at + 1
    if words[0] in ("DATE", "TIMESTAMP") and at + 1 < len(tokens) and _plain_text(tokens[at + 1]):
        return Constant(words[0].lower(), tokens[at + 1].value), at + 2
    if _plain_text(first):
        return Constant("text", first.value), at + 1
    return None


def _open(tokens: Sequence[Token]) -> int:
    return sum((t.text == "(") - (t.text == ")") for t in tokens)


def _plain(number: Token) -> bool:
    """Digits without a type letter: 12, 1.5. Not 12L, 1e3."""
    return number.text.replace(".", "", 1).isdecimal() and number.text.isascii()


def _plain_text(token: Token) -> bool:
    """A string with the same meaning in both dialects: no escapes, not raw, not in double quotes."""
    return token.kind == "string" and token.text[0] == "'" and "\\" not in token.text
