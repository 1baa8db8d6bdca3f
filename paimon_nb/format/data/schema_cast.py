"""Casts Arrow columns to the table's types: columns of files, and columns of users' rows.

Columns of files have the same values in other types. Users' rows are checked: no value is changed silently, and an
error reports the row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import ColumnNotFound, NullNotAllowed, SchemaMismatch
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.data.int96 import INT96_ARROW, from_int96
from paimon_nb.format.data.stored_values import cast_stored
from paimon_nb.format.types import (
    Array,
    Atomic,
    Binary,
    Char,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Timestamp,
    VarBinary,
    VarChar,
    Vector,
    arrow_schema,
    arrow_type,
)
from paimon_nb.format.types.arrow_builders import (
    fill_null,
    fixed_size_lists_of,
    from_numpy,
    to_numpy,
    variable_lists_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_COUNT = Atomic("INT", False)
_VARIANT = ("value", "metadata")


def to_logical(column: pa.Array | pa.ChunkedArray, t: DataType) -> pa.Array | pa.ChunkedArray:
    """`column` with exactly `arrow_type(t)`; struct fields are taken by name.

    Raises:
        pa.ArrowInvalid, KeyError, TypeError, ValueError: the column has an unrelated type, or malformed values.
    """
    target = arrow_type(t)
    if column.type == target:
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([to_logical(c, t) for c in column.chunks], type=target)
    match t:
        case Vector():
            return fixed_size_lists_of(to_logical(variable_lists_of(column), Array(t.element)), target)
        case Row():
            _check_fits(pa.types.is_struct(column.type), column, t)
            fields = [to_logical(_struct_child(column, f.name), f.type) for f in t.fields]
            if not fields:
                return pa.array([{}] * len(column), target, mask=_mask_array(column))
            return pa.StructArray.from_arrays(fields, fields=list(target), mask=null_mask(column))
        case Array():
            _check_fits(pa.types.is_list(column.type) or pa.types.is_large_list(column.type), column, t)
            values = to_logical(column.flatten(), t.element)
            lengths = fill_null(column.value_lengths(), 0).cast(pa.int32())
            return pa.ListArray.from_arrays(offsets_of(lengths), values, type=target, mask=null_mask(column))
        case Map() | Multiset():
            _check_fits(pa.types.is_map(column.type), column, t)
            key, value = (t.key, t.value) if isinstance(t, Map) else (t.element, _COUNT)
            offsets, keys, items = offsets_keys_and_items(column)
            parts = to_logical(keys, key), to_logical(items, value)
            return pa.MapArray.from_arrays(offsets, *parts, type=target, mask=null_mask(column))
    if t.root == "VARIANT":
        return _variant_array(column, target)
    if column.type == INT96_ARROW and pa.types.is_timestamp(target):
        return from_int96(column, target)
    return cast_stored(column, t, target)


def without_columns(rows: int) -> pa.Table:
    """A table without columns, but with a number of rows."""
    return pa.table({"_": pa.nulls(rows)}).select([])


def null_mask(column: pa.Array) -> pa.Array | None:
    """True where the value is NULL; None if there is no NULL."""
    return column.is_null() if column.null_count else None


def offsets_of(lengths: pa.Array) -> pa.Array:
    """Offsets for lengths: their running sum."""
    out = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(to_numpy(lengths), out=out[1:])
    return from_numpy(out)


def offsets_keys_and_items(column: pa.MapArray) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Offsets from 0, and the keys and items of the non-NULL rows."""
    if len(column) == 0:
        return from_numpy(np.zeros(1, np.int32)), column.keys.slice(0, 0), column.items.slice(0, 0)
    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    lengths = np.diff(offsets)
    if column.null_count == 0:
        start, size = int(offsets[0]), int(offsets[-1] - offsets[0])
        return from_numpy(offsets - offsets[0]), column.keys.slice(start, size), column.items.slice(start, size)
    lengths = np.where(to_numpy(column.is_valid()), lengths, 0)
    before = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    rows = np.repeat(offsets[:-1] - before, lengths) + np.arange(int(lengths.sum()))
    take = from_numpy(rows.astype(np.int64))
    return offsets_of(from_numpy(lengths.astype(np.int32))), column.keys.take(take), column.items.take(take)


