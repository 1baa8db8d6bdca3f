"""Shredded VARIANT columns of Parquet files: chosen fields of the values are columns of their own.

A shredded column is a struct of `metadata`, `value` and `typed_value`. `typed_value` is a scalar, a list of such structs
without `metadata`, or a struct of them; `value` has what does not fit the type, and the other fields of objects.
Source: Apache Parquet, `VariantShredding.md`; Paimon `ShreddingUtils`, `VariantShreddingWriter`, `PaimonShreddingUtils`.
"""

from __future__ import annotations

import json
import struct
from decimal import Decimal as PythonDecimal
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, FormatError
from paimon_nb.format.data.int96 import INT96_ARROW, from_int96
from paimon_nb.format.data.variant_encoding import (
    ARRAY,
    NULL,
    OBJECT,
    Keys,
    array_elements,
    basic_type,
    decode_scalar,
    encode_array,
    encode_binary,
    encode_boolean,
    encode_date,
    encode_decimal,
    encode_double,
    encode_float,
    encode_long,
    encode_object,
    encode_string,
    encode_time,
    encode_timestamp,
    encode_uuid,
    object_fields,
)
from paimon_nb.format.types import (
    Array,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Row,
    Timestamp,
    VarBinary,
    arrow_type,
    parse_type_json,
)
from paimon_nb.format.types.arrow_builders import VARIANT_ARROW, arrow_column
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.options import TableOptions

METADATA, VALUE, TYPED = "metadata", "value", "typed_value"
_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_SCALARS = {
    "BOOLEAN", "FLOAT", "DOUBLE", "DATE", "CHAR", "VARCHAR", "BINARY", "VARBINARY", "DECIMAL", "TIMESTAMP", "TIMESTAMP_LTZ",
    *_INTEGERS,
}  # fmt: skip
_SAME = {
    "boolean": ("BOOLEAN",), "float": ("FLOAT",), "double": ("DOUBLE",), "date": ("DATE",), "string": ("CHAR", "VARCHAR"),
    "binary": ("BINARY", "VARBINARY"),
}  # fmt: skip
"""Kind of a scalar -> types that store each of its values."""

Encoded = list[bytes | None]
"""VARIANT values; None: there is none."""


# -- reading


def unshred(column: pa.StructArray) -> pa.StructArray:
    """The whole values of a shredded column.

    Raises:
        ValueError: the column or a value is malformed.
    """
    parts = _children(column)
    if METADATA not in parts:
        raise ValueError("a shredded VARIANT has no metadata")
    valid = column.is_valid().to_pylist()
    try:
        keys = _keys_of(valid, parts[METADATA].to_pylist())
        values = _whole_values(parts, keys)
    except (IndexError, TypeError, struct.error) as error:
        raise ValueError(f"malformed VARIANT: {error}") from None
    value = pa.array([(v or NULL) if there else None for v, there in zip(values, valid, strict=True)], pa.binary())
    metadata = pa.array([None if k is None else k.to_bytes() for k in keys], pa.binary())
    mask = column.is_null() if column.null_count else None
    return pa.StructArray.from_arrays([value, metadata], fields=list(VARIANT_ARROW), mask=mask)


def _keys_of(valid: Sequence[bool], metadata: Sequence[bytes]) -> list[Keys | None]:
    """The keys of each value, shared by those with the same metadata; None where the value is NULL."""
    known: dict[bytes, Keys] = {}
    keys: list[Keys | None] = []
    for there, data in zip(valid, metadata, strict=True):
        if there and data not in known:
            known[data] = Keys(data)
        keys.append(known[data] if there else None)
    return keys


