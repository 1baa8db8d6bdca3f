"""Reads and writes Thrift's compact protocol as a tree of structs. Knows no message of any format.

Source: Apache Thrift `thrift-compact-protocol.md`.
"""

from __future__ import annotations

from typing import Any

from paimon_nb.base.lazy_dataclass import dataclass

T_TRUE, T_FALSE, T_BYTE, T_I16, T_I32, T_I64, T_DOUBLE, T_BINARY, T_LIST, T_SET, T_MAP, T_STRUCT = range(1, 13)


@dataclass(slots=True)
class Struct:
    """Fields as [id, type, value] in file order."""

    fields: list[list[Any]]

    def get(self, field_id: int) -> Any:
        """Value of a field; None if it is missing."""
        return next((value for fid, _, value in self.fields if fid == field_id), None)

    def list(self, field_id: int) -> list[Struct]:
        """The structs of a list field."""
        value: ThriftList | None = self.get(field_id)
        return [] if value is None else value.items

    def struct(self, field_id: int) -> Struct:
        value: Struct = self.get(field_id)
        return value

    def put(self, field_id: int, kind: int, value: Any) -> None:
        """Set a field."""
        self.drop(field_id)
        self.fields.append([field_id, kind, value])
        self.fields.sort(key=lambda f: int(f[0]))

    def drop(self, field_id: int) -> None:
        self.fields = [f for f in self.fields if f[0] != field_id]


@dataclass(slots=True)
class ThriftList:
    """A list or set."""

    kind: int
    items: Any


def decode(data: bytes) -> Struct:
    """Decode the struct in `data`. Raises `ValueError`, `IndexError` for invalid bytes."""
    return decode_at(data, 0)


def decode_at(data: bytes, at: int) -> Struct:
    """Decode the struct that begins at a position. Raises as `decode`."""
    decoder = _Decoder(data)
    decoder.at = at
    return decoder.read_struct()


def skip_value(data: bytes, at: int, kind: int) -> int:
    """The position after the value of a type at `at`; several times faster than decoding it. Raises as `decode`."""
    if kind == T_STRUCT:
        while head := data[at]:
            at += 1
            if head < 16:  # the field's id follows
                at = _skip_varint(data, at)
            inner = head & 0x0F
            if T_I16 <= inner <= T_I64:
                while data[at] > 0x7F:
                    at += 1
                at += 1
            elif inner > T_FALSE:  # a field's boolean is its type
                at = skip_value(data, at, inner)
        return at + 1
    if T_I16 <= kind <= T_I64:
        return _skip_varint(data, at)
    if kind in (T_TRUE, T_FALSE, T_BYTE):
        return at + 1
    if kind == T_DOUBLE:
        return at + 8
    if kind == T_BINARY:
        size, at = varint_at(data, at)
        return at + size
    if kind in (T_LIST, T_SET):
        size, inner = data[at] >> 4, data[at] & 0x0F
        at += 1
        if size == 15:
            size, at = varint_at(data, at)
        for _ in range(size):
            if at >= len(data):
                raise IndexError("a list beyond the end")
            at = skip_value(data, at, inner)
        return at
    raise ValueError(f"Thrift type {kind} is not expected here")


def _skip_varint(data: bytes, at: int) -> int:
    while data[at] > 0x7F:
        at += 1
    return at + 1


def varint_at(data: bytes, at: int) -> tuple[int, int]:
    """The unsigned number at a position, and the position after it. Raises as `decode`."""
    decoder = _Decoder(data)
    decoder.at = at
    return decoder.read_varint(), decoder.at


def encode_thrift_struct(struct: Struct, after: int = 0) -> bytes:
    """Encode a struct. Structs in lists and fields may also be given as encoded bytes.

    Args:
        after: the encoding continues after this field: `encode_thrift_struct(a)[:-1] + encode_thrift_struct(b, after=<last field of a>)` is one struct.
    """
    out = bytearray()
    _append_struct(out, struct, after)
    return bytes(out)


class _Decoder:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def read_varint(self) -> int:
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number
            if shift > 63:
                raise ValueError("an unterminated number")

    def zigzag(self) -> int:
        number = self.read_varint()
        return (number >> 1) ^ -(number & 1)

    def take(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self.data):
            raise IndexError("a value beyond the end")
        return self.data[self.at - size : self.at]

    def read_struct(self) -> Struct:
        fields: list[list[Any]] = []
        last = 0
        while head := self.byte():
            kind, step = head & 0x0F, head >> 4
            last = last + step if step else self.zigzag()
            fields.append([last, kind, self.read_value(kind)])
        return Struct(fields)

    def read_value(self, kind: int) -> Any:
        match kind:
            case 1 | 2:  # a field's boolean is its type
                return kind == T_TRUE
            case 3:
                return self.byte()
            case 4 | 5 | 6:
                return self.zigzag()
            case 7:
                return self.take(8)
            case 8:
                return self.take(self.read_varint())
            case 9 | 10:
                head = self.byte()
                size = head >> 4 if head >> 4 != 15 else self.read_varint()
                inner = head & 0x0F
                read = self.byte if inner in (T_TRUE, T_FALSE) else lambda: self.read_value(inner)
                return ThriftList(inner, [read() for _ in range(size)])
            case 12:
                return self.read_struct()
        raise ValueError(f"Thrift type {kind} is not expected here")


def _append_struct(out: bytearray, struct: Struct, last: int = 0) -> None:
    for field_id, kind, value in struct.fields:
        if 0 < field_id - last <= 15:
            out.append((field_id - last) << 4 | kind)
        else:
            out.append(kind)
            _put_zigzag(out, field_id)
        last = field_id
        _append_value(out, kind, value)
    out.append(0)


def _append_value(out: bytearray, kind: int, value: Any) -> None:
    match kind:
        case 1 | 2:
            return
        case 3:
            out.append(value)
        case 4 | 5 | 6:
            _put_zigzag(out, value)
        case 7:
            out += value
        case 8:
            _append_varint(out, len(value))
            out += value
        case 9 | 10:
            size = len(value.items)
            out.append(min(size, 15) << 4 | value.kind)
            if size >= 15:
                _append_varint(out, size)
            for item in value.items:
                if value.kind in (T_TRUE, T_FALSE):
                    out.append(item)
                else:
                    _append_value(out, value.kind, item)
        case 12:
            if isinstance(value, bytes):
                out += value
            else:
                _append_struct(out, value)


def _put_zigzag(out: bytearray, number: int) -> None:
    _append_varint(out, (number << 1) ^ (number >> 63))


def _append_varint(out: bytearray, number: int) -> None:
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
