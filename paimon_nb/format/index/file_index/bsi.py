"""The bsi index: a column's numbers as bit slices, negative numbers in separate ones. Superseded by range-bitmap.

Source: Paimon `BitSliceIndexBitmapFileIndex`, `BitSliceIndexRoaringBitmap`; docs/spec/format.md section 13.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
from pyroaring import BitMap

from paimon_nb.format.index import roaring
from paimon_nb.format.index.file_index.api import UnknownVersion, rows_for_comparison
from paimon_nb.format.index.file_index.bit_slice import Slices, slices_of
from paimon_nb.format.index.file_index.bitmap_keys import has_keys, index_keys_of, is_exact, key_numbers
from paimon_nb.format.row.binary_row_vectorized import as_array
from paimon_nb.format.types.arrow_builders import to_numpy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.format.row.binary_row import Value
    from paimon_nb.format.types import DataType

_VERSION = 1
_TYPES = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "DECIMAL")


def supports(t: DataType) -> bool:
    """Whole numbers, dates and times, DECIMAL up to 18 digits."""
    return t.root in _TYPES and has_keys(t)


class BsiReader:
    """A bsi index of one column."""

    def __init__(self, t: DataType, data: memoryview) -> None:
        version, self._row_count = struct.unpack_from(">bi", data)
        if version > _VERSION:
            raise UnknownVersion
        if self._row_count < 0:
            raise ValueError("a negative count")
        self._type = t
        self._positive, self._base, at = _read_bit_slices(data, 5)
        self._negative, self._negative_base, _ = _read_bit_slices(data, at)

    def may_match(self, op: str, literals: Sequence[Value]) -> bool:
        rows = self.candidates(op, literals)
        return rows is None or bool(rows)

    def candidates(self, op: str, literals: Sequence[Value]) -> BitMap | None:
        present = self._positive.present | self._negative.present
        if op == "is null":
            return BitMap(range(self._row_count)) - present
        if op == "is not null":
            return present
        if not is_exact(self._type) and op not in ("=", "in"):
            return None
        if op in ("in", "not in"):
            equal = BitMap()
            for literal in literals:
                equal |= self._compare_rows(literal)[1]
            return equal if op == "in" else present - equal
        return rows_for_comparison(op, *self._compare_rows(literals[0]))

    def _compare_rows(self, literal: Value) -> tuple[BitMap, BitMap, BitMap]:
        number = index_keys_of(self._type, literal)[0]
        assert isinstance(number, int)
        if number >= 0:
            less, equal, greater = self._positive.rows_compared_with(number - self._base)
            return less | self._negative.present, equal, greater
        greater, equal, less = self._negative.rows_compared_with(-number - self._negative_base)
        return less, equal, greater | self._positive.present


def _read_bit_slices(data: memoryview, at: int) -> tuple[Slices, int, int]:
    """(bit slices, the base that is subtracted from each number, the end of the part)."""
    if not data[at]:
        return Slices(BitMap(), ()), 0, at + 1
    version, base, _ = struct.unpack_from(">bqq", data, at + 1)
    if version > _VERSION:
        raise UnknownVersion
    present, at = roaring.read_bitmap(data, at + 18)
    (count,) = struct.unpack_from(">i", data, at)
    if not 0 <= count <= 64:
        raise ValueError(f"{count} bit slices")
    at += 4
    slices = []
    for _ in range(count):
        bitmap, at = roaring.read_bitmap(data, at)
        slices.append(bitmap)
    return Slices(present, slices), base, at


def write_bsi(t: DataType, column: pa.Array | pa.ChunkedArray, options: Mapping[str, str]) -> bytes | None:
    """The index of a column; None if it contains -2^63, whose absolute value does not fit."""
    array = as_array(t, column)
    numbers = key_numbers(t, array)
    present = ~np.asarray(to_numpy(array.is_null()), dtype=np.bool_)
    if (numbers[present] == np.iinfo(np.int64).min).any():
        return None
    signs = (np.flatnonzero(present & (numbers >= 0)), np.flatnonzero(present & (numbers < 0)))
    parts = [_bit_slices_bytes(np.abs(numbers[rows]).astype(np.uint64), rows) for rows in signs]
    return b"".join([struct.pack(">bi", _VERSION, len(array)), *parts])


def _bit_slices_bytes(numbers: np.ndarray, rows: np.ndarray) -> bytes:
    if not len(rows):
        return b"\0"
    top = int(numbers.max())
    slices = slices_of(numbers, rows, top.bit_length())
    # Java's base is 0, whatever the smallest number is.
    head = struct.pack(">?bqq", True, _VERSION, 0, top) + roaring.dump(roaring.bitmap_of(rows))
    return b"".join([head, struct.pack(">i", len(slices)), *map(roaring.dump, slices)])
