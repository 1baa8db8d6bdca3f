"""Pushdown analysis: the filter and the columns that a query needs from each table. Parses with sqlglot, never renders.

Filters are conservative, and Spark applies every filter again.
"""

from __future__ import annotations

import datetime as dt
import decimal
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.identifier import quote
from paimon_nb.plan import Span, TableRef
from paimon_nb.sql.render import substitute
from paimon_nb.table.scan.predicate.model import FLIPPED, Compare, In, IsNull, Like, Not, Or, Predicate, all_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlglot import exp

    from paimon_nb.sql.table_references import TableReferences

_PLACEHOLDER = "__t"
_MAX_LENGTH = 200_000
"""Longer texts are mostly VALUES lists, which have nothing to push down."""


def with_pushdown(
    text: str, span: Span, tables: Sequence[TableRef], edits: Sequence[tuple[Span, str]]
) -> tuple[TableRef, ...]:
    """The references with the `filter` and `columns` that follow from the query's text."""
    if not tables or span.stop - span.start > _MAX_LENGTH:
        return tuple(tables)
    tree = tree_of(text, span, tables, edits)
    if tree is None:
        return tuple(tables)
    columns = _possible_columns(tree)
    filters = _filters_by_table(tree)
    return tuple(replace(ref, columns=columns, filter=filters.get(i)) for i, ref in enumerate(tables))


def with_condition(
    text: str, condition: Span | None, table: TableRef, found: TableReferences, *, sole_table: bool = True
) -> TableRef:
    """The target of an UPDATE, DELETE or MERGE with the part of its condition that concerns only it as `filter`.

    Args:
        sole_table: no other table is in scope, so unqualified names belong to this table.
    """
    if condition is None or condition.stop - condition.start > _MAX_LENGTH:
        return table
    tree = tree_of(text, condition, found.tables, found.edits, before="SELECT 1 WHERE ")
    where = tree.args.get("where") if tree is not None else None
    if where is None:
        return table
    name = (table.alias or table.parts[-1]).lower()
    known = [predicate_of(c, name, sole_table) for c in conjuncts_of(where.this)]
    parts = [p for p in known if p is not None]
    return replace(table, filter=all_of(parts)) if parts else table


def equal_columns(condition: str, through: Collection[str] = ()) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """The conjuncts `a.x = b.y` of a condition as pairs of (qualifier or '', column), lower case.

    through: types (BIGINT, ...); a column cast to one of them is treated as the column.
    """
    from sqlglot import exp

    tree = tree_of(condition, Span(0, len(condition)), (), (), before="SELECT 1 WHERE ")
    where = tree.args.get("where") if tree is not None else None
    if where is None:
        return []

    def name(node: exp.Expr) -> tuple[str, str] | None:
        node = node.unnest()
        while isinstance(node, exp.Cast) and node.to.sql("spark") in through:
            node = node.this.unnest()
        if not isinstance(node, exp.Column) or len(node.parts) > 2:
            return None
        return node.table.lower(), node.name.lower()

    pairs = [(name(c.left), name(c.right)) for c in conjuncts_of(where.this) if isinstance(c, exp.EQ)]
    return [(a, b) for a, b in pairs if a is not None and b is not None]