def without_hidden_nulls(column: pa.Array) -> pa.Array:
    """The same values, with a value in the required fields of NULL structs: Arrow's writer rejects NULL there."""
    t = column.type
    if not _has_not_null_field(t):
        return column
    if pa.types.is_map(t):
        offsets, keys, items = offsets_keys_and_items(column)
        parts = without_hidden_nulls(keys), without_hidden_nulls(items)
        return pa.MapArray.from_arrays(offsets, *parts, type=t, mask=null_mask(column))
    if pa.types.is_list(t):
        values = without_hidden_nulls(column.flatten())
        return pa.ListArray.from_arrays(
            offsets_of(fill_null(column.value_lengths(), 0)), values, type=t, mask=null_mask(column)
        )
    valid = column.is_valid()
    children = []
    for child, field in zip(column.flatten(), t, strict=True):
        if not field.nullable and child.null_count:
            child = _with_value_where_hidden(child, pc.or_(child.is_valid(), valid))
        children.append(without_hidden_nulls(child))
    return pa.StructArray.from_arrays(children, fields=list(t), mask=null_mask(column))


def _has_not_null_field(t: pa.DataType) -> bool:
    """Whether the type contains a field that is not nullable. The key of a map counts."""
    if pa.types.is_struct(t):
        return any(not f.nullable or _has_not_null_field(f.type) for f in t)
    if pa.types.is_map(t):
        return _has_not_null_field(t.key_type) or _has_not_null_field(t.item_type)
    return pa.types.is_list(t) and _has_not_null_field(t.value_type)


def _with_value_where_hidden(column: pa.Array, mask: pa.Array) -> pa.Array:
    """An arbitrary value of the type where `mask` is false; otherwise the column's value or NULL."""
    t = column.type
    if pa.types.is_struct(t):
        children = [
            _with_value_where_hidden(c, mask) if not f.nullable else c for c, f in zip(column.flatten(), t, strict=True)
        ]
        nulls = pc.and_(mask, column.is_null())
        return pa.StructArray.from_arrays(children, fields=list(t), mask=nulls)
    if pa.types.is_nested(t):
        return pc.if_else(mask, column, pa.array([[]], t)[0])
    zero = pa.Array.from_buffers(t, 1, [None, *[pa.py_buffer(bytes(16))] * (column.type.num_buffers - 1)])
    return pc.if_else(mask, column, zero[0])


def split_lists(column: pa.Array, lengths: list[int | None], flat: list[Any]) -> list[Any]:
    """The values of each list, from the concatenated values; None where the list is NULL."""
    out: list[Any] = []
    at = 0
    for length, valid in zip(lengths, column.is_valid().to_pylist(), strict=True):
        out.append(flat[at : at + (length or 0)] if valid else None)
        at += length or 0
    return out


def _variant_array(column: pa.StructArray, target: pa.DataType) -> pa.StructArray:
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    _check_fits(pa.types.is_struct(column.type), column, Atomic("VARIANT"))
    if column.type.get_field_index("typed_value") >= 0:
        from paimon_nb.format.data.variant_shredding import unshred

        return unshred(column)
    parts = [_struct_child(column, name).cast(pa.binary()) for name in _VARIANT]
    return pa.StructArray.from_arrays(parts, fields=list(target), mask=null_mask(column))


def _check_fits(fits: bool, column: pa.Array, t: DataType) -> None:
    if not fits:
        raise TypeError(f"it stores {column.type} where {t.bare()} is expected")


def _struct_child(column: pa.StructArray, name: str) -> pa.Array:
    index = column.type.get_field_index(name)
    if index < 0:
        raise KeyError(f"nested field {name!r} is not in the file")
    return column.flatten()[index]


def _mask_array(column: pa.Array) -> np.ndarray:
    mask: np.ndarray = to_numpy(pc.is_null(column))
    return mask


_UNIT_DIGITS = {"ms": 3, "us": 6, "ns": 9}
_UNFIT = (pa.ArrowException, ValueError, TypeError, OverflowError)


