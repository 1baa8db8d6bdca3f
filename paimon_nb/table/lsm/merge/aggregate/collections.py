"""Functions over arrays and maps: collect, merge_map, merge_map_with_keytime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.format.types import Array
from paimon_nb.table.lsm.merge.aggregate.base import Aggregate
from paimon_nb.table.lsm.merge.aggregate.java_hash_order import hash_code, java_equality_key, java_hash_order

if TYPE_CHECKING:
    from collections.abc import Iterable


class Collect(Aggregate):
    """Arrays concatenated; with `distinct` each element once, in the order of Java's hash set."""

    name = "collect"
    types = frozenset({"ARRAY"})

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None and value is None:
            return None
        if self.spec.options.get("distinct", "false").lower() != "true":
            return value if accumulator is None else accumulator if value is None else accumulator + value
        assert isinstance(self.field.type, Array)
        code = hash_code(self.field.type.element)
        if code is None:  # rows and arrays: in arrival order; the accumulator is not searched
            seen = {java_equality_key(v) for v in accumulator or ()}
            return [
                *(accumulator or ()),
                *(v for v in _distinct_values(value or ()) if java_equality_key(v) not in seen),
            ]
        elements = _distinct_values([*(accumulator or ()), *(value or ())])
        return [elements[i] for i in java_hash_order([0 if v is None else code(v) for v in elements])]

    def add_reversed(self, accumulator: Any, value: Any) -> Any:
        return self.add(accumulator, value)

    def retract(self, accumulator: Any, value: Any) -> Any:
        """Removes each element of `value` once, if present."""
        if accumulator is None or value is None:
            return accumulator
        retracted = [java_equality_key(v) for v in value]
        out = []
        for element in accumulator:
            if java_equality_key(element) in retracted:
                retracted.remove(java_equality_key(element))
            else:
                out.append(element)
        return out


def _distinct_values(values: Iterable[Any]) -> list[Any]:
    """Each value once, at its first position."""
    firsts: dict[Any, Any] = {}
    for value in values:
        firsts.setdefault(java_equality_key(value), value)
    return list(firsts.values())


class MergeMap(Aggregate):
    """Merged maps; the newer value of a key wins."""

    name = "merge_map"
    types = frozenset({"MAP"})

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        merged = {java_equality_key(k): (k, v) for k, v in accumulator}
        merged.update({java_equality_key(k): (k, v) for k, v in value})
        return list(merged.values())

    def retract(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return accumulator
        retracted = {java_equality_key(k) for k, _ in value}
        return [(k, v) for k, v in accumulator if java_equality_key(k) not in retracted]


class MergeMapWithKeyTime(Aggregate):
    """MAP<k, ROW<v, ts>>: per key the entry with the larger ts, a string. A function of Paimon after 1.3.

    A NULL entry removes the key; an entry without a time is ignored; for equal times the older entry stays.
    """

    name = "merge_map_with_keytime"
    types = frozenset({"MAP"})

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        merged = {java_equality_key(k): (k, v) for k, v in accumulator}
        for k, v in value:
            if v is None:
                merged.pop(java_equality_key(k), None)
                continue
            there = merged.get(java_equality_key(k), (k, None))[1]
            if _entry_time(v) is not None and (
                there is None or _entry_time(there) is None or _entry_time(v) > _entry_time(there)
            ):
                merged[java_equality_key(k)] = (k, v)
        return list(merged.values())


def _entry_time(entry: dict[str, Any]) -> Any:
    return list(entry.values())[-1]
