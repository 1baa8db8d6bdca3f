"""What a reader asks about a column, or about selected cells: counts, extremes, mean, quantiles, most frequent values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.notebook.grid.filters import is_comparable, searchable_texts
from paimon_nb.notebook.grid.profile import percent
from paimon_nb.notebook.grid.texts import scalar_text, unambiguous_text, value_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

MAX_LISTED = 200
"""Values of a filter's list."""
TOP = 10
_QUANTILES = ((0.05, "5 %"), (0.25, "25 %"), (0.5, "median"), (0.75, "75 %"), (0.95, "95 %"))
_COUNTED_BYTES = 256 << 20
Facts = list[tuple[str, str]]
"""Labels and texts, in the order of the page."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of a column.

    Args:
        facts: rows, NULL, distinct, extremes, mean, quantiles, lengths. top: the most frequent values with their counts and shares.
    """

    facts: Facts
    top: list[tuple[str, str, str]]


def column_statistics(column: pa.ChunkedArray) -> Statistics:
    """The statistics of a column of a result."""
    rows, nulls = len(column), column.null_count
    facts: Facts = [("rows", f"{rows:,}"), ("NULL", f"{nulls:,}{f' ({percent(nulls, rows)})' if nulls else ''}")]
    values = column.drop_null()
    if not len(values):
        return Statistics(facts, [])
    counted = _counts(values)
    if counted is not None:
        facts.append(("distinct", f"{len(counted):,}"))
    facts += _extremes(values)
    numbers = _numbers(values)
    if numbers is not None and len(numbers):
        facts += _of_numbers(numbers)
    facts += _lengths(values)
    return Statistics(facts, [] if counted is None else _frequent_values(counted, rows))


def _counts(values: pa.ChunkedArray) -> pa.StructArray | None:
    """Distinct values with their counts; None: they cannot be counted."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_comparable(values.type) or values.nbytes > _COUNTED_BYTES:
        return None
    try:
        return pc.value_counts(values)
    except pa.ArrowNotImplementedError:  # intervals
        return None


def _frequent_values(counted: pa.StructArray, rows: int) -> list[tuple[str, str, str]]:
    import pyarrow.compute as pc

    counts = counted.field("counts")
    order = pc.select_k_unstable(counts, min(TOP, len(counts)), [("", "descending")])
    if len(counts) > TOP and counts[order[0].as_py()].as_py() == 1:
        return []  # each value occurs once
    values = counted.field("values")
    return [
        (unambiguous_text(scalar_text(values[i], 60) or ""), f"{counts[i].as_py():,}", percent(counts[i].as_py(), rows))
        for i in order.to_pylist()
    ]


def _extremes(values: pa.ChunkedArray) -> Facts:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_comparable(values.type):
        return []
    try:
        ends = pc.min_max(values)
    except pa.ArrowNotImplementedError:
        return []
    return [
        (name, unambiguous_text(scalar_text(ends[name], 80) or "")) for name in ("min", "max") if ends[name].is_valid
    ]


def _numbers(values: pa.ChunkedArray) -> Any:
    """Finite numbers as floating point; None: the column has no numbers."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if not (types.is_integer(values.type) or types.is_floating(values.type) or types.is_decimal(values.type)):
        return None
    found = np.asarray(pc.cast(values, pa.float64(), safe=False).to_numpy())
    return found[np.isfinite(found)]


def _of_numbers(numbers: Any) -> Facts:
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):  # a sum beyond DOUBLE is shown as inf
        mean, deviation = float(np.mean(numbers)), float(np.std(numbers))
        quantiles = np.quantile(numbers, [q for q, _ in _QUANTILES])
    facts = [("mean", number_text(mean)), ("standard deviation", number_text(deviation))]
    facts += [(name, number_text(float(value))) for (_, name), value in zip(_QUANTILES, quantiles, strict=True)]
    zeros = int((numbers == 0).sum())
    return [*facts, ("zeros", f"{zeros:,}")] if zeros else facts


