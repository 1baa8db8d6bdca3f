"""Sort keys that keep rows close that are close in several columns: plain order, z-order, Hilbert curve.

Pure arithmetic on columns; reads no files. Source: Paimon `sort/zorder/ZIndexer.java`, `ZOrderByteUtils.java`,
`sort/hilbert/HilbertIndexer.java` (whose curve is J. Skilling's, "Programming the Hilbert curve", 2004).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.registry import Registry
from paimon_nb.format.types import DataField, LocalZonedTimestamp, Timestamp
from paimon_nb.format.types.arrow_builders import fill_null, to_numpy

_PER_SECOND = {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}
_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DATE", "TIME")
_TEXTS = ("CHAR", "VARCHAR", "BINARY", "VARBINARY")
_CURVE_BITS = 63
_FARTHEST = (1 << 63) - 1
"""Position of NULL on the Hilbert curve."""

Keys = Callable[[pa.Table, Sequence[DataField], int], list[pa.Array]]
"""(rows, columns to order by, bytes that a text contributes) -> key columns; rows sort by them, NULL first."""


def check_type(field: DataField) -> None:
    """Raise UnsupportedOperation for a column without an order."""
    if field.type.root not in (*_WHOLE, *_TEXTS, "BOOLEAN", "FLOAT", "DOUBLE", "DECIMAL") and not isinstance(
        field.type, Timestamp | LocalZonedTimestamp
    ):
        raise UnsupportedOperation(
            f"rows cannot be ordered by {field.name} of type {field.type.bare()}",
            hint="order by columns of primitive types",
        )


def order_keys(rows: pa.Table, fields: Sequence[DataField], _: int) -> list[pa.Array]:
    """The columns themselves; floating point as integers in Java's order (-0.0 before 0.0, NaN last)."""
    out = []
    for field in fields:
        column = _one_chunk(rows.column(field.name))
        if field.type.root in ("FLOAT", "DOUBLE"):
            bits = _double_bits(column)
            column = pa.array(bits ^ ((bits >> 63) & _FARTHEST), pa.int64(), mask=_null_mask(column))
        elif pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        out.append(column)
    return out


def zorder_keys(rows: pa.Table, fields: Sequence[DataField], text_bytes: int) -> list[pa.Array]:
    """One key: the bits of all columns interleaved, highest first."""
    return [
        _interleave_bits([_unpack_bits(_z_order_bytes(_one_chunk(rows.column(f.name)), f, text_bytes)) for f in fields])
    ]


def hilbert_keys(rows: pa.Table, fields: Sequence[DataField], _: int) -> list[pa.Array]:
    """One key: the position on the Hilbert curve with as many dimensions as columns.

    Raises: UnsupportedOperation: fewer than two columns.
    """
    if len(fields) < 2:
        raise UnsupportedOperation("a Hilbert order needs at least two columns", hint="use order, or name more columns")
    points = _axes_to_transpose(
        [_hilbert_coordinate(_one_chunk(rows.column(f.name)), f).view(np.uint64) for f in fields]
    )
    return [_interleave_bits([_unpack_bits(_big_endian(p))[:, 64 - _CURVE_BITS :] for p in points])]


STRATEGIES: Registry[Keys] = Registry(
    "order strategy", {"order": order_keys, "zorder": zorder_keys, "hilbert": hilbert_keys}
)


# -- z-order: every value as bytes that sort like it


def _z_order_bytes(column: pa.Array, field: DataField, text_bytes: int) -> np.ndarray:
    """(rows, bytes) uint8; NULL is all zeros."""
    root, nulls = field.type.root, _null_mask(column)
    if root in _TEXTS:
        return _cut_to_width(_bytes_of(column), text_bytes, len(column))
    if root == "DECIMAL":
        return _cut_to_width(
            [None if v is None else _unscaled_bytes(v, field) for v in column.to_pylist()], 8, len(column)
        )
    if root == "BOOLEAN":
        out = np.zeros((len(column), 8), np.uint8)
        out[:, 0] = np.where(to_numpy(fill_null(column, False)), 0x81, 0)
        return out
    if root in ("FLOAT", "DOUBLE"):
        bits = _double_bits(column)
        # Java shifts doubles by 31 as it does floats: only the upper half of the bits sorts like the value.
        ordered = (bits ^ ((bits >> 31) | np.int64(-(1 << 63)))).view(np.uint64)
    else:
        ordered = _int64_values(column, field).view(np.uint64) ^ np.uint64(1 << 63)
    ordered = ordered.copy()
    ordered[nulls] = 0
    return _big_endian(ordered)


