"""Columns as a file gives them to columns as rows live in memory (`format.types.arrow`): same values, our types."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.types import Array, DataType, Map, Multiset, Row, arrow_type


def to_memory(column: pa.Array | pa.ChunkedArray, t: DataType) -> pa.Array | pa.ChunkedArray:
    """`column` with exactly `arrow_type(t)`; struct fields are taken by name.

    Raises:
        pa.ArrowInvalid, KeyError: the column is of another kind altogether.
    """
    wanted = arrow_type(t)
    if column.type == wanted and _same_nullability(column.type, wanted):
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([to_memory(c, t) for c in column.chunks], type=wanted)
    match t:
        case Row():
            fields = [_child(column, f.name, f.type) for f in t.fields]
            return pa.StructArray.from_arrays(fields, fields=list(wanted), mask=_mask(column))
        case Array():
            column = _plain(column)
            values = to_memory(column.flatten() if column.offset or _gaps(column) else column.values, t.element)
            return pa.ListArray.from_arrays(_offsets(column), values, type=wanted, mask=_mask(column))
        case Map() | Multiset():
            key, value = (t.key, t.value) if isinstance(t, Map) else (t.element, None)
            entries = _plain(column)
            offsets, keys, items = _map_parts(entries)
            from paimon_nb.format.types import Atomic

            keys, items = to_memory(keys, key), to_memory(items, value or Atomic("INT", False))
            out = pa.MapArray.from_arrays(offsets, keys, items, type=wanted)
            return pc.if_else(_valid(column), out, pa.scalar(None, wanted)) if column.null_count else out
    if t.root == "VARIANT":
        return pa.StructArray.from_arrays(
            [pc.cast(pc.struct_field(column, n), pa.binary()) for n in ("value", "metadata")],
            fields=list(wanted), mask=_mask(column),
        )  # fmt: skip
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if (
        pa.types.is_timestamp(column.type)
        and pa.types.is_timestamp(wanted)
        and (column.type.tz is None) != (wanted.tz is None)
    ):
        # Same count of units: only the label differs between writers.
        column = column.cast(pa.int64()).cast(pa.timestamp(column.type.unit, wanted.tz))
    return column.cast(wanted)


def _same_nullability(a: pa.DataType, b: pa.DataType) -> bool:
    """Arrow's type equality looks at child fields' nullability; primitive types have none."""
    return bool(a.equals(b))


def _child(column: pa.StructArray, name: str, t: DataType) -> pa.Array:
    index = column.type.get_field_index(name)
    if index < 0:
        raise KeyError(f"nested field {name!r} is not in the file")
    return to_memory(column.field(index), t)


def _mask(column: pa.Array) -> pa.Array | None:
    return column.is_null() if column.null_count else None


def _valid(column: pa.Array) -> pa.Array:
    return column.is_valid()


def _plain(column: pa.Array) -> pa.Array:
    """A list or map array that starts at offset 0 and has 32-bit offsets."""
    if column.offset:
        column = pa.concat_arrays([column])
        if column.offset:
            column = column.take(pa.array(range(len(column)), pa.int64()))
    if pa.types.is_large_list(column.type):
        column = column.cast(pa.list_(column.type.value_field))
    return column


def _gaps(column: pa.Array) -> bool:
    """Whether child values lie between or before the listed ones."""
    if len(column) == 0:
        return True
    if column.null_count:
        return True
    return column.offsets[0].as_py() != 0 or column.offsets[-1].as_py() != len(column.values)


def _offsets(column: pa.Array) -> pa.Array:
    """Offsets into `flatten()`-ed values: null lists take no room."""
    lengths = pc.fill_null(pc.list_value_length(column), 0).cast(pa.int32())
    return _running(lengths)


def _running(lengths: pa.Array) -> pa.Array:
    import numpy as np

    out = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths.to_numpy(zero_copy_only=False), out=out[1:])
    return pa.array(out)


def _map_parts(column: pa.MapArray) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Offsets from 0, keys and items of the rows that are there."""
    import numpy as np

    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1] if len(column) else np.zeros(1, np.int32)  # fmt: skip
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    lengths = np.where(valid, np.diff(offsets), 0)
    rows = np.repeat(offsets[:-1] - np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else [], lengths)
    take = pa.array((rows + np.arange(len(rows))).astype(np.int64))
    keys, items = column.keys, column.items
    return _running(pa.array(lengths.astype(np.int32))), keys.take(take), items.take(take)
