"""`avro-confluent` and `debezium-avro-confluent`: Avro records whose schemas are in a schema registry.

A record is read with the schema that it was written with. Its values become JSON values, so that everything that follows is
the same as for `json` and `debezium-json`. Source: Flink's AvroConfluent and DebeziumAvro formats; Debezium's semantic types.
"""

from __future__ import annotations

import base64
import datetime as dt
import io
import struct
from decimal import Context
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.connectors.formats.api import BEFORE, DELETE, INSERT, FormatOptions, MalformedMessage
from paimon_nb.connectors.formats.avro import Avro, record_schema
from paimon_nb.connectors.formats.cdc_json import DebeziumDecoder
from paimon_nb.connectors.formats.json import JsonDecoder
from paimon_nb.connectors.formats.schema_registry import (
    HEADER_SIZE,
    REGISTRY_OPTIONS,
    RegistryConf,
    SchemaRegistry,
    schema_id_of,
    with_schema_id,
)
from paimon_nb.connectors.formats.values import timestamp_text
from paimon_nb.format.types import LocalZonedTimestamp, Time, Timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.format.types import DataField, DataType

_ERRORS = (ValueError, EOFError, LookupError, TypeError, ArithmeticError, struct.error, StopIteration, AttributeError)
_UNITS = {"millis": 3, "micros": 6, "nanos": 9}
_DEBEZIUM_UNITS = {
    "io.debezium.time.Timestamp": 3, "io.debezium.time.MicroTimestamp": 6, "io.debezium.time.NanoTimestamp": 9,
    "io.debezium.time.Time": 3, "io.debezium.time.MicroTime": 6, "io.debezium.time.NanoTime": 9,
}  # fmt: skip
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()


def read_record(message: bytes, registry: SchemaRegistry) -> tuple[Any, Any]:
    """The schema of a message, and its value as fastavro returns it without logical types.

    Raises MalformedMessage, SourceUnavailable.
    """
    from fastavro import parse_schema, schemaless_reader

    schema = registry.schema(schema_id_of(message))
    try:
        plain = parse_schema(_without_logical_types(schema), _write_hint=False)
        return schema, schemaless_reader(io.BytesIO(message[HEADER_SIZE:]), plain, None)
    except _ERRORS as error:
        raise MalformedMessage(f"not a record of its schema: {type(error).__name__} {error}".strip()) from None


def _without_logical_types(schema: Any) -> Any:
    """Values are read as stored: Python's dates and times hold less than Avro's."""
    if isinstance(schema, list):
        return [_without_logical_types(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    stripped = {k: v for k, v in schema.items() if k not in ("logicalType", "precision", "scale")}
    if "fields" in stripped:
        stripped["fields"] = [{**f, "type": _without_logical_types(f["type"])} for f in stripped["fields"]]
    for inner in ("type", "items", "values"):
        if isinstance(stripped.get(inner), dict | list):
            stripped[inner] = _without_logical_types(stripped[inner])
    return stripped


def names_of(schema: Any, known: dict[str, Any] | None = None) -> dict[str, Any]:
    """The named types in a schema by their full and short names."""
    known = {} if known is None else known
    if isinstance(schema, list):
        for branch in schema:
            names_of(branch, known)
    elif isinstance(schema, dict):
        if "name" in schema and schema.get("type") in ("record", "enum", "fixed"):
            known.setdefault(schema["name"], schema)
            known.setdefault(str(schema["name"]).rpartition(".")[2], schema)
            known.setdefault(f"{schema.get('namespace', '')}.{schema['name']}", schema)
        for field in schema.get("fields", ()):
            names_of(field["type"], known)
        for inner in ("items", "values", "type"):
            if isinstance(schema.get(inner), dict | list):
                names_of(schema[inner], known)
    return known


def branch_of(schema: Any, value: Any, names: Mapping[str, Any]) -> Any:
    """The branch of a union that a value has, with names resolved; other schemas as they are."""
    while isinstance(schema, str) and schema in names:
        schema = names[schema]
    if isinstance(schema, dict) and isinstance(schema.get("type"), dict | list):
        return branch_of(schema["type"], value, names)
    if not isinstance(schema, list):
        return schema
    branches = [branch_of(b, value, names) for b in schema]
    others = [b for b in branches if _kind(b) != "null"]
    if value is None or not others:
        return "null"
    return next((b for b in others if _may_hold(_kind(b), value)), others[0])


def _kind(schema: Any) -> str:
    return str(schema.get("type")) if isinstance(schema, dict) else str(schema)


_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,), "int": (int,), "long": (int,), "float": (float,), "double": (float,), "bytes": (bytes,), "fixed": (bytes,), "string": (str,),
    "enum": (str,), "array": (list,), "map": (dict,), "record": (dict,),
}  # fmt: skip


