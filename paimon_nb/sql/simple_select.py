"""Recognises simple SELECTs over one table (filter, projection, ORDER BY, LIMIT, count(*)), which need no Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.sql.pushdown import predicate_of, qualifiers_of
from paimon_nb.sql.table_references import SEARCH_FUNCTIONS
from paimon_nb.syntax.tree import Alias, Call, Column, Literal, Select, Star, Table, conjuncts
from paimon_nb.table.read.predicate.model import Predicate, conjunction_of

if TYPE_CHECKING:
    from paimon_nb.sql.pushdown import Names
    from paimon_nb.statements import Query, TableRef
    from paimon_nb.syntax.tree import Node


@dataclass(frozen=True, slots=True)
class Order:
    """One item of ORDER BY."""

    column: str
    """A column of the table or a name in the result."""
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """`SELECT columns FROM table WHERE condition ORDER BY order LIMIT limit OFFSET offset`, without other clauses."""

    columns: tuple[tuple[str, str], ...] | None
    """(column, name in the result) as written; None: all, by `*`."""
    condition: Predicate | None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0
    count: str | None = None
    """The result's name of `SELECT count(*)`; then `columns` is empty."""

    @property
    def row_by_row(self) -> bool:
        """Whether each row is selected independently of other rows."""
        return not self.order and self.limit is None and not self.offset and self.count is None


def selection_of(query: Query) -> Selection | None:
    """The query as a simple SELECT; None if it is not one, or if only Spark can interpret it."""
    if len(query.tables) != 1 or query.parameters or query.flink_edits:
        return None
    function = query.tables[0].function
    if function is not None and function.name[-1].lower() not in SEARCH_FUNCTIONS:
        return None
    tree = query.tree
    if not isinstance(tree, Select) or tree.distinct or tree.group is not None or tree.having is not None:
        return None
    if tree.common or tree.joins or tree.lateral_views or tree.tail.has_other:
        return None
    source = tree.source
    if not isinstance(source, Table) or source.number != 0 or source.sampled or source.columns:
        return None
    try:
        return _build_selection(tree, query.tables[0])
    except _NotSimple:
        return None


class _NotSimple(Exception):
    """The query is not a simple SELECT."""


def _build_selection(tree: Select, table: TableRef) -> Selection:
    names = qualifiers_of(table, sole_table=True)
    where, tail = tree.where, tree.tail
    parts = [] if where is None else [_require_predicate(predicate_of(c, names)) for c in conjuncts(where)]
    orders = tuple(Order(_column_name(o.expression, names), o.descending, o.nulls_first) for o in tail.order)
    limit, offset = _literal_number(tail.limit), _literal_number(tail.offset)
    counted = _count_star_name(tree.items)
    if counted is not None:
        if orders or limit is not None or offset is not None:
            raise _NotSimple
        return Selection((), conjunction_of(parts) if parts else None, count=counted)
    star = tree.items[0] if len(tree.items) == 1 else None
    is_star = isinstance(star, Star) and not star.qualifier and not star.changed
    if is_star and table.metadata_columns:  # the star does not select them
        raise _NotSimple
    columns = None if is_star else tuple(_select_item(e, names) for e in tree.items)
    return Selection(columns, conjunction_of(parts) if parts else None, orders, limit, offset or 0)


def _require_predicate(predicate: Predicate | None) -> Predicate:
    if predicate is None:
        raise _NotSimple
    return predicate


def _select_item(node: Node, names: Names) -> tuple[str, str]:
    """(column, name in the result) of `a`, `t.a`, `a AS b`."""
    column = _column_name(node.expression if isinstance(node, Alias) else node, names)
    return column, node.name if isinstance(node, Alias) else column


def _column_name(node: Node, names: Names) -> str:
    if not isinstance(node, Column) or tuple(p.lower() for p in node.parts[:-1]) not in names:
        raise _NotSimple
    return node.parts[-1]


def _count_star_name(items: tuple[Node, ...]) -> str | None:
    """The result's name of a lone `count(*)`."""
    if len(items) != 1:
        return None
    call = items[0].expression if isinstance(items[0], Alias) else items[0]
    if (
        not isinstance(call, Call)
        or call.name != (call.name[0],)
        or call.function != "COUNT"
        or len(call.arguments) != 1
    ):
        return None
    counted = call.arguments[0]
    if call.distinct or call.order or call.condition is not None or call.window is not None:
        return None
    if not isinstance(counted, Star) or counted.qualifier or counted.changed:
        return None
    return items[0].name if isinstance(items[0], Alias) else "count(1)"  # Spark's name for it


def _literal_number(node: Node | None) -> int | None:
    """The number of LIMIT or OFFSET."""
    if node is None:
        return None
    if not (isinstance(node, Literal) and node.kind == "number" and node.text.isdecimal()):
        raise _NotSimple
    return int(node.text)
