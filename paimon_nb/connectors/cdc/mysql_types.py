"""Maps MySQL column types to Paimon types, and MySQL values to Arrow columns.

Source: Paimon's MySqlTypeUtils and TypeMapping. The values are those of PyMySQL and python-mysql-replication.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import re
import uuid
from contextlib import suppress
from decimal import ROUND_HALF_UP, Context
from decimal import Decimal as Number
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.connectors.cdc.geojson import geojson_of
from paimon_nb.connectors.cdc.values import Misfit, Unreadable, decimal_or_string, millis_of_day
from paimon_nb.format.types import (
    Array,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Time,
    Timestamp,
    arrow_type,
    parse_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

MODES = (
    "tinyint1-not-bool", "to-nullable", "to-string", "char-to-string", "longtext-to-bytes", "bigint-unsigned-to-bigint",
)  # fmt: skip
"""Values of the option type_mapping, which is a comma-separated list."""
GEOMETRIES = (
    "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection",
)  # fmt: skip
"""Types whose values become GeoJSON text."""
_TYPE = re.compile(
    r"^\s*(?P<name>[a-z][a-z0-9]*(?: precision)?)\s*(?:\((?P<inside>.*?)\))?\s*(?P<rest>.*)$", re.I | re.S
)
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_EPOCH = dt.datetime(1970, 1, 1)
_UUID_TEXT = 36
"""Characters of the text of a UUID."""
_MAX_PLAIN_DIGITS = 1000
"""Digits of a number that becomes text without an exponent."""
NO_DATE = "it is not a date of the years 1 to 9999"
WIDE = Context(prec=100)
"""Decimal context for 38 digits; the default context of Python has 28."""


def parse_modes(text: str | None) -> frozenset[str]:
    """Parse the option type_mapping. Raises BadOptionValue."""
    modes = frozenset(m.strip().lower() for m in (text or "").split(",") if m.strip())
    for mode in modes - set(MODES):
        raise BadOptionValue(f"unknown type_mapping {mode!r}", hint=f"one of {', '.join(MODES)}", option="type_mapping")
    return modes


@dataclass(frozen=True, slots=True)
class MySqlType:
    """A column type of information_schema, for example `int(11) unsigned`."""

    name: str
    arguments: tuple[int, ...]
    words: tuple[str, ...]
    """Values of an ENUM or SET in order."""
    unsigned: bool

    @staticmethod
    def parse(text: str) -> MySqlType:
        """Raises ValueError: no text of a type."""
        found = _TYPE.match(text)
        if found is None:
            raise ValueError(f"{text!r:.80} is not a type of MySQL")
        inside, name = found["inside"] or "", found["name"].lower()
        words = tuple(w.replace("''", "'") for w in _QUOTED.findall(inside)) if name in ("enum", "set") else ()
        numbers = () if words else tuple(int(n) for n in re.findall(r"\d+", inside))
        return MySqlType(
            name, numbers, words, "unsigned" in found["rest"].lower() or "zerofill" in found["rest"].lower()
        )

    def first(self, default: int) -> int:
        return self.arguments[0] if self.arguments else default


def paimon_type(t: MySqlType, modes: Collection[str] = (), *, nullable: bool = True) -> DataType:
    """The Paimon type. Raises UnsupportedOperation: there is none."""
    text = _type_text(t, modes)
    if "to-string" in modes:
        text = "STRING"
    return parse_type(text).with_nullable(nullable or "to-nullable" in modes)


def _type_text(t: MySqlType, modes: Collection[str]) -> str:
    match t.name:
        case "tinyint":
            if t.first(4) == 1 and not t.unsigned and "tinyint1-not-bool" not in modes:
                return "BOOLEAN"
            return "SMALLINT" if t.unsigned else "TINYINT"
        case "bool" | "boolean":
            return "TINYINT" if "tinyint1-not-bool" in modes else "BOOLEAN"
        case "bit":
            return "BOOLEAN" if t.first(1) == 1 else f"BINARY({(t.first(1) + 7) // 8})"
        case "smallint":
            return "INT" if t.unsigned else "SMALLINT"
        case "mediumint" | "year":
            return "INT"
        case "int" | "integer":
            return "BIGINT" if t.unsigned else "INT"
        case "bigint" | "serial":
            wide = t.unsigned or t.name == "serial"
            return "DECIMAL(20, 0)" if wide and "bigint-unsigned-to-bigint" not in modes else "BIGINT"
        case "float":
            return "FLOAT"
        case "double" | "real" | "double precision":
            return "DOUBLE"
        case "decimal" | "numeric" | "fixed" | "dec":
            precision, scale = t.first(10), t.arguments[1] if len(t.arguments) > 1 else 0
            return decimal_or_string(precision, scale)
        case "date":
            return "DATE"
        case "time":
            return f"TIME({t.first(0)})"
        case "datetime":
            return f"TIMESTAMP({t.first(0)})"
        case "timestamp":
            return f"TIMESTAMP({t.first(0)}) WITH LOCAL TIME ZONE"
        case "char":
            return "STRING" if "char-to-string" in modes or not t.first(1) else f"CHAR({t.first(1)})"
        case "varchar":
            return "STRING" if "char-to-string" in modes or not t.first(1) else f"VARCHAR({t.first(1)})"
        case "binary":
            return f"BINARY({t.first(1)})"
        case "varbinary":
            return f"VARBINARY({max(t.first(1), 1)})"
        case "longtext":
            return "BYTES" if "longtext-to-bytes" in modes else "STRING"
        case "tinyblob" | "blob" | "mediumblob" | "longblob":
            return "BYTES"
        case "set":
            return "ARRAY<STRING>"
        case "tinytext" | "text" | "mediumtext" | "json" | "enum" | "uuid" | "inet4" | "inet6":
            return "STRING"
    if t.name in GEOMETRIES or "to-string" in modes:
        return "STRING"
    raise UnsupportedOperation(
        f"MySQL type {t.name} has no Paimon type", hint="exclude the table, or change the column"
    )


def to_column(
    values: Sequence[Any], t: DataType, source: MySqlType | None, zone: dt.tzinfo | None = dt.UTC
) -> pa.Array:
    """Values of a MySQL column as a Paimon column, whose type may be wider than `source`.

    `zone`: of MySQL's TIMESTAMP in a column without a zone; None: the machine's.

    Raises Misfit, or another error of a conversion: a value does not fit, see `values.fitting_column`.
    """
    convert = _value_converter(t, source)
    if isinstance(t, Timestamp) and source is not None and source.name == "timestamp" and zone is not dt.UTC:
        values = [v.replace(tzinfo=dt.UTC).astimezone(zone) if isinstance(v, dt.datetime) else v for v in values]
    return pa.array([None if v is None else convert(v) for v in values], arrow_type(t))


def _value_converter(t: DataType, source: MySqlType | None) -> Callable[[Any], Any]:
    convert = _plain_converter(t, source)

    def convert_readable(value: Any) -> Any:
        if isinstance(value, Unreadable):
            raise Misfit(value.reason)
        return convert(value)

    return convert_readable


def _plain_converter(t: DataType, source: MySqlType | None) -> Callable[[Any], Any]:
    bits = source is not None and source.name == "bit"
    match t:
        case Decimal():
            return lambda v: _decimal_of(v, t)
        case Timestamp() | LocalZonedTimestamp():
            per = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[arrow_type(t).unit]
            return lambda v: _epoch_units(v, per)
        case Time():
            return lambda v: millis_of_day(_to_timedelta(v) // dt.timedelta(microseconds=1))
        case Array():
            order = {w: i for i, w in enumerate(source.words)} if source is not None else {}
            return lambda v: [w for w in v.split(",") if w] if isinstance(v, str) else sorted(v, key=lambda w: order.get(w, 0))  # fmt: skip
    match t.root:
        case "BOOLEAN":
            return (lambda v: any(_bit_bytes(v, 1))) if bits else (lambda v: bool(int(v)))
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            return int
        case "FLOAT" | "DOUBLE":
            return float
        case "DATE":
            return _date_of
        case "BINARY" | "VARBINARY":
            size = (source.first(1) + 7) // 8 if bits and source is not None else 0
            # The binlog has BINARY without the zeros at its end.
            width = source.first(1) if source is not None and source.name == "binary" else 0
            return lambda v: _bit_bytes(v, size) if bits else _to_bytes(v).ljust(width, b"\0")
    if source is not None and source.name in GEOMETRIES:
        return lambda v: geojson_of(v) if isinstance(v, bytes) else str(v)
    if source is not None and source.name in ("uuid", "inet4", "inet6"):
        return _uuid_text if source.name == "uuid" else partial(_address_text, 4 if source.name == "inet4" else 16)
    return _mysql_value_text


def _to_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _uuid_text(value: Any) -> str:
    """A UUID, of which a query returns the text and the binlog the bytes without the zeros at their end."""
    if isinstance(value, str) and len(value) == _UUID_TEXT:
        return value
    return str(uuid.UUID(bytes=_to_bytes(value).ljust(16, b"\0")))


def _address_text(size: int, value: Any) -> str:
    """An INET4 or INET6 address as MariaDB shows it, see `_uuid_text`. `size`: of its bytes."""
    if isinstance(value, str):
        with suppress(ValueError):
            ipaddress.ip_address(value)
            return value
    packed = _to_bytes(value).ljust(size, b"\0")
    address = ipaddress.ip_address(packed)
    if isinstance(address, ipaddress.IPv6Address):
        prefix, last = packed[:12], ipaddress.IPv4Address(packed[12:])
        if prefix == b"\0" * 10 + b"\xff\xff":
            return f"::ffff:{last}"
        if prefix == bytes(12) and packed[12:14] != bytes(2):
            return f"::{last}"
    return str(address)


def _mysql_value_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise Misfit("the bytes are not UTF-8", value.decode("utf-8", "replace")) from None
    if isinstance(value, set | frozenset):
        return ",".join(sorted(value))
    if isinstance(value, dict | list):
        return json.dumps(_decode_json_bytes(value), ensure_ascii=False)
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    if isinstance(value, Number) and value.is_finite() and abs(int(value.as_tuple().exponent)) < _MAX_PLAIN_DIGITS:
        return f"{value:f}"
    return str(value)


def _decode_json_bytes(value: Any) -> Any:
    """JSON values of the binlog contain bytes instead of strings."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {_decode_json_bytes(k): _decode_json_bytes(v) for k, v in value.items()}
    return [_decode_json_bytes(v) for v in value] if isinstance(value, list) else value