def tree_of(
    text: str, span: Span, tables: Sequence[TableRef], edits: Sequence[tuple[Span, str]], before: str = ""
) -> exp.Expr | None:
    """The parsed query with numbered placeholders for tables; None if sqlglot cannot parse it."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    names = [
        (r.span, f"{_PLACEHOLDER}{i}" if r.alias else f"{_PLACEHOLDER}{i} AS {quote(_table_name(r))}")
        for i, r in enumerate(tables)
    ]
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        return sqlglot.parse_one(before + substitute(text, span, [*names, *edits]), read="spark")
    except (SqlglotError, RecursionError, ValueError, IndexError, AttributeError, TypeError):
        return None


def _table_name(ref: TableRef) -> str:
    return ref.function.name[-1] if ref.function else ref.parts[-1]


def _possible_columns(tree: exp.Expr) -> tuple[str, ...] | None:
    """All names that could be columns, of any table; None if a star selects all columns."""
    from sqlglot import exp

    for star in tree.find_all(exp.Star):
        if not isinstance(star.parent, exp.Count):
            return None
    if any(join.args.get("method") == "NATURAL" for join in tree.find_all(exp.Join)):
        return None
    names: dict[str, None] = {}
    for column in tree.find_all(exp.Column):
        for part in column.parts:
            names[part.name] = None  # `a.b` may be field b of a struct a
    for join in tree.find_all(exp.Join):
        for identifier in join.args.get("using") or ():
            names[identifier.name] = None
    if any(isinstance(node, exp.Lateral | exp.Pivot | exp.Command) for node in tree.walk()):
        return None
    return tuple(names)


def _filters_by_table(tree: exp.Expr) -> dict[int, Predicate]:
    from sqlglot import exp

    out: dict[int, Predicate] = {}
    for select in tree.find_all(exp.Select):
        where = select.args.get("where")
        source = select.args.get("from_") or select.args.get("from")
        if where is None or source is None or select.args.get("laterals"):
            continue
        joins = select.args.get("joins") or []
        preserved = _preserved_tables(source.this, joins)
        sole_table = not joins
        for alias, number in preserved.items():
            parts = [
                p
                for p in (predicate_of(c, alias, sole_table) for c in conjuncts_of(where.this))
                if p is not None
            ]  # fmt: skip
            if parts:
                out[number] = all_of(parts)
    return out


def _preserved_tables(first: exp.Expr, joins: Sequence[exp.Join]) -> dict[str, int]:
    """alias -> number of the tables that no outer join can replace by NULLs."""
    out = _placeholder_number(first)
    for join in joins:
        side, kind = (join.side or "").upper(), (join.kind or "").upper()
        if side == "FULL":
            return {}
        if side == "RIGHT":
            out = {}
        if side != "LEFT" and kind not in ("SEMI", "ANTI"):
            out.update(_placeholder_number(join.this))
    return out


def _placeholder_number(node: exp.Expr) -> dict[str, int]:
    from sqlglot import exp

    if (
        isinstance(node, exp.Table)
        and node.name.startswith(_PLACEHOLDER)
        and node.name[len(_PLACEHOLDER) :].isdecimal()
    ):
        return {node.alias_or_name.lower(): int(node.name[len(_PLACEHOLDER) :])}
    return {}


def conjuncts_of(node: exp.Expr) -> list[exp.Expr]:
    from sqlglot import exp

    node = node.unnest()
    if isinstance(node, exp.And):
        return [*conjuncts_of(node.left), *conjuncts_of(node.right)]
    return [node]


def predicate_of(node: exp.Expr, alias: str, sole_table: bool) -> Predicate | None:
    """The condition as a predicate, or None if a part of it does not clearly concern this table."""
    from sqlglot import exp

    node = node.unnest()
    comparisons = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
    if isinstance(node, exp.Binary) and type(node) in comparisons:
        op = comparisons[type(node)]
        left, right = _column_of_table(node.left, alias, sole_table), _column_of_table(node.right, alias, sole_table)
        if left is not None and (literal := _literal_value(node.right)) is not None:
            return Compare(left, op, literal)
        if right is not None and (literal := _literal_value(node.left)) is not None:
            return Compare(right, FLIPPED[op], literal)
        return None
    match node:
        case exp.And():
            parts = [predicate_of(p, alias, sole_table) for p in (node.left, node.right)]
            known = [p for p in parts if p is not None]
            return all_of(known) if len(known) == 2 else None
        case exp.Or():
            parts = [predicate_of(p, alias, sole_table) for p in (node.left, node.right)]
            return Or(tuple(p for p in parts if p)) if all(p is not None for p in parts) else None
        case exp.Not():
            inner = predicate_of(node.this, alias, sole_table)
            return None if inner is None else Not(inner)
        case exp.In() if not node.args.get("query") and not node.args.get("unnest"):
            name = _column_of_table(node.this, alias, sole_table)
            values = [_literal_value(e) for e in node.expressions]
            return In(name, tuple(values)) if name and values and all(v is not None for v in values) else None
        case exp.Between():
            name = _column_of_table(node.this, alias, sole_table)
            low, high = _literal_value(node.args["low"]), _literal_value(node.args["high"])
            if name is None or low is None or high is None or node.args.get("symmetric"):
                return None
            return all_of([Compare(name, ">=", low), Compare(name, "<=", high)])
        case exp.Is():
            name = _column_of_table(node.this, alias, sole_table)
            if name is None or not isinstance(node.expression, exp.Null):
                return None
            return IsNull(name)
        case exp.Like():
            name, pattern = _column_of_table(node.this, alias, sole_table), node.expression
            if name is None or not (isinstance(pattern, exp.Literal) and pattern.is_string) or "\\" in pattern.this:
                return None
            like = Like(name, pattern.this)
            return Not(like) if node.args.get("negate") else like  # newer releases of sqlglot have no Not around it
    return None


def _column_of_table(node: exp.Expr, alias: str, sole_table: bool) -> str | None:
    from sqlglot import exp

    if not isinstance(node, exp.Column) or len(node.parts) > 2:
        return None
    if node.table:
        return node.name if node.table.lower() == alias else None
    return node.name if sole_table else None


def _literal_value(node: exp.Expr) -> Any:
    """The literal's value; None for NULL and for everything that is not a literal."""
    from sqlglot import exp

    node = node.unnest()
    if isinstance(node, exp.Neg):
        value = _literal_value(node.this)
        return -value if isinstance(value, int | decimal.Decimal) and not isinstance(value, bool) else None
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        left, right = _literal_value(node.left), _literal_value(node.right)
        if not all(isinstance(v, int | decimal.Decimal) and not isinstance(v, bool) for v in (left, right)):
            return None
        return _exact_arithmetic(type(node), left, right)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        if node.is_string:
            return node.this
        try:
            return int(node.this) if node.this.isdecimal() else decimal.Decimal(node.this)
        except decimal.InvalidOperation:
            return None
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal) and node.this.is_string:
        try:
            if node.to.is_type("date"):
                return dt.date.fromisoformat(node.this.this)
            if node.to.is_type("timestamp", "timestampntz"):
                return dt.datetime.fromisoformat(node.this.this)
        except ValueError:
            return None
    return None


def _exact_arithmetic(operation: type[exp.Expr], left: Any, right: Any) -> Any:
    """The exact sum, difference or product of two numbers; None if Spark may round or overflow."""
    from sqlglot import exp

    with decimal.localcontext(prec=100):
        value = left + right if operation is exp.Add else left - right if operation is exp.Sub else left * right
    if isinstance(value, int):
        return value if abs(value) < 1 << 31 else None
    return value if len(value.as_tuple().digits) <= 18 else None
