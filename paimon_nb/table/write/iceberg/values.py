"""Values in Iceberg's manifests: the bytes of bounds, and partition values in Avro. Pure.

Source: Iceberg's table specification, Appendix A (Avro) and Appendix D (single-value serialization).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from paimon_nb.format.types import DataField, DataType, Decimal, LocalZonedTimestamp, Time, Timestamp
from paimon_nb.table.write.iceberg.schema import FIRST_PARTITION_FIELD

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORMATS = {"TINYINT": "<i", "SMALLINT": "<i", "INT": "<i", "DATE": "<i", "BIGINT": "<q", "FLOAT": "<f", "DOUBLE": "<d"}
_AVRO = {
    "BOOLEAN": "boolean", "TINYINT": "int", "SMALLINT": "int", "INT": "int", "BIGINT": "long", "FLOAT": "float",
    "DOUBLE": "double", "CHAR": "string", "VARCHAR": "string", "BINARY": "bytes", "VARBINARY": "bytes",
}  # fmt: skip


def bound_bytes(t: DataType, value: Any) -> bytes | None:
    """The bytes of a lower or upper bound; None for a type without bounds."""
    match t:
        case Decimal():
            unscaled = _unscaled_decimal(value)
            return unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)
        case Time() | Timestamp() | LocalZonedTimestamp():
            return struct.pack("<q", _micros(value))
    if t.root == "BOOLEAN":
        return b"\x01" if value else b"\x00"
    if t.root in _FORMATS:
        return struct.pack(_FORMATS[t.root], value)
    if t.root in ("CHAR", "VARCHAR"):
        return str(value).encode()
    return bytes(value) if t.root in ("BINARY", "VARBINARY") else None


def partition_record(fields: Sequence[DataField]) -> dict[str, Any]:
    """The Avro type of a partition: one nullable field a partition column."""
    return {
        "type": "record",
        "name": "r102",
        "fields": [
            {"name": avro_name(f.name), "type": ["null", _avro_type(f)], "default": None, "field-id": FIRST_PARTITION_FIELD + i}
            for i, f in enumerate(fields)
        ],
    }  # fmt: skip


def partition_node(fields: Sequence[DataField], values: Sequence[Any]) -> dict[str, Any]:
    """The partition's values as Avro's plain values."""
    return {avro_name(f.name): _avro_value(f.type, v) for f, v in zip(fields, values, strict=True)}


def resized_node(fields: Sequence[DataField], node: dict[str, Any]) -> dict[str, Any]:
    """A partition that another writer stored, with decimals of the length that this one writes."""
    out = {}
    for field in fields:
        name = avro_name(field.name)
        value = node[name] if name in node else node[field.name]
        if isinstance(field.type, Decimal) and isinstance(value, bytes):
            value = int.from_bytes(value, "big", signed=True).to_bytes(_decimal_size(field.type), "big", signed=True)
        out[name] = value
    return out


def avro_name(name: str) -> str:
    """The column's name as Iceberg stores it in Avro, whose names have letters, digits and '_' only."""
    first, rest = name[:1], name[1:]
    head = first if _is_letter(first) else f"_{first}" if _is_digit(first) else _escaped(first)
    return head + "".join(c if _is_letter(c) or _is_digit(c) else _escaped(c) for c in rest)


def _is_letter(c: str) -> bool:
    return c == "_" or (c.isascii() and c.isalpha())


def _is_digit(c: str) -> bool:
    return c.isascii() and c.isdigit()


def _escaped(c: str) -> str:
    return f"_x{ord(c):X}" if c else "_"


def _avro_type(field: DataField) -> Any:
    match field.type:
        case Decimal() as t:
            return {
                "type": "fixed", "name": f"decimal_{t.precision}_{t.scale}_{field.id}", "size": _decimal_size(t),
                "logicalType": "decimal", "precision": t.precision, "scale": t.scale,
            }  # fmt: skip
        case Time():
            return {"type": "long", "logicalType": "time-micros"}
        case Timestamp():
            return {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False}
        case LocalZonedTimestamp():
            return {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True}
    return {"type": "int", "logicalType": "date"} if field.type.root == "DATE" else _AVRO[field.type.root]


def _avro_value(t: DataType, value: Any) -> Any:
    if value is None:
        return None
    match t:
        case Decimal():
            return _unscaled_decimal(value).to_bytes(_decimal_size(t), "big", signed=True)
        case Time() | Timestamp() | LocalZonedTimestamp():
            return _micros(value)
    return value


def _micros(value: Any) -> int:
    """Microseconds of an `Instant`, or of a TIME, which is in milliseconds."""
    return int(value * 1000 if isinstance(value, int) else value.ms * 1000 + value.nanos // 1000)


def _unscaled_decimal(value: Any) -> int:
    sign, digits, _ = value.as_tuple()
    number = int("".join(map(str, digits)))
    return -number if sign else number


def _decimal_size(t: Decimal) -> int:
    """Bytes of the largest unscaled value, as Iceberg counts them."""
    largest: int = 10**t.precision - 1
    return largest.bit_length() // 8 + 1
