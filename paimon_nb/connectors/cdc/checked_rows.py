"""Changes of a source as a batch of the target's columns. Values that do not fit are handled by the rule of the sync."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.connectors.cdc.values import (
    ERRORS_COLUMN,
    Misfit,
    OnValueError,
    ValueProblem,
    fitting_column,
    row_json,
    value_text,
    with_values,
    zero_of_time_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.connectors.cdc.dead_letters import DeadLetters
    from paimon_nb.format.types import DataField
    from paimon_nb.table.tables.table import Table

_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = 0, 1, 2, 3
KINDS = {"+I": _INSERT, "-U": _UPDATE_BEFORE, "+U": _UPDATE_AFTER, "-D": _DELETE}
_NULL_IN_NOT_NULL = "the column is NOT NULL"


class BufferedChange:
    """A change that waits for its conversion."""

    __slots__ = ("at", "kind", "row")

    def __init__(self, kind: str, row: Mapping[str, Any], at: str) -> None:
        self.kind, self.row, self.at = KINDS[kind], row, at


class CheckedRows:
    """Converts the changes of one target. Counts what does not fit."""

    def __init__(self, rule: OnValueError, skip: frozenset[str], dead_letters: DeadLetters | None) -> None:
        """`skip`: ids of records to leave out if one of their values does not fit. `dead_letters`: for that rule."""
        self.rule, self._skip, self._dead_letters = rule, skip, dead_letters
        self.changed: Counter[tuple[str, str]] = Counter()
        """Values that were changed, by column and reason."""
        self.skipped = 0
        """Records that were left out because `skip_record` names them."""
        self.dead = 0
        """Records in the table of dead letters."""

    def batch(
        self,
        table: Table,
        changes: Sequence[BufferedChange],
        convert: Callable[[DataField, Sequence[Any]], pa.Array],
    ) -> tuple[pa.Table, pa.Array]:
        """The rows with the table's columns, and their kinds. Raises BadSourceValue: the rule is `fail`, or NULL is not allowed."""
        arrays: list[pa.Array] = []
        problems: dict[int, list[tuple[DataField, Misfit]]] = {}
        for field in table.schema.fields:
            if field.name == ERRORS_COLUMN and self.rule is OnValueError.TEXT:
                arrays.append(pa.nulls(len(changes), pa.string()))
                continue
            values = [c.row.get(field.name) for c in changes]
            array, misfits = fitting_column(values, partial(convert, field))
            if self.rule is not OnValueError.JAVA and misfits:
                array = with_values(array, dict.fromkeys(misfits))
            if not field.type.nullable and array.null_count:
                array = self._with_values_for_null(field, array, misfits)
            for index, misfit in misfits.items():
                problems.setdefault(index, []).append((field, misfit))
            arrays.append(array)
        removed = self._apply_rule(table, changes, problems)
        if self.rule is OnValueError.TEXT and problems:
            arrays = self._with_texts(table, arrays, changes, problems)
        batch = pa.table(arrays, schema=table.schema.arrow.remove_metadata())
        kinds = pa.array([c.kind for c in changes], pa.int8())
        if removed:
            remaining = pa.array([i not in removed for i in range(len(changes))])
            batch, kinds = batch.filter(remaining), kinds.filter(remaining)
        return batch, kinds

    def _with_values_for_null(self, field: DataField, array: pa.Array, misfits: dict[int, Misfit]) -> pa.Array:
        """NULL in a NOT NULL column: the epoch in columns of dates, as Java's sync; else the row has a problem."""
        zero = zero_of_time_type(field.type.root) if self.rule is OnValueError.JAVA else None
        replaced = {}
        for index, missing in enumerate(array.is_null().to_pylist()):
            if missing:
                replaced[index] = zero
                misfits.setdefault(index, Misfit(_NULL_IN_NOT_NULL, zero)).instead = zero
        return array if zero is None else with_values(array, replaced)

    def _apply_rule(
        self,
        table: Table,
        changes: Sequence[BufferedChange],
        problems: Mapping[int, Sequence[tuple[DataField, Misfit]]],
    ) -> set[int]:
        """Count the problems. Returns the indexes of rows that are left out. Raises BadSourceValue."""
        removed: set[int] = set()
        for index, found in sorted(problems.items()):
            change = changes[index]
            key = ",".join(f"{k}={value_text(change.row.get(k))}" for k in table.primary_keys)
            in_key = [f for f, _ in found if f.name in table.primary_keys]
            if change.kind in (_UPDATE_BEFORE, _DELETE):
                if in_key and self._is_missing(found):
                    removed.add(index)  # its row was never stored
                continue
            details = [self._problem(table, change, key, field, misfit) for field, misfit in found]
            must_be_set = next((f for f, m in found if not f.type.nullable and self._instead(m) is None), None)
            if details[0].record in self._skip:
                self.skipped += 1
            elif self.rule is OnValueError.DEAD_LETTER:
                assert self._dead_letters is not None
                self._dead_letters.add(details, row_json(change.row), change.kind)
                self.dead += 1
            elif self.rule is OnValueError.FAIL or must_be_set is not None:
                field = found[0][0] if must_be_set is None else must_be_set
                problem = next(d for d in details if d.column == field.name)
                raise problem.error(field, must_be_set=must_be_set is not None)
            else:
                self.changed.update((d.column, d.reason) for d in details)
                continue
            removed.add(index)
            if change.kind == _UPDATE_AFTER and index and changes[index - 1].kind == _UPDATE_BEFORE:
                removed.add(index - 1)
        return removed

    def _instead(self, misfit: Misfit) -> Any:
        return misfit.instead if self.rule is OnValueError.JAVA else None

    def _is_missing(self, found: Sequence[tuple[DataField, Misfit]]) -> bool:
        return any(not f.type.nullable and self._instead(m) is None for f, m in found)

    @staticmethod
    def _problem(table: Table, change: BufferedChange, key: str, field: DataField, misfit: Misfit) -> ValueProblem:
        value = value_text(change.row.get(field.name))
        return ValueProblem(str(table.name), field.name, key, value, misfit.reason, change.at)

    @staticmethod
    def _with_texts(
        table: Table,
        arrays: list[pa.Array],
        changes: Sequence[BufferedChange],
        problems: Mapping[int, Sequence[tuple[DataField, Misfit]]],
    ) -> list[pa.Array]:
        texts: list[str | None] = [None] * len(changes)
        for index, found in problems.items():
            row = changes[index].row
            texts[index] = json.dumps({f.name: value_text(row.get(f.name)) for f, _ in found}, ensure_ascii=False)
        at = table.schema.names.index(ERRORS_COLUMN)
        return [*arrays[:at], pa.array(texts, pa.string()), *arrays[at + 1 :]]
