"""CALL [catalog.][sys.]procedure(...): positional, named, map(...), typed literals and `:name` values."""

from __future__ import annotations

from decimal import Decimal

from paimon_nb.plan import Call, Constant, Span
from paimon_nb.sql.cursor import Cursor


def call(cursor: Cursor, span: Span) -> Call:
    cursor.need("CALL")
    parts = cursor.parts("procedure")
    catalog = parts[0] if len(parts) == 3 else None
    positional: list[object] = []
    named: dict[str, object] = {}
    spans: list[Span] = []

    def argument() -> None:
        start = cursor.start
        if (cursor.peek().is_name or cursor.peek().kind == "string") and cursor.peek(1).upper in ("=>", "="):
            key = cursor.string_or_name()
            cursor.at += 1
            if key in named:
                cursor.fail(f"duplicate argument {key!r}")
            named[key] = literal(cursor)
        else:
            positional.append(literal(cursor))
        spans.append(Span(start, cursor.stop))

    cursor.listed(argument, allow_trailing=True)
    bound = tuple(dict.fromkeys(t.text[1:] for t in cursor.tokens if t.kind == "param"))
    return Call(cursor.text_of(span), span, parts[-1], catalog, tuple(positional), named, tuple(spans), bound)


def literal(cursor: Cursor) -> object:
    """A constant: text, number, boolean, NULL, ARRAY/MAP of constants, TIMESTAMP '...' (as text); a `Constant` for `:name`."""
    token = cursor.next()
    if token.kind == "param":
        return Constant("parameter", token.text[1:])
    if token.kind == "string":
        return token.value
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
        case "TIMESTAMP" | "DATE" | "TIME" if cursor.peek().kind == "string":
            return cursor.string()
        case "MAP":
            items = _items(cursor)
            return {k if isinstance(k, str) else str(k): v for k, v in zip(items[::2], items[1::2], strict=False)}
        case "ARRAY":
            return _items(cursor)
        case "CAST":
            cursor.need("(")
            value_ = literal(cursor)
            cursor.need("AS")
            cursor.balanced()
            cursor.need(")")
            return value_
    cursor.at -= 1
    cursor.fail("procedure arguments must be constants", hint="write strings in quotes: CALL sys.compact('db.t')")
    return None


def _items(cursor: Cursor) -> list[object]:
    closing = "]" if cursor.take("[") else ")"
    if closing == ")":
        cursor.need("(")
    out: list[object] = []
    while not cursor.take(closing):
        if out:
            cursor.need(",")
        out.append(literal(cursor))
    return out