def _whole_values(parts: dict[str, pa.Array], keys: Sequence[Keys | None]) -> Encoded:
    left = parts[VALUE].to_pylist() if VALUE in parts else [None] * len(keys)
    typed = parts.get(TYPED)
    if typed is None:
        return left
    if pa.types.is_struct(typed.type):
        return _whole_objects(typed, left, keys)
    if pa.types.is_list(typed.type) or pa.types.is_large_list(typed.type):
        found = _whole_arrays(typed, keys)
    else:
        numbers, encode = _scalars(typed)
        found = [None if v is None else encode(v) for v in numbers.to_pylist()]
    return [rest if v is None else v for v, rest in zip(found, left, strict=True)]


def _whole_objects(typed: pa.StructArray, left: Encoded, keys: Sequence[Keys | None]) -> Encoded:
    names = [f.name for f in typed.type]
    columns = [_whole_values(_children(c), keys) for c in typed.flatten()]
    found: Encoded = []
    for i, (there, rest, of) in enumerate(zip(typed.is_valid().to_pylist(), left, keys, strict=True)):
        if not there or of is None:
            found.append(rest)
            continue
        fields = [(n, of.id_of(n), c[i]) for n, c in zip(names, columns, strict=True)]
        present = [(name, number, value) for name, number, value in fields if value is not None]
        if rest is not None:
            if basic_type(rest) != OBJECT:
                raise ValueError("the rest of a shredded VARIANT object is no object")
            present += [(of.names[number], number, value) for number, value in object_fields(rest)]
        found.append(encode_object(present))
    return found


def _whole_arrays(typed: pa.Array, keys: Sequence[Keys | None]) -> Encoded:
    lengths = typed.value_lengths().to_pylist()
    of_element = [k for k, n in zip(keys, lengths, strict=True) for _ in range(n or 0)]
    elements = _whole_values(_children(typed.flatten()), of_element)
    found: Encoded = []
    at = 0
    for n in lengths:
        found.append(None if n is None else encode_array([e or NULL for e in elements[at : at + n]]))
        at += n or 0
    return found


def _children(column: pa.Array) -> dict[str, pa.Array]:
    """The fields of a struct, NULL where it is NULL."""
    if not pa.types.is_struct(column.type):
        raise ValueError(f"a shredded VARIANT has {column.type} where a struct is expected")
    return {f.name: c for f, c in zip(column.type, column.flatten(), strict=True)}


def _scalars(typed: pa.Array) -> tuple[pa.Array, Callable[[Any], bytes]]:
    """The values as Python knows them, and their encoder."""
    if isinstance(typed, pa.ExtensionArray):
        typed = typed.storage
    if pa.types.is_dictionary(typed.type):
        typed = typed.dictionary_decode()
    t, types = typed.type, pa.types
    if t == INT96_ARROW:
        typed = from_int96(typed, pa.timestamp("ns"))
        t = typed.type
    if types.is_timestamp(t):
        nanos = t.unit == "ns"
        numbers = typed if nanos else typed.cast(pa.timestamp("us", t.tz))
        return numbers.cast(pa.int64()), partial(encode_timestamp, nanos=nanos, local=t.tz is not None)
    if types.is_time(t):
        return typed.cast(pa.time64("us")).cast(pa.int64()), encode_time
    if types.is_date32(t):
        return typed.cast(pa.int32()), encode_date
    if types.is_fixed_size_binary(t) and t.byte_width == 16:
        return typed, encode_uuid
    for fits, encode in (
        (types.is_boolean, encode_boolean),
        (types.is_integer, encode_long),
        (types.is_float32, encode_float),
        (types.is_float64, encode_double),
        (types.is_decimal, encode_decimal),
        (lambda s: types.is_string(s) or types.is_large_string(s), encode_string),
        (lambda s: types.is_binary(s) or types.is_large_binary(s), encode_binary),
    ):
        if fits(t):
            return typed, encode
    raise ValueError(f"a VARIANT cannot be shredded to {t}")


# -- writing


def shredded_columns(options: TableOptions) -> dict[str, Row]:
    """The VARIANT columns that new files shred, with the type that they have there.

    Raises:
        BadOptionValue: `variant.shreddingSchema` is not a ROW of types that a VARIANT can be shredded to.
    """
    found = options.get(opt.VARIANT_SHREDDINGSCHEMA)
    return _shredded_columns(found) if found else {}