def cast_to_schema(rows: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """`rows` with exactly the columns of `fields`, in their order and logical types.

    Numbers change their type if the value stays the same (a DOUBLE may be rounded to a FLOAT), and times their unit.
    Strings are not parsed, and no value is converted to a string. CHAR is padded.

    Raises:
        ColumnNotFound: an unknown column. SchemaMismatch: a missing column, or a value that does not fit the type.
        NullNotAllowed: NULL in a NOT NULL column, or nested in one. Facts: `column`, `row`, `value`.
    """
    names = [f.name for f in fields]
    if len(set(rows.column_names)) != len(rows.column_names):
        raise SchemaMismatch("two columns of the rows have the same name", hint="rename one of them")
    for name in rows.column_names:
        if name not in names:
            hint = did_you_mean(name, names) or f"columns: {', '.join(names)}"
            raise ColumnNotFound(f"the table has no column {name!r}", hint=hint, column=name)
    for name in names:
        if name not in rows.column_names:
            raise SchemaMismatch(f"column {name!r} is missing", hint="add the column, or define a default", column=name)
    columns = [_cast_column(rows.column(f.name), f) for f in fields]
    return pa.Table.from_arrays(columns, schema=arrow_schema(fields, nullable=True))


def without_char_padding(fields: Sequence[DataField]) -> tuple[DataField, ...]:
    """Fields for `cast_to_schema` that do not pad texts of CHAR columns."""
    return tuple(replace(f, type=_char_as_varchar(f.type)) for f in fields)


def _char_as_varchar(t: DataType) -> DataType:
    match t:
        case Char():
            return VarChar(t.length, t.nullable)
        case Array() | Multiset():
            return replace(t, element=_char_as_varchar(t.element))
        case Map():
            return replace(t, key=_char_as_varchar(t.key), value=_char_as_varchar(t.value))
        case Row():
            return replace(t, fields=without_char_padding(t.fields))
    return t


def _cast_column(column: pa.ChunkedArray, field: DataField) -> pa.ChunkedArray:
    target = arrow_type(field.type)
    try:
        out = pa.chunked_array([_cast_array_without_loss(chunk, field.type) for chunk in column.chunks], type=target)
    except _UNFIT as error:
        row, why = _first_refused_value(column, field.type, error)
        value = column[row].as_py() if _is_displayable(column.type) else column[row]
        raise SchemaMismatch(
            f"column {field.name!r}, row {row}: {_display_value(value)!r} ({column.type}) cannot be stored as"
            f" {field.type.bare()}: {why}", hint="cast the column, or filter such rows",
            column=field.name, row=row, value=value, found=str(column.type), expected=str(field.type),
        ) from None  # fmt: skip
    start = 0
    for chunk in out.chunks:
        row_in_chunk = _first_null(chunk, field.type)
        if row_in_chunk is not None:
            row = start + row_in_chunk
            inside = "" if not column[row].is_valid else " inside of it"
            raise NullNotAllowed(
                f"column {field.name!r} is {'NOT NULL' if not inside else str(field.type)}, but row {row} has NULL{inside}",
                hint="filter such rows, or set a value", column=field.name, row=row, value=None,
            )  # fmt: skip
        start += len(chunk)
    return out


def _first_refused_value(column: pa.ChunkedArray, t: DataType, error: Exception) -> tuple[int, str]:
    """The first row that does not pass, by binary search: a prefix passes if it does not contain that row."""
    low, high = 0, len(column)  # the first `low` rows pass, the first `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        try:
            for chunk in column.slice(low, middle - low).chunks:
                _cast_array_without_loss(chunk, t)
            low = middle
        except _UNFIT as found:
            high, error = middle, found
    return low, str(error).partition("\n")[0][:120]


def _is_displayable(t: pa.DataType) -> bool:
    # Python's datetime has no nanoseconds and no year 10000; Arrow's scalar can be printed for all of them.
    return not pa.types.is_timestamp(t)


def _display_value(value: object) -> str:
    try:
        return str(value)[:60]
    except (OverflowError, ValueError):  # a timestamp outside Python's range of years
        return str(getattr(value, "value", type(value).__name__))


# -- one array of any nesting


def _cast_array_without_loss(array: pa.Array, t: DataType) -> pa.Array:
    target = arrow_type(t)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), target)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pa.types.is_dictionary(array.type):
        array = _dictionary_decoded(array)
    match t:
        case Row():
            return _cast_struct(array, [(f.name, f.type) for f in t.fields], target)
        case Vector():
            return _cast_vector(array, t)
        case Array():
            return _cast_list(array, t, target)
        case Map():
            return _cast_map(array, t.key, t.value, target)
        case Multiset():
            return _cast_map(array, t.element, _COUNT, target)
    if t.root == "VARIANT":
        return _cast_struct(array, [("value", VarBinary()), ("metadata", VarBinary())], target)
    if array.type != target:
        array = _cast_leaf(array, t, target)
    return _pad_and_check_length(array, t)


