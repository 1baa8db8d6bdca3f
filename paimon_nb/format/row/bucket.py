"""The bucket of a row, and Murmur3 (32 bits, seed 42) over rows, vectorized. Knows key columns and bucket counts, no tables.

Source: Paimon `DefaultBucketFunction`, `ModBucketFunction`, `HiveBucketFunction`, `MurmurHashUtils.hashBytesByWords`;
docs/spec/format.md section 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.registry import Registry
from paimon_nb.format.row.binary_row import Value, row_bytes, to_arrow_value
from paimon_nb.format.row.binary_row_vectorized import (
    RowBytes,
    Words,
    as_array,
    encode_rows,
    fixed_row_words,
    fixed_width_buffer_values,
    with_one_nan,
)
from paimon_nb.format.types import DataType, arrow_type
from paimon_nb.format.types.arrow_builders import arrow_column as column_of
from paimon_nb.format.types.arrow_builders import fill_null, sorted_unique, to_numpy

if TYPE_CHECKING:
    import decimal

SEED = 42
_C1, _C2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
_ADD, _FIVE = np.uint32(0xE6546B64), np.uint32(5)
U32 = npt.NDArray[np.uint32]


def hash_words(words: Iterable[Words]) -> npt.NDArray[np.int32]:
    """Hash of each row. `words`: one int64 array per word position, all of one length."""
    h: U32 | None = None
    count = 0
    for word in words:
        bits = np.ascontiguousarray(word).view(np.uint64)
        if h is None:
            h = np.full(len(bits), SEED, dtype=np.uint32)
        h = _murmur3_round(_murmur3_round(h, bits.astype(np.uint32)), (bits >> np.uint64(32)).astype(np.uint32))
        count += 8
    if h is None:
        raise ValueError("a row has at least one word")
    h ^= np.uint32(count)
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return h.view(np.int32)


def hash_rows(rows: RowBytes) -> npt.NDArray[np.int32]:
    """Hash of each row."""
    if rows.starts is None:
        return hash_words(rows.words[:, k] for k in range(rows.words.shape[1]))
    out = np.empty(len(rows), dtype=np.int32)
    starts = rows.starts[:-1]
    size = np.diff(rows.starts)
    for n in sorted_unique(size):
        same = np.flatnonzero(size == n)
        out[same] = hash_words(rows.words[starts[same] + k] for k in range(int(n)))
    return out


def hash_bytes(row: bytes) -> int:
    """Hash of one row given as bytes, a multiple of 8 long."""
    return int(hash_words(np.frombuffer(row, dtype="<i8").reshape(-1, 1))[0])


def _murmur3_round(h: U32, k: U32) -> U32:
    k = k * _C1
    k = (k << np.uint32(15)) | (k >> np.uint32(17))
    h = h ^ (k * _C2)
    h = (h << np.uint32(13)) | (h >> np.uint32(19))
    return h * _FIVE + _ADD


Columns = Sequence[pa.Array | pa.ChunkedArray]
Ints = npt.NDArray[np.int32]
BucketFunction = Callable[[Sequence[DataType], Columns, int], Ints]


def key_hash(types: Sequence[DataType], columns: Columns) -> Ints:
    """Murmur3 of each row: stored in the hash index of dynamic buckets, and the basis of `default` buckets."""
    columns = [with_one_nan(as_array(t, c)) for t, c in zip(types, columns, strict=True)]
    words = fixed_row_words(types, columns)
    return hash_words(words) if words else hash_rows(encode_rows(types, columns))


def key_hash_of(types: Sequence[DataType], values: Sequence[Value]) -> int:
    """`key_hash` of one row of in-row values."""
    return hash_bytes(row_bytes(types, [math.nan if v != v else v for v in values]))


def bucket_of(types: Sequence[DataType], columns: Columns, total_buckets: int, function: str = "default") -> Ints:
    """Bucket of each row, in [0, total_buckets).

    Args:
        types, columns: the bucket key, in the order of the option `bucket-key`.
        function: value of the option `bucket-function.type`: 'default', 'mod' or 'hive'.
    Raises: UnknownName: no such function. BadOptionValue: the function does not support keys of these types.
    """
    if total_buckets < 1:
        raise BadOptionValue(
            f"{total_buckets} buckets", hint="a fixed bucket table has at least 1", buckets=total_buckets
        )
    bucket_function = _default_bucket if function == "default" else BUCKET_FUNCTIONS.find(function.lower())
    return bucket_function(types, columns, total_buckets)


def bucket_of_row(
    types: Sequence[DataType], values: Sequence[Value], total_buckets: int, function: str = "default"
) -> int:
    """`bucket_of` for one row of in-row values."""
    if function.lower() == "default":
        return abs(key_hash_of(types, values)) % total_buckets if total_buckets > 0 else 0
    columns = [column_of([to_arrow_value(t, v)], arrow_type(t)) for t, v in zip(types, values, strict=True)]
    return int(bucket_of(types, columns, total_buckets, function)[0])


def _default_bucket(types: Sequence[DataType], columns: Columns, total_buckets: int) -> Ints:
    # Java: abs(hash % n), where the remainder has the sign of the hash, as in np.fmod.
    return np.abs(np.fmod(key_hash(types, columns), np.int32(total_buckets)))


def _mod_bucket(types: Sequence[DataType], columns: Columns, total_buckets: int) -> Ints:
    if len(types) != 1 or types[0].root not in ("INT", "BIGINT"):
        raise BadOptionValue(
            f"bucket function 'mod' needs one INT or BIGINT key, got {', '.join(map(str, types))}",
            hint="use bucket-function.type=default, or set bucket-key to one integer column",
        )
    array = as_array(types[0], columns[0])
    values = fixed_width_buffer_values(array, array.type.to_pandas_dtype())
    if array.null_count:
        values = np.where(to_numpy(array.is_null()), 0, values)
    buckets: Ints = np.mod(values, total_buckets).astype(np.int32)
    return buckets


def _hive_bucket(types: Sequence[DataType], columns: Columns, total_buckets: int) -> Ints:
    total = np.zeros(len(columns[0]), dtype=np.uint32)
    for t, column in zip(types, columns, strict=True):
        array = as_array(t, column)
        hashes = _hive_hash(t, array)
        if array.null_count:
            hashes = np.where(to_numpy(array.is_null()), np.uint32(0), hashes)
        total = total * np.uint32(31) + hashes
    return ((total & np.uint32(0x7FFFFFFF)) % np.uint32(total_buckets)).astype(np.int32)


def _hive_hash(t: DataType, array: pa.Array) -> npt.NDArray[np.uint32]:
    match t.root:
        case "BOOLEAN":
            return np.asarray(to_numpy(fill_null(array, False)), dtype=np.uint32)
        case "TINYINT" | "SMALLINT" | "INT" | "DATE" | "TIME":
            dtype = {"TINYINT": np.int8, "SMALLINT": np.int16}.get(t.root, np.int32)
            return fixed_width_buffer_values(array, dtype).astype(np.int32).view(np.uint32)
        case "BIGINT":
            return _fold_to_32_bits(fixed_width_buffer_values(array, np.uint64))
        case "FLOAT":
            values = fixed_width_buffer_values(array, np.float32)
            return np.where(values == 0, np.float32(0), _one_nan(values)).view(np.uint32)
        case "DOUBLE":
            doubles = fixed_width_buffer_values(array, np.float64)
            return _fold_to_32_bits(np.where(doubles == 0, np.float64(0), _one_nan(doubles)).view(np.uint64))
        case "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY":
            return _hive_bytes(array)
        case "DECIMAL":
            return np.array([_hive_decimal(v) for v in array.to_pylist()], dtype=np.int64).astype(np.uint32)
    raise BadOptionValue(
        f"bucket function 'hive' does not support keys of type {t}",
        hint="use bucket-function.type=default",
        type=str(t),
    )


def _one_nan(values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    # floatToIntBits has a single NaN
    return np.where(np.isnan(values), values.dtype.type(np.nan), values)


def _fold_to_32_bits(bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint32]:
    return (bits ^ (bits >> np.uint64(32))).astype(np.uint32)


def _hive_bytes(array: pa.Array) -> npt.NDArray[np.uint32]:
    """sum of byte[i] * 31^(length-1-i), bytes signed, modulo 2^32."""
    _, offset_buffer, data = array.buffers()
    count = len(array)
    if offset_buffer is None or count == 0:
        return np.zeros(count, dtype=np.uint32)
    offsets = np.frombuffer(offset_buffer, dtype=np.int32, count=count + 1, offset=array.offset * 4).astype(np.int64)
    size = np.diff(offsets)
    total = int(offsets[-1] - offsets[0])
    raw = np.frombuffer(data, dtype=np.int8, count=total, offset=int(offsets[0])) if total else np.zeros(0, np.int8)
    powers = np.ones(int(size.max(initial=1)) + 1, dtype=np.uint32)
    np.multiply.accumulate(np.full(len(powers) - 1, 31, dtype=np.uint32), out=powers[1:])
    exponent = np.repeat(offsets[1:] - offsets[0], size) - 1 - np.arange(total)
    terms = raw.astype(np.int32).view(np.uint32) * powers[exponent]
    sums = np.zeros(total + 1, dtype=np.uint32)
    np.cumsum(terms, out=sums[1:], dtype=np.uint32)
    ends: npt.NDArray[np.int64] = offsets - offsets[0]
    return np.diff(sums[ends])


def _hive_decimal(value: decimal.Decimal | None) -> int:
    """Java's `BigDecimal.hashCode` of the value without trailing zeros, as an unsigned 32-bit number."""
    if not value:
        return 0
    sign, digits, exponent = value.as_tuple()
    unscaled, scale = int("".join(map(str, digits))), -int(exponent)
    while scale > 0 and unscaled % 10 == 0:
        unscaled, scale = unscaled // 10, scale - 1
    magnitude = 0
    for word in reversed([unscaled >> (32 * k) & 0xFFFFFFFF for k in range((unscaled.bit_length() + 31) // 32)]):
        magnitude = (31 * magnitude + word) & 0xFFFFFFFF
    return (31 * (-magnitude if sign else magnitude) + scale) & 0xFFFFFFFF


BUCKET_FUNCTIONS: Registry[BucketFunction] = Registry(
    "bucket function", {"default": _default_bucket, "mod": _mod_bucket, "hive": _hive_bucket}
)
