"""Subqueries as joins: IN and EXISTS are semi joins, NOT is an anti join, a scalar subquery is a join with one row."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.incremental.group_scope import GroupScope
from paimon_nb.incremental.joins import ids_in, join_of
from paimon_nb.incremental.operators import Aggregate, Column, Filter, Project
from paimon_nb.session.query.local.expressions import Expressions
from paimon_nb.session.query.local.grouping import Groups
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.operators import OPERATORS, text_as_time
from paimon_nb.session.query.local.values import (
    BOOLEAN,
    NULL,
    Origin,
    Value,
    cast_to_common_type,
    is_floating,
    orderable,
)
from paimon_nb.syntax import tree as syntax
from paimon_nb.syntax.tree import without_brackets

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.incremental.operators import Operator
    from paimon_nb.incremental.shared import QueryBuilder
    from paimon_nb.session.query.local.scopes import Relation


@dataclass(frozen=True, slots=True)
class _Scalar:
    operator: Operator
    kind: str
    conditions: tuple[Value, ...]
    columns: tuple[Column, ...]


class Subqueries:
    """The subqueries of one SELECT.

    Args:
        builder: of the text.
        relation: the FROM of the SELECT, whose columns correlated subqueries may use.
    """

    def __init__(self, builder: QueryBuilder, relation: Relation) -> None:
        self._builder, self._relation = builder, relation
        self.found: list[_Scalar] = []
        self._joined = 0

    @property
    def columns(self) -> set[str]:
        """The columns of scalar subqueries."""
        return {c.id for s in self.found for c in s.columns}

    def uses(self, value: Value) -> bool:
        return bool(ids_in(value.sql) & self.columns)

    def joined(self, op: Operator, since: int = 0) -> Operator:
        """Rows with the values of the scalar subqueries that were found since the last call."""
        for scalar in self.found[max(self._joined, since) :]:
            op = join_of(scalar.kind, op, scalar.operator, scalar.conditions)
        self._joined = len(self.found)
        return op

    # -- conditions

    def predicate(self, node: syntax.Node) -> Callable[[Operator], Operator] | None:
        """A part of WHERE that is [NOT] IN (SELECT ...) or [NOT] EXISTS: what it makes of the rows. None: it is another condition."""
        node, negated = without_brackets(node), False
        while isinstance(node, syntax.Unary) and node.op == "NOT":
            node, negated = without_brackets(node.operand), not negated
        if isinstance(node, syntax.Subquery) and node.exists:
            return self._exists(node, negated)
        if isinstance(node, syntax.In) and len(node.items) == 1 and isinstance(node.items[0], syntax.Subquery):
            return self._in(node, node.items[0], negated != node.negated)
        return None

    def _exists(self, node: syntax.Subquery, negated: bool) -> Callable[[Operator], Operator]:
        kind = "ANTI" if negated else "SEMI"
        select = _simple_select(node.query)
        if select is None:
            built = self._builder.tree(node.query)
            return lambda op: join_of(kind, op, built.operator, ())
        inner, _, outside, _ = self._builder.correlated(select, self._outer)
        return lambda op: join_of(kind, op, inner, outside)

    def _in(self, node: syntax.In, subquery: syntax.Subquery, negated: bool) -> Callable[[Operator], Operator]:
        scope = Expressions(self._builder.context(self), self._relation.resolve)
        first = scope.value(node.operand)
        select = _simple_select(subquery.query)
        outside: list[Value] = []
        if select is not None and len(select.items) == 1 and not isinstance(select.items[0], syntax.Star):
            inner, relation, outside, context = self._builder.correlated(select, self._outer)
            item = select.items[0]
            value = Expressions(context, relation.resolve).value(
                item.expression if isinstance(item, syntax.Alias) else item
            )
        else:
            built = self._builder.tree(subquery.query)
            if len(built.names) != 1:
                raise NotLocal("IN (SELECT ...) with several columns")
            inner, (column,) = built.operator, built.operator.columns
            value = Value(column.id, column.type)
        cast, t = cast_to_common_type([text_as_time(first, value), value])
        if is_floating(t) or t == NULL or not orderable(cast[0]):
            raise NotLocal(f"{t.bare()} IN (SELECT ...)")
        equal = scope.apply("=", OPERATORS["="], cast)
        if not negated:
            return lambda op: join_of("SEMI", op, inner, [equal, *outside])
        if outside:
            raise NotLocal("NOT IN with a correlated subquery; write NOT EXISTS")
        return lambda op: self._not_in(op, inner, cast[0], cast[1], equal)

    def _not_in(self, op: Operator, inner: Operator, first: Value, value: Value, equal: Value) -> Operator:
        """NOT IN is true if there is no row, or neither side is NULL and no row matches."""
        shared = self._builder.shared
        column = shared.column(value.type, "value")
        rows = Project(inner, ((value.sql, column),))
        scope = GroupScope.over_columns(shared, [column])
        known = scope.count(column)
        total = scope.count_rows()
        counted = Aggregate(rows, (), tuple(scope.calls))
        empty, has_null = shared.column(BOOLEAN, "is_empty"), shared.column(BOOLEAN, "has_null")
        facts = Project(counted, ((f"({total} = 0)", empty), (f"({known} < {total})", has_null)))
        matched = replace(
            equal, sql=f"({first.sql} = {column.id})", origin=Origin("=", (first, Value(column.id, value.type)))
        )
        unmatched = join_of("ANTI", op, rows, [matched])
        both = join_of("INNER", unmatched, facts, ())
        return Filter(both, f"{empty.id} OR (({first.sql}) IS NOT NULL AND NOT {has_null.id})")

    # -- values

    def exists(self, *_: object) -> Value:
        raise NotLocal("EXISTS inside another condition")

    def contains(self, *_: object) -> Value:
        raise NotLocal("IN (SELECT ...) inside another condition")

    def scalar(self, node: syntax.Subquery, *_: object) -> Value:
        """The value of a subquery with one column and exactly one row."""
        select = _simple_select(node.query, aggregated=True)
        if select is not None:
            return self._scalar_of_groups(select)
        built = self._builder.tree(node.query)
        if len(built.names) != 1 or not built.is_one_row:
            raise NotLocal("a scalar subquery that is not one aggregate")
        (column,) = built.operator.columns
        self.found.append(_Scalar(built.operator, "INNER", (), (column,)))
        return Value(column.id, column.type, origin=Origin("AGGREGATE", ()))

    def _scalar_of_groups(self, select: syntax.Select) -> Value:
        """SELECT of aggregates under equalities with outer columns: groups by the inner sides, joined with the outer ones."""
        builder = self._builder
        inner, relation, outside, context = builder.correlated(select, self._outer)
        pairs = [_sides(v) for v in outside]
        groups = {inner_side.sql: inner_side for _, inner_side in pairs}
        scope = GroupScope(builder.shared, context, relation, Groups(groups, ""))
        item = select.items[0]
        value = scope.value(item.expression if isinstance(item, syntax.Alias) else item)
        grouped = Aggregate(scope.input_of(inner), scope.keys, tuple(scope.calls))
        if not pairs:
            self.found.append(_Scalar(grouped, "INNER", (), grouped.columns))
            return replace(value, origin=Origin("AGGREGATE", ()))
        assert scope.groups is not None
        conditions = []
        for outer, inner_side in pairs:
            key = scope.groups[inner_side.sql]
            conditions.append(
                Value(f"({outer.sql} = {key.sql})", BOOLEAN, origin=Origin("=", (replace(outer, is_outer=False), key)))
            )
        self.found.append(_Scalar(grouped, "LEFT", tuple(conditions), grouped.columns))
        text = value.sql
        for call in scope.calls:  # the others are NULL
            if call.of_no_rows:
                text = re.sub(rf"\b{call.result.id}\b", f"coalesce({call.result.id}, {call.of_no_rows})", text)
        return replace(value, sql=text, origin=Origin("AGGREGATE", ()))

    def _outer(self, column: syntax.Column) -> Value:
        return self._relation.resolve(column)


def _sides(value: Value) -> tuple[Value, Value]:
    """The outer and the inner side of an equality. Raises NotLocal: it is another condition."""
    if value.origin is not None and value.origin.operator == "=":
        a, b = value.origin.operands
        for outer, inner in ((a, b), (b, a)):
            if outer.is_outer and not inner.is_outer and not inner.is_constant:
                cast, t = cast_to_common_type([outer, inner])
                if is_floating(t):
                    break
                return cast[0], cast[1]
    raise NotLocal("a correlated scalar subquery with another condition than equalities")


def _simple_select(node: syntax.QueryTree, *, aggregated: bool = False) -> syntax.Select | None:
    """A SELECT that has only FROM and WHERE; `aggregated`: and one item with aggregates. None: it has more."""
    from paimon_nb.session.query.local.expressions import has_aggregate, has_window

    while (
        isinstance(node, syntax.Bracketed) and not node.common and node.tail.limit is None and node.tail.offset is None
    ):
        node = node.query
    if not isinstance(node, syntax.Select) or node.common or node.lateral_views or node.source is None:
        return None
    if node.group is not None or node.having is not None or node.tail.limit is not None or node.tail.offset is not None:
        return None
    expressions = [i.expression if isinstance(i, syntax.Alias) else i for i in node.items]
    if has_window(expressions) or node.tail.has_other:
        return None
    found = [has_aggregate(e) for e in expressions]
    if aggregated:
        return node if found == [True] and not node.distinct else None
    return None if any(found) else node
