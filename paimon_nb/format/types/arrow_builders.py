"""Arrow columns and scalars out of Python values, by their buffers. Knows flat types; leaves the rest to Arrow.

`pa.array`, `pa.scalar` and `empty_table` import pandas when one of them is first called, to see whether they were given
its objects:
0.2 s of CPU, as long as all else that a process does for its first rows. Callers here never pass them. Where pandas is loaded
anyway, Arrow makes columns in a fifth of the time.
"""

from __future__ import annotations

import datetime as dt
import decimal
import sys
from collections.abc import Iterable, Sequence
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from paimon_nb.format.types.arrow import arrow_schema
from paimon_nb.format.types.types import DataField

_PLAIN = {
    t: np.dtype(str(t))
    for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
} | {pa.float32(): np.dtype(np.float32), pa.float64(): np.dtype(np.float64)}
"""Types whose values have NumPy's memory layout."""
_FLOATS = (pa.float32(), pa.float64())

_EPOCH, _MICROSECOND = dt.datetime(1970, 1, 1), dt.timedelta(microseconds=1)
_DAY_0 = _EPOCH.toordinal()


def column(values: Sequence[Any], t: pa.DataType) -> pa.Array:
    """`pa.array(values, t)`; None is NULL. Dates and times may be given as their counts.

    Raises: what `pa.array` raises for values that do not fit.
    """
    if "pandas" in sys.modules:
        return pa.array(values, t)
    kinds = {type(v) for v in values} - {NoneType}
    if not kinds:
        return pa.nulls(len(values), t)
    try:
        made = _build_column(values, t, kinds.pop()) if len(kinds) == 1 else None
    except (OverflowError, UnicodeEncodeError):
        made = None
    return pa.array(values, t) if made is None else made


def scalar(value: Any, t: pa.DataType) -> pa.Scalar:
    """`pa.scalar(value, t)`, as `column`."""
    return column([value], t)[0]


def no_rows(fields: Iterable[DataField]) -> pa.Table:
    """A table of these columns, all of which may be NULL, without rows."""
    schema = arrow_schema(fields, nullable=True)
    return pa.Table.from_arrays([pa.nulls(0, f.type) for f in schema], schema=schema)


def _build_column(values: Sequence[Any], t: pa.DataType, kind: type) -> pa.Array | None:
    """None: Arrow must make it, or say what is wrong."""
    types = pa.types
    if kind is int and (
        types.is_signed_integer(t) or types.is_timestamp(t) or types.is_date32(t) or types.is_time32(t)
    ):
        return _build_numbers(values, t, np.dtype(f"i{t.bit_width // 8}"))
    if kind is float and t in _FLOATS:
        return _build_numbers(values, t, _PLAIN[t])
    if kind is str and types.is_string(t):
        return _build_texts([None if v is None else v.encode() for v in values], t, np.dtype(np.int32))
    if kind is bytes and types.is_binary(t):
        return _build_texts(values, t, np.dtype(np.int32))
    if kind is bytes and types.is_large_binary(t):
        return _build_texts(values, t, np.dtype(np.int64))
    if kind is bool and types.is_boolean(t):
        return pa.Array.from_buffers(
            t, len(values), [_validity_bitmap(values), _packed_bits([bool(v) for v in values])]
        )
    if kind is decimal.Decimal and types.is_decimal128(t):
        return _build_decimals(values, t)
    if kind is dt.date and types.is_date32(t):
        return _build_numbers([None if v is None else v.toordinal() - _DAY_0 for v in values], t, np.dtype(np.int32))
    if (
        kind is dt.datetime
        and types.is_timestamp(t)
        and t.unit == "us"
        and all(v is None or v.tzinfo is None for v in values)
    ):
        return _build_numbers(
            [None if v is None else (v - _EPOCH) // _MICROSECOND for v in values], t, np.dtype(np.int64)
        )
    return None


def from_numpy(values: np.ndarray, null: np.ndarray | None = None) -> pa.Array:
    """An array over numbers or booleans, of their own type. `null`: a boolean each."""
    valid = None if null is None else _packed_bits(~null)
    if values.dtype == bool:
        return pa.Array.from_buffers(pa.bool_(), len(values), [valid, _packed_bits(values)])
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, data])


def filled(array: Any, value: Any) -> Any:
    """`pc.fill_null(array, value)`."""
    import pyarrow.compute as pc

    return array if not array.null_count else pc.fill_null(array, scalar(value, array.type))


def to_numpy(array: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """`array.to_numpy(zero_copy_only=False)`, which imports pandas, too. Not to be written to."""
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    t, size = array.type, array.offset + len(array)
    if array.null_count or not (pa.types.is_boolean(t) or t in _PLAIN):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    data = array.buffers()[1] if size else b""
    if pa.types.is_boolean(t):
        return np.unpackbits(np.frombuffer(data, np.uint8), count=size, bitorder="little")[array.offset :].astype(bool)
    return np.frombuffer(data, _PLAIN[t], size)[array.offset :]


def _build_numbers(values: Sequence[Any], t: pa.DataType, width: np.dtype[Any]) -> pa.Array:
    with np.errstate(over="ignore"):  # what is too large for a float is infinite
        data = np.array([0 if v is None else v for v in values], width)
    return pa.Array.from_buffers(t, len(values), [_validity_bitmap(values), pa.py_buffer(data)])


def _build_decimals(values: Sequence[decimal.Decimal | None], t: pa.DataType) -> pa.Array | None:
    """None where a value has another scale than the type, or too many digits."""
    data = []
    for value in values:
        sign, digits, exponent = (0, (0,), -t.scale) if value is None else value.as_tuple()
        if exponent != -t.scale or len(digits) > t.precision:
            return None
        unscaled = int("".join(map(str, digits)))
        data.append((-unscaled if sign else unscaled).to_bytes(16, "little", signed=True))
    return pa.Array.from_buffers(t, len(values), [_validity_bitmap(values), pa.py_buffer(b"".join(data))])


def _build_texts(encoded: Sequence[bytes | None], t: pa.DataType, width: np.dtype[Any]) -> pa.Array:
    offsets = np.zeros(len(encoded) + 1, width)
    np.cumsum([0 if e is None else len(e) for e in encoded], out=offsets[1:])
    joined = b"".join([b"" if e is None else e for e in encoded])
    return pa.Array.from_buffers(
        t, len(encoded), [_validity_bitmap(encoded), pa.py_buffer(offsets), pa.py_buffer(joined)]
    )


def _validity_bitmap(values: Sequence[Any]) -> pa.Buffer | None:
    present = np.array([v is not None for v in values], np.bool_)
    return None if present.all() else _packed_bits(present)


def _packed_bits(truths: Any) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.asarray(truths, np.bool_), bitorder="little"))
