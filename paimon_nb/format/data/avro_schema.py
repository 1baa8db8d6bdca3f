"""Paimon's types as Avro schemas, and Avro schemas without logical types. docs/spec/format.md section 9.

The logical types of TIMESTAMP and TIMESTAMP_LTZ are swapped, as Java writes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.types import (
    Array,
    Atomic,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT, _NAMESPACE = "record", "org.apache.paimon.avro.generated"
_ATOMIC = {
    "BOOLEAN": "boolean", "TINYINT": "int", "SMALLINT": "int", "INT": "int", "BIGINT": "long", "FLOAT": "float",
    "DOUBLE": "double", "CHAR": "string", "VARCHAR": "string", "BINARY": "bytes", "VARBINARY": "bytes", "BLOB": "bytes",
}  # fmt: skip
_COUNT = Atomic("INT")


def avro_schema(fields: Sequence[DataField]) -> dict[str, Any]:
    """The schema of a data file. Raises `UnsupportedFormat` for types and names that Avro does not have."""
    return {**_record_schema(fields, _ROOT), "namespace": _NAMESPACE}


def plain_schema(node: Any) -> Any:
    """A schema without logical types, defaults and documentation: values are then numbers and bytes."""
    if isinstance(node, list):
        return [plain_schema(branch) for branch in node]
    if isinstance(node, str):
        return node
    kind = node["type"]
    if kind == "record":
        fields = [{"name": f["name"], "type": plain_schema(f["type"])} for f in node["fields"]]
        return {**_type_and_name(node), "fields": fields}
    if kind == "array":
        return {"type": "array", "items": plain_schema(node["items"])}
    if kind == "map":
        return {"type": "map", "values": plain_schema(node["values"])}
    if kind in ("fixed", "enum"):
        return {**_type_and_name(node), **{k: node[k] for k in ("size", "symbols") if k in node}}
    return plain_schema(kind)


def has_text_keys(t: Map | Multiset) -> bool:
    """Whether a map is an Avro map; all others are arrays of key and value."""
    return (t.key if isinstance(t, Map) else t.element).root in ("CHAR", "VARCHAR")


def entry_types(t: Map | Multiset) -> tuple[DataType, DataType]:
    """Key and value type; a MULTISET's value is the count."""
    return (t.key, t.value) if isinstance(t, Map) else (t.element, _COUNT)


def _type_and_name(node: dict[str, Any]) -> dict[str, Any]:
    return {k: node[k] for k in ("type", "name", "namespace") if k in node}


def _record_schema(fields: Sequence[DataField], name: str) -> dict[str, Any]:
    for f in fields:
        if not _is_name(f.name):
            raise UnsupportedFormat(
                f"column name {f.name!r} cannot be stored in Avro", hint="rename it, or use 'file.format' = 'parquet'",
                feature="Avro names", column=f.name,
            )  # fmt: skip
    return {
        "type": "record",
        "name": name,
        "fields": [_field_schema(f.name, f.type, f"{name}_{f.name}") for f in fields],
    }


def _is_name(text: str) -> bool:
    """Whether Java's Avro accepts the name: letters and digits of every script, and `_`; no digit first."""
    return all(c == "_" or c.isalpha() or (i > 0 and c.isdecimal()) for i, c in enumerate(text)) and bool(text)


def _field_schema(name: str, t: DataType, path: str) -> dict[str, Any]:
    out: dict[str, Any] = {"name": name, "type": _type_with_null(t, path)}
    if t.nullable:
        out["default"] = None
    return out


def _type_with_null(t: DataType, path: str) -> Any:
    bare = _type_without_null(t, path)
    return ["null", bare] if t.nullable else bare


def _type_without_null(t: DataType, path: str) -> Any:
    if t.root in _ATOMIC:
        return _ATOMIC[t.root]
    match t:
        case Decimal():
            return {"type": "bytes", "logicalType": "decimal", "precision": t.precision, "scale": t.scale}
        case Time() if t.precision <= 3:
            return {"type": "int", "logicalType": "time-millis"}
        case Timestamp() | LocalZonedTimestamp() if t.precision <= 6:
            local = "local-" if isinstance(t, LocalZonedTimestamp) else ""
            return {"type": "long", "logicalType": f"{local}timestamp-{'millis' if t.precision <= 3 else 'micros'}"}
        case Array():
            return {"type": "array", "items": _type_with_null(t.element, path)}
        case Map() | Multiset():
            key, value = entry_types(t)
            if has_text_keys(t):
                return {"type": "map", "values": _type_with_null(value, path)}
            pair = [
                {"name": "key", "type": _type_with_null(key, path + "_key")},
                _field_schema("value", value, path + "_value"),
            ]
            return {"type": "array", "items": {"type": "record", "name": path, "fields": pair}, "logicalType": "map"}
        case Row():
            return _record_schema(t.fields, path)
    if t.root == "DATE":
        return {"type": "int", "logicalType": "date"}
    raise UnsupportedFormat(
        f"{t.bare()} cannot be stored in Avro", hint="use 'file.format' = 'parquet'", feature=str(t)
    )
