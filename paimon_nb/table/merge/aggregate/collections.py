"""Functions over arrays and maps: collect, merge_map, merge_map_with_keytime."""

from __future__ import annotations

from typing import Any

from paimon_nb.table.merge.aggregate.base import Aggregate


def frozen(value: Any) -> Any:
    """A value that can be compared and hashed, whatever it is made of."""
    if isinstance(value, dict):
        return tuple((k, frozen(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(frozen(v) for v in value)
    return value


class Collect(Aggregate):
    """Arrays one after another; with `distinct` each element once."""

    name = "collect"

    @property
    def distinct(self) -> bool:
        return self.spec.options.get("distinct", "false").lower() == "true"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None and value is None:
            return None
        both = [*(accumulator or []), *(value or [])]
        return list({frozen(v): v for v in reversed(both)}.values())[::-1] if self.distinct else both

    def add_reversed(self, accumulator: Any, value: Any) -> Any:
        return self.add(accumulator, value)

    def retract(self, accumulator: Any, value: Any) -> Any:
        """Each element of `value` goes once, as far as it is there."""
        if accumulator is None or value is None:
            return accumulator
        gone = [frozen(v) for v in value]
        out = []
        for element in accumulator:
            if frozen(element) in gone:
                gone.remove(frozen(element))
            else:
                out.append(element)
        return out


class MergeMap(Aggregate):
    """Maps joined; the newer value of a key wins."""

    name = "merge_map"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        merged = {frozen(k): (k, v) for k, v in accumulator}
        merged.update({frozen(k): (k, v) for k, v in value})
        return list(merged.values())

    def retract(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return accumulator
        gone = {frozen(k) for k, _ in value}
        return [(k, v) for k, v in accumulator if frozen(k) not in gone]


class MergeMapWithKeyTime(MergeMap):
    """MAP<k, ROW<v, ts>>: per key the entry with the larger ts."""

    name = "merge_map_with_keytime"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        merged = {frozen(k): (k, v) for k, v in accumulator}
        for k, v in value:
            there = merged.get(frozen(k))
            if there is None or _time(v) is None or _time(there[1]) is None or _time(v) >= _time(there[1]):
                merged[frozen(k)] = (k, v)
        return list(merged.values())


def _time(entry: Any) -> Any:
    return None if entry is None else list(entry.values())[-1]
