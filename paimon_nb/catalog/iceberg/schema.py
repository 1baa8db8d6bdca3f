"""Converts Iceberg schemas to Paimon schemas, with the same column ids. Pure.

Source: Paimon 1.3 `IcebergDataField.java`; Iceberg's table specification, primitive types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyiceberg import types as iceberg
from pyiceberg.transforms import IdentityTransform

from paimon_nb.base import clock
from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.schema import TableSchema
from paimon_nb.format.types import Array, DataField, DataType, Map, Row, parse_type

if TYPE_CHECKING:
    from collections.abc import Mapping

_ATOMIC_TYPES: Mapping[type, str] = {
    iceberg.BooleanType: "BOOLEAN", iceberg.IntegerType: "INT", iceberg.LongType: "BIGINT", iceberg.FloatType: "FLOAT",
    iceberg.DoubleType: "DOUBLE", iceberg.DateType: "DATE", iceberg.TimeType: "TIME(3)", iceberg.StringType: "STRING",
    iceberg.BinaryType: "BYTES", iceberg.UUIDType: "BINARY(16)", iceberg.TimestampType: "TIMESTAMP(6)",
    iceberg.TimestamptzType: "TIMESTAMP(6) WITH LOCAL TIME ZONE", iceberg.TimestampNanoType: "TIMESTAMP(9)",
    iceberg.TimestamptzNanoType: "TIMESTAMP(9) WITH LOCAL TIME ZONE",
}  # fmt: skip


def paimon_schemas_of_iceberg(metadata: Any, options: Mapping[str, str]) -> tuple[list[TableSchema], dict[int, int]]:
    """All schemas of a table, numbered from 0, the current one last; and Iceberg schema id -> Paimon schema id.

    Args:
        metadata: pyiceberg's `TableMetadata`.

    Raises:
        UnsupportedOperation: a type or a partition transform that Paimon does not have.
    """
    keys = partition_keys(metadata)
    known = sorted(metadata.schemas, key=lambda s: s.schema_id)
    numbers = {s.schema_id: i for i, s in enumerate(known)}
    if (
        known[-1].schema_id != metadata.current_schema_id
    ):  # an older schema is current again; in Paimon the latest counts
        known.append(next(s for s in known if s.schema_id == metadata.current_schema_id))
    highest = max(metadata.last_column_id, 0)
    return [
        TableSchema(
            i,
            tuple(_paimon_field(f) for f in schema.fields),
            highest,
            keys,
            (),
            dict(options),
            None,
            time_ms=clock.now_ms(),
        )
        for i, schema in enumerate(known)
    ], numbers


def partition_keys(metadata: Any) -> tuple[str, ...]:
    """The partition columns. Raises UnsupportedOperation: a partition transform."""
    spec = next(s for s in metadata.partition_specs if s.spec_id == metadata.default_spec_id)
    names = []
    for field in spec.fields:
        if not isinstance(field.transform, IdentityTransform):
            raise UnsupportedOperation(
                f"the table is partitioned by {field.transform}({field.name}); Paimon partitions by plain columns",
                hint="rewrite it in Iceberg with another partition spec, or INSERT INTO ... SELECT its rows",
                column=field.name,
            )
        names.append(metadata.schema().find_column_name(field.source_id) or field.name)
    return tuple(names)


def _paimon_field(field: Any) -> DataField:
    return DataField(field.field_id, field.name, _paimon_type(field.field_type, field.required), field.doc)


def _paimon_type(t: Any, required: bool) -> DataType:
    match t:
        case iceberg.DecimalType():
            converted: DataType = parse_type(f"DECIMAL({t.precision}, {t.scale})")
        case iceberg.FixedType():
            converted = parse_type(f"BINARY({len(t)})")
        case iceberg.ListType():
            converted = Array(_paimon_type(t.element_type, t.element_required))
        case iceberg.MapType():
            converted = Map(_paimon_type(t.key_type, True), _paimon_type(t.value_type, t.value_required))
        case iceberg.StructType():
            converted = Row(tuple(_paimon_field(f) for f in t.fields))
        case _ if type(t) in _ATOMIC_TYPES:
            converted = parse_type(_ATOMIC_TYPES[type(t)])
        case _:
            raise UnsupportedOperation(f"Paimon has no type for Iceberg's {t}", hint="drop the column first")
    return converted.with_nullable(not required)
