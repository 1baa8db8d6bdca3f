"""The Python values of a row, their conversion from and to Arrow, and BinaryRow: the bytes of one row.

| type | value |
|---|---|
| BOOLEAN | bool |
| TINYINT .. BIGINT | int |
| FLOAT, DOUBLE | float |
| CHAR, VARCHAR | str |
| BINARY, VARBINARY, BLOB, GEOMETRY, GEOGRAPHY | bytes |
| DECIMAL | decimal.Decimal with exactly the type's scale |
| DATE | int, days since 1970-01-01 |
| TIME | int, milliseconds of the day |
| TIMESTAMP, TIMESTAMP_LTZ | Instant |
| ARRAY | tuple of values |
| MAP, MULTISET | tuple of (key, value) pairs |
| ROW | tuple of values |
| VARIANT | VariantValue |

Source: Paimon `BinaryRowWriter`, `BinaryArrayWriter`, `BinaryMap`, `SerializationUtils`; docs/spec/format.md section 6.
"""

from __future__ import annotations

import datetime as dt
import decimal
import functools
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from paimon_nb.base.errors import FormatError, SchemaMismatch
from paimon_nb.format.types import (
    Array,
    Atomic,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    UnknownType,
    arrow_type,
)
from paimon_nb.format.types.arrow_builders import scalar as scalar_of

Value = Any
"""One of the values in the table above, or None."""


class Instant(NamedTuple):
    """A point in time, as in Java's `Timestamp`."""

    ms: int
    """Milliseconds since 1970-01-01 00:00:00, negative before it."""
    nanos: int = 0
    """Nanoseconds within the millisecond, 0..999999."""


class VariantValue(NamedTuple):
    """A VARIANT: the encoded value and its metadata."""

    value: bytes
    metadata: bytes


_INT = Atomic("INT", False)
_EXACT = decimal.Context(prec=60, rounding=decimal.ROUND_HALF_UP)


