"""What an edit of a function call is made of: where its arguments stand, and another way to say the call."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from paimon_nb.plan import Span
from paimon_nb.sql.lexer import Token
from paimon_nb.sql.render import substitute

Edit = tuple[Span, str]


class Said:
    """The user's text with edits: a slice of it is what stands there, said for Spark."""

    def __init__(self, text: str, edits: Sequence[Edit] = ()) -> None:
        self.text, self.edits = text, edits

    def __getitem__(self, part: slice) -> str:
        span = Span(part.start, part.stop)
        inside = [(s, by) for s, by in self.edits if span.start <= s.start and s.stop <= span.stop]
        return substitute(self.text, span, inside) if inside else self.text[part]


Rewrite = Callable[[Said, Token, Sequence[Token]], list[Edit]]
"""(the text, the function's name, its bracket with both brackets) -> edits; [] leaves the call as it is."""


def call_span(name: Token, bracket: Sequence[Token]) -> Span:
    """From the function's name to its closing bracket."""
    return Span(name.start, bracket[-1].stop)


def renamed(new: str) -> Rewrite:
    """Another name, same arguments."""

    def rewrite(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        return [(Span(name.start, name.stop), new)]

    return rewrite


def called(template: str) -> Rewrite:
    """`{0}`, `{1}` ... stand for the arguments' own text."""

    said = re.split(r"\{(\d)\}", template)
    wanted = [int(i) for i in said[1::2]]

    def rewrite(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        spans = arguments_of(bracket)
        if any(i >= len(spans) for i in wanted):
            return []
        if wanted == [*range(len(wanted))] and wanted:
            # Only what stands between the arguments is said anew, so that what is in them can be, too.
            starts = [name.start, *(spans[i].stop for i in wanted)]
            stops = [*(spans[i].start for i in wanted), bracket[-1].stop]
            return [(Span(a, b), new) for a, b, new in zip(starts, stops, said[0::2], strict=True)]
        out = said[0] + "".join(
            text[spans[i].start : spans[i].stop] + s for i, s in zip(wanted, said[2::2], strict=True)
        )
        return [(call_span(name, bracket), out)]

    return rewrite


def with_argument(count: int, more: str) -> Rewrite:
    """The argument that Flink takes by default, where there are only `count`."""

    def rewrite(text: Said, name: Token, bracket: Sequence[Token]) -> list[Edit]:
        end = bracket[-1].start
        return [(Span(end, end), f", {more}")] if len(arguments_of(bracket)) == count else []

    return rewrite


def arguments(text: Said, bracket: Sequence[Token]) -> list[str]:
    """The arguments' texts."""
    return [text[s.start : s.stop].strip() for s in arguments_of(bracket)]


def arguments_of(bracket: Sequence[Token]) -> list[Span]:
    """The spans of a bracket's top-level arguments; `bracket` holds both brackets."""
    out: list[Span] = []
    depth, start, previous = 0, None, bracket[0]
    for token in bracket[1:-1]:
        if token.text == "," and depth == 0 and start is not None:
            out.append(Span(start, previous.stop))
            start = None
            continue
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        start = token.start if start is None else start
        previous = token
    if start is not None:
        out.append(Span(start, previous.stop))
    return out


def rebuilt(tokens: Sequence[Token]) -> str:
    """A type's text with single spaces between words, so that a pattern sees `TIMESTAMP(3)` however it was spaced."""
    out = ""
    for token in tokens:
        out += (" " if out and out[-1] not in "(<" and token.kind in ("word", "quoted") else "") + token.text
    return out
