"""Functions that only the session can evaluate: `current_catalog()`, `current_database()` and those of the database `sys`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.sql_quoting import spark_literal
from paimon_nb.statements import Span
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from paimon_nb.syntax.lexer import Token

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


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call `[catalog.]sys.f(...)`."""

    name: Span
    """From the catalog to the name of the function."""
    function: str
    """In lower case."""
    arguments: tuple[tuple[Token, ...], ...]
    opening: Token
    commas: tuple[Token, ...]
    """Between the arguments."""
    closing: Token
    offset: int
    """What to add to the offsets of the tokens."""


def system_calls(text: str, span: Span, functions: Collection[str]) -> list[FunctionCall]:
    """The calls of these functions (lower case) of the database `sys`."""
    inside = text[span.start : span.stop]
    if "sys" not in inside.lower():
        return []
    read, out = tokens(inside), []
    starts = {t.start: n for n, t in enumerate(read)}
    for name_span, function in system_function_names(text, span, functions):
        first = starts[name_span.start - span.start]
        at = next(n for n in range(first, len(read)) if read[n].text == "(")
        arguments, commas, closing = _arguments(read, at + 1)
        if closing is not None:
            out.append(FunctionCall(name_span, function, arguments, read[at], commas, closing, span.start))
    return out


def _arguments(read: Sequence[Token], at: int) -> tuple[tuple[tuple[Token, ...], ...], tuple[Token, ...], Token | None]:
    """The tokens of each argument of a call, from the one behind the parenthesis; the commas; the closing parenthesis."""
    arguments: list[list[Token]] = [[]]
    commas: list[Token] = []
    depth = 0
    for token in read[at:]:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if depth < 0:
            return tuple(tuple(a) for a in arguments if a), tuple(commas), token
        if token.text == "," and depth == 0:
            arguments.append([])
            commas.append(token)
        else:
            arguments[-1].append(token)
    return (), (), None


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
