"""Arrow columns out of Python values, by their buffers. Knows numbers and texts; leaves the rest to Arrow.

`pa.array` imports pandas when it is first called, which takes longer than all that a process does to answer `$files`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa


def column(values: Sequence[Any], t: pa.DataType) -> pa.Array:
    """An array of the values; None is NULL. Times are given as their counts."""
    if pa.types.is_string(t):
        return _texts([None if v is None else v.encode() for v in values], t, np.dtype(np.int32))
    if pa.types.is_large_binary(t):
        return _texts(values, t, np.dtype(np.int64))
    if pa.types.is_signed_integer(t) or pa.types.is_timestamp(t):
        return _numbers(values, t)
    return pa.array(values, t)


def from_numpy(values: np.ndarray, null: np.ndarray | None = None) -> pa.Array:
    """An array over numbers or booleans, of their own type. `null`: a boolean each."""
    valid = None if null is None else pa.py_buffer(np.packbits(~null, bitorder="little"))
    if values.dtype == bool:
        bits = pa.py_buffer(np.packbits(values, bitorder="little"))
        return pa.Array.from_buffers(pa.bool_(), len(values), [valid, bits])
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, data])


def to_numpy(array: pa.Array) -> np.ndarray:
    """Integers or booleans without NULL as they lie in memory. Arrow's own way imports pandas."""
    data, size = array.buffers()[1], array.offset + len(array)
    if pa.types.is_boolean(array.type):
        return np.unpackbits(np.frombuffer(data, np.uint8), count=size, bitorder="little")[array.offset :].astype(bool)
    return np.frombuffer(data, f"i{array.type.bit_width // 8}", size)[array.offset :]


def _numbers(values: Sequence[Any], t: pa.DataType) -> pa.Array:
    width = np.dtype(f"i{t.bit_width // 8}")
    data = np.array([0 if v is None else v for v in values], width)
    return pa.Array.from_buffers(t, len(values), [_validity(values), pa.py_buffer(data)])


def _texts(encoded: Sequence[bytes | None], t: pa.DataType, width: np.dtype[Any]) -> pa.Array:
    offsets = np.zeros(len(encoded) + 1, width)
    np.cumsum([0 if e is None else len(e) for e in encoded], out=offsets[1:])
    joined = b"".join([b"" if e is None else e for e in encoded])
    return pa.Array.from_buffers(t, len(encoded), [_validity(encoded), pa.py_buffer(offsets), pa.py_buffer(joined)])


def _validity(values: Sequence[Any]) -> pa.Buffer | None:
    present = np.array([v is not None for v in values], np.bool_)
    return None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
