"""Functions that only the session can evaluate: `current_catalog()`, `current_database()` and those of the database `sys`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.base.sql_quoting import spark_literal
from paimon_nb.statements import Span
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Collection

_FUNCTIONS = {"CURRENT_CATALOG": "catalog", "CURRENT_DATABASE": "database", "CURRENT_SCHEMA": "database"}


def current_function_replacements(text: str, span: Span, catalog: str, database: str) -> dict[Span, str]:
    """Replacements for `current_catalog()` and similar functions; a result column keeps its name."""
    inside = text[span.start : span.stop]
    if "current_" not in inside.lower():
        return {}
    out: dict[Span, str] = {}
    read, values = tokens(inside), {"catalog": catalog, "database": database}
    words = ["", *(t.text.upper() for t in read), "", "", ""]
    for n, token in enumerate(read, 1):
        if token.upper not in _FUNCTIONS or words[n - 1] == "." or words[n + 1 : n + 3] != ["(", ")"]:
            continue
        value = spark_literal(values[_FUNCTIONS[token.upper]])
        is_result_column = words[n - 1] in ("SELECT", ",") and words[n + 3] in ("", ",", "FROM")
        call_span = Span(span.start + token.start, span.start + read[n + 1].stop)
        out[call_span] = f"{value} AS {quote(token.text.lower() + '()')}" if is_result_column else value
    return out


def max_pt_calls(text: str, span: Span) -> list[tuple[Span, str]]:
    """The calls of `[catalog.]sys.max_pt('t')`: span and table name."""
    inside = text[span.start : span.stop]
    if "max_pt" not in inside.lower():
        return []
    out = []
    read = tokens(inside)
    for n in range(len(read) - 5):
        words = [t.text.lower() for t in read[n : n + 6]]
        if words[:4] != ["sys", ".", "max_pt", "("] or words[5] != ")" or read[n + 4].kind != "string":
            continue
        first = n - 2 if n >= 2 and read[n - 1].text == "." and read[n - 2].is_name else n
        out.append((Span(span.start + read[first].start, span.start + read[n + 5].stop), read[n + 4].value))
    return out


def system_function_names(text: str, span: Span, functions: Collection[str]) -> list[tuple[Span, str]]:
    """The names `[catalog.]sys.f` of calls of these functions (lower case): span and f."""
    inside = text[span.start : span.stop]
    if "sys" not in inside.lower():
        return []
    out = []
    read = tokens(inside)
    for n in range(len(read) - 3):
        words = [t.text.lower() for t in read[n : n + 4]]
        if words[:2] != ["sys", "."] or words[2] not in functions or words[3] != "(":
            continue
        first = n - 2 if n >= 2 and read[n - 1].text == "." and read[n - 2].is_name else n
        out.append((Span(span.start + read[first].start, span.start + read[n + 2].stop), words[2]))
    return out


def function_calls(text: str, span: Span) -> list[tuple[Span, tuple[str, ...]]]:
    """What looks like a call, `f(`, `db.f(` or `catalog.db.f(`: the span of the name, and its parts."""
    out: list[tuple[Span, tuple[str, ...]]] = []
    parts: list[str] = []
    start, stop, after_dot = 0, 0, False
    for token in tokens(text[span.start : span.stop]):
        if token.text == "(" and parts and not after_dot:
            out.append((Span(span.start + start, span.start + stop), tuple(parts)))
        if token.is_name:
            start = start if after_dot else token.start
            parts, stop = [*parts, token.name] if after_dot else [token.name], token.stop
            after_dot = False
        else:
            after_dot = token.text == "." and bool(parts)
            parts = parts if after_dot else []
    return out
