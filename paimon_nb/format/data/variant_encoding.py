"""The binary encoding of VARIANT: a value, and the dictionary of the keys of its objects.

Source: Apache Parquet, `VariantEncoding.md`; Paimon `GenericVariantBuilder`. Malformed bytes raise ValueError, IndexError or struct.error.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from paimon_nb.format.row.binary_row import decimal_of, unscaled_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

PRIMITIVE, SHORT_STRING, OBJECT, ARRAY = range(4)
"""The lower two bits of a value's first byte."""
NULL = b"\x00"
_TRUE, _FALSE = b"\x04", b"\x08"
_DATE, _TIMESTAMP, _TIMESTAMP_NTZ, _FLOAT, _BINARY, _LONG_STRING = 11, 12, 13, 14, 15, 16
_TIME, _TIMESTAMP_NANOS, _TIMESTAMP_NTZ_NANOS, _UUID = 17, 18, 19, 20
_SIZES = {0: 1, 1: 1, 2: 1, 3: 2, 4: 3, 5: 5, 6: 9, 7: 9, 8: 6, 9: 10, 10: 18, 11: 5, 12: 9, 13: 9, 14: 5, 17: 9, 18: 9, 19: 9, 20: 17}  # fmt: skip
"""Bytes of a primitive value by its type, with the first byte. Texts and bytes have a length."""
_LONGS = {3: "b", 4: "<h", 5: "<i", 6: "<q"}
_DECIMALS = {8: 4, 9: 8, 10: 16}


class Scalar(NamedTuple):
    """A value that is neither an object nor an array."""

    kind: str
    """null, boolean, long, double, decimal, date, timestamp, timestamp_ntz, float, binary, string, or other."""
    value: Any
    """Dates are days, times microseconds since 1970."""


class Keys:
    """The keys of a VARIANT's objects, which the values refer to by number."""

    def __init__(self, metadata: bytes) -> None:
        if metadata[0] & 0x0F != 1:
            raise ValueError(f"version {metadata[0] & 0x0F} of VARIANT metadata is not known")
        size = (metadata[0] >> 6) + 1
        count = _unsigned(metadata, 1, size)
        texts = 1 + (count + 2) * size
        ends = [texts + _unsigned(metadata, 1 + (i + 1) * size, size) for i in range(count + 1)]
        if ends[-1] > len(metadata):
            raise ValueError("VARIANT metadata ends too early")
        self.names = [metadata[ends[i] : ends[i + 1]].decode() for i in range(count)]
        self._ids = {name: i for i, name in enumerate(self.names)}
        self._stored: bytes | None = metadata

    def id_of(self, name: str) -> int:
        """The number of a key, which is added if it is not there."""
        found = self._ids.get(name)
        if found is None:
            found = self._ids[name] = len(self.names)
            self.names.append(name)
            self._stored = None
        return found

    def to_bytes(self) -> bytes:
        if self._stored is None:
            texts = [n.encode() for n in self.names]
            total = sum(map(len, texts))
            size = _integer_size(max(total, len(texts)))
            ends = [0]
            for t in texts:
                ends.append(ends[-1] + len(t))
            numbers = b"".join(n.to_bytes(size, "little") for n in (len(texts), *ends))
            self._stored = bytes([1 | (size - 1) << 6]) + numbers + b"".join(texts)
        return self._stored


def basic_type(value: bytes) -> int:
    """PRIMITIVE, SHORT_STRING, OBJECT or ARRAY."""
    return value[0] & 3


def object_fields(value: bytes) -> list[tuple[int, bytes]]:
    """Number of the key and value of each field of an object."""
    info = value[0] >> 2
    offset_size, id_size = (info & 3) + 1, (info >> 2 & 3) + 1
    size_bytes = 4 if info & 0x10 else 1
    size = _unsigned(value, 1, size_bytes)
    ids = 1 + size_bytes
    offsets = ids + size * id_size
    data = offsets + (size + 1) * offset_size
    fields = []
    for i in range(size):
        start = data + _unsigned(value, offsets + i * offset_size, offset_size)
        fields.append((_unsigned(value, ids + i * id_size, id_size), _value_at(value, start)))
    return fields


