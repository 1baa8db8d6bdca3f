"""FROM as joins of two inputs: which conditions join, which filter, and in which order the inputs are joined."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.incremental.operators import Filter, Join
from paimon_nb.session.query.local.clauses import using_columns
from paimon_nb.session.query.local.expressions import Expressions
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.operators import operands_of_comparison
from paimon_nb.session.query.local.scopes import Relation, joined
from paimon_nb.session.query.local.values import Value, is_floating
from paimon_nb.session.query.local.where import where_sql
from paimon_nb.syntax import tree as syntax

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from paimon_nb.incremental.operators import Operator
    from paimon_nb.incremental.shared import Shared
    from paimon_nb.session.query.local.expressions import Context
    from paimon_nb.session.query.local.scopes import Read

_IDS = re.compile(r"\b(?:x\d+|t\d+_\d+)\b")
_TEXTS = re.compile(r"'(?:[^']|'')*'")


@dataclass(frozen=True, slots=True)
class Item:
    """A part of FROM: inputs that inner joins connect, and their conditions."""

    relation: Relation
    parts: list[Operator]
    conditions: list[Value]


def ids_in(sql: str) -> set[str]:
    """The plan's columns in an expression."""
    return set(_IDS.findall(_TEXTS.sub("", sql)))


def linked(values: Sequence[Value]) -> str:
    """Conditions that must all be true."""
    return " AND ".join(f"({v.sql})" for v in values)


def cross(items: Sequence[Item], relation: Relation) -> Item:
    return Item(relation, [p for i in items for p in i.parts], [c for i in items for c in i.conditions])


def joined_item(
    shared: Shared,
    context: Context,
    kind: str,
    left: Item,
    right: Item,
    condition: syntax.Node | None,
    using: Sequence[str],
) -> Item:
    """The join of two parts of FROM."""
    both = Expressions(context, joined(left.relation, right.relation, "", ()).resolve)
    merged: list[tuple[str, Read]] = []
    values: list[Value] = []
    if using:
        if condition is not None or kind in ("SEMI", "ANTI"):
            raise NotLocal("this USING")
        values, merged = using_columns(both, kind, left.relation, right.relation, using)
    elif condition is not None:
        values = [both.condition(part) for part in syntax.conjuncts(condition)]
    _check_join_condition(values)
    shared.checks.add(values, [])
    relation = joined(
        left.relation, right.relation, "", merged, only_left=kind in ("SEMI", "ANTI"), is_full=kind == "FULL"
    )
    if kind == "INNER":
        return Item(relation, [*left.parts, *right.parts], [*left.conditions, *right.conditions, *values])
    a, b = materialized(left, []), materialized(right, [])
    if kind == "RIGHT":
        return Item(relation, [join_of("LEFT", b, a, values)], [])
    return Item(relation, [join_of(kind, a, b, values)], [])


def _check_join_condition(conditions: Sequence[Value]) -> None:
    if any(v.raises for v in conditions):
        raise NotLocal("a join condition computes, and may raise errors for rows that do not join")


def join_of(kind: str, left: Operator, right: Operator, conditions: Sequence[Value]) -> Join:
    """A join with its keys: the equalities between expressions of the two sides."""
    of_left, of_right = ({c.id for c in side.columns} for side in (left, right))
    equalities: list[tuple[str, str]] = []
    null_safe = False
    for value in conditions:
        if value.origin is None or value.origin.operator not in ("=", "<=>"):
            continue
        a, b = value.origin.operands
        for x, y in ((a, b), (b, a)):
            xs, ys = ids_in(x.sql), ids_in(y.sql)
            if xs and ys and xs <= of_left and ys <= of_right:
                if is_floating(x.type) or is_floating(y.type):
                    raise NotLocal("a join on floating-point numbers")
                p, q = operands_of_comparison(x, y)
                equalities.append((p.sql, q.sql))
                null_safe = null_safe or value.origin.operator == "<=>"
                break
    return Join(kind, left, right, tuple(equalities), linked(conditions) or "TRUE", null_safe)


def materialized(item: Item, conditions: Sequence[Value], later: Collection[str] = ()) -> Operator:
    """The rows of a part of FROM under conditions.

    Args:
        item: the part.
        conditions: of WHERE.
        later: columns of subqueries, which are joined afterwards; conditions with them are left out.
    """
    waiting = [v for v in (*item.conditions, *conditions) if not ids_in(v.sql) & set(later)]
    if len(item.parts) > 1 and any(v.raises for v in waiting):
        raise NotLocal("WHERE computes over a join, and may raise errors for rows that do not join")
    parts = []
    for part in item.parts:
        own = {c.id for c in part.columns}
        filters = [v for v in waiting if ids_in(v.sql) <= own and (ids_in(v.sql) or len(item.parts) == 1)]
        waiting = [v for v in waiting if all(v is not f for f in filters)]
        parts.append(_filtered(part, filters))
    found, rest = parts[0], parts[1:]
    while rest:
        near = next((p for p in rest if _connect(found, p, waiting)), rest[0])
        rest = [p for p in rest if p is not near]
        known = {c.id for c in (*found.columns, *near.columns)}
        here = [v for v in waiting if ids_in(v.sql) and ids_in(v.sql) <= known]
        waiting = [v for v in waiting if all(v is not h for h in here)]
        found = join_of("INNER", found, near, here)
    return _filtered(found, waiting)


def _connect(left: Operator, right: Operator, conditions: Sequence[Value]) -> bool:
    """Whether an equality joins the two."""
    of_left, of_right = ({c.id for c in side.columns} for side in (left, right))
    for value in conditions:
        if value.origin is None or value.origin.operator not in ("=", "<=>"):
            continue
        a, b = (ids_in(o.sql) for o in value.origin.operands)
        if a and b and ((a <= of_left and b <= of_right) or (b <= of_left and a <= of_right)):
            return True
    return False


def _filtered(op: Operator, conditions: Sequence[Value]) -> Operator:
    if not conditions:
        return op
    return Filter(op, where_sql(conditions, is_joined=False))
