"""Where in the user's text an error is: the word that it is about, else the whole statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paimon_nb.base.errors import PaimonError, SqlSyntaxError
from paimon_nb.plan import Span
from paimon_nb.sql.lexer import Token, tokens

_TELLING = (
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
"""Facts that name what an error is about, the most telling first."""


def place(error: PaimonError, text: str, span: Span) -> Span:
    """The first word in `span` of `text` that the error's facts name."""
    try:
        words = [t for t in tokens(text[: span.stop]) if t.start >= span.start]
    except SqlSyntaxError:
        return span
    for wanted in _named(error):
        for at, word in enumerate(words):
            if _says(word, wanted) and ("assigned" not in error.facts or _is_assigned(words, at)):
                return Span(word.start, word.stop)
    return span


def _named(error: PaimonError) -> Iterator[str]:
    for fact in _TELLING:
        value = error.facts.get(fact)
        first = value[0] if isinstance(value, list | tuple) and value else value
        if first is None or first == "":
            continue
        yield str(first).lower()
        last = str(first).rpartition(".")[2].strip("`")  # the table of db.table
        yield last.lower()


def _is_assigned(words: Sequence[Token], at: int) -> bool:
    """Whether a column gets its value here: `SET a = 1, t.b = 2`."""
    before = at - 1
    while words[before].text == ".":
        before -= 2
    following = words[at + 1].text if at + 1 < len(words) else ""
    return following == "=" and (words[before].upper == "SET" or words[before].text == ",")


def _says(word: Token, wanted: str) -> bool:
    if word.is_name:
        return word.name.lower() == wanted
    if word.kind == "string":
        inside = word.value.lower()
        return inside == wanted or inside.rpartition(".")[2].strip("`") == wanted
    return word.kind == "number" and word.text == wanted
