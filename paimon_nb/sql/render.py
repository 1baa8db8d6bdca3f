"""Applies edits to the user's text by offset. The rest of the text is unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.statements import Query, Span


def render(query: Query, text: str, names: Mapping[Span, str], *, flink: bool = False) -> str:
    """The query's text with `names` in place of table references, and the query's edits applied.

    Args:
        flink: use Flink's semantics where the dialects conflict.
    """
    inside = [(s, t) for s, t in names.items() if query.span.start <= s.start and s.stop <= query.span.stop]
    return replace_spans(text, query.span, [*inside, *(query.flink_edits if flink else ()), *query.edits])


def replace_spans(text: str, span: Span, edits: list[tuple[Span, str]]) -> str:
    """`text[span]` with each edit's span replaced. Drops an edit inside another one, and the second of two at one span."""
    out: list[str] = []
    position = span.start
    # At one offset, insertions come before replacements.
    for edit_span, replacement in sorted(edits, key=lambda e: (e[0].start, e[0].stop > e[0].start, -e[0].stop)):
        if edit_span.start < position or edit_span.stop > span.stop:
            continue
        out += [text[position : edit_span.start], replacement]
        position = edit_span.stop
    out.append(text[position : span.stop])
    return "".join(out)
