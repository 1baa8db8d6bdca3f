"""Which syntax has a rule here, although Spark needs another text for it: functions and windows of Flink."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.incremental.time_windows import GROUP_WINDOWS
from paimon_nb.session.query.local.aggregates import ORDERED_AGGREGATES
from paimon_nb.session.query.local.answer import check_written
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.time_functions import CURRENT_TIMES
from paimon_nb.session.query.local.written import is_of
from paimon_nb.syntax.tree import Call, WindowTable, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import Query, Span
    from paimon_nb.syntax.tree import Node, QueryTree


def written_tree(session: Session, query: Query, text: str) -> QueryTree:
    """The tree of a query. Raises NotLocal: it has syntax that is translated for Spark, and has no rule here."""
    for node in () if query.tree is None else walk(query.tree):
        if isinstance(node, Call) and node.function in CURRENT_TIMES:
            raise NotLocal(f"{node.function} is another time at each refresh")
    nodes = [] if query.tree is None else list(_known(query.tree))

    def is_known(span: Span) -> bool:
        return any(is_of(span, node, parts) for node, parts in nodes)

    return check_written(session, query, text, is_known)


def _known(tree: QueryTree) -> Iterator[tuple[Node, Sequence[Node]]]:
    """Nodes with a rule, each with its parts, whose own text must not be translated."""
    for node in walk(tree):
        match node:
            case WindowTable():
                yield node, [node.table]
            case Call(window=None) if node.function in ORDERED_AGGREGATES:
                condition = [] if node.condition is None else [node.condition]
                yield node, [*node.arguments, *(o.expression for o in node.order), *condition]
            case Call(window=None) if node.function in GROUP_WINDOWS:
                yield node, []  # its arguments are a column and intervals
