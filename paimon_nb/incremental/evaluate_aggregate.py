"""The change of GROUP BY and DISTINCT.

Counts, and sums of integers and decimals, are kept for each group and follow from the change alone. Other functions are computed from the
values of the changed groups, which are kept as a multiset: MIN and MAX, DISTINCT, and sums of floating-point numbers, which would drift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.types import Decimal
from paimon_nb.incremental.arrival_calls import first_of_equal
from paimon_nb.incremental.arrivals import arrived_rows
from paimon_nb.incremental.engine import KEY_TEXT, Relation
from paimon_nb.incremental.list_types import engine_type
from paimon_nb.incremental.operators import ARRIVAL, WEIGHT
from paimon_nb.incremental.row_states import RowState
from paimon_nb.incremental.row_text import equal_rows, row_text
from paimon_nb.incremental.shapes import ROWS_OF_GROUP, accumulators, count_of, sum_of
from paimon_nb.incremental.state import KEY, StateLost, empty_keys
from paimon_nb.incremental.watermarks import closing_of
from paimon_nb.session.query.local.decimals import from_unscaled, half_up, unscaled_decimal_sql
from paimon_nb.session.query.local.values import Value, is_integer, quote_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.incremental.evaluation import Evaluation
    from paimon_nb.incremental.operators import Aggregate, AggregateCall, Column
    from paimon_nb.incremental.state import State

_ROWS = "n_rows_"


def aggregate_change(evaluation: Evaluation, op: Aggregate) -> Relation:
    """The change of the groups; stores them."""
    return _Groups(evaluation, op).change()


class _Groups:
    def __init__(self, evaluation: Evaluation, op: Aggregate) -> None:
        self.evaluation, self.engine, self.op = evaluation, evaluation.engine, op
        self.state: State = evaluation.state(op, "_distinct" if op.is_distinct else "_groups")
        self.stored: list[Column] = [*op.keys, ROWS_OF_GROUP, *accumulators(op)]
        self.key = row_text([(c.id, c.type) for c in op.keys])
        self.is_global = not op.keys

    def change(self) -> Relation:
        closing = closing_of(self.op)
        change, watermarks = self.evaluation.change(self.op.child), self.evaluation.watermarks
        if closing is None:
            return self._change(change)
        found = self._change(watermarks.on_time(self.engine, closing, change, self.op.child.columns))
        watermarks.advance(self.engine, closing, self.evaluation.change(closing.source))
        watermarks.expire(closing, self.evaluation.states_of(self.op))
        return found

    def _change(self, change: Relation) -> Relation:
        begins = self.is_global and self.evaluation.is_first
        if self.op.rows_needed and not self.op.by_arrival:
            change = self.engine.consolidated(change, self.op.child.columns)
        if not change.count and not begins:
            return self.engine.table(f"SELECT {self._results('1')} FROM {self._old(empty_keys(KEY)).name} WHERE FALSE")
        sums = self.engine.table(self._sums(change))
        old = self._old(self.engine.rows(f"SELECT {KEY_TEXT} AS {KEY} FROM {sums.name}"))
        new = self._new(sums, old, change)
        if self.engine.values(f"SELECT count(*) FROM {new.name} WHERE {_ROWS} < 0")[0][0]:
            raise StateLost(f"{self.state.name}: a row was removed that is not there")
        remains = "TRUE" if self.is_global else f"{_ROWS} > 0"
        self._store(new, remains)
        is_changed = f"{KEY_TEXT} IN (SELECT {KEY_TEXT} FROM {sums.name})"
        return self.engine.table(
            f"SELECT {self._results('CAST(-1 AS BIGINT)')} FROM {old.name} WHERE {is_changed} UNION ALL "
            f"SELECT {self._results('CAST(1 AS BIGINT)')} FROM {new.name} WHERE {remains}"
        )

    # -- what changed

    def _sums(self, change: Relation) -> str:
        """For each changed group: its keys, and the sums of the change."""
        keys, groups = equal_rows(self.op.keys)
        items = []
        items.append(f"CAST(coalesce(sum({WEIGHT}), 0) AS BIGINT) AS {_ROWS}")
        seen: set[str] = set()
        for call in self.op.calls:
            if not call.is_linear or call.operand is None:
                continue
            x = call.operand.id
            if (n := count_of(call).id) not in seen:
                seen.add(n)
                items.append(f"CAST(coalesce(sum({WEIGHT}) FILTER ({x} IS NOT NULL), 0) AS BIGINT) AS {n}")
            if call.function in ("SUM", "AVG") and (s := sum_of(call).id) not in seen:
                seen.add(s)
                items.append(
                    f"CAST(coalesce(sum(CAST({WEIGHT} AS HUGEINT) * {_unscaled(call)}), 0) AS DECIMAL(38,0)) AS {s}"
                )
        text = f"SELECT {keys}{', '.join(items)} FROM {change.name}"
        return f"SELECT {self.key} AS {KEY_TEXT}, * FROM ({text if self.is_global else f'{text} GROUP BY {groups}'})"

    def _old(self, keys: pa.Table) -> Relation:
        """The groups as the state has them."""
        name = self.engine.arrow(self.state.find(keys))
        ids = ", ".join(
            f"CAST({quote_name(n)} AS {engine_type(c.type)}) AS {c.id}"
            for n, c in zip(self.state.shape.names, self.stored, strict=True)
        )
        return self.engine.table(f"SELECT {KEY} AS {KEY_TEXT}, {ids} FROM {name}")

    def _new(self, sums: Relation, old: Relation, change: Relation) -> Relation:
        """The groups after the change."""
        items = [f"s.{KEY_TEXT}", *(f"s.{c.id}" for c in self.op.keys)]
        results = {c.result.id for c in self.op.calls if not c.is_linear}
        for column in self.stored[len(self.op.keys) :]:
            if column.id in results:
                continue
            total = f"coalesce(o.{column.id}, 0) + s.{column.id}"
            items.append(f"CAST({total} AS {engine_type(column.type)}) AS {column.id}")
        joins = f"{sums.name} s LEFT JOIN {old.name} o ON o.{KEY_TEXT} = s.{KEY_TEXT}"
        if self.op.rows_needed:
            values = self._values_of_groups(change, old)
            joins += f" LEFT JOIN {values.name} v ON v.{KEY_TEXT} = s.{KEY_TEXT}"
            for call in self.op.calls:
                if not call.is_linear:
                    found = f"v.{call.result.id}"
                    found = f"coalesce({found}, {call.of_no_rows})" if call.of_no_rows else found
                    items.append(f"{found} AS {call.result.id}")
        return self.engine.table(f"SELECT {', '.join(items)} FROM {joins}")

    def _values_of_groups(self, change: Relation, old: Relation) -> Relation:
        """The functions that need the values of the changed groups."""
        calls = [c for c in self.op.calls if not c.is_linear]
        if self.op.by_arrival:
            state = self.evaluation.state(self.op, "_group_rows")
            return self._of_values(calls, arrived_rows(self.evaluation, state, self.op, change, self.key))
        columns = (*self.op.keys, *self.op.rows_needed)
        rows = RowState(self.evaluation, self.evaluation.state(self.op, "_group_rows"), columns, None)
        only = self.engine.table(f"SELECT {''.join(f'{c.id}, ' for c in columns)}{WEIGHT} FROM {change.name}")
        keyed = rows.keyed(self.engine.consolidated(only, columns), self.key)
        if not old.count or any(c.function not in ("MIN", "MAX") for c in calls):
            before = rows.find(keyed)
            rows.write(keyed, before)
            return self._of_values(calls, rows.after(before, keyed))
        rows.write(keyed)
        whole = self.engine.table(
            f"SELECT * FROM {keyed.name} WHERE {KEY_TEXT} IN ({_groups_to_read(calls, keyed, old)})"
        )
        found = self._of_values(calls, rows.after(rows.find(whole), whole)) if whole.count else None
        return self._of_additions(calls, keyed, old, whole, found)

    def _of_values(self, calls: Sequence[AggregateCall], rows: Relation) -> Relation:
        items = ", ".join(f"{_ordered(c)} AS {c.result.id}" for c in calls)
        flags = {
            first_of_equal(c.operand, c.condition): None for c in calls if c.by_arrival and c.distinct and c.operand
        }
        firsts = "".join(
            f", row_number() OVER (PARTITION BY {KEY_TEXT}, {equal} ORDER BY {ARRIVAL.id}) = 1 AS {name}"
            for name, equal in flags
        )
        copies = f"SELECT *{firsts} FROM {rows.name}, unnest(range({WEIGHT}))"
        return self.engine.table(f"SELECT {KEY_TEXT}, {items} FROM ({copies}) GROUP BY {KEY_TEXT}")

    def _of_additions(
        self, calls: Sequence[AggregateCall], keyed: Relation, old: Relation, whole: Relation, found: Relation | None
    ) -> Relation:
        """MIN and MAX of groups that lost no such value: of the old one and the added ones. `whole`: the changes of the other groups, `found`: their values."""
        items, ids = [], ", ".join(c.result.id for c in calls)
        for c in calls:
            assert c.operand is not None
            function, added = c.function.lower(), f"{c.operand.id}"
            items.append(f"{function}(CASE WHEN {WEIGHT} > 0 THEN {added} END) AS {c.result.id}")
        others = "" if found is None else f" WHERE {KEY_TEXT} NOT IN (SELECT {KEY_TEXT} FROM {whole.name})"
        added = f"SELECT {KEY_TEXT}, {', '.join(items)} FROM {keyed.name}{others} GROUP BY {KEY_TEXT}"
        before = f"SELECT {KEY_TEXT}, {ids} FROM {old.name}{others}"
        both = ", ".join(f"{c.function.lower()}({c.result.id}) AS {c.result.id}" for c in calls)
        text = f"SELECT {KEY_TEXT}, {both} FROM ({before} UNION ALL {added}) GROUP BY {KEY_TEXT}"
        return self.engine.table(
            text if found is None else f"{text} UNION ALL SELECT {KEY_TEXT}, {ids} FROM {found.name}"
        )

    # -- results

    def _results(self, weight: str) -> str:
        """The operator's columns, from a relation with the stored ones."""
        items = [c.id for c in self.op.keys]
        items += [f"{_result(c)} AS {c.result.id}" for c in self.op.calls]
        return ", ".join([*items, f"{weight} AS {WEIGHT}"])

    def _store(self, groups: Relation, remains: str) -> None:
        ids = "".join(f", {c.id} AS {quote_name(n)}" for n, c in zip(self.state.shape.names, self.stored, strict=True))
        text = f"SELECT {KEY_TEXT} AS {KEY}{ids} FROM {groups.name} WHERE"
        self.state.upserts.append(self.engine.rows(f"{text} {remains}"))
        self.state.deletes.append(self.engine.rows(f"{text} NOT ({remains})"))


