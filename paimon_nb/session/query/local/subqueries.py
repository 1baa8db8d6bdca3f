"""Subqueries in expressions: EXISTS, IN (SELECT ...) and scalar subqueries, as far as Spark accepts them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.operators import text_as_time
from paimon_nb.session.query.local.values import (
    BOOLEAN,
    NULL,
    Value,
    cast_to_common_type,
    engine_type,
    is_floating,
    orderable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.session.query.local.expressions import Expressions
    from paimon_nb.session.query.local.translation import Parts, Translation
    from paimon_nb.syntax.tree import Column, Subquery


class SubqueryTranslator:
    """Translates the subqueries of one text's query."""

    def __init__(
        self, parts: Parts, tree: Callable[..., Translation], materialized: Callable[[Translation], str]
    ) -> None:
        self._parts, self._tree, self._materialized = parts, tree, materialized

    def exists(self, node: Subquery, scope: Expressions) -> Value:
        """EXISTS (SELECT ...)."""
        found = self._translated(node, scope)
        return Value(f"EXISTS (SELECT 1 FROM {self._rows(found)})", BOOLEAN)

    def contains(self, value: Value, node: Subquery, scope: Expressions) -> Value:
        """`value IN (SELECT ...)`."""
        found = self._translated(node, scope)
        if len(found.outputs) != 1:
            raise NotLocal("IN (SELECT ...) with several columns is left to Spark")
        inner = Value("o0", found.outputs[0].type)
        cast, t = cast_to_common_type([text_as_time(value, inner), inner])
        if is_floating(t) or t == NULL or not orderable(cast[0]):
            raise NotLocal(f"{t.bare()} IN (SELECT ...) is left to Spark")
        text = f"({cast[0].sql} IN (SELECT {cast[1].sql} FROM {self._rows(found)}))"
        return Value(text, BOOLEAN, raises=value.raises, is_outer=value.is_outer)

    def scalar(self, node: Subquery, scope: Expressions) -> Value:
        """The value of a subquery with one column and at most one row."""
        found = self._translated(node, scope)
        if len(found.outputs) != 1 or found.outputs[0].type == NULL:
            raise NotLocal("a scalar subquery with such columns is left to Spark")
        t = found.outputs[0].type
        if not found.correlation:
            variable = self._parts.new_name("v")
            self._parts.variables.append((variable, f"SELECT o0 FROM ({found.sql}) AS s"))
            return Value(f"CAST(getvariable('{variable}') AS {engine_type(t)})", t)
        if not found.is_one_row or found.correlation != "equalities" or found.raises:
            raise NotLocal("this correlated subquery is left to Spark")
        return Value(f"({found.sql})", t)

    def _translated(self, node: Subquery, scope: Expressions) -> Translation:
        grouped = scope.groups is not None

        def outer(column: Column) -> Value:
            if grouped:
                raise NotLocal(f"{column.parts[-1]} is not a column, or one of a group")
            return scope.own(column)

        return self._tree(node.query, outer=outer)

    def _rows(self, found: Translation) -> str:
        """The subquery as a source. Its errors are those of all its rows, as in Spark, which joins it."""
        if found.correlation and (found.raises or found.is_one_row):
            raise NotLocal("a correlated subquery that computes is left to Spark")
        if found.raises:
            return self._materialized(found)
        return f"({found.sql}) AS {self._parts.new_name('s')}"


def correlation_of(conditions: Sequence[Value]) -> str:
    """How WHERE depends on outer rows: '' (not), 'equalities' (of an outer value and an inner one), or 'other'."""
    outer = [c for c in conditions if c.is_outer]
    if not outer:
        return ""
    return "equalities" if all(map(_is_equality_of_sides, outer)) else "other"


def _is_equality_of_sides(condition: Value) -> bool:
    if condition.origin is None or condition.origin.operator != "=":
        return False
    sides = [_leaves(o) for o in condition.origin.operands]
    return any(all(a) and not any(b) and b for a, b in (sides, sides[::-1]))


def _leaves(value: Value) -> list[bool]:
    """Whether each column below a value is an outer one."""
    if value.origin is None or value.origin.operator == "COLUMN":
        return [] if value.is_constant else [value.is_outer]
    return [leaf for o in value.origin.operands for leaf in _leaves(o)]
