"""sum and product: integers wrap like Java's, decimals that no longer fit become NULL."""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.types import Decimal, arrow_type
from paimon_nb.format.types.arrow_builders import fill_null, to_numpy
from paimon_nb.table.lsm.merge.aggregate.base import Aggregate

if TYPE_CHECKING:
    from paimon_nb.table.lsm.merge.groups import Groups

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_EXACT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)
_FINITE = decimal.Context(prec=400, traps=[decimal.Inexact, decimal.DivisionByZero, decimal.InvalidOperation])
_COMPACT_PRECISION = 18
"""Decimals of at most this precision are longs in Java."""


class _Arithmetic(Aggregate):
    types = frozenset({*_BITS, "DECIMAL", "FLOAT", "DOUBLE"})

    def wrap_or_round_to_type(self, value: Any) -> Any:
        """The value as stored in the column's type."""
        t = self.field.type
        if t.root in _BITS:
            half = 1 << (_BITS[t.root] - 1)
            return (int(value) + half) % (2 * half) - half
        if isinstance(t, Decimal):
            scaled = value.quantize(decimal.Decimal(1).scaleb(-t.scale), context=_EXACT)
            return scaled if len(scaled.as_tuple().digits) <= t.precision else None
        if t.root == "FLOAT":
            with np.errstate(over="ignore"):
                return float(np.float32(value))
        return value


class Sum(_Arithmetic):
    """NULL is skipped. A sum of short decimals (18 digits) may grow beyond its precision, as in Java."""

    name = "sum"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        return self._add_values(accumulator, value)

    def retract(self, accumulator: Any, value: Any) -> Any:
        if value is None:
            return accumulator
        return self._add_values(accumulator, -value) if accumulator is not None else self.wrap_or_round_to_type(-value)

    def _add_values(self, a: Any, b: Any) -> Any:
        if not isinstance(a, decimal.Decimal):
            return self.wrap_or_round_to_type(a + b)
        total = _EXACT.add(a, b)
        t = self.field.type
        if isinstance(t, Decimal) and t.precision <= _COMPACT_PRECISION and _is_long(total.scaleb(t.scale)):
            return total
        return self.wrap_or_round_to_type(total)

    def aggregate_groups(self, groups: Groups, column: str) -> pa.Array | None:
        if self.field.type.root not in _BITS or not len(groups):
            return None
        values = groups.sorted.column(column)
        valid = to_numpy(values.is_valid())
        numbers = to_numpy(fill_null(values, 0)).astype(np.int64)
        with np.errstate(over="ignore"):
            sums = np.add.reduceat(numbers, groups.starts)
        some = np.logical_or.reduceat(valid, groups.starts)
        return pa.array(sums, pa.int64(), mask=~some).cast(arrow_type(self.field.type), safe=False)


def _is_long(unscaled: decimal.Decimal) -> bool:
    return -(2**63) <= unscaled < 2**63


class Product(_Arithmetic):
    """NULL is skipped; a retraction divides."""

    name = "product"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        exact = isinstance(accumulator, decimal.Decimal)
        return self.wrap_or_round_to_type(_EXACT.multiply(accumulator, value) if exact else accumulator * value)

    def retract(self, accumulator: Any, value: Any) -> Any:
        """Raises `UnsupportedOperation` where Java has no quotient: division of an integer by zero, a non-terminating
        decimal.
        """
        if accumulator is None or value is None:
            return accumulator
        if isinstance(accumulator, float):
            with np.errstate(divide="ignore", invalid="ignore"):
                return self.wrap_or_round_to_type(float(np.float64(accumulator) / np.float64(value)))
        try:
            if isinstance(accumulator, decimal.Decimal):
                return self.wrap_or_round_to_type(_FINITE.divide(accumulator, value))
            quotient = abs(accumulator) // abs(value)
        except ArithmeticError as error:
            raise UnsupportedOperation(
                f"product of column {self.field.name!r}: {accumulator} divided by {value} has no exact result",
                hint=f"set 'fields.{self.field.name}.ignore-retract' = 'true' to ignore -U and -D there",
            ) from error
        return self.wrap_or_round_to_type(quotient if (accumulator < 0) == (value < 0) else -quotient)