def _dictionary_decoded(array: pa.DictionaryArray) -> pa.Array:
    if pa.types.is_string_view(array.dictionary.type):  # Arrow has no views by position
        array = pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(pa.large_string()))
    return array.dictionary_decode()


def _cast_struct(array: pa.Array, fields: Sequence[tuple[str, DataType]], target: pa.DataType) -> pa.Array:
    if not pa.types.is_struct(array.type):
        raise TypeError("it is not a row")
    by_name = dict(zip((f.name for f in array.type), array.flatten(), strict=True))
    if by_name.keys() != {name for name, _ in fields}:
        raise TypeError(f"its fields are {', '.join(by_name)}")
    children = [_cast_array_without_loss(by_name[name], t) for name, t in fields]
    return pa.StructArray.from_arrays(children, fields=list(target), mask=null_mask(array))


def _cast_list(array: pa.Array, t: Array, target: pa.DataType) -> pa.Array:
    types = pa.types
    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    if not any(fits(array.type) for fits in kinds):
        raise TypeError("it is not an array")
    lengths = pc.if_else(array.is_valid(), pc.list_value_length(array), 0).cast(pa.int32())
    values = _cast_array_without_loss(array.flatten(), t.element)
    return pa.ListArray.from_arrays(offsets_of(lengths), values, type=target, mask=null_mask(array))


def _cast_vector(array: pa.Array, t: Vector) -> pa.Array:
    lists = _cast_list(array, t, arrow_type(Array(t.element)))
    if lists.flatten().null_count:
        raise ValueError("an element of the vector is NULL")
    return fixed_size_lists_of(lists, arrow_type(t))


def _cast_map(array: pa.Array, key: DataType, value: DataType, target: pa.DataType) -> pa.Array:
    if (
        pa.types.is_list(array.type)
        and pa.types.is_struct(array.type.value_type)
        and array.type.value_type.num_fields == 2
    ):
        entries = array.flatten()  # pairs, as some writers give maps
        keys, items = entries.flatten()
        offsets = offsets_of(fill_null(array.value_lengths(), 0))
    elif pa.types.is_map(array.type):
        offsets, keys, items = offsets_keys_and_items(array)
    else:
        raise TypeError("it is not a map")
    if keys.null_count:
        raise ValueError("a map's key is NULL")
    return pa.MapArray.from_arrays(
        offsets,
        _cast_array_without_loss(keys, key),
        _cast_array_without_loss(items, value),
        type=target,
        mask=null_mask(array),
    )


def _cast_leaf(array: pa.Array, t: DataType, target: pa.DataType) -> pa.Array:
    source, types = array.type, pa.types
    text = types.is_string(source) or types.is_large_string(source) or types.is_string_view(source)
    if types.is_string(target) and not text:
        raise TypeError("it is not a string")
    if text and not (types.is_string(target) or types.is_binary(target)):
        raise TypeError("strings are not converted to numbers")
    if types.is_boolean(source) != types.is_boolean(target):
        raise TypeError("a boolean is not a number")
    if types.is_timestamp(target) and types.is_timestamp(source) and (source.tz is None) != (target.tz is None):
        # A local time and an instant differ; only the caller can choose a zone for the conversion.
        raise TypeError("one has a time zone, the other has none")
    if types.is_decimal(target):
        return _cast_decimal(array, t, target)
    if types.is_float32(target) and types.is_float64(source):
        narrow = array.cast(target)
        if pc.any(pc.and_(pc.is_inf(narrow), pc.is_finite(array))).as_py():
            raise ValueError("it is too large for a FLOAT")
        return narrow
    return array.cast(target)


