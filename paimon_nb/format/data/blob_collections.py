"""Values of ARRAY<BLOB> and MAP<K, BLOB> columns as the payload of one entry in a `.blob` file.

Source: Paimon 2.1 `ArrayBlobElementSerializer`, `MapBlobElementSerializer`; docs/spec/format.md section 8.5.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import CorruptFile, SchemaMismatch, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.delta_varints import decode_deltas, encode_deltas
from paimon_nb.format.row.binary_row import COMPACT_DECIMAL, decimal_of, from_scalar, to_arrow_value, unscaled_of
from paimon_nb.format.types import Decimal, Map

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from paimon_nb.format.types import DataType

_ARRAY_MAGIC, _MAP_MAGIC = 1094861634, 0x4D424342
_VERSION = 1
_HEADER = struct.Struct("<IBi")
"""Magic number, version, number of elements."""
_INDEX_SIZE = 4
_NULL = -1
_INTEGERS = {"TINYINT": "<b", "SMALLINT": "<h", "INT": "<i", "BIGINT": "<q", "DATE": "<i", "TIME": "<i"}


@dataclass(frozen=True, slots=True)
class BlobCollection:
    """Where the elements of one ARRAY or MAP are in its payload."""

    elements: tuple[tuple[int, int] | None, ...]
    """First byte in the payload and length; None is a NULL element."""
    keys: tuple[Any, ...] | None
    """A map's keys, as Arrow takes them; None for an array."""

    def with_values(self, value_at: Callable[[int, int], bytes]) -> list[Any]:
        """The elements, or the pairs of a map, with the values that `value_at(first byte, length)` returns."""
        values = [None if e is None else value_at(*e) for e in self.elements]
        return values if self.keys is None else list(zip(self.keys, values, strict=True))


def encode_collection(t: DataType, value: pa.Scalar) -> bytes:
    """The payload of a value that is not NULL.

    Raises:
        SchemaMismatch: a map has a key twice, or a NULL as a key.
    """
    if not isinstance(t, Map):
        elements = value.as_py()
        index = encode_deltas(_lengths(elements))
        header = _HEADER.pack(_ARRAY_MAGIC, _VERSION, len(elements))
        return header + b"".join(e for e in elements if e is not None) + index + struct.pack("<I", len(index))
    keys = [_encode_key(t.key, k) for k in value.values.field(0)]
    if len(set(keys)) < len(keys):
        raise SchemaMismatch("a map has the same key twice", hint="keep one entry for each key", type=str(t))
    elements = value.values.field(1).to_pylist()
    key_index, index = encode_deltas(_lengths(keys)), encode_deltas(_lengths(elements))
    stored = b"".join(keys) + b"".join(e for e in elements if e is not None)
    sizes = struct.pack("<II", len(key_index), len(index))
    return _HEADER.pack(_MAP_MAGIC, _VERSION, len(keys)) + stored + key_index + index + sizes


def decode_collection(t: DataType, size: int, read: Callable[[int, int], bytes], path: str) -> BlobCollection:
    """Find the elements of a payload, without reading them.

    Args:
        size: bytes of the payload.
        read: returns `length` bytes from a position in the payload.
        path: the file, for errors.

    Raises:
        CorruptFile: the payload is not what its header and indexes say.
        UnsupportedFormat: a newer version, or a NULL as a key, which Arrow does not have.
    """
    key_type = t.key if isinstance(t, Map) else None
    is_map = key_type is not None
    sizes_at = size - _INDEX_SIZE * (2 if is_map else 1)
    if sizes_at < _HEADER.size:
        raise CorruptFile(path, f"a value of type {t.bare()} is truncated")
    magic, version, count = _HEADER.unpack(read(0, _HEADER.size))
    if magic != (_MAP_MAGIC if is_map else _ARRAY_MAGIC) or count < 0:
        raise CorruptFile(path, f"a value is not of type {t.bare()}")
    if version != _VERSION:
        raise UnsupportedFormat(
            f"{path}: version {version} of {t.bare()} values is not known",
            hint="use a newer release",
            path=path,
            feature="blob",
        )
    *key_index_size, index_size = struct.unpack(f"<{2 if is_map else 1}I", read(sizes_at, size - sizes_at))
    index_at = sizes_at - index_size
    keys_index_at = index_at - sum(key_index_size)
    if keys_index_at < _HEADER.size:
        raise CorruptFile(path, f"a value of type {t.bare()} has an index of a wrong length")
    lengths = decode_deltas(read(index_at, index_size), path)
    key_lengths = decode_deltas(read(keys_index_at, index_at - keys_index_at), path) if is_map else []
    _check_lengths(t, count, lengths, key_lengths, keys_index_at - _HEADER.size, path)
    at = _HEADER.size
    keys = None
    if key_type is not None:
        keys = _read_keys(key_type, at, key_lengths, read, path)
        at += sum(key_lengths)
    elements: list[tuple[int, int] | None] = []
    for length in lengths:
        elements.append(None if length == _NULL else (at, length))
        at += max(length, 0)
    return BlobCollection(tuple(elements), keys)


