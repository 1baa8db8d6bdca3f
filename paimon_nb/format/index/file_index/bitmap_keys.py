"""Converts column values to keys of bitmap indexes: numbers or bytes in Java's sort order, and their serialized form.

FLOAT and DOUBLE become integers in Java's total order (-0.0 before 0.0, one NaN after everything).
Source: Paimon `BitmapFileIndexMeta`, `BitmapTypeVisitor`, `rangebitmap/KeyFactory`; docs/spec/format.md section 13.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.row.binary_row import Value, unscaled_of
from paimon_nb.format.row.binary_row_vectorized import as_array, decimal_halves, fixed_width_buffer_values
from paimon_nb.format.types import DataType, Decimal, LocalZonedTimestamp, Timestamp
from paimon_nb.format.types.arrow_builders import fill_null, to_numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

Key = int | bytes
"""Bytes of texts, numbers of everything else."""
Positions = npt.NDArray[np.int64]

_LAYOUT = {
    "BOOLEAN": ">b", "TINYINT": ">b", "SMALLINT": ">h", "INT": ">i", "DATE": ">i", "TIME": ">i", "BIGINT": ">q",
    "FLOAT": ">i", "DOUBLE": ">q", "TIMESTAMP": ">q", "TIMESTAMP_LTZ": ">q", "DECIMAL": ">q",
}  # fmt: skip
_NUMPY = {
    "TINYINT": np.int8, "SMALLINT": np.int16, "INT": np.int32, "DATE": np.int32, "TIME": np.int32, "BIGINT": np.int64,
}  # fmt: skip
_TEXT = ("CHAR", "VARCHAR")


def has_keys(t: DataType) -> bool:
    """Whether values of `t` have keys: no binary or constructed types, no DECIMAL of more than 18 digits."""
    return t.root in _TEXT or (t.root in _LAYOUT and not (isinstance(t, Decimal) and t.precision > 18))


def is_exact(t: DataType) -> bool:
    """Whether different values have different keys: timestamps lose digits beyond microseconds."""
    return not (isinstance(t, Timestamp | LocalZonedTimestamp) and t.precision > 6)


def encode_key(t: DataType, key: Key) -> bytes:
    """Serialize a key."""
    if isinstance(key, bytes):
        return struct.pack(">i", len(key)) + key
    return struct.pack(_LAYOUT[t.root], total_order(t.root, key))


def decode_key(t: DataType, data: memoryview, at: int) -> tuple[Key, int]:
    """Deserialize the key at `at`. Returns the key and the end of its bytes. Raises: struct.error, ValueError."""
    if t.root in _TEXT:
        (size,) = struct.unpack_from(">i", data, at)
        if size < 0 or at + 4 + size > len(data):
            raise ValueError(f"a text of {size} bytes")
        return bytes(data[at + 4 : at + 4 + size]), at + 4 + size
    layout = _LAYOUT[t.root]
    (stored,) = struct.unpack_from(layout, data, at)
    return total_order(t.root, stored), at + struct.calcsize(layout)


def index_keys_of(t: DataType, value: Value) -> tuple[Key, ...]:
    """The keys that a value equal to `value` may have: two for zero of FLOAT and DOUBLE, else one."""
    if t.root in ("FLOAT", "DOUBLE") and value == 0:
        return _float_key(t.root, -0.0), _float_key(t.root, 0.0)
    return (_index_key_of(t, value),)


def _index_key_of(t: DataType, value: Value) -> Key:
    match t.root:
        case "CHAR" | "VARCHAR":
            return str(value).encode()
        case "FLOAT" | "DOUBLE":
            return _float_key(t.root, float(value))
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return int(value.ms if _in_millis(t) else value.ms * 1000 + value.nanos // 1000)
    return unscaled_of(value, t.scale) if isinstance(t, Decimal) else int(value)


def _in_millis(t: DataType) -> bool:
    return isinstance(t, Timestamp | LocalZonedTimestamp) and t.precision <= 3


def _float_key(root: str, value: float) -> int:
    layout = "<f" if root == "FLOAT" else "<d"
    raw = struct.pack(layout, math.nan if math.isnan(value) else value)
    return total_order(root, int.from_bytes(raw, "little", signed=True))


def total_order(root: str, bits: int) -> int:
    """Convert bits of a float to a number in Java's order, and back; other types are unchanged."""
    if root == "FLOAT":
        return bits if bits >= 0 else bits ^ 0x7FFF_FFFF
    if root == "DOUBLE":
        return bits if bits >= 0 else bits ^ 0x7FFF_FFFF_FFFF_FFFF
    return bits


def key_numbers(t: DataType, column: pa.Array | pa.ChunkedArray) -> Positions:
    """Keys of a column that has no strings, as int64; arbitrary where it is null."""
    array = as_array(t, column)
    root = t.root
    if root == "BOOLEAN":
        return np.asarray(to_numpy(fill_null(array, False)), dtype=np.int64)
    if root == "DECIMAL":
        return decimal_halves(array)[0].view(np.int64)
    if root == "FLOAT":
        bits = canonical_float_bits(fixed_width_buffer_values(array, np.float32)).view(np.int32).astype(np.int64)
        return np.where(bits >= 0, bits, bits ^ 0x7FFF_FFFF)
    if root == "DOUBLE":
        bits = canonical_float_bits(fixed_width_buffer_values(array, np.float64)).view(np.int64)
        return np.where(bits >= 0, bits, bits ^ 0x7FFF_FFFF_FFFF_FFFF)
    if isinstance(t, Timestamp | LocalZonedTimestamp):
        values = fixed_width_buffer_values(array, np.int64)
        return values // 1000 if t.precision > 6 else values
    return fixed_width_buffer_values(array, _NUMPY[root]).astype(np.int64)


def canonical_float_bits(values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """The same numbers with one kind of NaN, as Java's floatToIntBits."""
    out: npt.NDArray[np.floating] = np.where(np.isnan(values), values.dtype.type(np.nan), values)
    return out


@dataclass(frozen=True, slots=True)
class Groups:
    """The row positions of each key of a column."""

    keys: Sequence[Key]
    """Distinct keys, sorted."""
    rows: Sequence[Positions]
    """Ascending row positions of each key."""
    nulls: Positions
    row_count: int


def group_rows(t: DataType, column: pa.Array | pa.ChunkedArray) -> Groups:
    """Row positions by key."""
    array = as_array(t, column)
    null = np.asarray(to_numpy(array.is_null()))
    present = np.flatnonzero(~null)
    keys: list[Key]
    if t.root in _TEXT:
        encoded = array.dictionary_encode()
        texts = [str(text).encode() for text in encoded.dictionary.to_pylist()]
        order = sorted(range(len(texts)), key=texts.__getitem__)
        rank = np.empty(len(texts), dtype=np.int64)
        rank[order] = np.arange(len(texts))
        keys = [texts[i] for i in order]
        codes = rank[to_numpy(fill_null(encoded.indices, 0))[present]] if texts else present
    else:
        distinct, codes = np.unique(key_numbers(t, array)[present], return_inverse=True)
        keys = distinct.tolist()
    by_code = np.argsort(codes, kind="stable")
    cuts = np.searchsorted(codes[by_code], np.arange(1, len(keys)))
    rows = [present[part] for part in np.split(by_code, cuts)] if keys else []
    return Groups(keys, rows, np.flatnonzero(null), len(array))
