"""Columns as groups of a chart: a number per row, and the place and label of each group."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.notebook.grid.chart_spec import UNITS, axis_role
from paimon_nb.notebook.grid.texts import scalar_text

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = np.ndarray[Any, Any]
NO_GROUP = -1
"""The code of rows that have no place on the axis: NULL and NaN of numbers and times."""
LABEL_CHARACTERS = 80
_MS = {"second": 1e3, "minute": 6e4, "hour": 3.6e6, "day": 8.64e7, "week": 6.048e8}
_MS |= {"month": 2.629746e9, "quarter": 7.889238e9, "year": 3.1556952e10}
_NUMPY: dict[str, Any] = {
    "second": "s",
    "minute": "m",
    "hour": "h",
    "day": "D",
    "week": "W",
    "month": "M",
    "quarter": "M",
    "year": "Y",
}
_EXACT = {"second": "s", "minute": "m", "hour": "m", "day": "D", "week": "D", "month": "M", "year": "Y"}
_MAX_OF_UNIT = 2_000
"""Points of a unit that the reader chose; beyond it a larger unit is used."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The groups of a column.

    Args:
        codes: the group of each row, or `NO_GROUP`.
        kind: 'category', 'number' or 'time'.
        labels: the text of each group.
        starts: for numbers and times where each group begins on the axis (times: milliseconds since 1970).
        ends: where each group ends, if groups are ranges.
        unit: the unit of time, if times were cut to one.
        width: width of the ranges of numbers; years of a range, if more than one.
        ordered: whether the groups are in the order of their values.
    """

    codes: Numbers
    kind: str
    labels: Sequence[str]
    starts: tuple[float, ...] = ()
    ends: tuple[float, ...] = ()
    unit: str = ""
    width: float | None = None
    ordered: bool = True
    numbers: bool = False
    """The categories are numbers."""

    @property
    def size(self) -> int:
        """How many groups there are."""
        return len(self.labels)


def numbers_of(column: pa.ChunkedArray) -> Numbers:
    """A number column as floating-point numbers; NULL becomes NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.cast(column, pa.float64(), safe=False).to_numpy(), np.float64)


def times_of(column: pa.ChunkedArray) -> Numbers:
    """A date or timestamp column as milliseconds since 1970; NULL becomes NaN."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_date32(kind):
        scale, plain = 8.64e7, column.cast(pa.int32())
    else:
        unit = "ms" if pa.types.is_date64(kind) else kind.unit
        scale, plain = {"s": 1e3, "ms": 1.0, "us": 1e-3, "ns": 1e-6}[unit], column.cast(pa.int64())
    return numbers_of(plain) * scale


def measured(column: pa.ChunkedArray) -> Numbers:
    """A number or time column as numbers; values without a place are NaN."""
    values = times_of(column) if axis_role(column.type) == "time" else numbers_of(column)
    return np.where(np.isfinite(values), values, np.nan)


class _Labels(Sequence[str]):
    """Texts of the values of a dictionary, made when they are needed: there may be a million."""

    def __init__(self, values: Any, *, null: bool) -> None:
        self._values, self._null = values, null

    def __len__(self) -> int:
        return len(self._values) + self._null

    def __getitem__(self, at: Any) -> Any:
        if not 0 <= at < len(self):
            raise IndexError(at)
        return _label(self._values[at]) if at < len(self._values) else "NULL"


def category_groups(column: pa.ChunkedArray) -> Keys:
    """One group per value; NULL is a group, the last one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    encoded = pc.dictionary_encode(whole)
    null = bool(encoded.null_count)
    indices = pc.fill_null(encoded.indices, len(encoded.dictionary))
    codes = np.asarray(indices.to_numpy(zero_copy_only=False)).astype(np.int64)
    return Keys(codes, "category", _Labels(encoded.dictionary, null=null), ordered=False)


def number_ranges(values: Numbers, count: int, *, whole: bool) -> Keys:
    """Ranges of equal width, at round numbers.

    Args:
        count: number of ranges. whole: the values are whole numbers.
    """
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    width = _next_round_number(high / count - low / count)
    if whole:
        width = max(1.0, width)
    first = math.floor(low / width)
    codes = np.where(np.isnan(values), NO_GROUP, np.floor(values / width) - first).astype(np.int64)
    groups = int(codes.max()) + 1
    largest = sys.float_info.max  # the round number above the largest value may be none
    edges = [max(-largest, min((first + i) * width, largest)) for i in range(groups + 1)]
    last = 1 if whole else 0
    labels = [
        number_text(a) if whole and width == 1 else f"{number_text(a)} – {number_text(b - last)}"
        for a, b in pairwise(edges)
    ]
    return Keys(codes, "number", tuple(labels), tuple(edges[:-1]), tuple(edges[1:]), width=width)