def array_elements(value: bytes) -> list[bytes]:
    offset_size, size_bytes = (value[0] >> 2 & 3) + 1, 4 if value[0] & 0x10 else 1
    size = _unsigned(value, 1, size_bytes)
    offsets = 1 + size_bytes
    data = offsets + (size + 1) * offset_size
    return [_value_at(value, data + _unsigned(value, offsets + i * offset_size, offset_size)) for i in range(size)]


def decode_scalar(value: bytes) -> Scalar:
    """A value that is neither an object nor an array. `Scalar.value` of kind `other` has no meaning."""
    if basic_type(value) == SHORT_STRING:
        return Scalar("string", value[1 : 1 + (value[0] >> 2)].decode())
    kind = value[0] >> 2
    body = value[1:]
    match kind:
        case 0:
            return Scalar("null", None)
        case 1 | 2:
            return Scalar("boolean", kind == 1)
        case 7:
            return Scalar("double", struct.unpack_from("<d", body)[0])
        case 8 | 9 | 10:
            unscaled = int.from_bytes(body[1 : 1 + _DECIMALS[kind]], "little", signed=True)
            return Scalar("decimal", decimal_of(unscaled, body[0]))
        case _ if kind == _DATE:
            return Scalar("date", struct.unpack_from("<i", body)[0])
        case _ if kind in (_TIMESTAMP, _TIMESTAMP_NTZ):
            name = "timestamp" if kind == _TIMESTAMP else "timestamp_ntz"
            return Scalar(name, struct.unpack_from("<q", body)[0])
        case _ if kind == _FLOAT:
            return Scalar("float", struct.unpack_from("<f", body)[0])
        case _ if kind in (_BINARY, _LONG_STRING):
            found = body[4 : 4 + _unsigned(body, 0, 4)]
            return Scalar("binary", found) if kind == _BINARY else Scalar("string", found.decode())
    if kind in _LONGS:
        return Scalar("long", struct.unpack_from(_LONGS[kind], body)[0])
    return Scalar("other", None)


def encode_long(value: int) -> bytes:
    """An integer in the shortest type for it, as Java."""
    for kind, width in ((3, 1), (4, 2), (5, 4), (6, 8)):
        if -(1 << 8 * width - 1) <= value < 1 << 8 * width - 1:
            return bytes([kind << 2]) + value.to_bytes(width, "little", signed=True)
    raise ValueError(f"{value} has more than 64 bits")


def encode_boolean(value: bool) -> bytes:
    return _TRUE if value else _FALSE


def encode_float(value: float) -> bytes:
    return struct.pack("<Bf", _FLOAT << 2, value)


def encode_double(value: float) -> bytes:
    return struct.pack("<Bd", 7 << 2, value)


def encode_decimal(value: Decimal) -> bytes:
    """A decimal in the shortest type for its digits and scale."""
    scale = -int(value.as_tuple().exponent)
    unscaled = unscaled_of(value, scale)
    width = len(str(abs(unscaled)))
    kind = 8 if max(scale, width) <= 9 else 9 if max(scale, width) <= 18 else 10
    return bytes([kind << 2, scale]) + unscaled.to_bytes(_DECIMALS[kind], "little", signed=True)


def encode_date(days: int) -> bytes:
    return struct.pack("<Bi", _DATE << 2, days)


def encode_time(micros: int) -> bytes:
    return struct.pack("<Bq", _TIME << 2, micros)


