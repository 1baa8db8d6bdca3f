"""Functions over ARRAY<ROW>: nested rows, upserted by a nested key. Lists are in the order of Java's hash map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.format.types import Array, DataField, Row
from paimon_nb.options import parse_names
from paimon_nb.table.lsm.merge.aggregate.base import Aggregate
from paimon_nb.table.lsm.merge.aggregate.java_hash_order import java_equality_key, java_hash_order, row_hash

if TYPE_CHECKING:
    from paimon_nb.table.lsm.merge.groups import Aggregator

_NO_LIMIT = 2147483647


class _Nested(Aggregate):
    """Shared by the nested functions: the nested key and the meaning of NULL in it."""

    def __init__(self, field: DataField, spec: Aggregator) -> None:
        """Raises: UnsupportedOperation: not ARRAY<ROW>. BadOptionValue: an option names an unknown field."""
        super().__init__(field, spec)
        t = field.type
        if not (isinstance(t, Array) and isinstance(t.element, Row)):
            raise UnsupportedOperation(
                f"aggregate function {self.name} does not support column {field.name!r} of type {t}",
                hint="supported type: ARRAY<ROW<...>>", function=self.name,
            )  # fmt: skip
        self.types_of = {f.name: f.type for f in t.element.fields}
        self.nested_key = self._nested_field_names("nested-key")
        self.sequence = self._nested_field_names("nested-sequence-field")
        self.null_strategy = spec.options.get("nested-key-null-strategy", "merge").lower()
        self.limit = int(spec.options.get("count-limit", _NO_LIMIT))
        self.hash = row_hash([self.types_of[n] for n in self.nested_key]) if self.nested_key else None

    def _nested_field_names(self, option: str) -> tuple[str, ...]:
        names = parse_names(self.spec.options.get(option))
        for name in names:
            if name not in self.types_of:
                raise BadOptionValue(
                    f"fields.{self.field.name}.{option} names an unknown nested field: {name!r}",
                    hint=f"nested fields: {', '.join(self.types_of)}",
                )
        return names

    def key(self, row: Any) -> Any:
        return tuple(java_equality_key(row[k]) for k in self.nested_key)

    def passes_null_key_strategy(self, row: Any) -> bool:
        """Whether a row is used: `nested-key-null-strategy` decides about a NULL in its key."""
        if self.null_strategy == "merge" or all(row[k] is not None for k in self.nested_key):
            return True
        if self.null_strategy == "ignore":
            return False
        raise UnsupportedOperation(
            f"NULL in the nested key of column {self.field.name!r}",
            hint=f"set 'fields.{self.field.name}.nested-key-null-strategy' to 'merge' or 'ignore'",
        )

    def in_java_map_order(self, rows: dict[Any, Any], max_entries: int | None = None) -> list[Any]:
        """The rows in the iteration order of a HashMap by nested key."""
        assert self.hash is not None
        held = list(rows.values())
        return [
            held[i] for i in java_hash_order([self.hash([r[k] for k in self.nested_key]) for r in held], max_entries)
        ]


class NestedUpdate(_Nested):
    """Without `nested-key` rows are collected; with it the newer row of a key replaces the older.

    `nested-sequence-field` and `nested-key-null-strategy` are options of Paimon after 1.3.
    """

    name = "nested_update"

    def add(self, accumulator: Any, value: Any) -> Any:
        if value is None:
            return accumulator
        held, new = ([r for r in rows or () if r is not None] for rows in (accumulator, value))
        if not self.nested_key:
            if accumulator is not None and len(accumulator) >= self.limit:
                return accumulator
            return held + new[: max(self.limit - len(accumulator or ()), 0)]
        merged: dict[Any, Any] = {}
        for at, row in enumerate(held + new):
            if not self.passes_null_key_strategy(row):
                continue
            there = merged.get(key := self.key(row))
            if there is None:
                if at < len(held) or len(merged) < self.limit:  # the limit stops new keys, not updates
                    merged[key] = row
            elif not self._is_older(row, there):
                merged[key] = row
        return self.in_java_map_order(merged)

    def retract(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return accumulator
        rows, retracted = ([r for r in array if r is not None] for array in (accumulator, value))
        if not self.nested_key:
            equal = {java_equality_key(r) for r in retracted}
            return [r for r in rows if java_equality_key(r) not in equal]
        held = {self.key(r): r for r in rows if self.passes_null_key_strategy(r)}
        max_entries = len(held)
        for row in retracted:
            if self.passes_null_key_strategy(row):
                held.pop(self.key(row), None)
        return self.in_java_map_order(held, max_entries)

    def _is_older(self, row: Any, there: Any) -> bool:
        """Whether `row` comes before the existing row, by `nested-sequence-field`; NULL before everything."""
        for name in self.sequence:
            new, old = row[name], there[name]
            if new != old:
                return new is None or (old is not None and new < old)
        return False


class NestedPartialUpdate(_Nested):
    """Per nested key, each field's newest value that is not NULL. A function of Paimon after 1.3."""

    name = "nested_partial_update"

    def __init__(self, field: DataField, spec: Aggregator) -> None:
        """Raises BadOptionValue without `nested-key`."""
        super().__init__(field, spec)
        if not self.nested_key:
            raise BadOptionValue(
                f"nested_partial_update of column {field.name!r} needs a nested key",
                hint=f"set 'fields.{field.name}.nested-key'",
            )

    def add(self, accumulator: Any, value: Any) -> Any:
        if value is None:
            return accumulator
        merged: dict[Any, Any] = {}
        for row in [*(accumulator or ()), *value]:
            if row is not None and self.passes_null_key_strategy(row):
                there = merged.get(self.key(row), {})
                merged[self.key(row)] = {k: there.get(k) if v is None else v for k, v in row.items()}
        return self.in_java_map_order(merged)
