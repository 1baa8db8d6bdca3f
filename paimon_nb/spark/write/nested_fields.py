"""Matches nested values to a column's type by field name, as Spark does for INSERT BY NAME, DataFrames, UPDATE and MERGE.

A cast matches the fields of a struct by position. Source: Paimon `PaimonAnalysis.scala`, Spark `TableOutputResolver.scala`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SchemaMismatch

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType, StructType


def match_fields(
    value: Column,
    source: DataType,
    target: DataType,
    path: str,
    *,
    fill: bool = False,
    current: Column | None = None,
    or_position: bool = False,
) -> Column:
    """`value` with the fields of `target`, in their order. The result still needs a cast to `target`.

    Args:
        value: the value.
        source: its type.
        target: the type of the column.
        path: the column's name, for errors.
        fill: a field that the source lacks becomes NULL instead of an error.
        current: the stored value; a field that the source lacks keeps its value.
        or_position: match structs with the same number of fields and no common name, such as `struct(1, 'x')`, by position.

    Raises:
        SchemaMismatch: a field is missing in the source, or unknown in the table.
    """
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    if _same_order(source, target):
        return value
    match source, target:
        case T.StructType(), T.StructType():
            return _match_struct(value, source, target, path, fill=fill, current=current, or_position=or_position)
        case T.ArrayType(), T.ArrayType():
            return F.transform(
                value,
                lambda e: match_fields(
                    e, source.elementType, target.elementType, f"{path}.element", fill=fill, or_position=or_position
                ),
            )
        case T.MapType(), T.MapType():

            def match_map_entry(e: Column) -> Column:
                key = match_fields(
                    e["key"], source.keyType, target.keyType, f"{path}.key", fill=fill, or_position=or_position
                )
                item = match_fields(
                    e["value"], source.valueType, target.valueType, f"{path}.value", fill=fill, or_position=or_position
                )
                return F.struct(key.alias("key"), item.alias("value"))

            return F.map_from_entries(F.transform(F.map_entries(value), match_map_entry))
    return value  # not nested: the cast reports errors


def _match_struct(
    value: Column,
    source: StructType,
    target: StructType,
    path: str,
    *,
    fill: bool,
    current: Column | None,
    or_position: bool,
) -> Column:
    from pyspark.sql import functions as F

    present = {f.name.lower(): f for f in source.fields}
    target_names = {f.name.lower() for f in target.fields}
    if or_position and target_names.isdisjoint(present) and len(source.fields) == len(target.fields):
        return value
    extra = [f.name for f in source.fields if f.name.lower() not in target_names]
    missing = [f.name for f in target.fields if f.name.lower() not in present]
    if extra or (missing and not fill and current is None):
        what = f"has no field {missing[0]!r}" if missing else f"has a field {extra[0]!r} that the table lacks"
        raise SchemaMismatch(
            f"column {path!r} is {target.simpleString()}; the source {what}",
            hint="name the fields as the table does (named_struct, AS), or SET spark.paimon.write.merge-schema = true",
            column=path,
        )
    fields = []
    for field in target.fields:
        own = None if current is None else current.getField(field.name)
        found = present.get(field.name.lower())
        if found is None:
            inner = F.lit(None).cast(field.dataType) if own is None else own
        else:
            inner = match_fields(
                value.getField(found.name), found.dataType, field.dataType, f"{path}.{field.name}",
                fill=fill, current=own, or_position=or_position,
            )  # fmt: skip
        fields.append(inner.cast(field.dataType).alias(field.name))
    absent = value.isNull() if current is None or not missing else value.isNull() & current.isNull()
    return F.when(absent, F.lit(None)).otherwise(F.struct(*fields))


def _same_order(source: DataType, target: DataType) -> bool:
    """Whether matching by position equals matching by name."""
    from pyspark.sql import types as T

    match source, target:
        case T.StructType(), T.StructType():
            return len(source.fields) == len(target.fields) and all(
                s.name.lower() == t.name.lower() and _same_order(s.dataType, t.dataType)
                for s, t in zip(source.fields, target.fields, strict=True)
            )
        case T.ArrayType(), T.ArrayType():
            return _same_order(source.elementType, target.elementType)
        case T.MapType(), T.MapType():
            return _same_order(source.keyType, target.keyType) and _same_order(source.valueType, target.valueType)
    return True