def _interleave_bits(columns: list[np.ndarray]) -> pa.Array:
    """Interleaved bits of the columns; a column without remaining bits is skipped."""
    widths = [c.shape[1] for c in columns]
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    turn = [
        int(start) + i for i in range(max(widths)) for start, width in zip(starts, widths, strict=True) if i < width
    ]
    packed = np.packbits(np.concatenate(columns, axis=1)[:, turn], axis=1)
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(packed.shape[1]), len(packed), [None, pa.py_buffer(np.ascontiguousarray(packed))]
    ).cast(pa.binary())


# -- Hilbert: every value as an integer of 63 bits


def _hilbert_coordinate(column: pa.Array, field: DataField) -> np.ndarray:
    root = field.type.root
    if root in _TEXTS:
        short = [None if v is None else v[:8].rjust(8, b"\0") for v in _bytes_of(column)]
        numbers = np.ascontiguousarray(_cut_to_width(short, 8, len(column))).view(">i8")[:, 0].astype(np.int64)
    elif root == "DECIMAL":
        wrapped = [0 if v is None else (int(v) + (1 << 63)) % (1 << 64) - (1 << 63) for v in column.to_pylist()]
        numbers = np.array(wrapped, dtype=np.int64)
    elif root == "BOOLEAN":
        numbers = np.where(to_numpy(fill_null(column, False)), _FARTHEST, 0).astype(np.int64)
    elif root in ("FLOAT", "DOUBLE"):
        numbers = _double_bits(column)
    else:
        numbers = _int64_values(column, field)
    numbers = numbers.copy()
    numbers[_null_mask(column)] = _FARTHEST
    return numbers


def _axes_to_transpose(x: list[np.ndarray]) -> list[np.ndarray]:
    """Coordinates to the curve's transposed index, all rows at once (Skilling's AxesToTranspose)."""
    x = [v.copy() for v in x]
    top = _CURVE_BITS - 1
    for shift in range(top, 0, -1):
        q, p = np.uint64(1 << shift), np.uint64((1 << shift) - 1)
        for i in range(len(x)):
            inverted = (x[i] & q) != 0
            swap = np.where(inverted, np.uint64(0), (x[0] ^ x[i]) & p)
            x[0] = np.where(inverted, x[0] ^ p, x[0] ^ swap)
            if i:  # a swap with itself changes nothing
                x[i] = x[i] ^ swap
    for i in range(1, len(x)):
        x[i] = x[i] ^ x[i - 1]
    turn = np.zeros(len(x[0]), np.uint64)
    for shift in range(top, 0, -1):
        turn = np.where((x[-1] & np.uint64(1 << shift)) != 0, turn ^ np.uint64((1 << shift) - 1), turn)
    return [v ^ turn for v in x]


# -- columns as numbers


def _int64_values(column: pa.Array, field: DataField) -> np.ndarray:
    """Integers, days and milliseconds as int64; NULL as 0."""
    if isinstance(field.type, Timestamp | LocalZonedTimestamp):
        per = _PER_SECOND[column.type.unit]
        numbers = to_numpy(fill_null(column.cast(pa.int64()), 0)).astype(np.int64)
        return numbers * (1000 // per) if per <= 1000 else numbers // (per // 1000)
    if not pa.types.is_integer(column.type):
        column = column.cast(pa.int32())
    return to_numpy(fill_null(column, 0)).astype(np.int64)


def _double_bits(column: pa.Array) -> np.ndarray:
    """The bits of the values as doubles, one NaN; NULL as 0.0."""
    values = to_numpy(fill_null(column.cast(pa.float64()), 0.0)).copy()
    values[np.isnan(values)] = np.nan
    return values.view(np.int64)


def _unscaled_bytes(value: Any, field: DataField) -> bytes:
    """Java's BigInteger.toByteArray of the unscaled value."""
    number = int(value.scaleb(getattr(field.type, "scale", 0)))
    return number.to_bytes((number if number >= 0 else ~number).bit_length() // 8 + 1, "big", signed=True)


def _bytes_of(column: pa.Array) -> list[bytes | None]:
    return column.cast(pa.binary()).to_pylist()  # type: ignore[no-any-return]


def _cut_to_width(values: Sequence[bytes | None], width: int, count: int) -> np.ndarray:
    """(rows, width) uint8: the first bytes, padded with zeros."""
    joined = b"".join((v or b"")[:width].ljust(width, b"\0") for v in values)
    return np.frombuffer(joined, np.uint8).reshape(count, width)


def _big_endian(numbers: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(numbers.astype(">u8")).view(np.uint8).reshape(len(numbers), 8)


def _unpack_bits(data: np.ndarray) -> np.ndarray:
    return np.unpackbits(data, axis=1)


def _null_mask(column: pa.Array) -> np.ndarray:
    return to_numpy(pc.is_null(column))


def _one_chunk(column: Any) -> pa.Array:
    combined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)
