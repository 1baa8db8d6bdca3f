"""The user's own text with some places replaced by offset. Nothing else is touched."""

from __future__ import annotations

from collections.abc import Mapping

from paimon_nb.plan import Query, Span


def render(query: Query, text: str, names: Mapping[Span, str], *, flink: bool = False) -> str:
    """The query's text with `names` put in place of table references, and the query's own edits applied.

    Args:
        flink: what both dialects say and mean otherwise is Flink's.
    """
    inside = [(s, t) for s, t in names.items() if query.span.start <= s.start and s.stop <= query.span.stop]
    return substitute(text, query.span, [*inside, *(query.flink_edits if flink else ()), *query.edits])


def substitute(text: str, span: Span, edits: list[tuple[Span, str]]) -> str:
    """`text[span]` with each edit's span replaced; an edit inside another one is dropped, and of two in one place the second."""
    out: list[str] = []
    position = span.start
    # What is only put in goes before what stands there.
    for place, replacement in sorted(edits, key=lambda e: (e[0].start, e[0].stop > e[0].start, -e[0].stop)):
        if place.start < position or place.stop > span.stop:
            continue
        out += [text[position : place.start], replacement]
        position = place.stop
    out.append(text[position : span.stop])
    return "".join(out)
