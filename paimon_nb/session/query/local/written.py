"""What of a query's text is translated before Spark reads it: each part must be known to the embedded engine, or Spark runs the query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.syntax.tree import Column, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paimon_nb.statements import Query
    from paimon_nb.syntax.tree import Node, QueryTree, Span

TRANSLATED = "syntax that is translated is left to Spark"


def query_tree_of(query: Query) -> QueryTree:
    """The tree of a query. Raises NotLocal: it has none."""
    if query.tree is None:
        raise NotLocal("its structure is not known")
    return query.tree


def edits_to_cover(query: Query, text: str, *, flink: bool) -> list[Span]:
    """The parts of a text that Spark gets in another form, but for quotes and the case of names."""
    edits = [*query.edits, *(query.flink_edits if flink else ())]
    found = [span for span, by in edits if not _is_same_name(text[span.start : span.stop], by)]
    return list(dict.fromkeys([*found, *query.unnested]))


def _is_same_name(written: str, by: str) -> bool:
    return by in (written, written.lower(), quote(written))


class WrittenParts:
    """The edits of one text, and those that the translator knows itself."""

    def __init__(self, query: Query, text: str, *, flink: bool) -> None:
        self._left = edits_to_cover(query, text, flink=flink)

    def of(self, node: Node, parts: Sequence[Node] = ()) -> list[Span]:
        """The edits inside a node that are outside of its parts, and not covered yet."""
        return [e for e in self._left if is_of(e, node, parts)]

    def cover(self, edits: Iterable[Span]) -> None:
        """These are translated as Spark would."""
        covered = set(edits)
        self._left = [e for e in self._left if e not in covered]

    def check_all_covered(self) -> None:
        """Raises NotLocal: a part of the text is translated for Spark only."""
        if self._left:
            raise NotLocal(TRANSLATED)


def is_of(edit: Span, node: Node, parts: Iterable[Node]) -> bool:
    """Whether an edit replaces text of a node itself: it is inside of it, and changes nothing of its parts.

    What is inserted before or behind a part is of the node. An edit that contains a part may hide that the part is translated, too, unless it is a column
    or a literal.
    """
    return _is_inside(edit, node.span) and not any(_changes(edit, p) for p in parts)


def _changes(edit: Span, part: Node) -> bool:
    if edit.start == edit.stop:
        return part.span.start < edit.start < part.span.stop
    if _is_inside(part.span, edit) and edit != part.span and isinstance(part, Column | Literal):
        return False
    return edit.start < part.span.stop and part.span.start < edit.stop


def _is_inside(edit: Span, span: Span) -> bool:
    return span.start <= edit.start and edit.stop <= span.stop
