"""Iceberg schemas and partition specs of Paimon schemas: the same columns under the same ids. Pure.

Source: Paimon 2.1 `IcebergDataField`, `IcebergPartitionField`; Iceberg's table specification, Schemas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.parquet_writer import nested_ids
from paimon_nb.format.types import (
    Array,
    DataField,
    DataType,
    Decimal,
    Geography,
    Geometry,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
)

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema

FIRST_PARTITION_FIELD = 1000
SPEC_ID = 0
_ATOMIC = {
    "BOOLEAN": "boolean", "TINYINT": "int", "SMALLINT": "int", "INT": "int", "BIGINT": "long", "FLOAT": "float",
    "DOUBLE": "double", "DATE": "date", "CHAR": "string", "VARCHAR": "string", "BINARY": "binary", "VARBINARY": "binary",
}  # fmt: skip
_PROMOTIONS = {("int", "long"), ("float", "double")}


def schema_node(schema: TableSchema) -> dict[str, Any]:
    """The schema as in Iceberg's metadata JSON. Raises UnsupportedFormat: a type that Iceberg 2 does not have."""
    return {"type": "struct", "schema-id": schema.id, "fields": [_field(f) for f in schema.fields]}


def partition_spec(schema: TableSchema) -> dict[str, Any]:
    """The partition spec: the partition columns themselves."""
    fields = [
        {"name": f.name, "transform": "identity", "source-id": f.id, "field-id": FIRST_PARTITION_FIELD + i}
        for i, f in enumerate(schema.partition_fields)
    ]
    return {"spec-id": SPEC_ID, "fields": fields}


def _field(field: DataField) -> dict[str, Any]:
    node = {
        "id": field.id,
        "name": field.name,
        "required": not field.type.nullable,
        "type": iceberg_type(field.type, field.id, field.name),
    }
    return node if field.description is None else node | {"doc": field.description}


def iceberg_type(t: DataType, owner: int, column: str, depth: int = 0) -> Any:
    """The type as in Iceberg's metadata JSON: a text, or an object for nested types.

    Args:
        owner: id of the column that contains the type. depth: number of nested types around it.
    """
    up, down = nested_ids(owner, depth + 1)
    match t:
        case Row():
            return {"type": "struct", "fields": [_field(f) for f in t.fields]}
        case Multiset():
            element = iceberg_type(t.element, owner, column, depth + 1)
            return _map_node(down, element, up, True, "int")
        case Map():
            key = iceberg_type(t.key, owner, column, depth + 1)
            return _map_node(down, key, up, not t.value.nullable, iceberg_type(t.value, owner, column, depth + 1))
        case Array() if t.root == "ARRAY":
            return {
                "type": "list",
                "element-id": up,
                "element-required": not t.element.nullable,
                "element": iceberg_type(t.element, owner, column, depth + 1),
            }
        case Decimal():
            return f"decimal({t.precision}, {t.scale})"
        case Time() if t.precision <= 3:
            return "time"
        case Timestamp() if 3 <= t.precision <= 6:
            return "timestamp"
        case LocalZonedTimestamp() if 3 <= t.precision <= 6:
            return "timestamptz"
        case Geometry():
            return f"geometry({t.crs})"
        case Geography():
            return f"geography({t.crs}, {t.algorithm})"
    if t.root not in _ATOMIC:
        raise UnsupportedFormat(
            f"column {column!r} is {t.bare()}, which Iceberg metadata cannot describe here",
            hint="use TIMESTAMP(3) to TIMESTAMP(6), TIME(0) to TIME(3) and no VARIANT, VECTOR or BLOB with 'metadata.iceberg.storage'",
            column=column,
            feature=t.root,
        )
    return _ATOMIC[t.root]


def _map_node(key_id: int, key: Any, value_id: int, required: bool, value: Any) -> dict[str, Any]:
    return {
        "type": "map", "key-id": key_id, "key": key, "value-id": value_id, "value-required": required, "value": value,
    }  # fmt: skip


def misread_by_format(schema: TableSchema, file_format: str) -> str | None:
    """Why Iceberg readers would misread files of a format with this schema; None if they read it right."""
    if file_format not in {"parquet", "orc", "avro"}:
        return f"Iceberg readers do not read {file_format} files"
    if file_format == "parquet":
        return None
    zoned = file_format == "avro" or schema.options.get("orc.timestamp-ltz.legacy.type", "true").lower() != "false"
    for field in schema.fields:
        if field.type.contains_type(lambda t: isinstance(t, Time) or (zoned and isinstance(t, LocalZonedTimestamp))):
            return f"Iceberg readers take the times in column {field.name!r} of an {file_format} file as other values"
    return None


def unreadable_change(before: TableSchema, after: TableSchema) -> str | None:
    """Name of a column whose type changed in a way that Iceberg readers do not follow; None if there is none."""
    old = {f.id: f for f in before.fields}
    for field in after.fields:
        was = old.get(field.id)
        if was is not None and not _iceberg_readers_follow(
            iceberg_type(was.type, was.id, was.name), iceberg_type(field.type, field.id, field.name)
        ):
            return field.name
    return None


def _iceberg_readers_follow(old: Any, new: Any) -> bool:
    """Whether readers of the new type read files of the old one."""
    if isinstance(old, str) and isinstance(new, str):
        return old == new or (old, new) in _PROMOTIONS or _is_wider_decimal(old, new)
    if isinstance(old, str) or isinstance(new, str) or old["type"] != new["type"]:
        return False
    if old["type"] == "struct":
        known = {f["id"]: f["type"] for f in old["fields"]}
        return all(_iceberg_readers_follow(known[f["id"]], f["type"]) for f in new["fields"] if f["id"] in known)
    return all(_iceberg_readers_follow(old[part], new[part]) for part in ("element", "key", "value") if part in old)


def _is_wider_decimal(old: str, new: str) -> bool:
    """decimal(P, S) to decimal(P', S) with P' >= P."""
    if not (old.startswith("decimal(") and new.startswith("decimal(")):
        return False
    (p1, s1), (p2, s2) = (tuple(map(int, text[8:-1].split(","))) for text in (old, new))
    return s1 == s2 and p2 >= p1