@lru_cache(maxsize=16)
def _shredded_columns(value: str) -> dict[str, Row]:
    key = opt.VARIANT_SHREDDINGSCHEMA.key
    try:
        schema = parse_type_json(_with_ids(json.loads(value), iter(range(1 << 30)).__next__))
        if not isinstance(schema, Row):
            raise FormatError("it is not a ROW")
        return {f.name: shredded_type(f.type) for f in schema.fields}
    except (ValueError, FormatError) as error:
        hint = 'for example {"type": "ROW", "fields": [{"name": "v", "type": {"type": "ROW", "fields": [{"name": "a", "type": "BIGINT"}]}}]}'
        raise BadOptionValue(f"option {key!r}: {error}", hint=hint, option=key, value=value) from None


def _with_ids(node: Any, next_id: Callable[[], int]) -> Any:
    """The JSON of a type with numbers for the fields that have none, as Java numbers them."""
    if not isinstance(node, dict):
        return node
    out = dict(node)
    if isinstance(node.get("fields"), list):
        out["fields"] = []
        for f in node["fields"]:
            if isinstance(f, dict):
                f = {"id": next_id(), **f} if "id" not in f else dict(f)
                f["type"] = _with_ids(f.get("type"), next_id)
            out["fields"].append(f)
    if "element" in node:
        out["element"] = _with_ids(node["element"], next_id)
    return out


def shredded_type(t: DataType) -> Row:
    """The type in the file of a VARIANT that is shredded to `t`.

    Raises:
        FormatError: `t` is or contains a type that a VARIANT cannot be shredded to.
    """
    return Row((DataField(0, METADATA, VarBinary(is_nullable=False)), *_shredded_fields(t, 1, in_object=False)))


def _shredded_fields(t: DataType, first: int, *, in_object: bool) -> tuple[DataField, ...]:
    if t.root == "VARIANT":
        return (DataField(first, VALUE, VarBinary(is_nullable=in_object)),)
    match t:
        case Array() if t.root == "ARRAY":
            t = Array(Row(_shredded_fields(t.element, 0, in_object=False)), t.nullable)
        case Row():
            # Never NULL: a field that is missing has neither `value` nor `typed_value`.
            fields = [
                DataField(f.id, f.name, Row(_shredded_fields(f.type, 0, in_object=True), False)) for f in t.fields
            ]
            t = Row(tuple(fields), t.nullable)
        case _ if t.root not in _SCALARS:
            raise FormatError(f"a VARIANT cannot be shredded to {t.bare()}")
    return DataField(first, VALUE, VarBinary()), DataField(first + 1, TYPED, t)


def shred(column: pa.StructArray, target: Row) -> pa.StructArray:
    """A VARIANT column in the shredded type of `shredded_type`."""
    valid = column.is_valid().to_pylist()
    keys = _keys_of(valid, column.field(METADATA).to_pylist())
    values: Encoded = [v if there else None for v, there in zip(column.field(VALUE).to_pylist(), valid, strict=True)]
    fields = {f.name: f.type for f in target.fields}
    parts = [pa.array([None if k is None else k.to_bytes() for k in keys], pa.binary())]
    parts += _split(values, keys, fields.get(TYPED))
    mask = column.is_null() if column.null_count else None
    return pa.StructArray.from_arrays(parts, fields=list(arrow_type(target)), mask=mask)


def _split(values: Encoded, keys: Sequence[Keys | None], typed: DataType | None) -> list[pa.Array]:
    """The columns `value` and, if there is a type, `typed_value`."""
    if typed is None:
        return [pa.array(values, pa.binary())]
    match typed:
        case Row():
            left, found = _split_objects(values, keys, typed)
        case Array():
            left, found = _split_arrays(values, keys, typed)
        case _:
            scalars = [None if v is None or basic_type(v) in (OBJECT, ARRAY) else _as_type(v, typed) for v in values]
            left = [v if s is None else None for v, s in zip(values, scalars, strict=True)]
            found = arrow_column(scalars, arrow_type(typed))
    return [pa.array(left, pa.binary()), found]


