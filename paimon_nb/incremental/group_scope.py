"""Expressions above GROUP BY: keys and aggregate functions become columns of the operator that groups."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.incremental.arrival_calls import arrival_call
from paimon_nb.incremental.operators import AggregateCall, Column, Project, Unnest
from paimon_nb.incremental.window_scope import WindowScope
from paimon_nb.session.query.local.aggregates import ORDERED_AGGREGATES, aggregate_sql
from paimon_nb.session.query.local.clauses import result_column_position
from paimon_nb.session.query.local.expressions import Context, Expressions
from paimon_nb.session.query.local.grouping import Groups
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.scopes import Relation
from paimon_nb.session.query.local.values import BIGINT, Origin, Value
from paimon_nb.syntax import tree as syntax
from paimon_nb.syntax.tree import without_brackets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.incremental.arrival_calls import ArrivalCall
    from paimon_nb.incremental.operators import Operator
    from paimon_nb.incremental.shared import Shared

_FOLLOWED = frozenset({"COUNT", "SUM", "MIN", "MAX", "AVG"})
"""Aggregate functions whose groups follow changes of rows."""


class GroupScope(WindowScope):
    """The scope of a SELECT list and HAVING with groups.

    Args:
        shared: names of the plan.
        context: of the text.
        relation: what names in a row mean.
        groups: the keys, and their sets.
        windows: the windows of the WINDOW clause.
    """

    def __init__(
        self,
        shared: Shared,
        context: Context,
        relation: Relation,
        groups: Groups,
        windows: Mapping[str, syntax.Window] | None = None,
    ) -> None:
        self._shared, self._relation = shared, relation
        self.named: Sequence[tuple[str | None, Value]] = ()
        """The SELECT list, whose aliases HAVING may use."""
        self.calls: list[AggregateCall] = []
        self._items: dict[str, Column] = {}
        """By SQL in a row: the columns that the groups are made of."""
        columns = {sql: self._input(v) for sql, v in groups.values.items()}
        self._sets = groups.sets
        self._set = shared.column(BIGINT, "grouping_set")
        own = {c.id: c for c in columns.values()}
        """The keys in a row."""
        self._nulled = {i: shared.column(c.type, c.name) for i, c in own.items()} if self._sets else own
        self._own = own
        self.keys = (*self._nulled.values(), self._set) if self._sets else tuple(own.values())
        values = {
            sql: Value(self._nulled[c.id].id, c.type, groups.values[sql].name, origin=Origin("AGGREGATE", ()))
            for sql, c in columns.items()
        }
        grouping = None if groups.grouping is None else [Value(self._nulled[c].id, own[c].type) for c in own]
        super().__init__(context, relation.resolve, groups=values, windows=windows, grouping=grouping)

    @classmethod
    def over_columns(cls, shared: Shared, columns: Sequence[Column]) -> GroupScope:
        """A scope whose rows are columns of the plan."""
        made = cls(shared, Context(lambda _start, _stop: [], False), Relation("", (), ()), Groups({}, ""))
        made._items = {c.id: c for c in columns}
        return made

    @property
    def inputs(self) -> Sequence[str]:
        """SQL of the columns that are grouped."""
        return list(self._items)

    def count_rows(self) -> str:
        """COUNT(*)."""
        return self._register("COUNT", None, None, distinct=False).sql

    def count(self, column: Column) -> str:
        """COUNT of a column."""
        return self._register("COUNT", Value(column.id, column.type), None, distinct=False).sql

    def input_of(self, op: Operator) -> Operator:
        """The rows that are grouped: keys, and operands of the functions."""
        rows = Project(op, tuple(self._items.items()))
        if not self._sets:
            return rows
        names = ", ".join(c.name for c in self._own.values())
        copies = Unnest(rows, f"range({len(self._sets)})", self._set, f"{len(self._sets)} sets of {names}")
        items = [(c.id, c) for c in (*rows.columns, self._set)]
        for at, (own, column) in enumerate(self._nulled.items()):
            present = ", ".join(str(number) for number, found in enumerate(self._sets) if at in found)
            sql = f"(CASE WHEN {self._set.id} IN ({present}) THEN {own} END)" if present else f"nullif({own}, {own})"
            items.append((sql, column))
        return Project(copies, tuple(items))

    def grouping_sql(self, keys: Sequence[str]) -> str:
        positions = [list(self._nulled.values()).index(c) for k in keys for c in self._nulled.values() if c.id == k]
        numbers = [sum((p not in found) << at for at, p in enumerate(reversed(positions))) for found in self._sets]
        return f"[{', '.join(map(str, numbers))}][{self._set.id} + 1]"

    def value(self, e: syntax.Node) -> Value:
        e = without_brackets(e)
        if isinstance(e, syntax.Column) and self.named:
            position = result_column_position(e, self.named, self._relation)
            if position is not None:
                return self.named[position][1]
        return super().value(e)

    def inside_window(self) -> Expressions:
        inner = copy(self)  # it finds the same columns and calls
        inner.windows = None
        return inner

    def _aggregate(self, e: syntax.Call) -> Value:
        if e.function in ORDERED_AGGREGATES:
            return self._arrival(arrival_call(e, self.rows(), self._input))
        operand, condition = self._aggregate_operands(e, self.rows())
        return self._register(e.function, operand, condition, distinct=e.distinct)

    def _arrival(self, found: ArrivalCall) -> Value:
        known = next((c for c in self.calls if c.sql == found.sql), None)
        if known is None:
            known = AggregateCall(
                found.function,
                found.operand,
                found.distinct,
                self._shared.column(found.type, found.function.lower()),
                found.sql,
                self.flink,
                found.of_no_rows,
                True,
                found.others,
                found.condition,
            )
            self.calls.append(known)
        return Value(known.result.id, found.type, origin=Origin("AGGREGATE", ()))

    def _register(self, function: str, operand: Value | None, condition: Value | None, *, distinct: bool) -> Value:
        if function not in _FOLLOWED:
            raise NotLocal(f"{function} is not followed by its changes")
        written = aggregate_sql(function, operand, condition, distinct=distinct, flink=self.flink)
        column = None
        if operand is not None or condition is not None:
            value = operand or Value("1", BIGINT)
            if condition is not None:
                value = replace(value, sql=f"(CASE WHEN {condition.sql} THEN {value.sql} END)")
            column = self._input(value)
        known = [c for c in self.calls if (c.function, c.operand, c.distinct) == (function, column, distinct)]
        if known:
            call = known[0]
        else:
            operand_value = None if column is None else Value(column.id, column.type)
            sql = aggregate_sql(function, operand_value, None, distinct=distinct, flink=self.flink).sql
            result = self._shared.column(written.type, function.lower())
            of_no_rows = "0" if function == "COUNT" else ""
            call = AggregateCall(function, column, distinct, result, sql, self.flink, of_no_rows)
            self.calls.append(call)
        return replace(written, sql=call.result.id, raises=False, is_constant=False, origin=Origin("AGGREGATE", ()))

    def _input(self, value: Value) -> Column:
        if value.is_outer:
            raise NotLocal("an outer column below groups")
        self._shared.checks.add([], [value])
        if value.sql not in self._items:
            self._items[value.sql] = self._shared.column(value.type, value.name)
        return self._items[value.sql]
