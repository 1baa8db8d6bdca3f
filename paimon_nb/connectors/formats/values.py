"""Converts JSON values and CSV fields to column values and back, as Flink's formats do.

Source: Flink's JsonToRowDataConverters, CsvToRowDataConverters and RowDataToJsonConverters.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.connectors.formats.api import MalformedMessage
from paimon_nb.format.types import (
    Array,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    arrow_type,
)

Convert = Callable[[Any], Any]
"""Converts a value that is not None to a value for `pa.array`. Raises MalformedMessage."""

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_TIMESTAMP = re.compile(r"(\d{4,})-(\d\d)-(\d\d)([ T])(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z)?")
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?Z?")
_EPOCH = dt.date(1970, 1, 1)


def to_array(values: Sequence[Any], t: DataType, to_integer: Convert) -> pa.Array:
    """A column of JSON values. Raises MalformedMessage: a value is not of type `t`."""
    return pa.array([None if v is None else to_integer(v) for v in values], arrow_type(t))


def converter(t: DataType, *, iso: bool = False, lenient: bool = False) -> Convert:
    """Converter from JSON values, or the fields of a CSV line, to values of a type.

    Args:
        t: the type.
        iso: timestamps have the form 'yyyy-MM-ddTHH:mm:ss', not 'yyyy-MM-dd HH:mm:ss'.
        lenient: return NULL for a value that cannot be converted.
    """
    to_integer = _strict_converter(t, iso, lenient)
    if not lenient:
        return to_integer

    def null_if_invalid(value: Any) -> Any:
        try:
            return to_integer(value)
        except MalformedMessage:
            return None

    return null_if_invalid


def _strict_converter(t: DataType, iso: bool, lenient: bool) -> Convert:
    match t:
        case Decimal():
            return lambda v: _to_decimal(v, t)
        case Timestamp():
            return lambda v: _to_timestamp_units(v, t.precision, iso, zoned=False)
        case LocalZonedTimestamp():
            return lambda v: _to_timestamp_units(v, t.precision, iso, zoned=True)
        case Time():
            return _to_time_ms
        case Array():
            element = _nullable_converter(t.element, iso, lenient)
            return lambda v: [element(e) for e in _require_type(v, list, t)]
        case Map():
            key, value = _nullable_converter(t.key, iso, lenient), _nullable_converter(t.value, iso, lenient)
            return lambda v: [(key(k), value(e)) for k, e in _require_type(v, dict, t).items()]
        case Multiset():
            key = _nullable_converter(t.element, iso, lenient)
            return lambda v: [(key(k), int(e)) for k, e in _require_type(v, dict, t).items()]
        case Row():
            inner = [(f.name, _nullable_converter(f.type, iso, lenient)) for f in t.fields]
            return lambda v: {name: c(_require_type(v, dict, t).get(name)) for name, c in inner}
    if t.root in _BITS:
        return _integer_converter(t.root)
    named: dict[str, Convert] = {
        "BOOLEAN": lambda v: v if isinstance(v, bool) else _to_text(v).strip().lower() == "true",
        "FLOAT": _to_float, "DOUBLE": _to_float, "DATE": _to_date, "BINARY": _to_bytes, "VARBINARY": _to_bytes, "CHAR": _to_text,
        "VARCHAR": _to_text,
    }  # fmt: skip
    if t.root not in named:
        raise MalformedMessage(f"messages cannot contain {t}")
    return named[t.root]


def _nullable_converter(t: DataType, iso: bool, lenient: bool) -> Convert:
    to_integer = converter(t, iso=iso, lenient=lenient)
    return lambda v: None if v is None else to_integer(v)


def _require_type(value: Any, kind: type, t: DataType) -> Any:
    if not isinstance(value, kind):
        raise MalformedMessage(f"{_to_text(value)!r} is not {t}")
    return value


def _to_text(value: Any) -> str:
    if isinstance(value, decimal.Decimal):
        return str(value)
    text = (
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    )
    return text if text.isascii() else whole_characters(text)


def whole_characters(text: str) -> str:
    """A text that can be stored: half a character, such as JSON's "\\ud83d" alone, is '?', as Java stores it."""
    return text.encode("utf-8", "replace").decode()


def _integer_converter(root: str) -> Convert:
    low, high = -(1 << (_BITS[root] - 1)), (1 << (_BITS[root] - 1)) - 1
    truncates = root in ("INT", "BIGINT")

    def to_integer(value: Any) -> int:
        if type(value) is int:
            number = value
        else:
            try:
                rounds = truncates and isinstance(value, float | decimal.Decimal)
                number = int(value) if rounds else int(_to_text(value).strip())
            except (ValueError, ArithmeticError):
                raise MalformedMessage(f"{_to_text(value)!r} is not {root}") from None
        if not low <= number <= high:
            raise MalformedMessage(f"{number} does not fit {root}")
        return number

    return to_integer


def _to_float(value: Any) -> float:
    try:
        return float(value) if not isinstance(value, bool) else float("x")
    except (ValueError, TypeError):
        raise MalformedMessage(f"{_to_text(value)!r} is not a number") from None


def _to_decimal(value: Any, t: Decimal) -> decimal.Decimal | None:
    try:
        number = decimal.Decimal(_to_text(value).strip())
        if not number.is_finite():
            raise decimal.InvalidOperation
        scaled = number.quantize(decimal.Decimal(1).scaleb(-t.scale), decimal.ROUND_HALF_UP, _WIDE)
    except ArithmeticError:
        raise MalformedMessage(f"{_to_text(value)!r} is not {t}") from None
    return (
        scaled if len(scaled.as_tuple().digits) <= t.precision else None
    )  # as in Flink, a value that overflows is NULL