def _groups_to_read(calls: Sequence[AggregateCall], keyed: Relation, old: Relation) -> str:
    """The keys of groups that may have lost their smallest or largest value."""
    lost = " OR ".join(
        f"d.{c.operand.id} {'<=' if c.function == 'MIN' else '>='} o.{c.result.id}"
        for c in calls
        if c.operand is not None
    )
    return (
        f"SELECT d.{KEY_TEXT} FROM {keyed.name} d JOIN {old.name} o ON d.{KEY_TEXT} = o.{KEY_TEXT} "
        f"WHERE d.{WEIGHT} < 0 AND ({lost})"
    )


def _unscaled(call: AggregateCall) -> str:
    """The operand as a whole number."""
    assert call.operand is not None
    if isinstance(call.operand.type, Decimal):
        return unscaled_decimal_sql(Value(call.operand.id, call.operand.type))
    return f"CAST({call.operand.id} AS HUGEINT)"


def _ordered(call: AggregateCall) -> str:
    """The function over a group's rows. Floating-point numbers are summed in their order, so that the sum depends on the values alone."""
    assert call.operand is not None
    x = call.operand.id
    if call.function in ("MIN", "MAX"):  # of 0.0 and -0.0 either is right; the one that is stored stays
        return f"{call.function.lower()}({x})"
    if call.function not in ("SUM", "AVG") or call.distinct:
        return call.sql
    for summed in (f"sum({x})", f"sum(CAST({x} AS DOUBLE))"):
        call_sql = call.sql.replace(summed, f"{summed[:-1]} ORDER BY {x})")
        if call_sql != call.sql:
            return call_sql
    return call.sql


def _result(call: AggregateCall) -> str:
    """A function's result from what is stored of a group."""
    if not call.is_linear:
        return call.result.id
    if call.operand is None:
        return _ROWS
    n = count_of(call).id
    if call.function == "COUNT":
        return n
    s, t, result = f"CAST({sum_of(call).id} AS HUGEINT)", call.operand.type, call.result.type
    if call.function == "SUM":
        found = from_unscaled(s, result) if isinstance(result, Decimal) else f"CAST({s} AS {engine_type(result)})"
    elif is_integer(t):
        found = f"(CAST({s} AS DOUBLE) / {n})"
        found = f"CAST(trunc({found}) AS {engine_type(result)})" if is_integer(result) else found
    else:
        assert isinstance(result, Decimal)
        found = from_unscaled(half_up(f"({s} * 10000)", f"CAST({n} AS HUGEINT)"), result)
    return f"(CASE WHEN {n} = 0 THEN NULL ELSE {found} END)"
