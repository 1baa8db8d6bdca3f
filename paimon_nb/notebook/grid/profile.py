"""What a column holds: NULLs, distinct values, a histogram or the most frequent values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.notebook.grid.texts import scalar_text, unambiguous_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

BINS = 20
TOP = 6
"""Values that are listed for columns without a histogram."""
_COUNTED_VALUES = 5_000_000
_COUNTED_BYTES = 256 << 20
"""Larger text columns are not counted by value."""


@dataclass(frozen=True, slots=True)
class Bin:
    """A range of a histogram, or one frequent value."""

    label: str
    count: int
    low: Any = None
    """Arrow scalar; with `high` the range as a filter, both inclusive."""
    high: Any = None


@dataclass(frozen=True, slots=True)
class Profile:
    """The profile of a column.

    `kind` is 'range' (bins of a numeric or time axis), 'values' (frequent values) or 'none'.
    """

    kind: str
    rows: int
    nulls: int
    distinct: int | None
    bins: tuple[Bin, ...]

    @property
    def low(self) -> str:
        """The smallest value as text."""
        return self.bins[0].label.split(" – ")[0] if self.kind == "range" and self.bins else ""

    @property
    def high(self) -> str:
        """The largest value as text."""
        return self.bins[-1].label.split(" – ")[-1] if self.kind == "range" and self.bins else ""

    def __str__(self) -> str:
        share = f"{percent(self.nulls, self.rows)} NULL" if self.nulls else "no NULL"
        distinct = "" if self.distinct is None else f"{self.distinct:,} distinct"
        return " · ".join(filter(None, (distinct, share)))

    @property
    def note(self) -> str:
        """One line below the plot. All percentages are of all rows, so they add up to 100 at most."""
        nulls = f"{percent(self.nulls, self.rows)} NULL" if self.nulls else ""
        return " · ".join(filter(None, (self._summary(), nulls))) or str(self)

    def _summary(self) -> str:
        if self.kind == "range":
            return self.low if self.low == self.high else f"{self.low} – {self.high}"
        if self.kind == "values" and not self._are_all_as_frequent:
            return f"{percent(self.bins[0].count, self.rows)} {self.bins[0].label}"
        return f"{self.distinct:,} distinct" if self.distinct else ""

    @property
    def _are_all_as_frequent(self) -> bool:
        """Whether no value is the most frequent one."""
        return len(self.bins) > 1 and self.bins[0].count == self.bins[-1].count


def percent(part: int, whole: int) -> str:
    """A share in whole percent, rounded down: shares of one column never add up to more than 100.

    Examples:
        >>> percent(2, 3), percent(1, 1000), percent(3, 3)
        ('66 %', '< 1 %', '100 %')
    """
    return "< 1 %" if 0 < 100 * part < whole else f"{100 * part // max(1, whole)} %"


def column_profile(column: pa.ChunkedArray) -> Profile:
    """The profile of a column of a result."""
    import pyarrow as pa

    kind, nulls = column.type, column.null_count
    if len(column) == nulls:
        return Profile("none", len(column), nulls, 0, ())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _histogram(column, _float_values(column))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _histogram(column, _time_values(column))
    if pa.types.is_boolean(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _frequent_value_counts(column)
    return Profile("none", len(column), nulls, None, ())


def _float_values(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.cast(column.drop_null(), pa.float64(), safe=False).to_numpy())


def _time_values(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    import pyarrow as pa

    units = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
    return np.asarray(column.drop_null().cast(units).to_numpy()).astype(np.float64)


def _histogram(column: pa.ChunkedArray, values: np.ndarray[Any, Any]) -> Profile:
    import pyarrow as pa
    import pyarrow.compute as pc

    finite = values[np.isfinite(values)]
    if not len(finite):
        return Profile("none", len(column), column.null_count, None, ())
    low, high = float(finite.min()), float(finite.max())
    whole = not (pa.types.is_floating(column.type) or pa.types.is_decimal(column.type))
    number = BINS if low < high else 1
    if whole:
        number = int(min(number, high - low + 1))
    # Whole numbers get bins of whole width, so that each value falls into the bin of its label.
    edges = np.linspace(low, high + (1 if whole else 0), number + 1)
    if whole:
        edges = np.unique(np.ceil(edges))
    counts = np.histogram(finite, edges)[0]
    # Floating-point numbers do not hold every whole number, time or decimal: the ends are those of the column.
    ends = None if pa.types.is_floating(column.type) else pc.min_max(column)
    distinct = None
    if len(values) <= _COUNTED_VALUES:
        distinct = len(np.unique(values)) if ends is None else int(pc.count_distinct(column).as_py())
    bins = []
    for i, count in enumerate(counts):
        first, last = edges[i], edges[i + 1] - (1 if whole else 0)
        a, b = _bin_bound_scalar(column.type, first), _bin_bound_scalar(column.type, last)
        if ends is not None:
            a = ends["min"] if i == 0 else a
            b = ends["max"] if i == len(counts) - 1 else b
        texts = [_label(v) for v in (a, b)]
        bins.append(Bin(" – ".join(dict.fromkeys(texts)), int(count), a, b))
    return Profile("range", len(column), column.null_count, distinct, tuple(bins))


def _label(value: Any) -> str:
    import pyarrow as pa

    return f"{value.as_py():.6g}" if pa.types.is_floating(value.type) else scalar_text(value, 30) or ""


def _bin_bound_scalar(kind: pa.DataType, value: float) -> Any:
    """A bound of a bin as a scalar of the column's type."""
    import decimal

    import pyarrow as pa

    if pa.types.is_date32(kind):
        return pa.scalar(int(value), pa.int32()).cast(kind)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pa.scalar(int(value), pa.int64()).cast(kind)
    if pa.types.is_decimal(kind):
        digits = 76 if pa.types.is_decimal256(kind) else 38
        exact, step = decimal.Context(prec=2 * digits), decimal.Decimal(1).scaleb(-kind.scale)
        limit = exact.subtract(decimal.Decimal(1).scaleb(digits - kind.scale), step)
        bound = decimal.Decimal(repr(float(value))).quantize(step, context=exact)  # Python's own context has 28 digits
        return pa.scalar(
            min(max(bound, limit.copy_negate()), limit),
            (pa.decimal256 if digits == 76 else pa.decimal128)(digits, kind.scale),
        )
    if pa.types.is_integer(kind):
        limits = np.iinfo(kind.to_pandas_dtype())
        return pa.scalar(min(max(int(value), int(limits.min)), int(limits.max)), kind)
    return pa.scalar(float(value), kind)


