"""Logical types as Arrow types, and builders of Arrow arrays and scalars.

| Paimon | Arrow |
|---|---|
| TINYINT .. BIGINT, FLOAT, DOUBLE, BOOLEAN, DATE | int8 .. int64, float32, float64, bool, date32 |
| CHAR, VARCHAR, STRING | string |
| BINARY, VARBINARY, BYTES, BLOB | binary |
| GEOMETRY, GEOGRAPHY | binary (Well-Known Binary) |
| DECIMAL(p, s) | decimal128(p, s) |
| TIME | time32[ms] |
| TIMESTAMP(p), LTZ(p) | timestamp[ms] for p <= 3, [us] for p <= 6, else [ns]; LTZ with tz='UTC' |
| ARRAY, MAP, MULTISET, ROW | list, map, map<element, int32>, struct |
| VECTOR<e, n> | fixed_size_list<e>[n] |
| VARIANT | struct<value: binary, metadata: binary> |

Field ids are stored as the Parquet field metadata `PARQUET:field_id`. The builders support flat types; Arrow builds the
rest. The first call of `pa.array`, `pa.scalar` or `empty_table` imports pandas, to detect its objects. This takes 0.2 s
of CPU, as long as everything else before a process's first rows, and callers here never pass such objects. If pandas is
loaded already, Arrow is used: it is five times as fast.
"""

from __future__ import annotations

import datetime as dt
import decimal
import sys
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.format.types.types import (
    VECTOR_ELEMENTS,
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
    VarBinary,
    VarChar,
    Vector,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

VARIANT_ARROW = pa.struct([pa.field("value", pa.binary(), False), pa.field("metadata", pa.binary(), False)])
_ATOMIC: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(), "TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64(),
    "FLOAT": pa.float32(), "DOUBLE": pa.float64(), "DATE": pa.date32(), "VARIANT": VARIANT_ARROW, "BLOB": pa.binary(),
}  # fmt: skip


def arrow_type(t: DataType) -> pa.DataType:
    """The logical Arrow type for values of `t`."""
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
        case Vector():
            return pa.list_(pa.field("element", arrow_type(t.element), t.element.nullable), t.length)
        case Array():
            return pa.list_(pa.field("element", arrow_type(t.element), t.element.nullable))
        case Multiset():
            return pa.map_(arrow_type(t.element), pa.field("value", pa.int32(), False))
        case Map():
            return pa.map_(arrow_type(t.key), pa.field("value", arrow_type(t.value), t.value.nullable))
        case Row():
            return pa.struct([pa.field(f.name, arrow_type(f.type), f.type.nullable) for f in t.fields])
    return pa.string() if t.root in ("CHAR", "VARCHAR") else pa.binary()


def arrow_schema(fields: Iterable[DataField], *, nullable: bool | None = None) -> pa.Schema:
    """The Arrow schema of columns. `nullable` overrides every column's own nullability."""
    return pa.schema(
        [pa.field(f.name, arrow_type(f.type), f.type.nullable if nullable is None else nullable) for f in fields]
    )


def from_arrow_type(t: pa.DataType, nullable: bool = True, next_id: Callable[[], int] | None = None) -> DataType:
    """The logical type for an Arrow type, for tables created from Arrow data.

    Unsigned integers become the next wider signed type. Raises `SchemaMismatch` for types without a Paimon type.
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
        element = from_arrow_type(t.value_type, t.value_field.nullable, next_id)
        if types.is_fixed_size_list(t) and t.list_size > 0 and element.root in VECTOR_ELEMENTS:
            return Vector(element, nullable, t.list_size)
        return Array(element, nullable)
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
    """Columns for an Arrow schema, with the ids that Java assigns at creation (docs/spec/format.md section 4)."""
    counter = iter(range(1 << 30)).__next__
    fields = []
    for field in schema:
        field_id = counter()  # a top-level column gets its id before the fields nested in it
        fields.append(DataField(field_id, field.name, from_arrow_type(field.type, field.nullable, counter)))
    return tuple(fields)


def _arrow_time_unit(precision: int) -> str:
    return "ms" if precision <= 3 else "us" if precision <= 6 else "ns"


_PLAIN = {
    t: np.dtype(str(t))
    for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
} | {pa.float32(): np.dtype(np.float32), pa.float64(): np.dtype(np.float64)}
"""Types whose values have NumPy's memory layout."""
_FLOATS = (pa.float32(), pa.float64())

_EPOCH, _MICROSECOND = dt.datetime(1970, 1, 1), dt.timedelta(microseconds=1)
_DAY_0 = _EPOCH.toordinal()