def _lengths(values: pa.ChunkedArray) -> Facts:
    """Lengths of texts in characters, of binary values in bytes, of arrays and maps in entries."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types, kind = pa.types, values.type
    if types.is_string(kind) or types.is_large_string(kind):
        lengths, unit = pc.utf8_length(values), "length in characters"
    elif types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        lengths, unit = pc.binary_length(values), "length in bytes"
    elif types.is_list(kind) or types.is_large_list(kind):
        lengths, unit = pc.list_value_length(values), "entries"
    else:
        return []
    ends = pc.min_max(lengths)
    return [(unit, f"{ends['min'].as_py():,} to {ends['max'].as_py():,}, mean {number_text(pc.mean(lengths).as_py())}")]


def number_text(value: float) -> str:
    """A computed number: six digits, thousands separated."""
    if not math.isfinite(value):
        return value_text(value) or ""
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:,.6g}"


# -- selected cells


def summary_of_cells(columns: Iterable[pa.ChunkedArray]) -> str:
    """Count, sum, average and extremes of selected cells, as the footer says it.

    Sums of whole numbers and decimals are exact. The average is that of the sum, so it is left out where a cell has no number.
    """
    from decimal import Context, Decimal

    import pyarrow as pa
    import pyarrow.compute as pc

    columns = list(columns)
    cells, nulls = sum(map(len, columns)), sum(c.null_count for c in columns)
    parts = [f"{cells:,} cell{'s' * (cells != 1)}"] + ([f"{nulls:,} NULL"] if nulls else [])
    values = [c.drop_null() for c in columns if c.null_count < len(c)]
    if not values:
        return " · ".join(parts)
    numbers = [_numbers(c) for c in values]
    if all(n is not None for n in numbers):
        if any(pa.types.is_floating(c.type) for c in values):
            total: Any = sum(float(pc.sum(pc.cast(c, pa.float64(), safe=False)).as_py()) for c in values)
        else:
            exact = Context(prec=200)
            total = Decimal(0)
            for column in values:
                for value in column.to_pylist() if pa.types.is_decimal(column.type) else [_integer_sum(column)]:
                    total = exact.add(total, Decimal(value))
        number = sum(map(len, values))
        text = number_text(total) if isinstance(total, float) else f"{total:,f}"
        parts += [f"sum {text}", f"average {number_text(float(total) / number)}"]
    if len({c.type for c in values}) == 1:
        whole = pa.chunked_array([chunk for c in values for chunk in c.chunks], values[0].type)
        parts += [f"{name} {text}" for name, text in _extremes(whole)]
    return " · ".join(parts)


def _integer_sum(column: pa.ChunkedArray) -> int:
    """The sum of whole numbers, which may need more than 64 bits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wide = column.cast(pa.int64()) if not pa.types.is_uint64(column.type) else column
    high, low = pc.shift_right(wide, 32), pc.bit_wise_and(wide, pa.scalar(0xFFFFFFFF, wide.type))
    return (int(pc.sum(high).as_py()) << 32) + int(pc.sum(low).as_py())


# -- the list of a filter


@dataclass(frozen=True, slots=True)
class Listed:
    """The values of a column that a filter offers: Arrow scalars and counts; `left_out` values are not listed."""

    values: list[Any]
    counts: list[int]
    left_out: int

    def texts(self) -> list[str]:
        """The values as the page shows them."""
        return ["NULL" if not v.is_valid else unambiguous_text(scalar_text(v, 80) or "") for v in self.values]


def listed_values(column: pa.ChunkedArray, containing: str = "") -> Listed | None:
    """The distinct values of a column, most frequent first, NULL among them; None: they cannot be listed.

    Args:
        containing: only values whose text contains this text, in any case.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    counted = _counts(column)
    if counted is None:
        return None
    values, counts = counted.field("values"), counted.field("counts")
    if containing:
        texts = searchable_texts(pa.chunked_array([values]))
        keep = pc.fill_null(pc.match_substring(texts, containing, ignore_case=True), False).combine_chunks()
        values, counts = values.filter(keep), counts.filter(keep)
    order = pc.select_k_unstable(counts, min(MAX_LISTED, len(counts)), [("", "descending")]).to_pylist()
    return Listed([values[i] for i in order], [counts[i].as_py() for i in order], len(counts) - len(order))