def encode_timestamp(number: int, *, nanos: bool, local: bool) -> bytes:
    """A time; microseconds unless nanoseconds are needed, which Java's readers do not know.

    Args:
        number: nano- or microseconds since 1970.
        local: whether it is a TIMESTAMP_LTZ.
    """
    if nanos and number % 1000:
        return struct.pack("<Bq", (_TIMESTAMP_NANOS if local else _TIMESTAMP_NTZ_NANOS) << 2, number)
    return struct.pack("<Bq", (_TIMESTAMP if local else _TIMESTAMP_NTZ) << 2, number // 1000 if nanos else number)


def encode_binary(value: bytes) -> bytes:
    return struct.pack("<BI", _BINARY << 2, len(value)) + value


def encode_string(value: str) -> bytes:
    text = value.encode()
    if len(text) < 64:
        return bytes([len(text) << 2 | SHORT_STRING]) + text
    return struct.pack("<BI", _LONG_STRING << 2, len(text)) + text


def encode_uuid(value: bytes) -> bytes:
    return bytes([_UUID << 2]) + value


def encode_object(fields: Sequence[tuple[str, int, bytes]]) -> bytes:
    """An object of (key, its number, value). Its fields are found by the order of their keys.

    Raises:
        ValueError: a key occurs twice.
    """
    starts, at = [], 0
    for _, _, value in fields:
        starts.append(at)
        at += len(value)
    order = sorted(range(len(fields)), key=lambda i: _sort_key(fields[i][0]))
    if any(fields[a][0] == fields[b][0] for a, b in pairwise(order)):
        raise ValueError("a VARIANT object has the same key twice")
    id_size = _integer_size(max((i for _, i, _ in fields), default=0))
    offset_size = _integer_size(at)
    large = len(fields) > 255
    head = [bytes([large << 6 | id_size - 1 << 4 | offset_size - 1 << 2 | OBJECT])]
    head.append(len(fields).to_bytes(4 if large else 1, "little"))
    head += [fields[i][1].to_bytes(id_size, "little") for i in order]
    head += [starts[i].to_bytes(offset_size, "little") for i in order]
    head.append(at.to_bytes(offset_size, "little"))
    return b"".join([*head, *(value for _, _, value in fields)])


def encode_array(elements: Sequence[bytes]) -> bytes:
    offsets = [0]
    for e in elements:
        offsets.append(offsets[-1] + len(e))
    size, large = _integer_size(offsets[-1]), len(elements) > 255
    head = bytes([large << 4 | size - 1 << 2 | ARRAY]) + len(elements).to_bytes(4 if large else 1, "little")
    return b"".join([head, *(o.to_bytes(size, "little") for o in offsets), *elements])


@lru_cache(maxsize=4096)
def _sort_key(name: str) -> bytes:
    """Java compares the UTF-16 units of keys."""
    return name.encode("utf-16-be")


def _value_at(data: bytes, start: int) -> bytes:
    size = _value_size(data, start)
    value = data[start : start + size]
    if len(value) < size:
        raise ValueError("a VARIANT ends too early")
    return value


def _value_size(data: bytes, start: int) -> int:
    info = data[start] >> 2
    match data[start] & 3:
        case 0 if info in (_BINARY, _LONG_STRING):
            return 5 + _unsigned(data, start + 1, 4)
        case 0:
            if info not in _SIZES:
                raise ValueError(f"type {info} of a VARIANT value is not known")
            return _SIZES[info]
        case 1:
            return 1 + info
        case 2:
            offset_size, id_size, size_bytes = (info & 3) + 1, (info >> 2 & 3) + 1, 4 if info & 0x10 else 1
        case _:
            offset_size, id_size, size_bytes = (info & 3) + 1, 0, 4 if info & 4 else 1
    size = _unsigned(data, start + 1, size_bytes)
    last = 1 + size_bytes + size * (id_size + offset_size)
    return last + offset_size + _unsigned(data, start + last, offset_size)


def _unsigned(data: bytes, start: int, size: int) -> int:
    if start + size > len(data):
        raise ValueError("a VARIANT ends too early")
    return int.from_bytes(data[start : start + size], "little")


def _integer_size(value: int) -> int:
    return 1 if value < 1 << 8 else 2 if value < 1 << 16 else 3 if value < 1 << 24 else 4
