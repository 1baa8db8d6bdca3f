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
        return _texts(values, t)
    if pa.types.is_signed_integer(t) or pa.types.is_timestamp(t):
        return _numbers(values, t)
    return pa.array(values, t)


def _numbers(values: Sequence[Any], t: pa.DataType) -> pa.Array:
    width = np.dtype(f"i{t.bit_width // 8}")
    data = np.array([0 if v is None else v for v in values], width)
    return pa.Array.from_buffers(t, len(values), [_validity(values), pa.py_buffer(data)])


def _texts(values: Sequence[str | None], t: pa.DataType) -> pa.Array:
    encoded = [b"" if v is None else v.encode() for v in values]
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([len(e) for e in encoded], out=offsets[1:])
    buffers = [_validity(values), pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(t, len(values), buffers)


def _validity(values: Sequence[Any]) -> pa.Buffer | None:
    present = np.array([v is not None for v in values], np.bool_)
    return None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
