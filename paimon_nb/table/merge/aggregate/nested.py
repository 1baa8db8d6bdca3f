"""Functions over ARRAY<ROW>: rows inside a row, upserted by a nested key."""

from __future__ import annotations

from typing import Any

from paimon_nb.table.merge.aggregate.base import Aggregate
from paimon_nb.table.merge.aggregate.collections import frozen


class NestedUpdate(Aggregate):
    """Without `nested-key` rows are collected; with it the newer row of a key replaces the older."""

    name = "nested_update"

    @property
    def nested_key(self) -> tuple[str, ...]:
        return tuple(p.strip() for p in self.spec.options.get("nested-key", "").split(",") if p.strip())

    @property
    def limit(self) -> int:
        return int(self.spec.options.get("count-limit", 2147483647))

    def _key(self, row: Any) -> Any:
        return tuple(frozen(row[k]) for k in self.nested_key)

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        rows = [r for r in accumulator if r is not None]
        fresh = [r for r in value if r is not None]
        if not self.nested_key:
            if len(rows) >= self.limit:
                return accumulator
            return (rows + fresh)[: self.limit] if len(rows) + len(fresh) > self.limit else rows + fresh
        order = self.spec.options.get("nested-sequence-field")
        merged = {self._key(r): r for r in rows}
        for row in fresh:
            key = self._key(row)
            if key not in merged and len(merged) >= self.limit:
                continue
            there = merged.get(key)
            if order and there is not None and _smaller(row[order], there[order]):
                continue
            merged[key] = row
        return list(merged.values())

    def add_reversed(self, accumulator: Any, value: Any) -> Any:
        return self.add(value, accumulator) if accumulator is not None else value

    def retract(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return accumulator
        if self.nested_key:
            gone = {self._key(r) for r in value if r is not None}
            return [r for r in accumulator if r is not None and self._key(r) not in gone]
        left = [frozen(r) for r in value if r is not None]
        out = []
        for row in accumulator:
            if frozen(row) in left:
                left.remove(frozen(row))
            else:
                out.append(row)
        return out


def _smaller(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is None and b is not None
    return bool(a < b)


class NestedPartialUpdate(NestedUpdate):
    """Per nested key, each field's newest value that is not NULL."""

    name = "nested_partial_update"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        merged = {self._key(r): r for r in accumulator if r is not None}
        for row in value:
            if row is None:
                continue
            there = merged.get(self._key(row), {})
            merged[self._key(row)] = {k: there.get(k) if v is None else v for k, v in row.items()}
        return list(merged.values())

    def retract(self, accumulator: Any, value: Any) -> Any:
        return Aggregate.retract(self, accumulator, value)