def _frequent_value_counts(column: pa.ChunkedArray) -> Profile:
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.nbytes > _COUNTED_BYTES:
        return Profile("none", len(column), column.null_count, None, ())
    counted = pc.value_counts(column.drop_null())
    counts = counted.field("counts")
    if len(counts) > TOP and int(pc.max(counts).as_py()) * 100 < len(column):
        return Profile("none", len(column), column.null_count, len(counts), ())  # no value is frequent
    order = pc.select_k_unstable(counts, min(TOP, len(counts)), [("", "descending")])
    bins = []
    for i in order.to_pylist():
        value = counted.field("values")[i]
        value = value if value.is_valid else pa.scalar("")
        bins.append(Bin(unambiguous_text(scalar_text(value, 60) or ""), int(counts[i].as_py()), value, value))
    return Profile("values", len(column), column.null_count, len(counts), tuple(bins))


def counts_in_bins(profiled: Profile, column: pa.ChunkedArray) -> Sequence[int]:
    """How many values of another part of the column fall into each bin."""
    import pyarrow.compute as pc

    if profiled.kind == "values":
        return [int(pc.sum(pc.equal(column, b.low)).as_py() or 0) for b in profiled.bins]
    return [
        int(pc.sum(pc.and_(pc.greater_equal(column, b.low), pc.less_equal(column, b.high))).as_py() or 0)
        for b in profiled.bins
    ]
