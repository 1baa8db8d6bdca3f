"""A semi join with many keys, as a condition: a hash table of all keys for each row group would cost more than reading it. Reads no files."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.types.arrow_builders import from_numpy, row_codes, to_numpy
from paimon_nb.table.read.predicate.model import RowIn

if TYPE_CHECKING:
    from collections.abc import Sequence


def row_in(names: Sequence[str], rows: pa.Table) -> RowIn:
    """The condition of being one of some rows.

    Args:
        names: columns.
        rows: has these columns, in the types of the table that is read, without NULLs and floating-point numbers.

    Examples:
        >>> row_in(["k"], pa.table({"k": [3, 1]})).rows["k"].to_pylist()
        [1, 3]
    """
    some = rows.select(list(names)).combine_chunks()
    first = some.column(0)
    if len(some) > 1 and not pc.all(pc.less_equal(first.slice(0, len(first) - 1), first.slice(1))).as_py():
        some = some.take(pc.sort_indices(first))
    return RowIn(tuple(names), some)


def rows_among(table: pa.Table, rows: pa.Table) -> pa.Array:
    """Which rows of a table are among others, which are sorted by their first column."""
    if not table.num_rows or not rows.num_rows:
        return from_numpy(np.zeros(table.num_rows, bool))
    first = table.column(0).combine_chunks() if table.column(0).num_chunks != 1 else table.column(0).chunk(0)
    near = _between(rows, pc.min_max(first))
    found = _first_among(first, near.column(0).combine_chunks().cast(first.type))
    if table.num_columns == 1 or not found.any():
        return from_numpy(found)
    at = np.flatnonzero(found)
    some = table.take(from_numpy(at))
    codes = row_codes(pa.concat_tables([some, near.cast(some.schema)]))
    found[at] = np.isin(codes[: len(at)], codes[len(at) :])
    return from_numpy(found)


def ranges_with_values(values: pa.ChunkedArray, lows: pa.Array, highs: pa.Array) -> np.ndarray:
    """Which ranges, from a low to a high value, have one of some sorted values in them. A range without a bound has."""
    one = values.combine_chunks()
    if pa.types.is_integer(one.type):
        numbers, unknown = to_numpy(one), to_numpy(pc.or_(pc.is_null(lows), pc.is_null(highs)))
        begin, end = (to_numpy(x.fill_null(0)) for x in (lows, highs))
        return np.asarray(unknown | (np.searchsorted(numbers, begin) < np.searchsorted(numbers, end, "right")))
    found = np.ones(len(lows), bool)
    for at, (low, high) in enumerate(zip(lows.to_pylist(), highs.to_pylist(), strict=True)):
        if low is not None and high is not None:
            first = bisect_left(range(len(one)), low, key=lambda i: one[i].as_py())
            found[at] = first < len(one) and one[first].as_py() <= high
    return found


def _between(rows: pa.Table, bounds: pa.Scalar) -> pa.Table:
    """Those of the sorted rows whose first value is between two others."""
    column, low, high = rows.column(0), bounds["min"].as_py(), bounds["max"].as_py()
    if low is None:
        return rows.slice(0, 0)
    begin = bisect_left(range(len(column)), low, key=lambda i: column[i].as_py())
    end = bisect_right(range(len(column)), high, lo=begin, key=lambda i: column[i].as_py())
    return rows.slice(begin, end - begin)


def _first_among(column: pa.Array, values: pa.Array) -> np.ndarray:
    """Which values of a column are among others, which are sorted."""
    if pa.types.is_integer(column.type) and not column.null_count:
        own, others = to_numpy(column), to_numpy(values)
        if np.all(own[1:] > own[:-1]):  # as in the files of a table with this key
            at = np.minimum(np.searchsorted(own, others), len(own) - 1)
            found = np.zeros(len(own), bool)
            found[at[own[at] == others]] = True
            return found
    return np.array(to_numpy(pc.is_in(column, value_set=values)))
