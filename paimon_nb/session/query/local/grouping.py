"""GROUP BY: what its items mean, and ROLLUP, CUBE and GROUPING SETS in the engine's SQL."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.local.expressions import has_aggregate
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import NULL, Value, orderable, with_positive_zero
from paimon_nb.syntax.tree import (
    Alias,
    Column,
    Literal,
    Select,
    Star,
    Subquery,
    Unary,
    walk_expression,
    without_brackets,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.session.query.local.expressions import Expressions
    from paimon_nb.session.query.local.scopes import Relation
    from paimon_nb.syntax.tree import GroupingItem, Node

_MAX_SETS, _MAX_CUBE = 4096, 12
"""As Spark: more are an error there."""


@dataclass(frozen=True, slots=True)
class Groups:
    """The keys of a query's groups."""

    values: dict[str, Value]
    """By their SQL in a row."""
    sql: str
    """` GROUP BY ...`, or ''."""
    grouping: tuple[Value, ...] | None = None
    """The keys in order, if there are several sets of them."""
    sets: tuple[frozenset[int], ...] = ()
    """The positions in `grouping` of each set of keys."""


def group_keys(node: Select, rows: Expressions, relation: Relation) -> Groups:
    """The groups of a SELECT. Raises NotLocal."""
    if node.group is None:
        return Groups({}, "")
    if not node.group.is_plain and not node.group.items:
        raise NotLocal("GROUP BY ALL is left to Spark")
    values: dict[str, Value] = {}
    keys: list[Value] = []
    for written in node.group.keys:
        expression = without_brackets(_group_expression(without_brackets(written), node.items, relation))
        nodes = list(walk_expression(expression))
        is_position = isinstance(without_brackets(written), Literal)
        if (
            has_aggregate(expression)
            or (isinstance(expression, Literal) and not is_position)
            or any(isinstance(n, Subquery) for n in nodes)
        ):
            raise NotLocal("this GROUP BY is left to Spark")
        value = rows.value(expression)
        if value.type == NULL or not orderable(value):
            raise NotLocal(f"GROUP BY of {value.type.bare()} is left to Spark")
        keys.append(with_positive_zero(value))
        values[value.sql] = keys[-1]
    if node.group.is_plain:
        return Groups(values, f" GROUP BY {', '.join(dict.fromkeys(v.sql for v in values.values()))}")
    if any(v.is_constant for v in keys):
        raise NotLocal("a constant in such a GROUP BY is left to Spark")
    items = ", ".join(_item_sql(item, keys) for item in node.group.items)
    distinct = tuple({v.sql: v for v in keys}.values())
    positions = {v.sql: at for at, v in enumerate(distinct)}
    sets = tuple(frozenset(positions[keys[k].sql] for k in found) for found in _product(node.group.items))
    return Groups(values, f" GROUP BY {items}", distinct, sets)


def _product(items: Sequence[GroupingItem]) -> list[frozenset[int]]:
    """The sets of keys of several items: one set of each, joined."""
    sets = [_sets(item) for item in items]
    if prod(map(len, sets)) > _MAX_SETS:
        raise NotLocal("GROUP BY has very many sets of keys")
    return [frozenset().union(*combination) for combination in product(*sets)]


def _sets(item: GroupingItem) -> list[frozenset[int]]:
    """The sets of keys that an item stands for."""
    if item.kind in ("KEY", "ROW"):
        return [_keys_in(item)]
    if item.kind == "GROUPING SETS":
        return [found for m in item.members if not isinstance(m, int) for found in _sets(m)]
    members = [frozenset({m}) if isinstance(m, int) else _keys_in(m) for m in item.members]
    if item.kind == "ROLLUP":
        return [frozenset().union(*members[:n]) for n in range(len(members), -1, -1)]
    if len(members) > _MAX_CUBE:
        raise NotLocal("CUBE has very many sets of keys")
    combination = product((True, False), repeat=len(members))
    return [frozenset().union(*(m for m, is_in in zip(members, c, strict=True) if is_in)) for c in combination]


def _keys_in(item: GroupingItem) -> frozenset[int]:
    return frozenset().union(*({m} if isinstance(m, int) else _keys_in(m) for m in item.members))


def _item_sql(item: GroupingItem, keys: Sequence[Value]) -> str:
    members = [keys[m].sql if isinstance(m, int) else _item_sql(m, keys) for m in item.members]
    if item.kind == "KEY":
        return members[0]
    inside = f"({', '.join(members)})"
    return inside if item.kind == "ROW" else f"{item.kind} {inside}"


def _group_expression(written: Node, items: Sequence[Node], relation: Relation) -> Node:
    """What an item of GROUP BY means: a position, an alias, or an expression."""
    if isinstance(written, Literal) and written.kind == "number" and written.text.isdecimal():
        position = int(written.text) - 1
        if not 0 <= position < len(items) or any(isinstance(i, Star) for i in items):
            raise NotLocal("GROUP BY has no such position")
        return _expression(items[position])
    if isinstance(written, Unary) and isinstance(without_brackets(written.operand), Literal):
        raise NotLocal("a signed number as a position is left to Spark")
    if not isinstance(written, Column) or len(written.parts) > 1:
        return written
    name = written.parts[0].lower()
    aliased = [_expression(i) for i in items if isinstance(i, Alias) and i.name.lower() == name]
    is_column = bool(relation.matches(written))
    if not aliased:
        return written
    if len(aliased) > 1:
        raise NotLocal(f"{name} is ambiguous")
    same = isinstance(aliased[0], Column) and aliased[0].parts[-1].lower() == name
    if is_column and not same:
        raise NotLocal(f"{name} is a column and an alias")
    return aliased[0]


def _expression(item: Node) -> Node:
    return without_brackets(item.expression if isinstance(item, Alias) else item)
