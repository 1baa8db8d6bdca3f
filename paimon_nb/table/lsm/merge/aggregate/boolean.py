"""bool_and and bool_or; NULL is skipped."""

from __future__ import annotations

from typing import Any

from paimon_nb.table.lsm.merge.aggregate.base import Aggregate


class BoolAnd(Aggregate):
    name = "bool_and"
    types = frozenset({"BOOLEAN"})

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        return accumulator and value


class BoolOr(Aggregate):
    name = "bool_or"
    types = frozenset({"BOOLEAN"})

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        return accumulator or value