def _split_objects(values: Encoded, keys: Sequence[Keys | None], typed: Row) -> tuple[Encoded, pa.Array]:
    columns: dict[str, Encoded] = {f.name: [None] * len(values) for f in typed.fields}
    left: Encoded = []
    other = []
    for i, (value, of) in enumerate(zip(values, keys, strict=True)):
        other.append(value is None or of is None or basic_type(value) != OBJECT)
        if value is None or of is None or other[-1]:
            left.append(value)
            continue
        rest = []
        for number, field in object_fields(value):
            name = of.names[number]
            if name in columns:
                columns[name][i] = field
            else:
                rest.append((name, number, field))
        left.append(encode_object(rest) if rest else None)
    children = [_split_struct(columns[f.name], keys, f.type) for f in typed.fields]
    found = pa.StructArray.from_arrays(children, fields=list(arrow_type(typed)), mask=pa.array(other))
    return left, found


def _split_arrays(values: Encoded, keys: Sequence[Keys | None], typed: Array) -> tuple[Encoded, pa.Array]:
    elements: Encoded = []
    of_element: list[Keys | None] = []
    offsets: list[int | None] = []
    left: Encoded = []
    for value, of in zip(values, keys, strict=True):
        if value is None or basic_type(value) != ARRAY:
            left.append(value)
            offsets.append(None)
            continue
        left.append(None)
        offsets.append(len(elements))
        elements += array_elements(value)
        of_element += [of] * (len(elements) - len(of_element))
    inner = _split_struct(elements, of_element, typed.element)
    found = pa.ListArray.from_arrays(pa.array([*offsets, len(elements)], pa.int32()), inner, type=arrow_type(typed))
    return left, found


def _split_struct(values: Encoded, keys: Sequence[Keys | None], t: DataType) -> pa.StructArray:
    assert isinstance(t, Row)
    typed = {f.name: f.type for f in t.fields}.get(TYPED)
    return pa.StructArray.from_arrays(_split(values, keys, typed), fields=list(arrow_type(t)))


def _as_type(value: bytes, t: DataType) -> Any:
    """The scalar for a column of type `t`, dates and times as numbers; None if it would be another value there."""
    kind, found = decode_scalar(value)
    if t.root in _SAME.get(kind, ()):
        return found
    match t:
        case Decimal() if kind in ("long", "decimal"):
            return _rescaled(PythonDecimal(found), t)
        case Timestamp() | LocalZonedTimestamp() if kind == (
            "timestamp_ntz" if isinstance(t, Timestamp) else "timestamp"
        ):
            nanos = found * 1000 if -(1 << 63) <= found * 1000 < 1 << 63 else None
            return nanos if t.precision > 6 else found if t.precision > 3 else _exactly(found, 1000)
    if t.root in _INTEGERS and kind in ("long", "decimal"):
        whole = int(found)
        limit = 1 << _INTEGERS[t.root] - 1
        return whole if whole == found and -limit <= whole < limit else None
    return None


def _rescaled(value: PythonDecimal, t: Decimal) -> PythonDecimal | None:
    """The decimal with the scale of `t`; None if it does not fit."""
    sign, digits, exponent = value.as_tuple()
    unscaled, shift = int("".join(map(str, digits))), int(exponent) + t.scale
    unscaled, lost = (unscaled * 10**shift, 0) if shift >= 0 else divmod(unscaled, 10**-shift)
    if lost or unscaled >= 10**t.precision:
        return None
    return PythonDecimal((sign, tuple(map(int, str(unscaled))), -t.scale))


def _exactly(value: int, unit: int) -> int | None:
    return value // unit if value % unit == 0 else None
