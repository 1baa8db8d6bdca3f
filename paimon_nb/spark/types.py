"""Converts Paimon types to Spark types and back, for schemas and for rows. Starts no JVM.

| Paimon | Spark | Arrow between them |
|---|---|---|
| TINYINT .. BIGINT, FLOAT, DOUBLE, BOOLEAN, DATE, DECIMAL, BYTES | the same | as in `format/types/arrow.py` |
| CHAR, VARCHAR, STRING | STRING, with the stored padding | string |
| TIMESTAMP(p <= 6) / LTZ(p <= 6) | TIMESTAMP_NTZ / TIMESTAMP | timestamp[us], tz UTC for LTZ |
| TIMESTAMP(7..9) / LTZ(7..9) | STRING 'yyyy-MM-dd HH:mm:ss.nnnnnnnnn', LTZ in UTC with a trailing 'Z' | string: Spark has no nanoseconds |
| TIME(p) | TIME(p), p <= 6; on Spark 4.0 STRING 'HH:mm:ss.nnn' | time64[ns]; on Spark 4.0 string |
| MULTISET<e> | MAP<e, INT> | map |
| VECTOR<e, n> | ARRAY<e> | list |
| VARIANT | VARIANT | struct with Spark's field metadata |
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.format.types import (
    Array,
    Atomic,
    Char,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    VarBinary,
    VarChar,
    Vector,
    arrow_type,
    is_nano,
)
from paimon_nb.format.types.arrow_builders import fixed_size_lists_of, variable_lists_of
from paimon_nb.format.types.arrow_from_outside import sound_table
from paimon_nb.spark.versions import has_time_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import types as spark

NANO_DIGITS = 6
"""Fractional digits of Spark's timestamps."""
SPARK_VARIANT = pa.struct(
    [pa.field("value", pa.binary(), False), pa.field("metadata", pa.binary(), False, metadata={b"variant": b"true"})]
)


# -- schemas


def spark_type(t: DataType) -> spark.DataType:
    """The Spark type of a Paimon type."""
    from pyspark.sql import types as T

    match t:
        case Atomic():
            return {
                "BOOLEAN": T.BooleanType, "TINYINT": T.ByteType, "SMALLINT": T.ShortType, "INT": T.IntegerType,
                "BIGINT": T.LongType, "FLOAT": T.FloatType, "DOUBLE": T.DoubleType, "DATE": T.DateType,
                "VARIANT": T.VariantType, "BLOB": T.BinaryType,
            }[t.name]()  # fmt: skip
        case Decimal():
            return T.DecimalType(t.precision, t.scale)
        case Time():
            return T.TimeType(min(t.precision, NANO_DIGITS)) if has_time_type() else T.StringType()
        case Timestamp():
            return T.StringType() if is_nano(t) else T.TimestampNTZType()
        case LocalZonedTimestamp():
            return T.StringType() if is_nano(t) else T.TimestampType()
        case Array():
            return T.ArrayType(spark_type(t.element), True)
        case Multiset():
            return T.MapType(spark_type(t.element), T.IntegerType(), True)
        case Map():
            return T.MapType(spark_type(t.key), spark_type(t.value), True)
        case Row():
            return spark_schema(t.fields)
    return T.StringType() if t.root in ("CHAR", "VARCHAR") else T.BinaryType()


def spark_schema(fields: Iterable[DataField]) -> spark.StructType:
    """The Spark schema of columns. All are nullable, as Spark treats the columns of every file."""
    from pyspark.sql import types as T

    return T.StructType([T.StructField(f.name, spark_type(f.type), True) for f in fields])


def with_microsecond_times(t: spark.StructType) -> spark.StructType:
    """A Spark type in which each TIME, also a nested one, has six digits."""
    from pyspark.sql import types as T

    def changed(t: spark.DataType) -> spark.DataType:
        match t:
            case T.StructType():
                return T.StructType([T.StructField(f.name, changed(f.dataType), f.nullable) for f in t.fields])
            case T.ArrayType():
                return T.ArrayType(changed(t.elementType), t.containsNull)
            case T.MapType():
                return T.MapType(changed(t.keyType), changed(t.valueType), t.valueContainsNull)
        return T.TimeType(6) if isinstance(t, T.TimeType) else t

    return T.StructType([T.StructField(f.name, changed(f.dataType), f.nullable) for f in t.fields])


