"""Building blocks for edits of function calls: argument spans and rewrites."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from paimon_nb.sql.render import replace_spans
from paimon_nb.statements import Span
from paimon_nb.syntax.lexer import Token

Edit = tuple[Span, str]


class SqlText:
    """The user's text with edits: a slice of it is the edited text for Spark."""

    def __init__(self, text: str, edits: Sequence[Edit] = ()) -> None:
        self.text, self.edits = text, edits

    def __getitem__(self, part: slice) -> str:
        span = Span(part.start, part.stop)
        inside = [(s, by) for s, by in self.edits if span.start <= s.start and s.stop <= span.stop]
        return replace_spans(self.text, span, inside) if inside else self.text[part]


Rewrite = Callable[[SqlText, Token, Sequence[Token]], list[Edit]]
"""(text, function name, the bracket's tokens with both brackets) -> edits; []: the call is unchanged."""


def call_span(name: Token, bracket: Sequence[Token]) -> Span:
    """The span from the function's name to its closing bracket."""
    return Span(name.start, bracket[-1].stop)


def rename_function(new: str) -> Rewrite:
    """Another name, same arguments."""

    def rename_call(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        return [(Span(name.start, name.stop), new)]

    return rename_call


def rewrite_from_template(template: str) -> Rewrite:
    """A template for the call; `{0}`, `{1}` ... are the arguments' text."""

    pieces = re.split(r"\{(\d)\}", template)
    indexes = [int(i) for i in pieces[1::2]]

    def apply_template(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        spans = argument_spans(bracket)
        if any(i >= len(spans) for i in indexes):
            return []
        if indexes == [*range(len(indexes))] and indexes:
            # Replace only the text between the arguments, so that edits inside them apply, too.
            starts = [name.start, *(spans[i].stop for i in indexes)]
            stops = [*(spans[i].start for i in indexes), bracket[-1].stop]
            return [(Span(a, b), new) for a, b, new in zip(starts, stops, pieces[0::2], strict=True)]
        out = pieces[0] + "".join(
            text[spans[i].start : spans[i].stop] + s for i, s in zip(indexes, pieces[2::2], strict=True)
        )
        return [(call_span(name, bracket), out)]

    return apply_template


def append_default_argument(count: int, more: str) -> Rewrite:
    """Append Flink's default argument to a call with `count` arguments."""

    def append_argument(text: SqlText, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        end = bracket[-1].start
        return [(Span(end, end), f", {more}")] if len(argument_spans(bracket)) == count else []

    return append_argument


def arguments(text: SqlText, bracket: Sequence[Token], separators: Collection[str] = (",",)) -> list[str]:
    """The arguments' texts. `separators`: what stands between them, as FROM in `SUBSTRING(s FROM 2)`."""
    return [text[s.start : s.stop].strip() for s in argument_spans(bracket, separators)]


def argument_spans(bracket: Sequence[Token], separators: Collection[str] = (",",)) -> list[Span]:
    """The spans of a bracket's top-level arguments; `bracket` includes both brackets."""
    out: list[Span] = []
    depth, start, previous = 0, None, bracket[0]
    for token in bracket[1:-1]:
        if token.upper in separators and depth == 0 and start is not None:
            out.append(Span(start, previous.stop))
            start = None
            continue
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        start = token.start if start is None else start
        previous = token
    if start is not None:
        out.append(Span(start, previous.stop))
    return out


def normalised_type_text(tokens: Sequence[Token]) -> str:
    """A type's text with normalised spaces, for pattern matching."""
    out = ""
    for token in tokens:
        out += (" " if out and out[-1] not in "(<" and token.kind in ("word", "quoted") else "") + token.text
    return out
