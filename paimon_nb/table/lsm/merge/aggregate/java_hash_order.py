"""Java's hash codes of values, and the iteration order of its hash maps: it determines the order of collected arrays.

Source: `java.util.HashMap`; Paimon `FieldCollectAgg`, `FieldNestedUpdateAgg` (both list what a hash map holds).
"""

from __future__ import annotations

import decimal
import struct
from typing import TYPE_CHECKING, Any

from paimon_nb.format.row import Instant, row_bytes
from paimon_nb.format.row.binary_row import instant_from_units
from paimon_nb.format.row.bucket import hash_bytes
from paimon_nb.format.types import Array, DataType, Decimal, Map, Row, arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SMALLEST_TABLE = 16
_SEED, _C1, _C2 = 42, 0xCC9E2D51, 0x1B873593
_32 = 0xFFFFFFFF


def java_hash_order(codes: Sequence[int], max_entries: int | None = None) -> list[int]:
    """Positions in the order in which a HashMap iterates entries that were inserted with these hash codes.

    Args:
        max_entries: the largest size the map ever had, if entries were removed; a map never shrinks.

    Bins that Java converts to trees (eight entries per bin) may be iterated in another order there.
    """
    size = _SMALLEST_TABLE
    while (len(codes) if max_entries is None else max_entries) > size * 3 // 4:
        size *= 2
    bins = [((c ^ ((c & _32) >> 16)) & (size - 1)) for c in codes]
    return sorted(range(len(codes)), key=bins.__getitem__)


def java_equality_key(value: Any) -> Any:
    """Java's notion of equality: floats by their bits (one NaN), everything else by value."""
    if isinstance(value, float):
        return "NaN" if value != value else struct.pack(">d", value)
    if isinstance(value, dict):
        return tuple((k, java_equality_key(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(java_equality_key(v) for v in value)
    return value


def hash_code(t: DataType) -> Callable[[Any], int] | None:
    """`Object.hashCode` of this type's values, times as `times_as_numbers` returns them; None if Java has no value hash."""
    if isinstance(t, Array | Map | Row):
        return None
    if isinstance(t, Decimal):
        return lambda v: _hash_decimal(v, t.scale)
    if t.root.startswith("TIMESTAMP"):
        return lambda v: _hash_timestamp(_instant_of_number(t, v))
    return _HASHES.get(t.root)


def row_hash(types: Sequence[DataType]) -> Callable[[Sequence[Any]], int]:
    """`BinaryRow.hashCode` of a row of these types."""
    return lambda values: hash_bytes(row_bytes(types, [_in_row(t, v) for t, v in zip(types, values, strict=True)]))


def _in_row(t: DataType, value: Any) -> Any:
    """A Python value, times as numbers, in the in-row form."""
    return value if value is None or not t.root.startswith("TIMESTAMP") else _instant_of_number(t, value)


def _instant_of_number(t: DataType, value: int) -> Instant:
    return instant_from_units(value, arrow_type(t).unit)


def _hash_int(value: int) -> int:
    return value & _32


def _hash_long(value: int) -> int:
    return (value ^ ((value & 0xFFFFFFFFFFFFFFFF) >> 32)) & _32


def _float_bits(value: float, wide: bool) -> int:
    number = float("nan") if value != value else value
    return int.from_bytes(struct.pack(">d" if wide else ">f", number), "big")


def _hash_decimal(value: decimal.Decimal, scale: int) -> int:
    """`BigDecimal.hashCode`: 31 times the hash of the unscaled integer, plus the scale."""
    unscaled = int(value.scaleb(scale, context=decimal.Context(prec=60)))
    h, rest = 0, abs(unscaled)
    words = []
    while rest:
        words.append(rest & _32)
        rest >>= 32
    for word in reversed(words):
        h = (31 * h + word) & _32
    return (31 * (-h if unscaled < 0 else h) + scale) & _32


def _hash_timestamp(value: Instant) -> int:
    ms, nanos = value
    return (31 * ((ms ^ (ms >> 32)) & _32) + nanos) & _32


def _hash_bytes(data: bytes) -> int:
    """Murmur 3 over bytes: whole little-endian words, then each remaining byte as a word."""
    h = _SEED
    whole = len(data) - len(data) % 4
    words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, whole, 4)]
    words += [(b - 256 if b > 127 else b) & _32 for b in data[whole:]]
    for word in words:
        k = word * _C1 & _32
        k = ((k << 15) | (k >> 17)) & _32
        h ^= k * _C2 & _32
        h = ((h << 13) | (h >> 19)) & _32
        h = (h * 5 + 0xE6546B64) & _32
    h ^= len(data)
    h ^= h >> 16
    h = h * 0x85EBCA6B & _32
    h ^= h >> 13
    h = h * 0xC2B2AE35 & _32
    return h ^ (h >> 16)


def _hash_text(value: str) -> int:
    return _hash_bytes(value.encode("utf-8", "surrogatepass"))


_HASHES: dict[str, Callable[[Any], int]] = {
    "TINYINT": _hash_int,
    "SMALLINT": _hash_int,
    "INT": _hash_int,
    "BIGINT": _hash_long,
    "FLOAT": lambda v: _float_bits(v, wide=False),
    "DOUBLE": lambda v: _hash_long(_float_bits(v, wide=True)),
    "BOOLEAN": lambda v: 1231 if v else 1237,
    "DATE": _hash_int,
    "TIME": _hash_int,
    "CHAR": _hash_text,
    "VARCHAR": _hash_text,
}
