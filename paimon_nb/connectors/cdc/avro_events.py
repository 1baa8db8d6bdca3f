"""Debezium's Avro messages in the form of its JSON messages with a schema, so that `events` reads both alike.

Source: Kafka Connect's AvroData, which writes Connect's types into the schema as `connect.name` and `connect.parameters`.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from paimon_nb.connectors.formats.avro_registry import branch_of, names_of, read_record
from paimon_nb.connectors.formats.json import require_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.connectors.formats.schema_registry import SchemaRegistry

_TYPES = {
    "int": "int32", "long": "int64", "float": "float32", "double": "float64", "boolean": "boolean", "string": "string", "enum": "string",
    "bytes": "bytes", "fixed": "bytes", "array": "array", "map": "map", "record": "struct",
}  # fmt: skip
_NAMES = {
    "date": "Date", "decimal": "Decimal", "timestamp-millis": "Timestamp", "timestamp-micros": "MicroTimestamp", "timestamp-nanos": "NanoTimestamp",
    "local-timestamp-millis": "Timestamp", "local-timestamp-micros": "MicroTimestamp", "time-millis": "Time", "time-micros": "MicroTime",
}  # fmt: skip
"""Connect's names of Avro's logical types."""


def connect_message(message: bytes, registry: SchemaRegistry) -> dict[str, Any]:
    """`{"schema": ..., "payload": ...}`. Raises MalformedMessage, SourceUnavailable."""
    schema, value = read_record(message, registry)
    names = names_of(schema)
    envelope = require_object(value, "the message")
    fields = branch_of(schema, value, names)["fields"]
    images = [
        {"field": f["name"], "fields": _connect_fields(f["type"], names)}
        for f in fields
        if f["name"] in ("before", "after")
    ]
    return {"schema": {"fields": images}, "payload": _plain(envelope)}


def key_bytes(key: bytes | None, registry: SchemaRegistry) -> bytes | None:
    """The key of a record as JSON. Raises MalformedMessage, SourceUnavailable."""
    return None if not key else json.dumps(_plain(read_record(key, registry)[1])).encode()


def _connect_fields(schema: Any, names: Mapping[str, Any]) -> list[dict[str, Any]]:
    row = branch_of(schema, {}, names)
    return [_connect_field(f["name"], f["type"], names) for f in row.get("fields", ())] if isinstance(row, dict) else []


def _connect_field(name: str, schema: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    plain = schema
    while isinstance(plain, list):  # a union with null
        plain = next((b for b in plain if b != "null"), "null")
    plain = names.get(plain, plain) if isinstance(plain, str) else plain
    if not isinstance(plain, dict):
        return {"field": name, "type": _TYPES.get(str(plain), "string")}
    logical = str(plain.get("logicalType", ""))
    parameters = dict(plain.get("connect.parameters") or {})
    if logical == "decimal":
        parameters = {
            "connect.decimal.precision": plain.get("precision", 38),
            "scale": plain.get("scale", 0),
            **parameters,
        }
    kind = plain.get("connect.type") or _TYPES.get(str(plain.get("type")), "string")
    return {
        "field": name,
        "type": kind,
        "name": plain.get("connect.name") or _NAMES.get(logical),
        "parameters": parameters,
    }


def _plain(value: Any) -> Any:
    """Bytes as base64, as Connect's JSON has them."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else value
