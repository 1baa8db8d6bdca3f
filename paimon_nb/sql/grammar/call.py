"""CALL [catalog.][sys.]procedure(...): positional, named, map(...), typed literals and `:name` values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.sql.constants import parse_constant
from paimon_nb.statements import Call, Span

if TYPE_CHECKING:
    from paimon_nb.syntax.lexer import Cursor


def call(cursor: Cursor, span: Span) -> Call:
    cursor.expect("CALL")
    parts = cursor.parts("procedure")
    catalog = parts[0] if len(parts) == 3 else None
    positional: list[object] = []
    named: dict[str, object] = {}
    spans: list[Span] = []
    flink_form = False

    def parse_call_argument() -> None:
        nonlocal flink_form
        start, flink_name = cursor.start, cursor.peek().kind == "quoted"
        if (cursor.peek().is_name or cursor.peek().kind == "string") and cursor.peek(1).upper in ("=>", "="):
            key = cursor.string_or_name()
            cursor.at += 1
            if key in named:
                cursor.fail(f"duplicate argument {key!r}")
            named[key] = parse_constant(cursor)
            flink_form |= flink_name
        else:
            flink_form = True
            positional.append(parse_constant(cursor))
        spans.append(Span(start, cursor.stop))

    cursor.listed(parse_call_argument, allow_trailing=True)
    bound = tuple(dict.fromkeys(t.text[1:] for t in cursor.tokens if t.kind == "param"))
    return Call(
        cursor.text_of(span), span, parts[-1], catalog, tuple(positional), named, tuple(spans), bound, flink_form
    )
