"""Maps an error to a source span in the user's SQL: the word it is about, else the whole statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError, SqlSyntaxError
from paimon_nb.sql.error_spans import error_span
from paimon_nb.statements import Span
from paimon_nb.syntax.lexer import Token, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SUBJECT_FACTS = (
    "assigned",
    "argument",
    "option",
    "column",
    "columns",
    "name",
    "table",
    "tag",
    "branch",
    "snapshot",
    "value",
)
"""Facts that name the subject of an error, most specific first."""


def span_named_by_error(error: PaimonError, text: str, span: Span) -> Span:
    """The span of the first word in `span` of `text` that the error's facts name."""
    try:
        words = [t for t in tokens(text[: span.stop]) if t.start >= span.start]
    except SqlSyntaxError:
        return span
    for name in _names_in_error(error):
        for at, word in enumerate(words):
            if _is_word_named_by_error(word, name) and ("assigned" not in error.facts or _is_assigned(words, at)):
                return Span(word.start, word.stop)
    return span


def locate_more_exactly(error: PaimonError, text: str, span: Span) -> None:
    """Set the position of an error of Spark that names no position, or only that of the whole statement."""
    found = error_span(
        str(error.facts.get("condition")), error.facts.get("parameters") or {}, text, span.start, span.stop
    )
    if found is not None:
        error.facts |= {"sql": text, "start": found[0], "stop": found[1]}


def _names_in_error(error: PaimonError) -> Iterator[str]:
    for fact in _SUBJECT_FACTS:
        value = error.facts.get(fact)
        first = value[0] if isinstance(value, list | tuple) and value else value
        if first is None or first == "":
            continue
        yield str(first).lower()
        last = str(first).rpartition(".")[2].strip("`")  # the table of db.table
        yield last.lower()


def _is_assigned(words: Sequence[Token], position: int) -> bool:
    """Whether the word is an assigned column, as in `SET a = 1, t.b = 2`."""
    previous = position - 1
    while words[previous].text == ".":
        previous -= 2
    following = words[position + 1].text if position + 1 < len(words) else ""
    return following == "=" and (words[previous].upper == "SET" or words[previous].text == ",")


def _is_word_named_by_error(word: Token, name: str) -> bool:
    if word.is_name:
        return word.name.lower() == name
    if word.kind == "string":
        literal = word.value.lower()
        return literal == name or literal.rpartition(".")[2].strip("`") == name
    return word.kind == "number" and word.text == name
