"""Converts Arrow columns to the bytes of many BinaryRows with NumPy. Knows no partitions, buckets or files.

Every row consists of 8-byte words, so rows are built as words: a fixed part (null bits and one slot per column),
followed by a variable part if a column needs it. Source: docs/spec/format.md section 6.
"""

from __future__ import annotations

import math
import struct
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import FormatError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.row.binary_row import (
    COMPACT_DECIMAL,
    COMPACT_TIMESTAMP,
    constructed_bytes,
    from_scalar,
    null_bytes,
)
from paimon_nb.format.types import DataType, Decimal, LocalZonedTimestamp, Timestamp, arrow_type, is_geospatial
from paimon_nb.format.types.arrow_builders import arrow_column, fill_null, scalar, to_numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

Words = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

_NARROW = {
    "TINYINT": (np.int8, np.uint8), "SMALLINT": (np.int16, np.uint16), "INT": (np.int32, np.uint32),
    "DATE": (np.int32, np.uint32), "TIME": (np.int32, np.uint32), "FLOAT": (np.float32, np.uint32),
    "BIGINT": (np.int64, np.int64), "DOUBLE": (np.float64, np.int64),
}  # fmt: skip
_LOW_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [-1], dtype=np.int64)
"""_LOW_BYTES[n] keeps the first n bytes of a word."""


@dataclass(frozen=True, slots=True)
class RowBytes:
    """The concatenated bytes of rows, without arity prefixes."""

    words: Words
    """All rows as little-endian words. If all rows have the same size: shape (rows, words per row)."""
    starts: Words | None
    """Word index at which each row begins, and the end of the last row; None if all rows have the same size."""
    arity: int

    def __len__(self) -> int:
        return len(self.words) if self.starts is None else len(self.starts) - 1

    def row(self, i: int) -> bytes:
        """Bytes of row `i`, without arity."""
        row = self.words[i] if self.starts is None else self.words[self.starts[i] : self.starts[i + 1]]
        return bytes(row.tobytes())

    def serialized(self, i: int) -> bytes:
        """Row `i` with its arity, as stored in metadata."""
        return struct.pack(">i", self.arity) + self.row(i)

    def to_list(self) -> list[bytes]:
        """All rows without arity."""
        return [self.row(i) for i in range(len(self))]


@dataclass(slots=True)
class _Column:
    """One column as words: its slots and its variable part."""

    slot: Words
    """Slot words; for variable values of more than 7 bytes the low half holds the size, the offset is added later."""
    null: Mask | None
    extra: Words | int = 0
    """Number of words of the value in the variable part: one number for all rows, or one per row."""
    fixed_extra: list[Words] = field(default_factory=list)
    """The variable words if `extra` is one number."""
    source: tuple[Bytes, Words] | None = None
    """The value bytes and the start of each row's value, if `extra` differs between rows."""


def encode_rows(types: Sequence[DataType], columns: Sequence[pa.Array | pa.ChunkedArray]) -> RowBytes:
    """Rows of `columns`, all of one length, each of type `arrow_type(types[i])` or castable to it.

    Raises: FormatError: no columns, lengths differ, or a column does not cast.
    """
    parts = _encode_columns(types, columns)
    if fixed := _fixed_words(parts):
        return RowBytes(np.stack(fixed, axis=1), None, len(types))
    return _variable_rows(parts)


def fixed_row_words(types: Sequence[DataType], columns: Sequence[pa.Array | pa.ChunkedArray]) -> list[Words] | None:
    """The rows as one array per word position, for hashing; None if rows differ in size."""
    return _fixed_words(_encode_columns(types, columns))


def _encode_columns(types: Sequence[DataType], columns: Sequence[pa.Array | pa.ChunkedArray]) -> list[_Column]:
    if not types or len(types) != len(columns) or len({len(c) for c in columns}) != 1:
        raise FormatError(
            f"{len(types)} types and {len(columns)} columns of lengths {[len(c) for c in columns]} are not rows",
            hint="pass one column a type, all of one length",
        )
    return [_encode_column(t, as_array(t, c)) for t, c in zip(types, columns, strict=True)]


def with_one_nan(array: pa.Array) -> pa.Array:
    """FLOAT and DOUBLE with one canonical NaN, so that all NaNs are one key; other arrays unchanged."""
    if not pa.types.is_floating(array.type):
        return array
    return pc.if_else(pc.is_nan(array), scalar(math.nan, array.type), array)