def arrow_column(values: Sequence[Any], t: pa.DataType) -> pa.Array:
    """`pa.array(values, t)`; None is NULL. Dates and times may be passed as numbers.

    Raises: the errors of `pa.array` for values that do not fit.
    """
    if "pandas" in sys.modules:
        return pa.array(values, t)
    kinds = {type(v) for v in values} - {NoneType}
    if not kinds:
        return pa.nulls(len(values), t)
    try:
        made = _build_column(values, t, kinds.pop()) if len(kinds) == 1 else None
    except (OverflowError, UnicodeEncodeError):
        made = None
    return pa.array(values, t) if made is None else made


def scalar(value: Any, t: pa.DataType) -> pa.Scalar:
    """`pa.scalar(value, t)`, as `arrow_column`."""
    return arrow_column([value], t)[0]


def empty_table(fields: Iterable[DataField]) -> pa.Table:
    """A table of these columns, all of which may be NULL, without rows."""
    schema = arrow_schema(fields, nullable=True)
    return pa.Table.from_arrays([pa.nulls(0, f.type) for f in schema], schema=schema)


def _build_column(values: Sequence[Any], t: pa.DataType, kind: type) -> pa.Array | None:
    """Build a column with NumPy; None if Arrow must build it or report the error."""
    types = pa.types
    if kind is int and (
        types.is_signed_integer(t) or types.is_timestamp(t) or types.is_date32(t) or types.is_time32(t)
    ):
        return _build_numbers(values, t, np.dtype(f"i{t.bit_width // 8}"))
    if kind is float and t in _FLOATS:
        return _build_numbers(values, t, _PLAIN[t])
    if kind is str and types.is_string(t):
        return _build_texts([None if v is None else v.encode() for v in values], t, np.dtype(np.int32))
    if kind is bytes and types.is_binary(t):
        return _build_texts(values, t, np.dtype(np.int32))
    if kind is bytes and types.is_large_binary(t):
        return _build_texts(values, t, np.dtype(np.int64))
    if kind is bool and types.is_boolean(t):
        return pa.Array.from_buffers(
            t, len(values), [_validity_bitmap(values), _packed_bits([bool(v) for v in values])]
        )
    if kind is decimal.Decimal and types.is_decimal128(t):
        return _build_decimals(values, t)
    if kind is dt.date and types.is_date32(t):
        return _build_numbers([None if v is None else v.toordinal() - _DAY_0 for v in values], t, np.dtype(np.int32))
    if (
        kind is dt.datetime
        and types.is_timestamp(t)
        and t.unit == "us"
        and all(v is None or v.tzinfo is None for v in values)
    ):
        return _build_numbers(
            [None if v is None else (v - _EPOCH) // _MICROSECOND for v in values], t, np.dtype(np.int64)
        )
    return None


def from_numpy(values: np.ndarray, null: np.ndarray | None = None) -> pa.Array:
    """An Arrow array of NumPy numbers or booleans. `null`: mask of null values."""
    valid = None if null is None else _packed_bits(~null)
    if values.dtype == bool:
        return pa.Array.from_buffers(pa.bool_(), len(values), [valid, _packed_bits(values)])
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, data])


def fixed_size_lists_of(lists: pa.Array, target: pa.DataType) -> pa.Array:
    """Lists of one length as an Arrow array of fixed-size lists.

    Arrow's own cast reads past the end of lists with NULL rows. Raises ValueError: a list has another length.
    """
    lengths = lists.value_lengths()
    other = set(lengths.unique().to_pylist()) - {None, target.list_size}
    if other:
        raise ValueError(f"it has {min(other)} elements, not {target.list_size}")
    values = lists.flatten().cast(target.value_type)
    if not lists.null_count:
        return pa.FixedSizeListArray.from_arrays(values, type=target)
    valid = to_numpy(lists.is_valid())
    sources = np.zeros((len(lists), target.list_size), np.int64)
    sources[valid] = np.arange(len(values)).reshape(-1, target.list_size)
    absent = np.repeat(~valid, target.list_size)
    values = values.take(from_numpy(sources.ravel(), absent))
    return pa.FixedSizeListArray.from_arrays(values, type=target, mask=lists.is_null())


