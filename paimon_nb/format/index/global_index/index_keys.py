"""Keys of global indexes: integers or bytes in Java's sort order, and their serialized form.

FLOAT and DOUBLE are integers in Java's total order (-0.0 before 0.0, one NaN after everything).
Source: Paimon 2.1 `globalindex/KeySerializer`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.index.file_index.bitmap_keys import Key, group_rows, has_keys, index_keys_of, total_order
from paimon_nb.format.row.binary_row import unscaled_of
from paimon_nb.format.row.binary_row_vectorized import as_array, fixed_width_buffer_values
from paimon_nb.format.types import DataType, Decimal, LocalZonedTimestamp, Timestamp
from paimon_nb.format.types.arrow_builders import to_numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.format.row.binary_row import Value

IndexKey = Key

_LAYOUT = {
    "BOOLEAN": "<b", "TINYINT": "<b", "SMALLINT": "<h", "INT": "<i", "DATE": "<i", "TIME": "<i", "BIGINT": "<q",
    "FLOAT": "<i", "DOUBLE": "<q", "DECIMAL": "<q",
}  # fmt: skip
_MICROS, _MILLIS = 6, 3


def has_index_keys(t: DataType) -> bool:
    """Whether values of `t` can be indexed: all simple types except binary ones."""
    return has_keys(t) or isinstance(t, Decimal)


def encode_index_key(t: DataType, key: IndexKey) -> bytes:
    """Serialize a key."""
    if isinstance(key, bytes):
        return key
    if isinstance(t, Timestamp | LocalZonedTimestamp):
        return _encode_time(t, key)
    if isinstance(t, Decimal) and t.precision > 18:
        return key.to_bytes((key if key >= 0 else ~key).bit_length() // 8 + 1, "big", signed=True)
    return struct.pack(_LAYOUT[t.root], total_order(t.root, key))


def decode_index_key(t: DataType, data: bytes) -> IndexKey:
    """Deserialize a key. Raises: struct.error, IndexError: too few bytes."""
    if t.root in ("CHAR", "VARCHAR"):
        return data
    if isinstance(t, Timestamp | LocalZonedTimestamp):
        return _decode_time(t, data)
    if isinstance(t, Decimal) and t.precision > 18:
        return int.from_bytes(data, "big", signed=True)
    return total_order(t.root, struct.unpack_from(_LAYOUT[t.root], data)[0])


def _units_per_milli(t: DataType) -> int:
    """How many units of a timestamp's key are a millisecond: as in its Arrow type."""
    assert isinstance(t, Timestamp | LocalZonedTimestamp)
    return 1 if t.precision <= _MILLIS else 1000 if t.precision <= _MICROS else 1_000_000


def _encode_time(t: DataType, key: int) -> bytes:
    per_milli = _units_per_milli(t)
    millis, rest = divmod(key, per_milli)
    if per_milli == 1:
        return struct.pack("<q", millis)
    return struct.pack("<q", millis) + encode_varint(rest * (1_000_000 // per_milli))


def _decode_time(t: DataType, data: bytes) -> int:
    per_milli = _units_per_milli(t)
    (millis,) = struct.unpack_from("<q", data)
    nanos = 0 if per_milli == 1 else decode_varint(data, 8)[0]
    return int(millis) * per_milli + nanos * per_milli // 1_000_000


def encode_varint(number: int) -> bytes:
    """A number as Java's variable-length integer."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def decode_varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """The number at `at`, and the end of its bytes. Raises: IndexError."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def keys_equal_to(t: DataType, value: Value) -> tuple[IndexKey, IndexKey]:
    """The smallest and the largest key of values that SQL takes as equal to `value`: two for zero of FLOAT and DOUBLE.

    Args:
        value: in the in-row form, not None.
    """
    if isinstance(t, Decimal):
        key: Any = unscaled_of(value, t.scale)
        return key, key
    if isinstance(t, Timestamp | LocalZonedTimestamp):
        per_milli, instant = _units_per_milli(t), _any(value)
        key = instant.ms * per_milli + instant.nanos * per_milli // 1_000_000
        return key, key
    keys = index_keys_of(t, value)
    return min(keys), max(keys)


def _any(value: object) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class SortedKeys:
    """The distinct keys of a column with the row ids of each, in the order of an index: NULLs first, then by key."""

    type: DataType
    keys: Sequence[IndexKey]
    rows: Sequence[npt.NDArray[np.int64]]
    """Ascending row ids of each key."""
    nulls: npt.NDArray[np.int64]

    @property
    def row_count(self) -> int:
        return len(self.nulls) + sum(map(len, self.rows))

    def chunks(self, size: int) -> list[SortedKeys]:
        """Consecutive parts of at most `size` rows; a key's rows may be in two of them."""
        parts, begin = [], 0
        order: list[tuple[IndexKey | None, npt.NDArray[np.int64]]] = [
            (None, self.nulls),
            *zip(self.keys, self.rows, strict=True),
        ]
        while begin < self.row_count:
            at, nulls, keys, rows = 0, self.nulls[:0], list[IndexKey](), list[npt.NDArray[np.int64]]()
            for key, members in order:
                some = members[max(begin - at, 0) : max(begin + size - at, 0)]
                at += len(members)
                if key is None:
                    nulls = some
                elif len(some):
                    keys.append(key)
                    rows.append(some)
            parts.append(SortedKeys(self.type, keys, rows, nulls))
            begin += size
        return parts


def sorted_keys(t: DataType, column: pa.Array | pa.ChunkedArray, row_ids: npt.NDArray[np.int64]) -> SortedKeys:
    """The keys of a column's rows.

    Args:
        row_ids: of the rows, ascending.
    """
    if isinstance(t, Decimal) and t.precision > 18:
        keys, positions, nulls = _group_numbers(
            [None if v is None else unscaled_of(v, t.scale) for v in column.to_pylist()]
        )
    elif isinstance(t, Timestamp | LocalZonedTimestamp) and t.precision > _MICROS:
        array = as_array(t, column)
        null = np.asarray(to_numpy(array.is_null()))
        values = fixed_width_buffer_values(array, np.int64).tolist()
        keys, positions, nulls = _group_numbers([None if n else v for v, n in zip(values, null, strict=True)])
    else:
        groups = group_rows(t, column)
        keys, positions, nulls = list(groups.keys), list(groups.rows), groups.nulls
    return SortedKeys(t, keys, [row_ids[p] for p in positions], row_ids[nulls])


def _group_numbers(
    values: Sequence[int | None],
) -> tuple[list[IndexKey], list[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
    """(distinct values in order, the positions of each, the positions of None)."""
    found: dict[int, list[int]] = {}
    nulls = []
    for i, value in enumerate(values):
        if value is None:
            nulls.append(i)
        else:
            found.setdefault(value, []).append(i)
    keys: list[IndexKey] = [*sorted(found)]
    positions = [np.array(found[key], np.int64) for key in sorted(found)]
    return keys, positions, np.array(nulls, np.int64)