def as_array(t: DataType, column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """`column` as one array of exactly the type `arrow_type(t)`.

    Raises: FormatError: the column does not cast.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # in some releases, combine_chunks returns this if there are no chunks
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)
    arrow_target = arrow_type(t)
    if column.type == arrow_target:
        return column
    try:
        return column.cast(arrow_target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise FormatError(f"a column of {column.type} is not {t}: {error}", hint="cast the column first") from error


def _encode_column(t: DataType, array: pa.Array) -> _Column:
    null = to_numpy(array.is_null()) if array.null_count else None
    root = t.root
    if root in _NARROW:
        signed, unsigned = _NARROW[root]
        values = fixed_width_buffer_values(array, signed)
        return _Column(_zero_where_null(values.view(unsigned).astype(np.int64), null), null)
    if root == "BOOLEAN":
        truth = to_numpy(fill_null(array, False))
        return _Column(truth.astype(np.int64), null)
    if isinstance(t, Decimal):
        return _decimal_column(t, array, null)
    if isinstance(t, Timestamp | LocalZonedTimestamp):
        return _timestamp_column(t, array, null)
    if root in ("CHAR", "VARCHAR", "BINARY", "VARBINARY", "BLOB") or is_geospatial(t):
        return _bytes_column(array, null, inline=True)
    raw = [constructed_bytes(t, from_scalar(t, item)) if item.is_valid else None for item in array]
    return _bytes_column(arrow_column(raw, pa.binary()), null, inline=False)


def fixed_width_buffer_values(array: pa.Array, dtype: Any) -> npt.NDArray[Any]:
    """The value buffer of a fixed-width array as a NumPy array; arbitrary values where null."""
    buffer = array.buffers()[1]
    if len(array) == 0 or buffer is None:
        return np.zeros(len(array), dtype=dtype)
    width = np.dtype(dtype).itemsize
    return np.frombuffer(buffer, dtype=dtype, count=len(array), offset=array.offset * width)


def decimal_halves(array: pa.Array) -> tuple[npt.NDArray[np.uint64], Words]:
    """Low (unsigned) and high (signed) words of a decimal128 array's unscaled values."""
    buffer = array.buffers()[1]
    if len(array) == 0 or buffer is None:
        return np.zeros(len(array), np.uint64), np.zeros(len(array), np.int64)
    pairs = np.frombuffer(buffer, dtype=np.int64, count=len(array) * 2, offset=array.offset * 16).reshape(-1, 2)
    return np.ascontiguousarray(pairs[:, 0]).view(np.uint64), np.ascontiguousarray(pairs[:, 1])


def _zero_where_null(words: Words, null: Mask | None) -> Words:
    if null is not None:
        words[null] = 0
    return words


def _decimal_column(t: Decimal, array: pa.Array, null: Mask | None) -> _Column:
    low, high = decimal_halves(array)
    if t.precision <= COMPACT_DECIMAL:
        return _Column(_zero_where_null(low.view(np.int64).copy(), null), null)
    flip = high >> 63  # -1 for negative values: the size of x is that of ~x
    magnitude_low, magnitude_high = low ^ flip.view(np.uint64), high ^ flip
    size = np.ones(len(array), dtype=np.int64)
    for n in range(1, 16):
        bit = 8 * n - 1
        if bit < 64:
            size += (magnitude_high > 0) | (magnitude_low >= np.uint64(1 << bit))
        else:
            size += magnitude_high >= (1 << (bit - 64))
    big_endian = np.empty((len(array), 2), dtype=np.int64)
    big_endian[:, 0], big_endian[:, 1] = high.byteswap(), low.view(np.int64).byteswap()
    # Java left-aligns the minimal big-endian bytes: byte k of the area is byte k + 16 - size of the sixteen.
    take = np.arange(16)[None, :] + (16 - size)[:, None]
    left = np.take_along_axis(big_endian.view(np.uint8), np.minimum(take, 15), axis=1)
    left[take > 15] = 0
    if null is not None:
        left[null] = 0
    area = left.view(np.int64)
    return _Column(_zero_where_null(size, null), null, 2, [area[:, 0], area[:, 1]])


def _timestamp_column(t: Timestamp | LocalZonedTimestamp, array: pa.Array, null: Mask | None) -> _Column:
    values = fixed_width_buffer_values(array, np.int64)
    if t.precision <= COMPACT_TIMESTAMP:
        return _Column(_zero_where_null(values.copy(), null), null)
    per_ms = 1000 if array.type.unit == "us" else 1_000_000
    ms, rest = np.divmod(values, per_ms)
    return _Column(_zero_where_null(rest * (1_000_000 // per_ms), null), null, 1, [_zero_where_null(ms, null)])


def _bytes_column(array: pa.Array, null: Mask | None, *, inline: bool) -> _Column:
    _, offset_buffer, data = array.buffers()
    count = len(array)
    if offset_buffer is None or count == 0:
        offsets = np.zeros(count + 1, dtype=np.int32)
    else:
        offsets = np.frombuffer(offset_buffer, dtype=np.int32, count=count + 1, offset=array.offset * 4)
    starts = offsets[:-1].astype(np.int64)
    size = np.diff(offsets).astype(np.int64)
    _zero_where_null(size, null)
    first, last = (int(offsets[0]), int(offsets[-1])) if count else (0, 0)
    source = np.zeros(last - first + 8, dtype=np.uint8)  # eight bytes more: the last value is read as a whole word
    if last > first:
        source[:-8] = np.frombuffer(data, dtype=np.uint8, count=last - first, offset=first)
    starts -= first
    extra = (size + 7) >> 3
    slot = size.copy()
    if inline:
        short = size <= 7
        tag = (0x80 | size[short]) << 56
        slot[short] = (_load_words(source, starts[short]) & _LOW_BYTES[size[short]]) | tag
        extra[short] = 0
    return _Column(_zero_where_null(slot, null), null, _zero_where_null(extra, null), [], (source, starts))


def _load_words(source: Bytes, positions: Words) -> Words:
    """The word at each byte position; positions need no alignment."""
    positions = np.minimum(positions, len(source) - 8)
    view = np.lib.stride_tricks.as_strided(source[:8].view(np.int64), shape=(len(source) - 7,), strides=(1,))
    loaded: Words = view[positions]
    return loaded


def _null_bit_words(columns: list[_Column]) -> list[Words]:
    words = [np.zeros(len(columns[0].slot), dtype=np.int64) for _ in range(null_bytes(len(columns)) // 8)]
    for i, encoded in enumerate(columns):
        if encoded.null is not None:
            bit = i + 8
            words[bit >> 6].view(np.uint64)[encoded.null] |= np.uint64(1 << (bit & 63))
    return words


def _fixed_words(columns: list[_Column]) -> list[Words] | None:
    """Word columns of rows that all have the same size, or None."""
    if any(not isinstance(p.extra, int) and p.extra.any() for p in columns):
        return None
    words = _null_bit_words(columns)
    cursor = (len(words) + len(columns)) * 8
    variable: list[Words] = []
    for encoded in columns:
        if encoded.fixed_extra:
            words.append(encoded.slot | (cursor << 32))
            variable += encoded.fixed_extra
            cursor += 8 * len(encoded.fixed_extra)
        else:
            words.append(encoded.slot)
    return words + variable


def _variable_rows(columns: list[_Column]) -> RowBytes:
    null_words = _null_bit_words(columns)
    row_count = len(columns[0].slot)
    fixed_words = len(null_words) + len(columns)
    row_words = np.full(row_count, fixed_words, dtype=np.int64)
    for encoded in columns:
        row_words += encoded.extra
    starts = np.zeros(row_count + 1, dtype=np.int64)
    np.cumsum(row_words, out=starts[1:])
    words = np.zeros(int(starts[-1]), dtype=np.int64)
    row_starts = starts[:-1]
    for i, word in enumerate(null_words):
        words[row_starts + i] = word
    cursor = np.full(row_count, fixed_words, dtype=np.int64)
    for i, encoded in enumerate(columns):
        _write_slot(words, row_starts, row_starts + len(null_words) + i, encoded, cursor)
        cursor += encoded.extra
    if row_count and (row_words == row_words[0]).all():
        return RowBytes(words.reshape(row_count, int(row_words[0])), None, len(columns))
    return RowBytes(words, starts, len(columns))


def _write_slot(words: Words, row_starts: Words, slot_positions: Words, column: _Column, cursor: Words) -> None:
    """Write one column's slots and variable words; `cursor`: word index in the row for the next variable value."""
    offset = (cursor * 8) << 32
    if column.fixed_extra:
        words[slot_positions] = column.slot | offset
        for k, word in enumerate(column.fixed_extra):
            words[row_starts + cursor + k] = word
    elif column.source is None or isinstance(column.extra, int):
        words[slot_positions] = column.slot
    else:
        is_long = column.extra > 0
        words[slot_positions] = np.where(is_long, column.slot | offset, column.slot)
        if is_long.any():
            _copy_long_values(words, (row_starts + cursor)[is_long], column, is_long)


def _copy_long_values(words: Words, target: Words, column: _Column, is_long: Mask) -> None:
    assert column.source is not None
    source, starts = column.source
    count = np.asarray(column.extra)[is_long]
    size = column.slot[is_long]
    ends = np.cumsum(count)
    nth = np.arange(int(ends[-1]), dtype=np.int64) - np.repeat(ends - count, count)  # word number within its value
    left = np.repeat(size, count) - nth * 8
    value = _load_words(source, np.repeat(starts[is_long], count) + nth * 8)
    words[np.repeat(target, count) + nth] = value & _LOW_BYTES[np.minimum(left, 8)]