def _read_keys(
    t: DataType, at: int, lengths: Sequence[int], read: Callable[[int, int], bytes], path: str
) -> tuple[Any, ...]:
    """The keys of a map, as Arrow takes them. Raises CorruptFile."""
    keys = []
    for length in lengths:
        keys.append(_decode_key(t, read(at, length), path))
        at += length
    if len(set(keys)) < len(keys):
        raise CorruptFile(path, "a map has the same key twice")
    return tuple(to_arrow_value(t, k) for k in keys)


def _check_lengths(
    t: DataType, count: int, lengths: Sequence[int], key_lengths: Sequence[int], stored: int, path: str
) -> None:
    """Raise CorruptFile unless the lengths are those of `count` elements in `stored` bytes, UnsupportedFormat for NULL keys."""
    if _NULL in key_lengths:
        raise UnsupportedFormat(
            f"{path}: a map has a NULL as a key, which Arrow does not have",
            hint="select the other columns by name",
            path=path,
            feature="blob",
        )
    wrong_count = len(lengths) != count or (isinstance(t, Map) and len(key_lengths) != count)
    all_lengths = [*lengths, *key_lengths]
    if wrong_count or min(all_lengths, default=0) < _NULL or sum(max(n, 0) for n in all_lengths) != stored:
        raise CorruptFile(path, f"a value of type {t.bare()} has an index that does not match its elements")


def _lengths(values: Sequence[bytes | None]) -> list[int]:
    return [_NULL if v is None else len(v) for v in values]


def _encode_key(t: DataType, key: pa.Scalar) -> bytes:
    """A map's key as Java stores it."""
    value: Any = from_scalar(t, key)
    if value is None:
        raise SchemaMismatch("a map has a NULL as a key", hint="use a value as the key", type=str(t))
    if layout := _INTEGERS.get(t.root):
        return struct.pack(layout, value)
    if isinstance(t, Decimal):
        unscaled = unscaled_of(value, t.scale)
        if t.precision <= COMPACT_DECIMAL:
            return struct.pack("<q", unscaled)
        magnitude = ~unscaled if unscaled < 0 else unscaled
        return unscaled.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)
    if t.root == "BOOLEAN":
        return bytes([value])
    return value.encode() if isinstance(value, str) else bytes(value)


def _decode_key(t: DataType, data: bytes, path: str) -> Any:
    """The in-row value of a key. Raises CorruptFile."""
    try:
        if layout := _INTEGERS.get(t.root):
            return struct.unpack(layout, data)[0]
        if isinstance(t, Decimal):
            compact = t.precision <= COMPACT_DECIMAL
            unscaled = struct.unpack("<q", data)[0] if compact else int.from_bytes(data, "big", signed=True)
            return decimal_of(unscaled, t.scale)
        if t.root == "BOOLEAN":
            return {b"\x00": False, b"\x01": True}[data]
        return data if t.root in ("BINARY", "VARBINARY") else data.decode()
    except (struct.error, UnicodeDecodeError, KeyError) as error:
        raise CorruptFile(path, f"a key of type {t.bare()} cannot be decoded") from error