def fields_of_spark(schema: spark.StructType) -> tuple[DataField, ...]:
    """Paimon columns of a Spark schema, for a table created from a DataFrame, with the field ids that Java assigns.

    Raises:
        SchemaMismatch: Paimon has no such type (intervals, void, user-defined types).
    """
    counter = iter(range(1 << 30)).__next__
    fields = []
    for field in schema.fields:
        number = counter()  # a top-level column gets its id before its nested fields
        comment = (field.metadata or {}).get("comment")
        fields.append(DataField(number, field.name, from_spark_type(field.dataType, field.nullable, counter), comment))
    return tuple(fields)


def from_spark_type(t: spark.DataType, nullable: bool = True, next_id: Callable[[], int] | None = None) -> DataType:
    """The Paimon type for a Spark type. Raises `SchemaMismatch`."""
    from pyspark.sql import types as T

    if next_id is None:
        next_id = iter(range(1 << 30)).__next__
    match t:
        case T.DecimalType():
            return Decimal(t.precision, t.scale, nullable)
        case T.TimestampNTZType():
            return Timestamp(6, nullable)
        case T.TimestampType():
            return LocalZonedTimestamp(6, nullable)
        case T.CharType():
            return Char(t.length, nullable)
        case T.VarcharType():
            return VarChar(t.length, nullable)
        case T.StringType():
            return VarChar(is_nullable=nullable)
        case T.BinaryType():
            return VarBinary(is_nullable=nullable)
        case _ if has_time_type() and isinstance(t, T.TimeType):
            return Time(t.precision, nullable)
        case T.ArrayType():
            return Array(from_spark_type(t.elementType, t.containsNull, next_id), nullable)
        case T.MapType():
            key = from_spark_type(t.keyType, False, next_id)
            return Map(key, from_spark_type(t.valueType, t.valueContainsNull, next_id), nullable)
        case T.StructType():
            inner = []
            for field in t.fields:
                inside = from_spark_type(field.dataType, field.nullable, next_id)
                inner.append(DataField(next_id(), field.name, inside))
            return Row(tuple(inner), nullable)
    names = {
        "BooleanType": "BOOLEAN", "ByteType": "TINYINT", "ShortType": "SMALLINT", "IntegerType": "INT",
        "LongType": "BIGINT", "FloatType": "FLOAT", "DoubleType": "DOUBLE", "DateType": "DATE", "VariantType": "VARIANT",
    }  # fmt: skip
    name = names.get(type(t).__name__)
    if name is None:
        raise SchemaMismatch(
            f"Spark type {t.simpleString()} has no Paimon type", hint="CAST the column first", type=t.simpleString()
        )
    return Atomic(name, nullable)


# -- rows: Paimon's Arrow form to Spark's


def spark_arrow_type(t: DataType) -> pa.DataType:
    """The Arrow type in which Spark exchanges values of a Paimon type."""
    match t:
        case Timestamp():
            return pa.string() if is_nano(t) else pa.timestamp("us")
        case LocalZonedTimestamp():
            return pa.string() if is_nano(t) else pa.timestamp("us", tz="UTC")
        case Time():
            return pa.time64("ns") if has_time_type() else pa.string()
        case Atomic(name="VARIANT"):
            return SPARK_VARIANT
        case Array():
            return pa.list_(pa.field("element", spark_arrow_type(t.element)))
        case Multiset():
            return pa.map_(spark_arrow_type(t.element), pa.int32())
        case Map():
            return pa.map_(spark_arrow_type(t.key), pa.field("value", spark_arrow_type(t.value)))
        case Row():
            return pa.struct([pa.field(f.name, spark_arrow_type(f.type)) for f in t.fields])
    return arrow_type(t)


def spark_arrow_schema(fields: Iterable[DataField]) -> pa.Schema:
    """The Arrow schema in which Spark exchanges rows with these columns."""
    return pa.schema([pa.field(f.name, spark_arrow_type(f.type)) for f in fields])


