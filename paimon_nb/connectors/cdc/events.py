"""Parses CDC messages to events: source table, columns with types, and changes.

If a message has no types, columns are STRING. Source: Paimon's RecordParsers (DebeziumJsonRecordParser, CanalRecordParser,
MaxwellRecordParser, JsonRecordParser), Debezium's and Kafka Connect's logical types.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import struct
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import Registry
from paimon_nb.connectors.cdc.avro_events import connect_message, key_bytes
from paimon_nb.connectors.cdc.geojson import geojson_of
from paimon_nb.connectors.cdc.mysql_types import WIDE, MySqlType, paimon_type
from paimon_nb.connectors.cdc.values import Unreadable, decimal_or_string, span_of_time_text
from paimon_nb.connectors.formats.api import AFTER, BEFORE, DELETE, INSERT, FormatOptions, MalformedMessage
from paimon_nb.connectors.formats.cdc_json import CanalDecoder, DebeziumDecoder, MaxwellDecoder, OggDecoder
from paimon_nb.connectors.formats.json import JsonDecoder, JsonRecords, require_object
from paimon_nb.connectors.formats.values import whole_characters
from paimon_nb.format.types import DataType, parse_type

if TYPE_CHECKING:
    from paimon_nb.connectors.formats.schema_registry import SchemaRegistry

_STRING = parse_type("STRING")
_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Event:
    """Content of a CDC message."""

    database: str
    table: str
    """'' if the message does not contain it."""
    columns: Mapping[str, DataType]
    primary_keys: tuple[str, ...]
    """() if the message does not contain them."""
    changes: tuple[tuple[str, Mapping[str, Any]], ...]
    """Row kind and values for `mysql_types.to_column`."""


def parse_event(
    format: str,
    message: bytes | None,
    key: bytes | None,
    modes: Collection[str],
    registry: SchemaRegistry | None = None,
) -> Event | None:
    """The event of a record; None if it changes no rows.

    Args:
        registry: of the schemas of Avro messages.

    Raises:
        MalformedMessage. SourceUnavailable: the registry does not answer.
    """
    if not message:
        return None
    try:
        if registry is not None:
            parsed, key = connect_message(message, registry), key_bytes(key, registry)
        else:
            parsed = require_object(json.loads(message, parse_float=Decimal), "the message")
        event = EVENTS.find(format)(parsed, modes)
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(str(error)) from None
    return event if event is None or event.primary_keys else replace(event, primary_keys=_key_columns(key, event))


def _key_columns(key: bytes | None, event: Event) -> tuple[str, ...]:
    """Column names in the key of a record, if the key is an object whose members are columns."""
    try:
        key_values = json.loads(key or b"null")
    except ValueError:
        return ()
    key_values = key_values.get("payload", key_values) if isinstance(key_values, dict) else None
    return tuple(key_values) if isinstance(key_values, dict) and set(key_values) <= set(event.columns) else ()


def _debezium_event(message: dict[str, Any], type_mapping_modes: Collection[str]) -> Event | None:
    has_schema = "payload" in message and "schema" in message
    envelope = require_object(message["payload"] if has_schema else message, "the envelope")
    if envelope.get("op") is None:
        return None  # a schema change or a heartbeat
    source = _object_or_empty(envelope.get("source"), "'source'")
    if envelope["op"] == "u" and envelope.get("before") is None:
        changes = [
            (AFTER, require_object(envelope.get("after"), "'after'"))
        ]  # without the old row: the primary key identifies the row
    else:
        changes = list(_DEBEZIUM.records(envelope))
    columns, converters = (
        _connect_columns(message["schema"], type_mapping_modes) if has_schema else _string_columns(changes)
    )
    return Event(
        str(source.get("db", "")), str(source.get("table", "")), columns, (), _convert_changes(changes, converters)
    )


def _canal_event(message: dict[str, Any], type_mapping_modes: Collection[str]) -> Event | None:
    changes = list(_CANAL.records(message))
    if not changes:
        return None
    stated = _object_or_empty(message.get("mysqlType"), "'mysqlType'")
    types = {n: MySqlType.parse(str(t)) for n, t in stated.items()}
    untyped, converters = _string_columns(changes)
    columns = {n: paimon_type(types[n], type_mapping_modes) if n in types else untyped[n] for n in changes[0][1]}
    converters = {**converters, **{n: _mysql_converter(t) for n, t in types.items()}}
    keys = _names_in(message, "pkNames")
    return Event(
        str(message.get("database", "")),
        str(message.get("table", "")),
        columns,
        keys,
        _convert_changes(changes, converters),
    )


def _maxwell_event(message: dict[str, Any], type_mapping_modes: Collection[str]) -> Event | None:
    if str(message.get("type")) not in ("insert", "update", "delete", "bootstrap-insert"):
        return None
    changes = list(_MAXWELL.records({**message, "type": str(message["type"]).removeprefix("bootstrap-")}))
    columns, converters = _string_columns(changes)
    keys = _names_in(message, "primary_key_columns")
    return Event(
        str(message.get("database", "")),
        str(message.get("table", "")),
        columns,
        keys,
        _convert_changes(changes, converters),
    )


def _json_event(message: dict[str, Any], type_mapping_modes: Collection[str]) -> Event:
    changes = list(_JSON.records(message))
    columns, converters = _string_columns(changes)
    return Event("", "", columns, (), _convert_changes(changes, converters))


def _ogg_event(message: dict[str, Any], type_mapping_modes: Collection[str]) -> Event | None:
    changes = list(_OGG.records(message))
    if not changes:
        return None
    columns, converters = _string_columns(changes)
    database, _, table = str(message.get("table", "")).rpartition(".")
    keys = _names_in(message, "primary_keys")
    return Event(database, table, columns, keys, _convert_changes(changes, converters))


def _dms_event(message: dict[str, Any], type_mapping_modes: Collection[str]) -> Event | None:
    """AWS Database Migration Service. Columns `BI_<name>` have the values before the change."""
    about = require_object(message.get("metadata"), "'metadata'")
    if about.get("record-type") != "data":
        return None
    operation, data = about.get("operation"), require_object(message.get("data"), "'data'")
    after = {n: v for n, v in data.items() if not n.startswith(_BEFORE_IMAGE)}
    before = {n.removeprefix(_BEFORE_IMAGE): v for n, v in data.items() if n.startswith(_BEFORE_IMAGE)}
    match operation:
        case "load" | "insert":
            changes = [(INSERT, after)]
        case "update":
            changes = [(BEFORE, {**after, **before}), (AFTER, after)] if before else [(AFTER, after)]
        case "delete":
            changes = [(DELETE, {**after, **before})]
        case _:
            raise MalformedMessage(f"unknown operation {operation!r}, expected load, insert, update or delete")
    columns, converters = _string_columns(changes)
    schema, table = str(about.get("schema-name", "")), str(about.get("table-name", ""))
    return Event(schema, table, columns, (), _convert_changes(changes, converters))


def _object_or_empty(value: Any, what: str) -> dict[str, Any]:
    """Raises MalformedMessage: it is there and is not an object."""
    return {} if value is None else require_object(value, what)


def _names_in(message: Mapping[str, Any], member: str) -> tuple[str, ...]:
    """A list of names; () if it is absent. Raises MalformedMessage."""
    names = message.get(member)
    if names is None:
        return ()
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise MalformedMessage(f"{member!r} is not a list of names")
    return tuple(names)


_BEFORE_IMAGE = "BI_"
AVRO_FORMATS = frozenset({"debezium-avro"})
"""Formats whose messages have their schemas in a registry."""
EVENTS: Registry[Callable[[dict[str, Any], Collection[str]], Event | None]] = Registry(
    "format of change logs",
    {
        "debezium-json": _debezium_event,
        "canal-json": _canal_event,
        "maxwell-json": _maxwell_event,
        "ogg-json": _ogg_event,
        "aws-dms-json": _dms_event,
        "debezium-avro": _debezium_event,
        "json": _json_event,
    },
)

EVENTS.unsupported = {"debezium-bson": "let Debezium write JSON: 'value.format' = 'debezium-json'"}


def _json_records(kind: type[JsonRecords], name: str, *more: Any) -> JsonRecords:
    return kind((), FormatOptions(name, {}), *more)


_DEBEZIUM, _CANAL = _json_records(DebeziumDecoder, "debezium-json", {}), _json_records(CanalDecoder, "canal-json", {})
_MAXWELL, _JSON = _json_records(MaxwellDecoder, "maxwell-json", {}), _json_records(JsonDecoder, "json")
_OGG = _json_records(OggDecoder, "ogg-json", {})
"""Decoders that split envelopes into changes."""
Convert = Callable[[Any], Any]


def _convert_changes(
    changes: list[tuple[str, dict[str, Any]]], converters: Mapping[str, Convert]
) -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple((kind, {n: _convert_value(n, v, converters) for n, v in row.items()}) for kind, row in changes)


def _convert_value(name: str, value: Any, converters: Mapping[str, Convert]) -> Any:
    """A value that is not of the declared type stays as `Unreadable`: the rule of the sync decides what becomes of it."""
    if value is None:
        return None
    try:
        return converters[name](value) if name in converters else _json_value_to_string(value)
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, struct.error) as error:
        return Unreadable(value, f"it is not of the type that the message declares ({error})")


def _string_columns(changes: list[tuple[str, dict[str, Any]]]) -> tuple[dict[str, DataType], dict[str, Convert]]:
    names = {n: None for _, row in changes for n in row}
    return dict.fromkeys(names, _STRING), dict.fromkeys(names, _json_value_to_string)


def _json_value_to_string(value: Any) -> str:
    if isinstance(value, str | Decimal):
        return whole_characters(str(value))
    return whole_characters(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


# -- Canal: types of MySQL, all values are text


def _mysql_converter(t: MySqlType) -> Convert:
    match t.name:
        case "date":
            return lambda v: v if v.startswith("0000") else dt.date.fromisoformat(v)
        case "datetime" | "timestamp":
            return lambda v: v if v.startswith("0000") else dt.datetime.fromisoformat(v)
        case "time":
            return span_of_time_text
        case "bit":
            size = (t.first(1) + 7) // 8
            return int if t.first(1) == 1 else lambda v: int(v).to_bytes(size, "big")
    if t.name.endswith(("blob", "binary")):
        return lambda v: v.encode("latin-1")  # Canal writes bytes as ISO-8859-1 characters
    return _json_value_to_string


# -- Debezium: types of Kafka Connect


def _connect_columns(schema: Any, modes: Collection[str]) -> tuple[dict[str, DataType], dict[str, Convert]]:
    """Types and converters of the columns, from the schema of the image after the change, or else before it."""
    images = dict(_connect_fields(require_object(schema, "'schema'"), "'schema'"))
    image = images.get("after") or images.get("before") or {}
    columns: dict[str, DataType] = {}
    converters: dict[str, Convert] = {}
    for name, field in _connect_fields(image, "the schema of the row"):
        text, converters[name] = _connect_type(field)
        columns[name] = _STRING if "to-string" in modes else parse_type(text)
    return columns, converters


def _connect_fields(schema: Mapping[str, Any], what: str) -> list[tuple[str, dict[str, Any]]]:
    """The fields of a structure by name. Raises MalformedMessage."""
    fields = schema.get("fields")
    if fields is not None and not isinstance(fields, list):
        raise MalformedMessage(f"the fields of {what} are not a list")
    found = [require_object(field, f"a field of {what}") for field in fields or ()]
    if not all(isinstance(field.get("field"), str) for field in found):
        raise MalformedMessage(f"a field of {what} has no name")
    return [(field["field"], field) for field in found]


def _connect_type(field: Mapping[str, Any]) -> tuple[str, Convert]:
    name, plain = str(field.get("name") or ""), str(field.get("type"))
    parameters = _object_or_empty(field.get("parameters"), f"'parameters' of {field['field']!r}")
    match name.rpartition(".")[2]:
        case "Decimal":
            scale = int(str(parameters.get("scale", 0)))
            precision = int(str(parameters.get("connect.decimal.precision", 38)))
            return decimal_or_string(precision, scale), lambda v: _decimal_of(v, scale)
        case "VariableScaleDecimal":  # PostgreSQL's NUMERIC without precision
            return "STRING", lambda v: _decimal_of(v["value"], int(v["scale"]))
        case "Geometry" | "Geography" | "Point" if plain == "struct":
            return "STRING", lambda v: geojson_of(struct.pack("<I", v.get("srid") or 0) + base64.b64decode(v["wkb"]))
        case "Date":
            return "DATE", lambda v: (_EPOCH + dt.timedelta(days=v)).date()
        case "Timestamp":
            return "TIMESTAMP(3)", lambda v: _EPOCH + dt.timedelta(milliseconds=v)
        case "MicroTimestamp":
            return "TIMESTAMP(6)", lambda v: _EPOCH + dt.timedelta(microseconds=v)
        case "NanoTimestamp":
            return "TIMESTAMP(6)", lambda v: _EPOCH + dt.timedelta(microseconds=v // 1000)
        case "ZonedTimestamp":
            return "TIMESTAMP(6) WITH LOCAL TIME ZONE", lambda v: dt.datetime.fromisoformat(v).astimezone(dt.UTC)
        case "Time":
            return "TIME(3)", lambda v: dt.timedelta(milliseconds=v)
        case "MicroTime":
            return "TIME(3)", lambda v: dt.timedelta(microseconds=v)
        case "Bits":
            width = (int(str(parameters.get("length", 1))) + 7) // 8
            return f"BINARY({width})", lambda v: base64.b64decode(v)[::-1].rjust(width, b"\0")
        case "EnumSet":
            return "ARRAY<STRING>", _json_value_to_string
    match plain:
        case "boolean":
            return "BOOLEAN", bool
        case "int8" | "int16" | "int32" | "int64":
            return {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INT", "int64": "BIGINT"}[plain], int
        case "float" | "float32":
            return "FLOAT", float
        case "double" | "float64":
            return "DOUBLE", float
        case "bytes":
            return "BYTES", lambda v: base64.b64decode(v)
    return "STRING", _json_value_to_string


def _decimal_of(value: Any, scale: int) -> Decimal:
    """A decimal of Connect: its unscaled bytes, or with `decimal.format = NUMERIC` a number."""
    if isinstance(value, int | Decimal):
        return Decimal(value)
    return Decimal(int.from_bytes(base64.b64decode(value), "big", signed=True)).scaleb(-scale, WIDE)