_WIDE = decimal.Context(prec=100)
_NON_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
"""As texts, as in Flink: JSON has no such numbers."""


def _to_date(value: Any) -> dt.date:
    try:
        return dt.date.fromisoformat(_to_text(value))
    except ValueError:
        raise MalformedMessage(f"{_to_text(value)!r} is not a date") from None


def _to_time_ms(value: Any) -> int:
    found = _TIME.fullmatch(_to_text(value))
    if found is None:
        raise MalformedMessage(f"{_to_text(value)!r} is not a time")
    hour, minute, second = (int(p or 0) for p in found.groups()[:3])
    millis = int((found[4] or "").ljust(3, "0")[:3])
    return ((hour * 60 + minute) * 60 + second) * 1000 + millis


def _to_timestamp_units(value: Any, precision: int, iso: bool, *, zoned: bool) -> int:
    """The integer value of a timestamp in the unit of the Arrow type."""
    found = _TIMESTAMP.fullmatch(_to_text(value))
    if found is None or (found[4] == "T") is not iso or bool(found[9]) is not zoned:
        shape = f"yyyy-MM-dd{'T' if iso else ' '}HH:mm:ss{'Z' if zoned else ''}"
        raise MalformedMessage(f"{_to_text(value)!r} is not a timestamp of the form {shape}")
    try:
        days = (dt.date(int(found[1]), int(found[2]), int(found[3])) - _EPOCH).days
    except ValueError:
        raise MalformedMessage(f"{value!r} is not a timestamp") from None
    seconds = days * 86_400 + int(found[5]) * 3600 + int(found[6]) * 60 + int(found[7] or 0)
    digits = 3 if precision <= 3 else 6 if precision <= 6 else 9
    fraction = (found[8] or "").ljust(9, "0")[:precision].ljust(digits, "0")[:digits]
    units_per_second: int = 10**digits
    return seconds * units_per_second + int(fraction or 0)


def _to_bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(_to_text(value), validate=True)
    except ValueError:
        raise MalformedMessage(f"{_to_text(value)!r} is not base64") from None


# -- columns as JSON values


def json_values(column: pa.ChunkedArray | pa.Array, t: DataType, *, iso: bool = False) -> list[Any]:
    """The values of a column for `json.dumps`. Decimals are `ExactDecimal`."""
    write = _value_writer(t, iso)
    if t.root in ("FLOAT", "DOUBLE") and pc.all(pc.is_finite(column)).as_py() in (True, None):
        write = None
    values = _timestamps_as_integers(column, t).to_pylist()
    return values if write is None else [None if v is None else write(v) for v in values]


class ExactDecimal(float):
    """A decimal that is written to JSON with all digits."""

    def __new__(cls, text: str) -> ExactDecimal:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text


def _timestamps_as_integers(column: Any, t: DataType) -> Any:
    """Timestamps as integers: Python's datetime has no nanoseconds and ends in the year 9999."""
    return column.cast(pa.int64()) if isinstance(t, Timestamp | LocalZonedTimestamp) else column


def _value_writer(t: DataType, iso: bool) -> Convert | None:
    match t:
        case Decimal():
            return lambda v: ExactDecimal(format(v, "f"))
        case Timestamp() | LocalZonedTimestamp():
            digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[arrow_type(t).unit]
            zoned = isinstance(t, LocalZonedTimestamp)
            return lambda v: timestamp_text(v, digits, iso=iso) + ("Z" if zoned else "")
        case Time():
            return lambda v: _fraction_text(v.strftime("%H:%M:%S"), v.microsecond, 6)
        case Array():
            inner = _nested_writer(t.element, iso)
            return lambda v: [inner(e) for e in v]
        case Map() | Multiset():
            value = _nested_writer(t.value, iso) if isinstance(t, Map) else (lambda e: e)
            return lambda v: {_to_text(k): value(e) for k, e in v}
        case Row():
            fields = [(f.name, _nested_writer(f.type, iso)) for f in t.fields]
            return lambda v: {n: w(v[n]) for n, w in fields}
    if t.root in ("BINARY", "VARBINARY"):
        return lambda v: base64.b64encode(v).decode()
    if t.root in ("FLOAT", "DOUBLE"):
        return lambda v: v if math.isfinite(v) else _NON_FINITE[str(v)]
    return (lambda v: v.isoformat()) if t.root == "DATE" else None


def _nested_writer(t: DataType, iso: bool) -> Convert:
    if isinstance(t, Timestamp | LocalZonedTimestamp):

        def nested_timestamp_text(v: dt.datetime) -> str:
            text = v.replace(tzinfo=None).strftime(f"%Y-%m-%d{'T' if iso else ' '}%H:%M:%S")
            return _fraction_text(text, v.microsecond, 6) + ("Z" if isinstance(t, LocalZonedTimestamp) else "")

        return lambda v: None if v is None else nested_timestamp_text(v)
    write = _value_writer(t, iso)
    return (lambda v: v) if write is None else (lambda v: None if v is None else write(v))


def timestamp_text(count: int, digits: int, *, iso: bool = False) -> str:
    """A number of 10^-digits seconds since the epoch as 'yyyy-MM-dd HH:mm:ss[.fraction]'."""
    seconds, part = divmod(count, 10**digits)
    whole = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)
    return _fraction_text(whole.isoformat("T" if iso else " "), part, digits)


def _fraction_text(text: str, part: int, digits: int) -> str:
    fraction_text = f"{part:0{digits}d}".rstrip("0") if digits and part else ""
    return f"{text}.{fraction_text}" if fraction_text else text