def _cast_decimal(array: pa.Array, t: DataType, target: pa.DataType) -> pa.Array:
    assert isinstance(t, Decimal)
    types = pa.types
    if types.is_floating(array.type):
        rounded = pc.round(array.cast(pa.float64()), t.scale)
        if not pc.all(pc.or_kleene(pc.equal(rounded, array), pc.is_null(array))).as_py():
            raise ValueError(f"it has more than {t.scale} decimals, or is not finite")
        return rounded.cast(target)
    if types.is_integer(array.type):
        wide = array.cast(pa.decimal128(20, 0))
        return wide.cast(pa.decimal256(20 + t.scale, t.scale)).cast(target)
    if types.is_decimal(array.type):
        return array.cast(target)
    raise TypeError("it is not a number")


def _pad_and_check_length(array: pa.Array, t: DataType) -> pa.Array:
    """CHAR is padded; strings, bytes and fractions of a second that are longer than the type are rejected."""
    if isinstance(t, Char):
        array = pc.utf8_rpad(array, t.length, " ")
    if isinstance(t, Char | VarChar | Binary | VarBinary) and t.length < 1 << 30:
        lengths = pc.utf8_length(array) if isinstance(t, Char | VarChar) else pc.binary_length(array)
        longest = pc.max(lengths).as_py()
        if longest is not None and longest > t.length:
            raise ValueError(f"its length is {longest}")
    if isinstance(t, Timestamp | LocalZonedTimestamp):
        step = 10 ** (_UNIT_DIGITS[array.type.unit] - t.precision)
        units = to_numpy(fill_null(array.cast(pa.int64()), 0))
        if step > 1 and (units % step).any():
            raise ValueError(f"it has more than {t.precision} fractional digits")
    return array


def _first_null(array: pa.Array, t: DataType) -> int | None:
    """The first row with a NULL that `t` forbids, at any depth."""
    found: list[int] = []
    if not t.nullable and array.null_count:
        found.append(pc.index(array.is_null(), True).as_py())
    match t:
        case Row() if any(_forbids_null(f.type) for f in t.fields):
            there = np.flatnonzero(to_numpy(array.is_valid()))
            rows = array.filter(array.is_valid())
            for child, f in zip(rows.flatten(), t.fields, strict=True):
                row = _first_null(child, f.type)
                if row is not None:
                    found.append(int(there[row]))
        case Array() if _forbids_null(t.element):
            row = _first_null(array.flatten(), t.element)
            if row is not None:
                found.append(_row_of_element(fill_null(pc.list_value_length(array), 0), row))
        case Map() if _forbids_null(t.value):
            offsets, _, items = offsets_keys_and_items(array)
            row = _first_null(items, t.value)
            if row is not None:
                found.append(int(np.searchsorted(to_numpy(offsets), row, side="right")) - 1)
        case Multiset():
            offsets, _, items = offsets_keys_and_items(array)
            row = _first_null(items, _COUNT)
            if row is not None:
                found.append(int(np.searchsorted(to_numpy(offsets), row, side="right")) - 1)
    return min(found, default=None)


def _row_of_element(lengths: pa.Array, position: int) -> int:
    ends = np.cumsum(to_numpy(lengths))
    return int(np.searchsorted(ends, position, side="right"))


def _forbids_null(t: DataType) -> bool:
    """Whether `t` forbids NULL, at any depth."""
    if not t.nullable:
        return True
    match t:
        case Row():
            return any(_forbids_null(f.type) for f in t.fields)
        case Array():
            return _forbids_null(t.element)
        case Map():
            return _forbids_null(t.value)
    return isinstance(t, Multiset)
