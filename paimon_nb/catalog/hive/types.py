"""Maps column types to Hive's and back. Source: Paimon `HiveTypeUtils.java`."""

from __future__ import annotations

from dataclasses import replace

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.types import (
    Array,
    Atomic,
    Binary,
    Char,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    VarBinary,
    VarChar,
    parse_type,
)
from paimon_nb.format.types.parse import TypeSyntaxError

_ATOMIC = {
    "BOOLEAN": "boolean", "TINYINT": "tinyint", "SMALLINT": "smallint", "INT": "int", "BIGINT": "bigint",
    "FLOAT": "float", "DOUBLE": "double", "DATE": "date", "VARIANT": "struct<value:binary,metadata:binary>",
    "BLOB": "binary",
}  # fmt: skip
_LONGEST_CHAR, _LONGEST_VARCHAR = 255, 65535
"""Longer ones are `string` in Hive."""
HIVE_TIMESTAMP_LTZ = "timestamp with local time zone"
"""Since Hive 3."""
_MILLIS = 3
"""Precision that Java's migration gives Hive's `timestamp`."""


def to_hive(t: DataType) -> str:
    """The Hive type of a column, such as `struct<a:int>`. Hive has no NOT NULL and no TIME."""
    match t:
        case Atomic(name=name) if name in _ATOMIC:
            return _ATOMIC[name]
        case Decimal():
            return f"decimal({t.precision},{t.scale})"
        case Char():
            return f"char({t.length})" if t.length <= _LONGEST_CHAR else "string"
        case VarChar():
            return f"varchar({t.length})" if t.length <= _LONGEST_VARCHAR else "string"
        case Binary() | VarBinary():
            return "binary"
        case Time():
            return "string"
        case Timestamp():
            return "timestamp"
        case LocalZonedTimestamp():
            return HIVE_TIMESTAMP_LTZ
        case Array():
            return f"array<{to_hive(t.element)}>"
        case Multiset():
            return f"map<{to_hive(t.element)},int>"
        case Map():
            return f"map<{to_hive(t.key)},{to_hive(t.value)}>"
        case Row():
            return f"struct<{','.join(f'{f.name}:{to_hive(f.type)}' for f in t.fields)}>"
    raise UnsupportedFormat(f"a Hive metastore has no column of type {t}", hint="remove the column", feature=str(t))


def from_hive(hive_type: str, timestamp_precision: int = _MILLIS) -> DataType:
    """The Paimon type of a Hive type, as in Java. Raises UnsupportedFormat for types without one, such as `uniontype`."""
    try:
        parsed = parse_type(hive_type.replace(HIVE_TIMESTAMP_LTZ, "timestamp_ltz"))
    except TypeSyntaxError:
        raise UnsupportedFormat(
            f"Paimon has no type for Hive's {hive_type!r}",
            hint="change the column's type in Hive first",
            feature=hive_type,
        ) from None
    return _with_timestamps_of(parsed, timestamp_precision)


def _with_timestamps_of(t: DataType, precision: int) -> DataType:
    """The type with this precision in its timestamps."""

    def nested(inner: DataType) -> DataType:
        return _with_timestamps_of(inner, precision)

    match t:
        case Timestamp():
            return replace(t, precision=precision)
        case Array():
            return replace(t, element=nested(t.element))
        case Map():
            return replace(t, key=nested(t.key), value=nested(t.value))
        case Row():
            return replace(t, fields=tuple(replace(f, type=nested(f.type)) for f in t.fields))
    return t
