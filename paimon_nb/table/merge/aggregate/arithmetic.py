"""sum and product: integers wrap like Java's, decimals that no longer fit become NULL."""

from __future__ import annotations

import decimal
import struct
from typing import Any

import numpy as np
import pyarrow as pa

from paimon_nb.format.types import Decimal, arrow_type
from paimon_nb.table.merge.aggregate.base import Aggregate
from paimon_nb.table.merge.groups import Groups

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_EXACT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)


class _Arithmetic(Aggregate):
    def fit(self, value: Any) -> Any:
        """The value as the column's type holds it."""
        t = self.field.type
        if t.root in _BITS:
            half = 1 << (_BITS[t.root] - 1)
            return (int(value) + half) % (2 * half) - half
        if isinstance(t, Decimal):
            scaled = value.quantize(decimal.Decimal(1).scaleb(-t.scale), context=_EXACT)
            return scaled if len(scaled.as_tuple().digits) <= t.precision else None
        if t.root == "FLOAT":
            return struct.unpack("f", struct.pack("f", value))[0] if abs(value) < 3.5e38 else value
        return value


class Sum(_Arithmetic):
    """NULL is skipped."""

    name = "sum"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        return self.fit(_plus(accumulator, value))

    def add_reversed(self, accumulator: Any, value: Any) -> Any:
        return self.add(accumulator, value)

    def retract(self, accumulator: Any, value: Any) -> Any:
        if value is None:
            return accumulator
        return self.fit(_plus(accumulator, -value)) if accumulator is not None else self.fit(-value)

    def reduce(self, groups: Groups, column: str) -> pa.Array | None:
        if self.field.type.root not in _BITS or not len(groups):
            return None
        values = groups.sorted.column(column)
        valid = values.is_valid().to_numpy()
        numbers = values.fill_null(0).to_numpy().astype(np.int64)
        with np.errstate(over="ignore"):
            sums = np.add.reduceat(numbers, groups.starts)
        some = np.logical_or.reduceat(valid, groups.starts)
        return pa.array(sums, pa.int64(), mask=~some).cast(arrow_type(self.field.type), safe=False)


def _plus(a: Any, b: Any) -> Any:
    return _EXACT.add(a, b) if isinstance(a, decimal.Decimal) else a + b


class Product(_Arithmetic):
    """NULL is skipped; taking back divides."""

    name = "product"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        exact = isinstance(accumulator, decimal.Decimal)
        return self.fit(_EXACT.multiply(accumulator, value) if exact else accumulator * value)

    def add_reversed(self, accumulator: Any, value: Any) -> Any:
        return self.add(accumulator, value)

    def retract(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return accumulator if accumulator is None or value is None else None
        if isinstance(accumulator, decimal.Decimal):
            return self.fit(_EXACT.divide(accumulator, value))
        if isinstance(accumulator, float):
            return self.fit(accumulator / value)
        quotient = abs(accumulator) // abs(value)
        return self.fit(quotient if (accumulator < 0) == (value < 0) else -quotient)