def instant_from_units(value: int, unit: str) -> Instant:
    """The instant `value` units after the epoch; `unit` as in Arrow: 's', 'ms', 'us' or 'ns'."""
    if unit == "s":
        return Instant(value * 1000, 0)
    if unit == "ms":
        return Instant(value, 0)
    if unit == "us":
        return Instant(value // 1000, value % 1000 * 1000)
    return Instant(value // 1_000_000, value % 1_000_000)


def units_of_instant(instant: Instant, unit: str) -> int:
    """Units since the epoch, rounded down."""
    if unit == "s":
        return instant.ms // 1000
    if unit == "ms":
        return instant.ms
    if unit == "us":
        return instant.ms * 1000 + instant.nanos // 1000
    return instant.ms * 1_000_000 + instant.nanos


def decimal_of(unscaled: int, scale: int) -> decimal.Decimal:
    """unscaled * 10^-scale, keeping the scale."""
    return decimal.Decimal(unscaled).scaleb(-scale, _EXACT)


def unscaled_of(value: decimal.Decimal | int | str, scale: int) -> int:
    """value * 10^scale, rounded half up as Java's `Decimal.fromBigDecimal`."""
    return int(decimal.Decimal(value).scaleb(scale, _EXACT).quantize(decimal.Decimal(1), context=_EXACT))


def from_scalar(t: DataType, scalar: pa.Scalar) -> Value:
    """The in-row value of an Arrow scalar of the type `arrow_type(t)` (or one that casts to it).

    Raises: SchemaMismatch: the scalar's type cannot be converted to `t` without loss.
    """
    if not scalar.is_valid:
        return None
    target = arrow_type(t)
    if scalar.type != target and not isinstance(t, Array | Map | Multiset | Row):
        try:
            scalar = scalar.cast(target)
        except pa.ArrowInvalid as error:
            raise SchemaMismatch(f"{scalar} does not fit {t}", hint="cast the value first", type=str(t)) from error
    match t:
        case Array():
            return tuple(from_scalar(t.element, item) for item in scalar.values)
        case Map():
            return _map_entries(t.key, t.value, scalar)
        case Multiset():
            return _map_entries(t.element, _INT, scalar)
        case Row():
            return tuple(from_scalar(f.type, scalar[i]) for i, f in enumerate(t.fields))
        case Decimal():
            return decimal.Decimal(scalar.as_py())
        case Time():
            return int(scalar.value)
    match t.root:
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return instant_from_units(int(scalar.value), scalar.type.unit)
        case "DATE":
            return int(scalar.value)
        case "VARIANT":
            return VariantValue(scalar["value"].as_py(), scalar["metadata"].as_py())
    return scalar.as_py()


def to_scalar(t: DataType, value: Value) -> pa.Scalar:
    """The Arrow scalar of type `arrow_type(t)` for an in-row value."""
    return scalar_of(to_arrow_value(t, value), arrow_type(t))


def to_arrow_value(t: DataType, value: Value) -> Any:
    """The Python object that `pa.scalar` and `pa.array` take for `value` with type `arrow_type(t)`."""
    if value is None:
        return None
    match t:
        case Array():
            return [to_arrow_value(t.element, item) for item in value]
        case Map():
            return [(to_arrow_value(t.key, k), to_arrow_value(t.value, v)) for k, v in pairs_of(value)]
        case Multiset():
            return [(to_arrow_value(t.element, k), v) for k, v in pairs_of(value)]
        case Row():
            return {f.name: to_arrow_value(f.type, v) for f, v in zip(t.fields, value, strict=True)}
        case Decimal():
            return decimal_of(unscaled_of(value, t.scale), t.scale)
    match t.root:
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return units_of_instant(Instant(*value), arrow_type(t).unit)
        case "VARIANT":
            return {"value": value[0], "metadata": value[1]}
    return value


def pairs_of(value: Any) -> tuple[tuple[Any, Any], ...]:
    """The pairs of a map value given as pairs or as a dict."""
    return tuple(value.items()) if isinstance(value, dict) else tuple(value)


def from_python(t: DataType, value: Any) -> Value:
    """The in-row value of a Python object (date, datetime, time, Decimal, list, dict ...).

    A datetime without a zone is UTC; one with a zone is converted.
    Raises: SchemaMismatch: the object does not fit `t`.
    """
    if value is None or (isinstance(value, Instant) and t.root.startswith("TIMESTAMP")):
        return value
    if isinstance(value, dt.datetime) and t.root.startswith("TIMESTAMP"):
        aware = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
        delta = aware - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        return instant_from_units((delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds, "us")
    try:
        return from_scalar(t, scalar_of(value, arrow_type(t)))
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError) as error:
        raise SchemaMismatch(f"{value!r} does not fit {t}", hint="cast the value first", type=str(t)) from error


def _map_entries(key: DataType, value: DataType, scalar: pa.MapScalar) -> tuple[tuple[Value, Value], ...]:
    entries = scalar.values
    return tuple(
        zip(
            (from_scalar(key, k) for k in entries.field(0)),
            (from_scalar(value, v) for v in entries.field(1)),
            strict=True,
        )
    )


EMPTY_ROW = bytes(12)
"""The serialized row without columns: arity 0 and one null word."""

COMPACT_DECIMAL = 18
"""Maximum precision of a DECIMAL that is stored in its slot."""
COMPACT_TIMESTAMP = 3
"""Maximum precision of a TIMESTAMP that is stored in its slot."""

_SLOT = {
    "BOOLEAN": "<?", "TINYINT": "<b", "SMALLINT": "<h", "INT": "<i", "DATE": "<i", "TIME": "<i", "BIGINT": "<q",
    "FLOAT": "<f", "DOUBLE": "<d",
}  # fmt: skip
_PADDED = {"<?": "?7x", "<b": "b7x", "<h": "h6x", "<i": "i4x", "<q": "q", "<f": "f4x", "<d": "d"}
"""A value in a slot of eight bytes."""
_ELEMENT_SIZE = {
    "BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "DATE": 4, "TIME": 4, "FLOAT": 4,
}  # fmt: skip
_TEXT = frozenset({"CHAR", "VARCHAR"})
_BYTES = frozenset({"BINARY", "VARBINARY", "BLOB", "GEOMETRY", "GEOGRAPHY"})


def null_bytes(arity: int) -> int:
    """Bytes of the header and null bits of a row with `arity` columns."""
    return (arity + 63 + 8) // 64 * 8


def serialize(types: Sequence[DataType], values: Sequence[Value]) -> bytes:
    """One row after its big-endian arity, as stored in metadata (`_PARTITION`, `_MIN_KEY`, ...).

    Raises: FormatError: a value does not fit its type.
    """
    return struct.pack(">i", len(types)) + row_bytes(types, values)


def row_bytes(types: Sequence[DataType], values: Sequence[Value]) -> bytes:
    """One row without the arity: the input of bucket hashes."""
    if len(types) != len(values):
        raise FormatError(f"a row of {len(types)} columns got {len(values)} values", hint="pass one value per column")
    out = _Section(null_bytes(len(types)), len(types), 8, first_null_bit=8)
    for i, (t, value) in enumerate(zip(types, values, strict=True)):
        if value is None:
            out.set_null(i)
            _reserve_for_null(out, i, t)
        else:
            out.put(i, t, value)
    return out.finish()


def deserialize(types: Sequence[DataType], data: bytes) -> tuple[Value, ...]:
    """The values of a serialized row, in column order.

    Raises: FormatError: the bytes are not a row of these types.
    """
    check_arity(data, len(types))
    return read_row(types, memoryview(data)[4:])


def check_arity(data: bytes, expected: int) -> None:
    """Raises FormatError: a serialized row has another number of columns."""
    arity = arity_of(data)
    if arity != expected:
        raise FormatError(f"a serialized row has {arity} columns, expected {expected}", hint=_HINT)


_ARITY = struct.Struct(">i").unpack_from


def arity_of(data: bytes) -> int:
    """Number of columns of a serialized row. Raises `FormatError` if it is too short."""
    if len(data) < 12:
        raise FormatError(f"a serialized row of {len(data)} bytes is too short", hint=_HINT)
    arity: int = _ARITY(data)[0]
    return arity


def read_row(types: Sequence[DataType], row: memoryview) -> tuple[Value, ...]:
    """The values of row bytes without the arity. Raises `FormatError` for broken bytes."""
    return RowReader(types).read(row)


class RowReader:
    """Reads many rows with the same columns; the reader of each column is chosen once."""

    def __init__(self, types: Sequence[DataType]) -> None:
        self._count, slots = len(types), null_bytes(len(types))
        self.end = slots + 8 * len(types)
        """Minimum bytes of a row."""
        self._nulls = slice(1, slots)
        plain = [_SLOT.get(t.root) for t in types]
        # Numbers are unpacked at once. `8s` is passed over.
        self._unpack = struct.Struct("<" + "".join(_PADDED[p] if p else "8s" for p in plain)).unpack_from
        self._start = slots
        self._others = [(i, _slot_getter(t), slots + 8 * i) for i, t in enumerate(types) if not plain[i]]

    def read(self, row: memoryview) -> tuple[Value, ...]:
        """The values of row bytes without the arity. Raises `FormatError` for broken bytes."""
        if len(row) < self.end:
            _check_available(row, 0, self.end)  # raises the error
        null = int.from_bytes(row[self._nulls], "little")
        values: tuple[Value, ...] = self._unpack(row, self._start)
        if not null and not self._others:
            return values
        out = list(values)
        for i, get, at in self._others:
            if not null >> i & 1:
                out[i] = get(row, at)
        return tuple(out) if not null else tuple([None if null >> i & 1 else v for i, v in enumerate(out)])

    def columns(self, rows: Sequence[memoryview]) -> list[Sequence[Value]]:
        """The values of many rows, by column. Raises as `read`."""
        if not rows:
            return [()] * self._count
        without_nulls = bytes(self._nulls.stop - self._nulls.start)
        if any(len(row) < self.end or row[self._nulls] != without_nulls for row in rows):
            return list(zip(*map(self.read, rows), strict=True))
        values: list[Sequence[Value]] = list(zip(*[self._unpack(row, self._start) for row in rows], strict=True))
        for i, get, at in self._others:
            values[i] = [get(row, at) for row in rows]
        return values


_HINT = "the metadata file is broken; read an earlier snapshot or tag"


class _Section:
    """Bytes under construction: null bits, slots of one size, and a variable part padded to 8 bytes."""

    def __init__(self, header: int, count: int, size: int, first_null_bit: int, null_base: int = 0) -> None:
        self.header, self.size = header, size
        self.first_null_bit, self.null_base = first_null_bit, null_base
        self.data = bytearray((header + count * size + 7) // 8 * 8)

    def set_null(self, i: int) -> None:
        bit = i + self.first_null_bit
        self.data[self.null_base + (bit >> 3)] |= 1 << (bit & 7)

    def put(self, i: int, t: DataType, value: Value) -> None:
        at = self.header + i * self.size
        root = t.root
        try:
            if layout := _SLOT.get(root):
                struct.pack_into(layout, self.data, at, value)
            elif isinstance(t, Decimal):
                self._put_decimal(at, t, value)
            elif isinstance(t, Timestamp | LocalZonedTimestamp):
                self._put_timestamp(at, t, Instant(*value))
            elif root in _TEXT:
                self._put_short(at, value.encode())
            elif root in _BYTES:
                self._put_short(at, bytes(value))
            else:
                self._put_long(at, constructed_bytes(t, value))
        except (struct.error, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise FormatError(
                f"{value!r} is not a value of type {t}", hint="cast the value first", type=str(t)
            ) from error

    def _put_decimal(self, at: int, t: Decimal, value: Any) -> None:
        unscaled = unscaled_of(value, t.scale)
        if t.precision <= COMPACT_DECIMAL:
            struct.pack_into("<q", self.data, at, unscaled)
            return
        magnitude = ~unscaled if unscaled < 0 else unscaled
        raw = unscaled.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)
        if len(raw) > 16:
            raise ValueError("more than 16 bytes")
        self._reserve_variable_part(at, 16, len(raw))
        self.data[-16 : len(self.data) - 16 + len(raw)] = raw

    def _put_timestamp(self, at: int, t: Timestamp | LocalZonedTimestamp, value: Instant) -> None:
        if t.precision <= COMPACT_TIMESTAMP:
            struct.pack_into("<q", self.data, at, value.ms)
            return
        if not 0 <= value.nanos <= 999_999:
            raise ValueError("nanoseconds of a millisecond are 0..999999")
        self._reserve_variable_part(at, 8, value.nanos)
        struct.pack_into("<q", self.data, len(self.data) - 8, value.ms)

    def _reserve_variable_part(self, at: int, size: int, low: int) -> None:
        struct.pack_into("<ii", self.data, at, low, len(self.data))
        self.data += bytes(size)

    def _put_short(self, at: int, raw: bytes) -> None:
        if len(raw) > 7:
            self._put_long(at, raw)
            return
        self.data[at : at + len(raw)] = raw
        self.data[at + 7] = 0x80 | len(raw)

    def _put_long(self, at: int, raw: bytes) -> None:
        struct.pack_into("<ii", self.data, at, len(raw), len(self.data))
        self.data += raw + bytes(-len(raw) % 8)

    def finish(self) -> bytes:
        return bytes(self.data)


def _reserve_for_null(out: _Section, i: int, t: DataType) -> None:
    # Java reserves space for a later update of these types even if they are null (docs/spec/format.md section 6.1).
    at = out.header + i * out.size
    if isinstance(t, Decimal) and t.precision > COMPACT_DECIMAL:
        out._reserve_variable_part(at, 16, 0)
    elif isinstance(t, Timestamp | LocalZonedTimestamp) and t.precision > COMPACT_TIMESTAMP:
        out._reserve_variable_part(at, 8, 0)


def constructed_bytes(t: DataType, value: Any) -> bytes:
    """The variable part of an ARRAY, MAP, MULTISET, ROW or VARIANT value."""
    match t:
        case Array():
            return _array_bytes(t.element, value)
        case Map():
            return _map_bytes(t.key, t.value, pairs_of(value))
        case Multiset():
            return _map_bytes(t.element, _INT, pairs_of(value))
        case Row():
            return row_bytes([f.type for f in t.fields], value)
    if t.root == "VARIANT":
        return struct.pack("<i", len(value[0])) + bytes(value[0]) + bytes(value[1])
    raise TypeError(f"type {t} has no row form")


def _array_bytes(element: DataType, values: Sequence[Value]) -> bytes:
    count = len(values)
    out = _Section(_array_header(count), count, _ELEMENT_SIZE.get(element.root, 8), first_null_bit=0, null_base=4)
    struct.pack_into("<i", out.data, 0, count)
    for i, value in enumerate(values):
        if value is None:
            out.set_null(i)
        else:
            out.put(i, element, value)
    return out.finish()


def _map_bytes(key: DataType, value: DataType, pairs: Sequence[tuple[Value, Value]]) -> bytes:
    keys = _array_bytes(key, [k for k, _ in pairs])
    return struct.pack("<i", len(keys)) + keys + _array_bytes(value, [v for _, v in pairs])


def _array_header(count: int) -> int:
    return 4 + (count + 31) // 32 * 4


def _check_available(data: memoryview, at: int, size: int) -> None:
    if at < 0 or size < 0 or at + size > len(data):
        raise FormatError(f"a row points at bytes {at}..{at + size} of {len(data)}", hint=_HINT, offset=at, length=size)


_Getter = Callable[[memoryview, int], Value]
"""Reads the value whose slot begins at a byte position of a row or array."""


@functools.lru_cache(maxsize=4096)
def _slot_getter(t: DataType) -> _Getter:
    if layout := _SLOT.get(t.root):
        return _fixed_getter(struct.Struct(layout).unpack_from)
    if isinstance(t, Decimal):
        return _compact_decimal(t.scale) if t.precision <= COMPACT_DECIMAL else _long_decimal(t.scale)
    if isinstance(t, Timestamp | LocalZonedTimestamp):
        return _compact_instant if t.precision <= COMPACT_TIMESTAMP else _long_instant
    if t.root in _TEXT:
        return _short_or_long_getter(_decode_text)
    if t.root in _BYTES:
        return _short_or_long_getter(bytes)
    if isinstance(t, UnknownType):
        return lambda _data, _at: None
    return lambda data, at: _read_constructed(t, _variable_part_of_slot(data, at))


def _fixed_getter(unpack: Callable[[memoryview, int], tuple[Value, ...]]) -> _Getter:
    return lambda data, at: unpack(data, at)[0]


_word = struct.Struct("<q").unpack_from
_low_and_offset = struct.Struct("<ii").unpack_from


def _compact_decimal(scale: int) -> _Getter:
    return lambda data, at: decimal_of(_word(data, at)[0], scale)


def _long_decimal(scale: int) -> _Getter:
    return lambda data, at: decimal_of(int.from_bytes(_variable_part_of_slot(data, at), "big", signed=True), scale)


def _compact_instant(data: memoryview, at: int) -> Instant:
    return Instant(_word(data, at)[0], 0)


def _long_instant(data: memoryview, at: int) -> Instant:
    nanos, offset = _low_and_offset(data, at)
    if offset < 0 or offset + 8 > len(data):
        _check_available(data, offset, 8)  # raises the error
    return Instant(_word(data, offset)[0], nanos)


def _short_or_long_getter(made: Callable[[memoryview], Value]) -> _Getter:
    def read_short_or_long(data: memoryview, at: int) -> Value:
        last = data[at + 7]
        if not last & 0x80:
            return made(_variable_part_of_slot(data, at))
        size = last & 0x7F
        if size > 7:
            raise FormatError(f"a short value of {size} bytes", hint=_HINT)
        return made(data[at : at + size])

    return read_short_or_long


def _variable_part_of_slot(data: memoryview, at: int) -> memoryview:
    """The bytes of the variable part that a slot points at."""
    size, offset = _low_and_offset(data, at)
    if offset < 0 or size < 0 or offset + size > len(data):
        _check_available(data, offset, size)  # raises the error
    return data[offset : offset + size]


def _decode_text(piece: memoryview) -> str:
    try:
        return str(piece, "utf-8")
    except UnicodeDecodeError as error:
        raise FormatError("a text value in a row is not UTF-8", hint=_HINT) from error


def _read_constructed(t: DataType, piece: memoryview) -> Value:
    match t:
        case Array():
            return _read_array(t.element, piece)
        case Map():
            return _read_map(t.key, t.value, piece)
        case Multiset():
            return _read_map(t.element, _INT, piece)
        case Row():
            return read_row([f.type for f in t.fields], piece)
    if t.root == "VARIANT":
        _check_available(piece, 0, 4)
        (size,) = struct.unpack_from("<i", piece)
        _check_available(piece, 4, size)
        return VariantValue(bytes(piece[4 : 4 + size]), bytes(piece[4 + size :]))
    raise FormatError(f"type {t} has no row form", hint="upgrade paimon_nb", type=str(t))


def _read_array(element: DataType, piece: memoryview) -> tuple[Value, ...]:
    _check_available(piece, 0, 4)
    (count,) = struct.unpack_from("<i", piece)
    size = _ELEMENT_SIZE.get(element.root, 8)
    start = _array_header(count)
    _check_available(piece, start, count * size)
    get = _slot_getter(element)
    return tuple(None if piece[4 + (i >> 3)] & (1 << (i & 7)) else get(piece, start + i * size) for i in range(count))


def _read_map(key: DataType, value: DataType, piece: memoryview) -> tuple[tuple[Value, Value], ...]:
    _check_available(piece, 0, 4)
    (size,) = struct.unpack_from("<i", piece)
    _check_available(piece, 4, size)
    keys = _read_array(key, piece[4 : 4 + size])
    values = _read_array(value, piece[4 + size :])
    if len(keys) != len(values):
        raise FormatError(f"a map of {len(keys)} keys has {len(values)} values", hint=_HINT)
    return tuple(zip(keys, values, strict=True))
