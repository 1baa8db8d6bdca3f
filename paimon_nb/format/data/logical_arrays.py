"""Columns as a file gives them to columns as rows live in memory (`format.types.arrow`): same values, our types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.int96 import INT96_ARROW, from_int96
from paimon_nb.format.types import Array, Atomic, DataType, Map, Multiset, Row, arrow_type
from paimon_nb.format.types.arrow_builders import filled, from_numpy, to_numpy

BROKEN = (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError)
"""What Arrow raises for broken bytes."""
_COUNT = Atomic("INT", False)
_VARIANT = ("value", "metadata")


def to_memory(column: pa.Array | pa.ChunkedArray, t: DataType) -> pa.Array | pa.ChunkedArray:
    """`column` with exactly `arrow_type(t)`; struct fields are taken by name.

    Raises:
        pa.ArrowInvalid, KeyError, TypeError: the column is of another kind altogether. UnsupportedFormat: shredded VARIANT.
    """
    target = arrow_type(t)
    if column.type == target:
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([to_memory(c, t) for c in column.chunks], type=target)
    match t:
        case Row():
            _check_fits(pa.types.is_struct(column.type), column, t)
            fields = [to_memory(_struct_child(column, f.name), f.type) for f in t.fields]
            if not fields:
                return pa.array([{}] * len(column), target, mask=_mask_array(column))
            return pa.StructArray.from_arrays(fields, fields=list(target), mask=mask_of(column))
        case Array():
            _check_fits(pa.types.is_list(column.type) or pa.types.is_large_list(column.type), column, t)
            values = to_memory(column.flatten(), t.element)
            lengths = filled(column.value_lengths(), 0).cast(pa.int32())
            return pa.ListArray.from_arrays(running(lengths), values, type=target, mask=mask_of(column))
        case Map() | Multiset():
            if pa.types.is_struct(column.type) and column.type.get_field_index("__field_mapping") >= 0:
                raise UnsupportedFormat(
                    "a MAP in the shared-shredding layout cannot be read here",
                    hint="select the other columns by name; 'fields.<column>.map.storage-layout' = 'default' stores new files plainly",
                    feature="MAP",
                )
            _check_fits(pa.types.is_map(column.type), column, t)
            key, value = (t.key, t.value) if isinstance(t, Map) else (t.element, _COUNT)
            offsets, keys, items = map_parts(column)
            parts = to_memory(keys, key), to_memory(items, value)
            return pa.MapArray.from_arrays(offsets, *parts, type=target, mask=mask_of(column))
    if t.root == "VARIANT":
        return _variant_array(column, target)
    if column.type == INT96_ARROW and pa.types.is_timestamp(target):
        return from_int96(column, target)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_timestamp(column.type) and pa.types.is_timestamp(target) and column.type.tz != target.tz:
        # Same count of units: only the label differs between writers.
        column = column.cast(pa.int64()).cast(pa.timestamp(column.type.unit, target.tz))
    return column.cast(target)


def without_columns(rows: int) -> pa.Table:
    """A table of no columns that still knows how many rows it has."""
    return pa.table({"_": pa.nulls(rows)}).select([])


def mask_of(column: pa.Array) -> pa.Array | None:
    """True where the value is NULL; None when there is no NULL."""
    return column.is_null() if column.null_count else None


def running(lengths: pa.Array) -> pa.Array:
    """Offsets from lengths."""
    out = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(to_numpy(lengths), out=out[1:])
    return from_numpy(out)


def map_parts(column: pa.MapArray) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Offsets from 0, keys and items of the rows that are there."""
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
    return running(from_numpy(lengths.astype(np.int32))), column.keys.take(take), column.items.take(take)


def without_hidden_nulls(column: pa.Array) -> pa.Array:
    """The same values; where a struct is NULL its required fields hold something: Arrow refuses NULL there when it writes."""
    t = column.type
    if not _has_required(t):
        return column
    if pa.types.is_map(t):
        offsets, keys, items = map_parts(column)
        parts = without_hidden_nulls(keys), without_hidden_nulls(items)
        return pa.MapArray.from_arrays(offsets, *parts, type=t, mask=mask_of(column))
    if pa.types.is_list(t):
        values = without_hidden_nulls(column.flatten())
        return pa.ListArray.from_arrays(
            running(filled(column.value_lengths(), 0)), values, type=t, mask=mask_of(column)
        )
    valid = column.is_valid()
    children = []
    for child, field in zip(column.flatten(), t, strict=True):
        if not field.nullable and child.null_count:
            child = _with_values(child, pc.or_(child.is_valid(), valid))
        children.append(without_hidden_nulls(child))
    return pa.StructArray.from_arrays(children, fields=list(t), mask=mask_of(column))


def _has_required(t: pa.DataType) -> bool:
    """Whether a struct in the type has a field that is not nullable. A map's key is one by itself."""
    if pa.types.is_struct(t):
        return any(not f.nullable or _has_required(f.type) for f in t)
    if pa.types.is_map(t):
        return _has_required(t.key_type) or _has_required(t.item_type)
    return pa.types.is_list(t) and _has_required(t.value_type)


def _with_values(column: pa.Array, mask: pa.Array) -> pa.Array:
    """Some value of the type where `mask` is false; elsewhere the column's own, NULL included."""
    t = column.type
    if pa.types.is_struct(t):
        children = [_with_values(c, mask) if not f.nullable else c for c, f in zip(column.flatten(), t, strict=True)]
        nulls = pc.and_(mask, column.is_null())
        return pa.StructArray.from_arrays(children, fields=list(t), mask=nulls)
    if pa.types.is_nested(t):
        return pc.if_else(mask, column, pa.array([[]], t)[0])
    zero = pa.Array.from_buffers(t, 1, [None, *[pa.py_buffer(bytes(16))] * (column.type.num_buffers - 1)])
    return pc.if_else(mask, column, zero[0])


def split_lists(column: pa.Array, lengths: list[int | None], flat: list[Any]) -> list[Any]:
    """The values of each list, out of all in a row; None where the list is NULL."""
    out: list[Any] = []
    at = 0
    for length, valid in zip(lengths, column.is_valid().to_pylist(), strict=True):
        out.append(flat[at : at + (length or 0)] if valid else None)
        at += length or 0
    return out


def _variant_array(column: pa.StructArray, target: pa.DataType) -> pa.StructArray:
    _check_fits(pa.types.is_struct(column.type), column, Atomic("VARIANT"))
    if column.type.get_field_index("typed_value") >= 0:
        raise UnsupportedFormat(
            "a shredded VARIANT cannot be read here", hint="write it with 'variant.shreddingSchema' unset", feature="VARIANT"
        )  # fmt: skip
    parts = [_struct_child(column, name).cast(pa.binary()) for name in _VARIANT]
    return pa.StructArray.from_arrays(parts, fields=list(target), mask=mask_of(column))


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