def _may_hold(kind: str, value: Any) -> bool:
    return isinstance(value, _PYTHON_TYPES.get(kind, ())) and (kind == "boolean" or not isinstance(value, bool))


def json_form(value: Any, schema: Any, t: DataType | None, names: Mapping[str, Any], *, iso: bool = False) -> Any:
    """A value as `json` messages have it.

    Args:
        t: the type of the column, which decides what integers without a logical type mean; None: not known.
        iso: timestamps have the form of ISO 8601.
    """
    if value is None:
        return None
    schema = branch_of(schema, value, names)
    kind, logical = _kind(schema), _meaning(schema)
    match value:
        case bytes():
            if logical == "decimal" or _is_connect(schema, "org.apache.kafka.connect.data.Decimal"):
                return Number(int.from_bytes(value, "big", signed=True)).scaleb(-_scale(schema), _EXACT)
            return base64.b64encode(value).decode()
        case list():
            element = getattr(t, "element", None)
            return [json_form(v, schema["items"], element, names, iso=iso) for v in value]
        case dict() if kind == "map":
            of = getattr(t, "value", None)
            return {k: json_form(v, schema["values"], of, names, iso=iso) for k, v in value.items()}
        case dict():
            types = {f.name: f.type for f in getattr(t, "fields", ())}
            by_name = {f["name"]: f["type"] for f in schema["fields"]}
            return {k: json_form(v, by_name[k], types.get(k), names, iso=iso) for k, v in value.items()}
        case bool() | float() | str():
            return value
        case int():
            return _time_form(value, schema, logical, t, iso=iso)
    return value


_EXACT = Context(prec=1000)


def _time_form(value: int, schema: Any, logical: str, t: DataType | None, *, iso: bool) -> Any:
    """An integer, or the date or time that it means."""
    connect = str(schema.get("connect.name", "")) if isinstance(schema, dict) else ""
    if t is not None and t.root == "DATE":
        return _date_text(value)
    unit = _UNITS.get(logical.rpartition("-")[2]) or _DEBEZIUM_UNITS.get(connect) or 3
    if isinstance(t, Timestamp | LocalZonedTimestamp):
        try:
            return timestamp_text(value, unit, iso=iso) + ("Z" if isinstance(t, LocalZonedTimestamp) else "")
        except OverflowError:
            raise MalformedMessage(f"{value} is not a timestamp before the year 10000") from None
    if isinstance(t, Time):
        return _time_text(value, unit)
    return value


def _date_text(days: int) -> str:
    try:
        return dt.date.fromordinal(days + _EPOCH_DAY).isoformat()
    except (ValueError, OverflowError):
        raise MalformedMessage(f"day {days} is not between the years 1 and 9999") from None


def _time_text(value: int, digits: int) -> str:
    seconds, fraction = divmod(value, 10**digits)
    if not 0 <= seconds < 86_400:
        raise MalformedMessage(f"{value} is not a time of day")
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:0{digits}d}"


def _meaning(schema: Any) -> str:
    return str(schema.get("logicalType", "")) if isinstance(schema, dict) else ""


def _is_connect(schema: Any, name: str) -> bool:
    return isinstance(schema, dict) and schema.get("connect.name") == name