def to_spark_arrow(table: pa.Table, fields: Iterable[DataField]) -> pa.Table:
    """Rows in Spark's Arrow types. `table` has the columns of `fields`, in that order."""
    fields = tuple(fields)
    columns = [_each_chunk(table.column(i), partial(_to_spark, t=f.type)) for i, f in enumerate(fields)]
    return pa.table(columns, schema=spark_arrow_schema(fields))


def task_batches(table: pa.Table, fields: Iterable[DataField]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches, for Spark. No batch is empty: Spark may take an empty batch for the end."""
    rows = to_spark_arrow(table, fields)
    return (b for b in rows.to_batches(max_chunksize=BATCH_ROWS) if b.num_rows)


def from_spark_arrow(table: pa.Table, fields: Iterable[DataField], zone: str = "UTC") -> pa.Table:
    """Rows from Spark (`toArrow`, a batch inside `mapInArrow`) in Paimon's Arrow types.

    Args:
        table: the columns of `fields`, in that order.
        fields: the columns and their Paimon types.
        zone: the session's time zone, for text without a zone that becomes TIMESTAMP_LTZ(7..9).

    Raises:
        SchemaMismatch: a text is not a timestamp, or a value does not fit its type.
    """
    fields, table = tuple(fields), sound_table(table)
    columns = [
        _each_chunk(table.column(i), partial(_from_spark, t=f.type, zone=zone, where=f.name))
        for i, f in enumerate(fields)
    ]
    return pa.table(columns, schema=pa.schema([pa.field(f.name, arrow_type(f.type)) for f in fields]))


def _each_chunk(column: pa.ChunkedArray, convert: Callable[[pa.Array], pa.Array]) -> pa.ChunkedArray:
    chunks = [convert(chunk) for chunk in column.chunks]
    return pa.chunked_array(chunks) if chunks else pa.chunked_array([convert(pa.array([], column.type))])


def _to_spark(array: pa.Array, t: DataType) -> pa.Array:
    target = spark_arrow_type(t)
    if array.type.equals(target, check_metadata=True):
        return array
    match t:
        case Timestamp() | LocalZonedTimestamp():
            if not is_nano(t):
                return array.cast(target)
            text = pc.strftime(array.cast(pa.timestamp("ns", tz=array.type.tz)), format="%Y-%m-%d %H:%M:%S")
            zoned = isinstance(t, LocalZonedTimestamp)
            return pc.binary_join_element_wise(text, "Z", "") if zoned else text
        case Atomic(name="VARIANT"):
            # The children of a NULL need a value: PySpark casts the struct and rejects NULL in a required child.
            return _rebuild_struct(array, SPARK_VARIANT, [lambda a: a.fill_null(b"")] * 2)
        case Array() | Map() | Multiset() | Row():
            return _rebuild_nested(array, target, [partial(_to_spark, t=c) for c in t.children])
    return array.cast(target)


def _from_spark(array: pa.Array, t: DataType, zone: str, where: str) -> pa.Array:
    target = arrow_type(t)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    if array.type.equals(target, check_metadata=True):
        return array
    match t:
        case Timestamp() | LocalZonedTimestamp():
            if is_nano(t):
                return _parse_nanos(array, t, zone, where)
            # As UTC: an hour may occur twice in the session's zone, which Arrow's arithmetic rejects.
            timestamps = array.cast(pa.timestamp("us", tz="UTC" if array.type.tz else None))
            return _floor_to_precision(timestamps, t.precision).cast(target)
        case Time():
            nanos = (
                _parse_times(array, where) if pa.types.is_string(array.type) else array.cast(pa.time64("ns"))
            ).cast(pa.int64())
            millis = pc.divide(nanos, pa.scalar(1_000_000, pa.int64()))
            return millis.cast(pa.int32()).cast(target)
        case Atomic(name="VARIANT"):
            return _rebuild_struct(array, target, [lambda a: a.cast(pa.binary())] * 2)
        case Vector():
            return _lists_as_vectors(_from_spark(array, Array(t.element), zone, where), t, where)
        case Array() | Map() | Multiset() | Row():
            children = [partial(_from_spark, t=c, zone=zone, where=where) for c in t.children]
            return _rebuild_nested(array, target, children)
    try:
        return array.cast(target)
    except pa.ArrowInvalid as error:
        raise SchemaMismatch(f"column {where!r}: {error}", hint=f"the column is {t}", column=where) from None


def _lists_as_vectors(lists: pa.Array, t: Vector, where: str) -> pa.Array:
    """Lists as vectors. Raises SchemaMismatch: another length, or NULL among the elements."""
    lengths = set(lists.value_lengths().to_pylist()) - {None, t.length}
    if lengths or lists.flatten().null_count:
        found = f"{min(lengths)} elements" if lengths else "NULL as an element"
        raise SchemaMismatch(f"column {where!r} is {t}, but a value has {found}", hint="filter such rows", column=where)
    return fixed_size_lists_of(lists, arrow_type(t))


def _floor_to_precision(array: pa.Array, precision: int) -> pa.Array:
    """Drop the fractional digits beyond `precision`: Spark's timestamps always have six."""
    if precision >= NANO_DIGITS:
        return array
    return pc.floor_temporal(array, multiple=10 ** (NANO_DIGITS - precision), unit="microsecond")


def _parse_nanos(array: pa.Array, t: DataType, zone: str, where: str) -> pa.Array:
    """Text, or Spark's timestamps, as timestamp[ns]."""
    target = arrow_type(t)
    if pa.types.is_timestamp(array.type):
        return array.cast(target)
    text = array.cast(pa.string())
    try:
        if isinstance(t, Timestamp):
            return text.cast(target)
        zoned = pc.match_substring_regex(text, r"(Z|[+-]\d\d(:?\d\d)?)$")
        none = pa.scalar(None, pa.string())
        instants = pc.if_else(zoned, text, none).cast(target)
        local = pc.if_else(zoned, none, text).cast(pa.timestamp("ns"))
        placed = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest").cast(target)
        return pc.coalesce(instants, placed)
    except pa.ArrowInvalid as error:
        raise SchemaMismatch(
            f"column {where!r}: a text is not a timestamp: {error}",
            hint=f"the column is {t}; write the text as 'yyyy-MM-dd HH:mm:ss.nnnnnnnnn'",
            column=where,
        ) from None


def _parse_times(array: pa.Array, where: str) -> pa.Array:
    """Text 'HH:mm:ss[.fffffffff]' as time64[ns]."""
    try:
        text = pc.binary_join_element_wise("1970-01-01", array, " ")
        return text.cast(pa.timestamp("ns")).cast(pa.time64("ns"))
    except pa.ArrowInvalid as error:
        raise SchemaMismatch(
            f"column {where!r}: a text is not a time: {error}", hint="write times as 'HH:mm:ss.nnn'", column=where
        ) from None


def _rebuild_nested(
    array: pa.Array, target: pa.DataType, convert: Sequence[Callable[[pa.Array], pa.Array]]
) -> pa.Array:
    """An array of lists, maps or structs, with converted children."""
    if pa.types.is_struct(target):
        return _rebuild_struct(array, target, convert)
    array = variable_lists_of(array)
    if pa.types.is_large_list(array.type):
        array = array.cast(pa.list_(array.type.value_type))
    validity, offsets = array.buffers()[:2]
    if pa.types.is_map(target):
        entries = pa.StructArray.from_arrays(
            [convert[0](array.keys), convert[1](array.items)], fields=[target.key_field, target.item_field]
        )
    else:
        entries = convert[0](array.values)
    return pa.Array.from_buffers(
        target, len(array), [validity, offsets], null_count=array.null_count, offset=array.offset, children=[entries]
    )


def _rebuild_struct(
    array: pa.StructArray, target: pa.StructType, convert: Sequence[Callable[[pa.Array], pa.Array]]
) -> pa.Array:
    fields = [target.field(i) for i in range(target.num_fields)]
    if not fields:
        return array.cast(target)
    children = [convert[i](array.field(i)) for i in range(len(fields))]
    return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())
