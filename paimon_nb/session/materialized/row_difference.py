"""Which rows of a result are new beside the stored ones, and which are gone. Knows only Arrow tables."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Difference:
    """What turns the stored rows into the result."""

    added: pa.Table
    """Rows to write: new ones, and with keys those with other values."""
    removed: pa.Table
    """Stored rows that are gone: with keys those whose key is gone."""


def difference(stored: pa.Table, result: pa.Table, keys: Sequence[str]) -> Difference:
    """Compare rows; without keys as multisets. NULLs are equal, NaNs are equal, 0.0 and -0.0 are not.

    Args:
        stored, result: rows with the same columns.
        keys: the primary key; () if there is none.

    Raises:
        SchemaMismatch: two rows of the result have the same key.
    """
    both = pa.concat_tables([result, stored])
    split = result.num_rows
    rows = _numbers_of_equal_rows(both)
    if keys:
        by_key = _numbers_of_equal_rows(both.select(keys))
        _check_unique(result, by_key[:split], keys)
        added = ~np.isin(rows[:split], rows[split:])
        removed = ~np.isin(by_key[split:], by_key[:split])
    else:
        surplus = np.bincount(rows[:split], minlength=both.num_rows + 1) - np.bincount(
            rows[split:], minlength=both.num_rows + 1
        )
        added = _occurrence(rows[:split]) < surplus[rows[:split]]
        removed = _occurrence(rows[split:]) < -surplus[rows[split:]]
    return Difference(result.filter(from_numpy(added)), stored.filter(from_numpy(removed)))


def _numbers_of_equal_rows(rows: pa.Table) -> np.ndarray:
    """A number for each row, the same for equal rows."""
    numbers = np.zeros(rows.num_rows, np.int64)
    for column in rows.columns:
        codes = _codes(column)
        pairs = numbers * (int(codes.max(initial=0)) + 1) + codes
        numbers = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return numbers


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    """A number for each value, the same for equal values; 0 is NULL."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.array([], column.type)
    if pa.types.is_nested(array.type) or isinstance(array, pa.ExtensionArray):
        texts = [None if v is None else pickle.dumps(v, 5) for v in array.to_pylist()]
        array = pa.array(texts, pa.large_binary())
    elif pa.types.is_floating(array.type):
        array = _bits(array)
    encoded = array.dictionary_encode().indices
    return to_numpy(pc.fill_null(pc.add(encoded.cast(pa.int64()), 1), 0))


def _bits(array: pa.Array) -> pa.Array:
    """The bits of floating-point numbers, with one bit pattern for NaN."""
    not_a_number = pa.scalar(float("nan"), array.type)
    plain = pc.if_else(pc.is_nan(array), not_a_number, array)
    return plain.view({16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[array.type.bit_width])


def _occurrence(numbers: np.ndarray) -> np.ndarray:
    """For each element how many equal ones are before it."""
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    first = np.searchsorted(ordered, ordered)
    out = np.empty(len(numbers), np.int64)
    out[order] = np.arange(len(numbers)) - first
    return out


def _check_unique(result: pa.Table, numbers: np.ndarray, keys: Sequence[str]) -> None:
    again = np.flatnonzero(_occurrence(numbers))
    if len(again):
        row = result.select(keys).slice(int(again[0]), 1).to_pylist()[0]
        raise SchemaMismatch(
            f"the query returns {int((numbers == numbers[again[0]]).sum())} rows for the primary key {row}",
            hint="GROUP BY the key columns, or declare a PRIMARY KEY that is unique in the result",
            key=row,
        )
