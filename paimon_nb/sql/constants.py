"""Parses constants: the arguments of procedures and table functions."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from paimon_nb.statements import Constant

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor


def parse_constant(cursor: Cursor) -> object:
    """A constant: text, number, boolean, NULL, ARRAY/MAP/NAMED_STRUCT of constants, TIMESTAMP '...' (as text), X'...'.

    A `Constant` for `:name`.
    """
    token = cursor.next()
    if token.kind == "param":
        return Constant("parameter", token.text[1:])
    if token.kind == "string":
        return token.unescaped
    if token.upper in ("-", "+") or token.kind == "number":
        sign = token.upper if token.upper in ("-", "+") else ""
        number = cursor.next() if sign else token
        if number.kind != "number":
            cursor.at -= 1
            cursor.fail("expected a number")
        digits = number.text.rstrip("LlSsYyDdFfBb")
        value = int(digits) if digits.isdecimal() else float(Decimal(digits))
        return -value if sign == "-" else value
    match token.upper:
        case "TRUE" | "FALSE":
            return token.upper == "TRUE"
        case "NULL":
            return None
        case "TIMESTAMP" | "TIMESTAMP_LTZ" | "TIMESTAMP_NTZ" | "DATE" | "TIME" if cursor.peek().kind == "string":
            return cursor.string()
        case "X" if cursor.peek().kind == "string":
            try:
                return bytes.fromhex(cursor.string())
            except ValueError:
                cursor.at -= 1
                cursor.fail("X'...' takes an even number of hexadecimal digits")
        case "MAP":
            items = _literal_items(cursor)
            return {k if isinstance(k, str) else str(k): v for k, v in zip(items[::2], items[1::2], strict=False)}
        case "ARRAY":
            return _literal_items(cursor)
        case "NAMED_STRUCT":
            items = _literal_items(cursor)
            return {str(k): v for k, v in zip(items[::2], items[1::2], strict=False)}
        case "CAST":
            cursor.expect("(")
            value_ = parse_constant(cursor)
            cursor.expect("AS")
            cursor.balanced()
            cursor.expect(")")
            return value_
    cursor.at -= 1
    cursor.fail("procedure arguments must be constants", hint="write strings in quotes: CALL sys.compact('db.t')")
    return None


def _literal_items(cursor: Cursor) -> list[object]:
    closing = "]" if cursor.take("[") else ")"
    if closing == ")":
        cursor.expect("(")
    out: list[object] = []
    while not cursor.take(closing):
        if out:
            cursor.expect(",")
        out.append(parse_constant(cursor))
    return out