def variable_lists_of(vectors: pa.Array) -> pa.Array:
    """Fixed-size lists as lists; other arrays unchanged."""
    if not pa.types.is_fixed_size_list(vectors.type):
        return vectors
    lengths = to_numpy(vectors.is_valid()).astype(np.int32) * vectors.type.list_size
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    mask = vectors.is_null() if vectors.null_count else None
    return pa.ListArray.from_arrays(
        from_numpy(offsets), vectors.flatten(), type=pa.list_(vectors.type.value_field), mask=mask
    )


def fill_null(array: Any, value: Any) -> Any:
    """`pc.fill_null(array, value)`."""
    import pyarrow.compute as pc

    return array if not array.null_count else pc.fill_null(array, scalar(value, array.type))


def to_numpy(array: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """`array.to_numpy(zero_copy_only=False)` without importing pandas. The result is read-only."""
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    t, size = array.type, array.offset + len(array)
    if array.null_count or not (pa.types.is_boolean(t) or t in _PLAIN):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    data = array.buffers()[1] if size else b""
    if pa.types.is_boolean(t):
        return np.unpackbits(np.frombuffer(data, np.uint8), count=size, bitorder="little")[array.offset :].astype(bool)
    return np.frombuffer(data, _PLAIN[t], size)[array.offset :]


def _build_numbers(values: Sequence[Any], t: pa.DataType, width: np.dtype[Any]) -> pa.Array:
    with np.errstate(over="ignore"):  # numbers too large for a float become infinite
        data = np.array([0 if v is None else v for v in values], width)
    return pa.Array.from_buffers(t, len(values), [_validity_bitmap(values), pa.py_buffer(data)])


def _build_decimals(values: Sequence[decimal.Decimal | None], t: pa.DataType) -> pa.Array | None:
    """Build a decimal column; None if a value has another scale than the type, or too many digits."""
    data = []
    for value in values:
        sign, digits, exponent = (0, (0,), -t.scale) if value is None else value.as_tuple()
        if exponent != -t.scale or len(digits) > t.precision:
            return None
        unscaled = int("".join(map(str, digits)))
        data.append((-unscaled if sign else unscaled).to_bytes(16, "little", signed=True))
    return pa.Array.from_buffers(t, len(values), [_validity_bitmap(values), pa.py_buffer(b"".join(data))])


def _build_texts(encoded: Sequence[bytes | None], t: pa.DataType, width: np.dtype[Any]) -> pa.Array:
    offsets = np.zeros(len(encoded) + 1, width)
    np.cumsum([0 if e is None else len(e) for e in encoded], out=offsets[1:])
    joined = b"".join([b"" if e is None else e for e in encoded])
    return pa.Array.from_buffers(
        t, len(encoded), [_validity_bitmap(encoded), pa.py_buffer(offsets), pa.py_buffer(joined)]
    )


def _validity_bitmap(values: Sequence[Any]) -> pa.Buffer | None:
    present = np.array([v is not None for v in values], np.bool_)
    return None if present.all() else _packed_bits(present)


def _packed_bits(truths: Any) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.asarray(truths, np.bool_), bitorder="little"))


# -- NumPy


def sorted_unique(values: np.ndarray) -> np.ndarray:
    """The unique values in ascending order, as `np.unique(values)`, whose first call imports `numpy.ma`: 20 ms."""
    ordered = np.sort(values)
    distinct_values: np.ndarray = ordered[_run_starts(ordered)]
    return distinct_values


def unique_inverse(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Index of the first occurrence of each unique value, and for each value the index of its unique value.

    The unique values are in ascending order, as in `np.unique(values, return_index=True, return_inverse=True)`.
    """
    order = np.argsort(values, kind="stable")
    starts = _run_starts(values[order])
    inverse = np.empty(len(values), np.int64)
    inverse[order] = np.cumsum(starts) - 1
    return order[starts], inverse


def row_codes(rows: pa.Table) -> np.ndarray:
    """A number for each row: equal rows have the same one. NULL equals NULL.

    Args:
        rows: without nested columns and floating-point numbers.
    """
    if rows.num_columns == 1 and pa.types.is_signed_integer(rows.column(0).type) and not rows.column(0).null_count:
        return to_numpy(rows.column(0)).astype(np.int64)
    codes = np.zeros(rows.num_rows, dtype=np.int64)
    for column in rows.columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        codes = codes * (len(encoded.dictionary) + 1) + to_numpy(encoded.indices)
        codes = unique_inverse(codes)[1]  # codes stay small, so that many columns do not overflow
    return codes


def _run_starts(ordered: np.ndarray) -> np.ndarray:
    starts = np.ones(len(ordered), bool)
    starts[1:] = ordered[1:] != ordered[:-1]
    return starts
