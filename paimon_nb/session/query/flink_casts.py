"""The implicit casts of Flink's INSERT: texts and bytes take the column's length, and a number too large for a DECIMAL is NULL.

Flink plans these casts itself, so they do not depend on `table.exec.sink.type-length-enforcer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.types import Array, Binary, Char, DataType, Decimal, Map, Row, VarBinary, VarChar
from paimon_nb.format.types.types import MAX_LENGTH

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType as SparkType


def is_checked(t: DataType) -> bool:
    """Whether a value may have to change to be stored in this type."""
    match t:
        case Char() | Binary() | Decimal():
            return True
        case VarChar() | VarBinary():
            return t.length < MAX_LENGTH
        case Array():
            return is_checked(t.element)
        case Map():
            return is_checked(t.key) or is_checked(t.value)
        case Row():
            return any(is_checked(f.type) for f in t.fields)
    return False


def implicit_cast(value: Column, source: SparkType, t: DataType) -> Column:
    """The value as Flink casts it to the column's type."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    from paimon_nb.spark.types import spark_type

    if not is_checked(t):
        return value.cast(spark_type(t))
    match t, source:
        case Char(), _:
            return F.rpad(value.cast("string"), t.length, " ")
        case VarChar(), _:
            return F.left(value.cast("string"), F.lit(t.length))
        case Binary(), _:
            return F.rpad(value.cast("binary"), t.length, bytes(1))  # type: ignore[arg-type]
        case VarBinary(), _:
            return F.substring(value.cast("binary"), 1, t.length)
        case Decimal(), T.NumericType():
            return value.try_cast(spark_type(t))
        case Array(), T.ArrayType():
            return F.transform(value, lambda e: implicit_cast(e, source.elementType, t.element)).cast(spark_type(t))
        case Map(), T.MapType():
            keys = F.transform(F.map_keys(value), lambda k: implicit_cast(k, source.keyType, t.key))
            values = F.transform(F.map_values(value), lambda v: implicit_cast(v, source.valueType, t.value))
            return F.map_from_arrays(keys, values).cast(spark_type(t))
        case Row(), T.StructType() if len(source.fields) == len(t.fields):
            fields = [
                implicit_cast(value.getField(s.name), s.dataType, f.type).alias(f.name)
                for s, f in zip(source.fields, t.fields, strict=True)
            ]
            return F.when(value.isNotNull(), F.struct(*fields)).cast(spark_type(t))
    return value.cast(spark_type(t))
