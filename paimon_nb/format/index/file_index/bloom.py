"""The bloom-filter index: whether a column may contain a value.

Source: Paimon `BloomFilterFileIndex`, `BloomFilter64`, `FastHash`; docs/spec/format.md section 13.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.index.file_index.bitmap_keys import canonical_float_bits, key_numbers
from paimon_nb.format.row.binary_row import Value, to_scalar
from paimon_nb.format.row.binary_row_vectorized import as_array, fixed_width_buffer_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyroaring import BitMap

    from paimon_nb.format.types import DataType

DEFAULT_ITEMS = 1_000_000
DEFAULT_FPP = 0.1
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ")
_BYTES = ("CHAR", "VARCHAR", "BINARY", "VARBINARY")
U64 = npt.NDArray[np.uint64]


def supports(t: DataType) -> bool:
    """Types that have a hash: no BOOLEAN, DECIMAL or constructed types."""
    return t.root in _INTEGERS or t.root in _BYTES or t.root in ("FLOAT", "DOUBLE")


def value_hashes(t: DataType, column: pa.Array | pa.ChunkedArray) -> U64:
    """64-bit hashes of the non-null values, in any order; most duplicates are removed."""
    array = pc.drop_null(as_array(t, column))
    if t.root in _BYTES:
        import xxhash

        distinct = pc.unique(array).cast(pa.binary())
        return np.array([xxhash.xxh64_intdigest(v) for v in distinct.to_pylist()], dtype=np.uint64)
    if t.root == "FLOAT":
        bits = canonical_float_bits(fixed_width_buffer_values(array, np.float32)).view(np.int32).astype(np.int64)
    elif t.root == "DOUBLE":
        bits = canonical_float_bits(fixed_width_buffer_values(array, np.float64)).view(np.int64)
    else:
        bits = key_numbers(t, array)
    return _wang_hash(bits)


def _wang_hash(key: npt.NDArray[np.int64]) -> U64:
    """Thomas Wang's 64-bit mix with Java's arithmetic right shifts."""
    key = ~key + (key << 21)
    key = key ^ (key >> 24)
    key = (key + (key << 3)) + (key << 8)
    key = key ^ (key >> 14)
    key = (key + (key << 2)) + (key << 4)
    key = key ^ (key >> 28)
    return (key + (key << 31)).view(np.uint64)


def _bit_positions(hashed: U64, functions: int, bits: int) -> npt.NDArray[np.int64]:
    """Shape (functions, hashes)."""
    low = hashed.astype(np.uint32)
    high = (hashed >> np.uint64(32)).astype(np.uint32)
    times = np.arange(1, functions + 1, dtype=np.uint32)[:, None]
    combined = (low + times * high).view(np.int32)
    return np.where(combined < 0, ~combined, combined).astype(np.int64) % bits


class BloomReader:
    """A bloom filter over one column."""

    def __init__(self, t: DataType, data: memoryview) -> None:
        (self._functions,) = struct.unpack_from(">i", data)
        self._bits = np.frombuffer(data, dtype=np.uint8, offset=4)
        if self._functions < 1 or self._functions > 1024 or len(self._bits) == 0:
            raise ValueError(f"a bloom filter of {self._functions} functions and {len(self._bits)} bytes")
        self._type = t

    def may_match(self, op: str, literals: Sequence[Value]) -> bool:
        if op not in ("=", "in") or not supports(self._type):
            return True
        return any(self._may_contain(literal) for literal in literals)

    def candidates(self, op: str, literals: Sequence[Value]) -> BitMap | None:
        return None

    def _may_contain(self, literal: Value) -> bool:
        values = [-0.0, 0.0] if literal == 0 and self._type.root in ("FLOAT", "DOUBLE") else [literal]
        column = pa.array(
            [to_scalar(self._type, v).as_py() for v in values], type=to_scalar(self._type, values[0]).type
        )
        at = _bit_positions(value_hashes(self._type, column), self._functions, len(self._bits) * 8)
        found = (self._bits[at >> 3] >> (at & 7).astype(np.uint8)) & 1
        return bool(found.all(axis=0).any())


def write_bloom(t: DataType, column: pa.Array | pa.ChunkedArray, options: Mapping[str, str]) -> bytes:
    """The index of a column. Options: `items` (1000000), `fpp` (0.1)."""
    items, fpp = int(options.get("items", DEFAULT_ITEMS)), float(options.get("fpp", DEFAULT_FPP))
    raw = int(-items * math.log(fpp) / (math.log(2) * math.log(2)))
    bits = raw + (8 - raw % 8)
    functions = max(1, math.floor(bits / items * math.log(2) + 0.5))
    marked = np.zeros(bits, dtype=np.bool_)
    marked[_bit_positions(value_hashes(t, column), functions, bits).ravel()] = True
    return struct.pack(">i", functions) + np.packbits(marked, bitorder="little").tobytes()