def number_values(values: Numbers, distinct: Numbers) -> Keys:
    """One group per number."""
    codes = np.where(np.isnan(values), NO_GROUP, np.searchsorted(distinct, values))
    return Keys(codes.astype(np.int64), "number", tuple(map(number_text, distinct)), tuple(map(float, distinct)))


def time_ranges(values: Numbers, unit: str, max_points: int) -> Keys:
    """Times cut to a unit.

    Args:
        values: milliseconds since 1970, or NaN.
        unit: a unit that the reader chose; '' takes the smallest one with at most `max_points` points.
    """
    span = float(np.nanmax(values) - np.nanmin(values))
    limit = _MAX_OF_UNIT if unit else max_points
    units = UNITS[UNITS.index(unit) :] if unit else UNITS
    unit = next((u for u in units if span / _MS[u] <= limit), "year")
    years = max(1, int(_next_round_number(span / _MS["year"] / limit))) if unit == "year" else 1
    valid = ~np.isnan(values)
    cut = _truncate_to_unit(np.floor(values[valid]).astype("datetime64[ms]"), unit, years)
    starts, inverse = np.unique(cut, return_inverse=True)
    codes = np.full(len(values), NO_GROUP, np.int64)
    codes[valid] = inverse
    ends = starts + np.array({"quarter": 3, "year": years}.get(unit, 1)).astype(
        f"timedelta64[{starts.dtype.str[4:-1]}]"
    )
    labels = tuple(time_label(start, unit) for start in starts)
    return Keys(codes, "time", labels, _milliseconds(starts), _milliseconds(ends), unit, years if years > 1 else None)


def time_values(values: Numbers, distinct: Numbers) -> Keys:
    """One group per time."""
    codes = np.where(np.isnan(values), NO_GROUP, np.searchsorted(distinct, values)).astype(np.int64)
    unit = next((u for u in ("day", "minute", "second") if not (distinct % _MS[u]).any()), "")
    labels = tuple(time_label(np.datetime64(math.floor(d), "ms"), unit) for d in distinct)
    return Keys(codes, "time", labels, tuple(map(float, distinct)))


def time_label(start: Any, unit: str) -> str:
    """A time as text, as exact as its unit."""
    if unit == "quarter":
        months = int(start.astype("datetime64[M]").astype(np.int64))
        return f"{1970 + months // 12} Q{months % 12 // 3 + 1}"
    text = str(start.astype(f"datetime64[{_EXACT.get(unit, 'ms')}]")).replace("T", " ")
    return f"week of {text}" if unit == "week" else text


def number_text(value: float) -> str:
    """A number as text, with at most six significant digits unless it is whole."""
    if value == math.floor(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.6g}"


def _truncate_to_unit(times: Any, unit: str, years: int) -> Any:
    """The beginning of the unit that each time is in."""
    if unit == "week":  # ISO weeks begin on Monday; day 0 is a Thursday
        days = times.astype("datetime64[D]").astype(np.int64)
        return ((days + 3) // 7 * 7 - 3).astype("datetime64[D]")
    cut = times.astype(f"datetime64[{_NUMPY[unit]}]")
    if unit == "quarter":
        return (cut.astype(np.int64) // 3 * 3).astype("datetime64[M]")
    if years > 1:
        return ((cut.astype(np.int64) + 1970) // years * years - 1970).astype("datetime64[Y]")
    return cut


def _milliseconds(times: Any) -> tuple[float, ...]:
    return tuple(map(float, times.astype("datetime64[ms]").astype(np.int64)))


def _next_round_number(minimum: float) -> float:
    """The next of 1, 2, 2.5, 5, 10 ... times a power of ten."""
    if minimum <= 0 or not math.isfinite(minimum):
        return 1.0
    power = max(10.0 ** math.floor(math.log10(minimum)), sys.float_info.min)
    return next((step * power for step in (1, 2, 2.5, 5) if step * power >= minimum * (1 - 1e-9)), 10 * power)


def _label(value: Any) -> str:
    return scalar_text(value, LABEL_CHARACTERS) or ""
