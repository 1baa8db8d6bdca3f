"""sum and product: an integer that no longer fits is an error, as in Java from 2.1; a decimal that no longer fits is NULL."""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import NumberOverflow, UnsupportedOperation
from paimon_nb.format.types import Decimal, arrow_type
from paimon_nb.format.types.arrow_builders import fill_null, to_numpy
from paimon_nb.table.lsm.merge.aggregate.base import Aggregate

if TYPE_CHECKING:
    from paimon_nb.format.types import DataField
    from paimon_nb.table.lsm.merge.groups import Groups

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_EXACT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)
_FINITE = decimal.Context(prec=400, traps=[decimal.Inexact, decimal.DivisionByZero, decimal.InvalidOperation])
_COMPACT_PRECISION = 18
"""Decimals of at most this precision are longs in Java."""


class _Arithmetic(Aggregate):
    types = frozenset({*_BITS, "DECIMAL", "FLOAT", "DOUBLE"})

    def fit_to_type(self, value: Any) -> Any:
        """The value as stored in the column's type. Raises `NumberOverflow` for an integer that does not fit."""
        t = self.field.type
        if t.root in _BITS:
            number, half = int(value), 1 << (_BITS[t.root] - 1)
            if not -half <= number < half:
                raise _overflow(self.field, self.name, number)
            return number
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
        return self._add_values(accumulator, -value) if accumulator is not None else self.fit_to_type(-value)

    def _add_values(self, a: Any, b: Any) -> Any:
        if not isinstance(a, decimal.Decimal):
            return self.fit_to_type(a + b)
        total = _EXACT.add(a, b)
        t = self.field.type
        if isinstance(t, Decimal) and t.precision <= _COMPACT_PRECISION and _is_long(total.scaleb(t.scale)):
            return total
        return self.fit_to_type(total)

    def aggregate_groups(self, groups: Groups, column: str) -> pa.Array | None:
        bits = _BITS.get(self.field.type.root)
        if bits is None or not len(groups):
            return None
        values = groups.sorted.column(column)
        valid = to_numpy(values.is_valid())
        numbers = to_numpy(fill_null(values, 0)).astype(np.int64)
        sums, fits = _running_sums(numbers, groups.starts, bits)
        if not fits.all():
            raise _overflow(self.field, self.name)
        ends = np.append(groups.starts[1:], len(numbers)) - 1
        some = np.logical_or.reduceat(valid, groups.starts)
        return pa.array(sums[ends], pa.int64(), mask=~some).cast(arrow_type(self.field.type))


def _running_sums(numbers: np.ndarray, starts: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """The sums within each group up to every row, and whether they fit into `bits`. Halves are added, so nothing wraps."""
    low, high = numbers & 0xFFFFFFFF, numbers >> 32
    sums_low, sums_high = np.cumsum(low), np.cumsum(high)
    sizes = np.diff(np.append(starts, len(numbers)))
    sums_low -= np.repeat(sums_low[starts] - low[starts], sizes)
    sums_high -= np.repeat(sums_high[starts] - high[starts], sizes)
    sums_high += sums_low >> 32
    half = 1 << (bits - 1)
    if bits > 32:
        fits = (sums_high >= -(half >> 32)) & (sums_high < half >> 32)
        return np.where(fits, (sums_high << 32) | (sums_low & 0xFFFFFFFF), 0), fits
    sums = (sums_high << 32) | (sums_low & 0xFFFFFFFF)
    return sums, (sums >= -half) & (sums < half)


def _overflow(field: DataField, function: str, number: int | None = None) -> NumberOverflow:
    """The error of an integer that does not fit. The rows stay in their files, so a wider column can still be read."""
    wider = "DECIMAL(38, 0)" if field.type.root == "BIGINT" else "BIGINT"
    result = "" if number is None else f" ({number})"
    return NumberOverflow(
        f"the {function} of column {field.name!r}{result} does not fit {field.type}",
        hint=f"change the column to a wider type: ALTER TABLE ... ALTER COLUMN `{field.name}` TYPE {wider}",
        column=field.name,
    )


def _is_long(unscaled: decimal.Decimal) -> bool:
    return -(2**63) <= unscaled < 2**63


class Product(_Arithmetic):
    """NULL is skipped; a retraction divides."""

    name = "product"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        exact = isinstance(accumulator, decimal.Decimal)
        return self.fit_to_type(_EXACT.multiply(accumulator, value) if exact else accumulator * value)

    def retract(self, accumulator: Any, value: Any) -> Any:
        """Raises `UnsupportedOperation` where Java has no quotient: division of an integer by zero, a non-terminating
        decimal.
        """
        if accumulator is None or value is None:
            return accumulator
        if isinstance(accumulator, float):
            with np.errstate(divide="ignore", invalid="ignore"):
                return self.fit_to_type(float(np.float64(accumulator) / np.float64(value)))
        try:
            if isinstance(accumulator, decimal.Decimal):
                return self.fit_to_type(_FINITE.divide(accumulator, value))
            quotient = abs(accumulator) // abs(value)
        except ArithmeticError as error:
            raise UnsupportedOperation(
                f"product of column {self.field.name!r}: {accumulator} divided by {value} has no exact result",
                hint=f"set 'fields.{self.field.name}.ignore-retract' = 'true' to ignore -U and -D there",
            ) from error
        return self.fit_to_type(quotient if (accumulator < 0) == (value < 0) else -quotient)