def _scale(schema: Mapping[str, Any]) -> int:
    return int(schema.get("scale", (schema.get("connect.parameters") or {}).get("scale", 0)))


# -- formats of tables


class _RegistryRecords:
    """What both decoders share: messages to JSON objects."""

    def _open(self, options: FormatOptions, fields: Sequence[DataField]) -> FormatOptions:
        """The registry of the options; returns the options without those of the registry."""
        options.check_options(*REGISTRY_OPTIONS)
        self._conf = RegistryConf.of(options.settings, f"{options.format}.url")
        self._types = {f.name: f.type for f in fields}
        return FormatOptions(options.format, {})

    def _loads(self) -> Callable[[bytes], Any]:
        registry = SchemaRegistry(self._conf)

        def loads(message: bytes) -> Any:
            schema, value = read_record(message, registry)
            return self._object_of(schema, value, names_of(schema))

        return loads

    def _object_of(self, schema: Any, value: Any, names: Mapping[str, Any]) -> Any:
        if not isinstance(value, dict):
            raise MalformedMessage("the message is not a record")
        by_name = {f["name"]: f["type"] for f in branch_of(schema, value, names)["fields"]}
        return {k: json_form(v, by_name[k], self._types.get(k), names) for k, v in value.items()}


class AvroConfluentDecoder(_RegistryRecords, JsonDecoder):
    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        super().__init__(fields, self._open(options, fields))


class DebeziumAvroDecoder(_RegistryRecords, DebeziumDecoder):
    def __init__(self, fields: Sequence[DataField], options: FormatOptions, metadata: Mapping[str, str]) -> None:
        super().__init__(fields, self._open(options, fields), metadata)

    def _object_of(self, schema: Any, value: Any, names: Mapping[str, Any]) -> Any:
        if not isinstance(value, dict):
            raise MalformedMessage("the message is not a record")
        by_name = {f["name"]: f["type"] for f in branch_of(schema, value, names)["fields"]}
        images = {n: value[n] for n in ("before", "after") if value.get(n) is not None}
        rows = {n: super(DebeziumAvroDecoder, self)._object_of(by_name[n], v, names) for n, v in images.items()}
        return {**value, "before": None, "after": None, **rows}


class AvroConfluentEncoder(Avro):
    """Registers the schema of the columns, and writes its id before each record."""

    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        options.check_options(*REGISTRY_OPTIONS)
        self._conf = RegistryConf.of(options.settings, f"{options.format}.url")
        subject = options.settings.get("subject")
        if subject is None:
            raise BadOptionValue(
                f"option '{options.format}.subject' is missing",
                hint="the subject of the schema in the registry, for example '<topic>-value'",
                option=f"{options.format}.subject",
            )
        self._subject = subject
        super().__init__(fields, FormatOptions("avro", {}))

    def encode(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[bytes | None]:
        if not rows.num_rows:
            return
        schema_id = SchemaRegistry(self._conf).register(self._subject, self.schema)
        for message in super().encode(rows, kinds):
            yield with_schema_id(schema_id, message or b"")


class DebeziumAvroEncoder(AvroConfluentEncoder):
    """As in Flink, an update is a delete and an insert."""

    changes = True

    def __init__(self, fields: Sequence[DataField], options: FormatOptions) -> None:
        super().__init__(fields, options)
        row = record_schema("org.apache.flink.avro.generated.record_row", fields, legacy=True)
        members = [
            {"name": "before", "type": ["null", row], "default": None},
            {"name": "after", "type": ["null", row["name"]], "default": None},
            {"name": "op", "type": ["null", "string"], "default": None},
        ]
        self.schema = {"type": "record", "name": "org.apache.flink.avro.generated.record", "fields": members}

    def records(self, rows: pa.Table, kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
        for record, kind in zip(super().records(rows, [INSERT] * len(kinds)), kinds, strict=True):
            deleted = kind in (BEFORE, DELETE)
            yield {
                "before": record if deleted else None,
                "after": None if deleted else record,
                "op": "d" if deleted else "c",
            }