def _decimal_of(value: Any, t: Decimal) -> Number:
    """Raises Misfit: it is rounded, or it does not fit."""
    number = Number(str(value))
    if not number.is_finite():
        raise Misfit(f"{t} has no {'NaN' if number.is_nan() else 'infinity'}")
    rounded = (
        number.quantize(Number(1).scaleb(-t.scale), ROUND_HALF_UP, WIDE) if number.adjusted() < t.precision else None
    )
    if rounded is None or rounded.adjusted() >= t.precision - t.scale:
        raise Misfit(f"{t} has {t.precision - t.scale} digits before the point")
    if rounded != number:
        raise Misfit(f"{t} has {t.scale} digits after the point; it is rounded", rounded)
    return rounded


def _date_of(value: Any) -> dt.date:
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    raise Misfit(NO_DATE)


def _epoch_units(value: Any, per_second: int) -> int:
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime(value.year, value.month, value.day)
    if not isinstance(value, dt.datetime):
        raise Misfit(NO_DATE)  # text, for example '0000-00-00 00:00:00'
    span = value.replace(tzinfo=None) - _EPOCH
    micros = (span.days * 86_400 + span.seconds) * 10**6 + span.microseconds
    return micros * per_second // 10**6


def _to_timedelta(value: Any) -> dt.timedelta:
    if isinstance(value, dt.timedelta):
        return value
    return dt.timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)


def _bit_bytes(value: Any, size: int) -> bytes:
    """A BIT value as bytes. Queries return bytes; the binlog returns text of 0 and 1."""
    if isinstance(value, bytes):
        return value[-size:].rjust(size, b"\0")
    number = int(value, 2) if isinstance(value, str) else int(value)
    return number.to_bytes(size, "big")
