"""Recognises simple SELECTs over one table (filter, projection, ORDER BY, LIMIT, count(*)), which need no Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimon_nb.sql.pushdown import conjuncts_of, predicate_of, tree_of
from paimon_nb.table.scan.predicate.model import Predicate, all_of

if TYPE_CHECKING:
    from sqlglot import exp

    from paimon_nb.plan import Query

_CLAUSES = frozenset({"expressions", "from", "from_", "where", "order", "limit", "offset"})


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


def selection_of(query: Query, text: str) -> Selection | None:
    """The query as a simple SELECT; None if it is not one, or if only Spark can interpret it."""
    from sqlglot import exp

    if len(query.tables) != 1 or query.parameters or query.flink_edits:
        return None
    function = query.tables[0].function
    if function is not None and function.name[-1].lower() != "vector_search":
        return None
    tree = tree_of(text, query.span, query.tables, query.edits)
    if not isinstance(tree, exp.Select) or any(v and k not in _CLAUSES for k, v in tree.args.items()):
        return None
    source = (tree.args.get("from_") or tree.args["from"]).this
    if not isinstance(source, exp.Table) or any(v and k not in ("this", "alias") for k, v in source.args.items()):
        return None
    if source.args.get("alias") is not None and source.args["alias"].args.get("columns"):
        return None
    try:
        return _build_selection(tree, source.alias_or_name.lower())
    except _NotSimple:
        return None


class _NotSimple(Exception):
    """The query is not a simple SELECT."""


def _build_selection(tree: exp.Select, table: str) -> Selection:
    from sqlglot import exp

    where, order = tree.args.get("where"), tree.args.get("order")
    parts = (
        [] if where is None else [_require_predicate(predicate_of(c, table, True)) for c in conjuncts_of(where.this)]
    )
    orders = () if order is None else tuple(_order_item(o, table) for o in order.expressions)
    limit, offset = _literal_number(tree.args.get("limit")), _literal_number(tree.args.get("offset"))
    counted = _count_star_name(tree.expressions)
    if counted is not None:
        if orders or limit is not None or offset is not None:
            raise _NotSimple
        return Selection((), all_of(parts) if parts else None, count=counted)
    star = tree.expressions[0] if len(tree.expressions) == 1 else None
    is_star = isinstance(star, exp.Star) and not any(star.args.values())
    columns = None if is_star else tuple(_select_item(e, table) for e in tree.expressions)
    return Selection(columns, all_of(parts) if parts else None, orders, limit, offset or 0)


def _require_predicate(predicate: Predicate | None) -> Predicate:
    if predicate is None:
        raise _NotSimple
    return predicate


def _select_item(node: exp.Expr, table: str) -> tuple[str, str]:
    """(column, name in the result) of `a`, `t.a`, `a AS b`."""
    from sqlglot import exp

    return _column_name(node.this if isinstance(node, exp.Alias) else node, table), node.alias_or_name


def _column_name(node: exp.Expr, table: str) -> str:
    from sqlglot import exp

    if not isinstance(node, exp.Column) or len(node.parts) > 2 or isinstance(node.this, exp.Star):
        raise _NotSimple
    if node.table and node.table.lower() != table:
        raise _NotSimple
    return node.name


def _count_star_name(expressions: list[exp.Expr]) -> str | None:
    """The result's name of a lone `count(*)`."""
    from sqlglot import exp

    inner = expressions[0].unalias() if len(expressions) == 1 else None
    if not (isinstance(inner, exp.Count) and isinstance(inner.this, exp.Star) and not any(inner.this.args.values())):
        return None
    return expressions[0].alias or "count(1)"  # Spark's name for it


def _order_item(node: exp.Expr, table: str) -> Order:
    from sqlglot import exp

    if not isinstance(node, exp.Ordered):
        raise _NotSimple
    return Order(_column_name(node.this, table), bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def _literal_number(node: exp.Expr | None) -> int | None:
    """The number of LIMIT or OFFSET."""
    from sqlglot import exp

    if node is None:
        return None
    if not (isinstance(node.expression, exp.Literal) and node.expression.is_int):
        raise _NotSimple
    return int(node.expression.this)
