"""Logical types to Arrow types and back: the form in which rows live in memory.

| Paimon | Arrow |
|---|---|
| TINYINT .. BIGINT, FLOAT, DOUBLE, BOOLEAN, DATE | int8 .. int64, float32, float64, bool, date32 |
| CHAR, VARCHAR, STRING | string | | BINARY, VARBINARY, BYTES, BLOB | binary | | DECIMAL(p, s) | decimal128(p, s) | |
TIME | time32[ms] | | TIMESTAMP(p), LTZ(p) | timestamp[ms] for p <= 3, [us] for p <= 6, else [ns]; LTZ with tz='UTC' | |
ARRAY, MAP, MULTISET, ROW | list, map, map<element, int32>, struct | | VARIANT | struct<value: binary, metadata: binary>
|

Field ids travel as the Parquet field metadata `PARQUET:field_id`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyarrow as pa

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.format.types.types import (
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
    UnknownType,
    VarBinary,
    VarChar,
)

VARIANT_ARROW = pa.struct([pa.field("value", pa.binary(), False), pa.field("metadata", pa.binary(), False)])
_ATOMIC: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(), "TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64(),
    "FLOAT": pa.float32(), "DOUBLE": pa.float64(), "DATE": pa.date32(), "VARIANT": VARIANT_ARROW, "BLOB": pa.binary(),
}  # fmt: skip


def arrow_type(t: DataType) -> pa.DataType:
    """The Arrow type that holds values of `t` in memory."""
    match t:
        case Atomic():
            return _ATOMIC[t.name]
        case Decimal():
            return pa.decimal128(t.precision, t.scale)
        case Time():
            return pa.time32("ms")
        case Timestamp():
            return pa.timestamp(_arrow_time_unit(t.precision))
        case LocalZonedTimestamp():
            return pa.timestamp(_arrow_time_unit(t.precision), tz="UTC")
        case Array():
            return pa.list_(pa.field("element", arrow_type(t.element), t.element.nullable))
        case Multiset():
            return pa.map_(arrow_type(t.element), pa.field("value", pa.int32(), False))
        case Map():
            return pa.map_(arrow_type(t.key), pa.field("value", arrow_type(t.value), t.value.nullable))
        case Row():
            return pa.struct([pa.field(f.name, arrow_type(f.type), f.type.nullable) for f in t.fields])
    return pa.binary() if t.root in ("BINARY", "VARBINARY") or isinstance(t, UnknownType) else pa.string()


def arrow_schema(fields: Iterable[DataField], *, nullable: bool | None = None) -> pa.Schema:
    """The Arrow schema of columns. `nullable` overrides every column's own nullability."""
    return pa.schema(
        [pa.field(f.name, arrow_type(f.type), f.type.nullable if nullable is None else nullable) for f in fields]
    )


def from_arrow_type(t: pa.DataType, nullable: bool = True, next_id: Callable[[], int] | None = None) -> DataType:
    """The logical type for an Arrow type, for tables created from Arrow data.

    Unsigned integers take the next wider signed type. Raises `SchemaMismatch` for types with no Paimon form.
    """
    if next_id is None:
        next_id = iter(range(1 << 30)).__next__
    types = pa.types
    if types.is_dictionary(t):
        return from_arrow_type(t.value_type, nullable, next_id)
    for name, arrow in _ATOMIC.items():
        if t == arrow and name != "BLOB":
            return Atomic(name, nullable)
    if types.is_unsigned_integer(t):
        wider: dict[int, DataType] = {
            8: Atomic("SMALLINT", nullable), 16: Atomic("INT", nullable), 32: Atomic("BIGINT", nullable),
            64: Decimal(20, 0, nullable),
        }  # fmt: skip
        return wider[t.bit_width]
    if types.is_float16(t):
        return Atomic("FLOAT", nullable)
    if types.is_string(t) or types.is_large_string(t) or types.is_string_view(t):
        return VarChar(is_nullable=nullable)
    if types.is_binary(t) or types.is_large_binary(t) or types.is_fixed_size_binary(t) or types.is_binary_view(t):
        return VarBinary(is_nullable=nullable)
    if types.is_decimal(t) and t.precision <= 38:
        return Decimal(t.precision, t.scale, nullable)
    if types.is_date64(t):
        return Atomic("DATE", nullable)
    if types.is_time(t):
        return Time({"s": 0, "ms": 3, "us": 6, "ns": 9}[t.unit], nullable)
    if types.is_timestamp(t):
        precision = {"s": 0, "ms": 3, "us": 6, "ns": 9}[t.unit]
        return LocalZonedTimestamp(precision, nullable) if t.tz else Timestamp(precision, nullable)
    if types.is_list(t) or types.is_large_list(t) or types.is_fixed_size_list(t):
        return Array(from_arrow_type(t.value_type, t.value_field.nullable, next_id), nullable)
    if types.is_map(t):
        key = from_arrow_type(t.key_type, False, next_id)
        return Map(key, from_arrow_type(t.item_type, t.item_field.nullable, next_id), nullable)
    if types.is_struct(t):
        fields = []
        for field in t:
            field_type = from_arrow_type(field.type, field.nullable, next_id)
            fields.append(DataField(next_id(), field.name, field_type))
        return Row(tuple(fields), nullable)
    raise SchemaMismatch(f"Arrow type {t} has no Paimon type", hint="cast the column first", type=str(t))


def from_arrow_schema(schema: pa.Schema) -> tuple[DataField, ...]:
    """Columns for an Arrow schema, with ids numbered as Java does at creation (docs/spec/format.md section 4)."""
    counter = iter(range(1 << 30)).__next__
    fields = []
    for field in schema:
        field_id = counter()  # a top-level column takes its id before the fields nested in it
        fields.append(DataField(field_id, field.name, from_arrow_type(field.type, field.nullable, counter)))
    return tuple(fields)


def _arrow_time_unit(precision: int) -> str:
    return "ms" if precision <= 3 else "us" if precision <= 6 else "ns"
