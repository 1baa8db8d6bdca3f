"""max and min; NULL is skipped. Strings and bytes compare bytewise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.table.lsm.merge.aggregate.base import Aggregate, arrow_aggregate_of_groups

if TYPE_CHECKING:
    from paimon_nb.table.lsm.merge.groups import Groups

_TYPES = frozenset(
    {"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ",
     "CHAR", "VARCHAR", "BINARY", "VARBINARY"}
)  # fmt: skip


def _is_less(a: Any, b: Any) -> bool:
    """Java's order: -0.0 before 0.0, NaN after all numbers."""
    if isinstance(a, float):
        return _float_rank(a) < _float_rank(b)
    if isinstance(a, str):
        return bool(a.encode("utf-8", "surrogatepass") < b.encode("utf-8", "surrogatepass"))
    return bool(a < b)


def _float_rank(value: float) -> tuple[bool, float, float]:
    return (True, 0.0, 0.0) if value != value else (False, value, math.copysign(1, value))


class Max(Aggregate):
    name = "max"
    types = _TYPES

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        return value if _is_less(accumulator, value) else accumulator

    def aggregate_groups(self, groups: Groups, column: str) -> pa.Array | None:
        return _reduce_extremes(groups, column, "max")


class Min(Aggregate):
    name = "min"
    types = _TYPES

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        return value if _is_less(value, accumulator) else accumulator

    def aggregate_groups(self, groups: Groups, column: str) -> pa.Array | None:
        return _reduce_extremes(groups, column, "min")


def _reduce_extremes(groups: Groups, column: str, function: str) -> pa.Array | None:
    t = groups.kv.schema.field(column).type
    if not (pa.types.is_integer(t) or pa.types.is_decimal(t) or pa.types.is_temporal(t)):
        return None  # NaN and signed zero follow Java's order, which Arrow does not implement
    return arrow_aggregate_of_groups(groups, column, function).cast(t)
