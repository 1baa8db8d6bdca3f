"""Minimum, maximum and null count of a column over many files, as Arrow columns; decides nothing.

Statistics lie in serialized rows, one a file. Fixed-size columns are cut out of all rows at once with NumPy.
Source: format reference, sections 6 and 7.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import FormatError
from paimon_nb.format.data import TRACKING_FIELDS
from paimon_nb.format.manifest import DataFile, SimpleStats
from paimon_nb.format.row import deserialize
from paimon_nb.format.row.values import to_arrow_value
from paimon_nb.format.schema import TableSchema
from paimon_nb.format.types import DataField, DataType, Decimal, LocalZonedTimestamp, Timestamp, arrow_type

_WIDTH = {"BOOLEAN": "<i1", "TINYINT": "<i1", "SMALLINT": "<i2", "INT": "<i4", "DATE": "<i4", "TIME": "<i4", "BIGINT": "<i8", "FLOAT": "<f4", "DOUBLE": "<f8"}  # fmt: skip
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")


@dataclass(frozen=True, slots=True)
class Bounds:
    """One column over n files; null = not known (or, for min and max, that all values are NULL)."""

    low: pa.Array
    high: pa.Array
    nulls: pa.Array
    """int64."""
    rows: pa.Array
    """int64, never null."""


def column_bounds(
    files: Sequence[DataFile], field: DataField, schema_of: Callable[[int], TableSchema], *, keys: bool = False
) -> Bounds:
    """What the files' statistics say about a column of the present schema.

    Args:
        keys: look into the key statistics (over the trimmed primary key) instead of the value statistics.
    """
    size = len(files)
    want = arrow_type(field.type)
    parts: list[tuple[np.ndarray, Bounds]] = []
    for place, members in _groups(files, field, schema_of, keys).items():
        chosen = [files[i] for i in members]
        parts.append((np.asarray(members), _decode(chosen, place, want, keys)))
    if len(parts) == 1 and len(parts[0][0]) == size:
        return parts[0][1]
    order = (
        pa.array(np.argsort(np.concatenate([m for m, _ in parts]), kind="stable"))
        if parts
        else pa.array([], pa.int64())
    )
    return Bounds(*(pa.concat_arrays([getattr(b, n) for _, b in parts]).take(order) for n in Bounds.__slots__))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a file's statistics hold the column."""

    types: tuple[DataType, ...]
    index: int
    usable: bool
    absent: bool
    """The file was written before the column was there: all NULL."""


def _groups(
    files: Sequence[DataFile], field: DataField, schema_of: Callable[[int], TableSchema], keys: bool
) -> dict[_Place, list[int]]:
    forms: dict[tuple[int, tuple[str, ...] | None], list[int]] = {}
    for i, file in enumerate(files):
        forms.setdefault((file.schema_id, None if keys else file.stats_cols), []).append(i)
    out: dict[_Place, list[int]] = {}
    for (schema_id, listed), members in forms.items():
        out.setdefault(_place(schema_of(schema_id), listed, field, keys), []).extend(members)
    # Files of several schemas may share a place; their bounds must come back in the order of the files.
    return {place: sorted(members) for place, members in out.items()}


def _place(schema: TableSchema, listed: tuple[str, ...] | None, field: DataField, keys: bool) -> _Place:
    fields = schema.key_fields if keys else schema.fields
    if all(f.id != field.id for f in schema.fields):
        return _Place((), 0, False, True)
    kept = list(fields) if listed is None else [f for f in (*fields, *TRACKING_FIELDS) if f.name in listed]
    if listed is not None:
        kept.sort(key=lambda f: listed.index(f.name))
    at = next((i for i, f in enumerate(kept) if f.id == field.id), None)
    if at is None or not _same_order(kept[at].type, field.type):
        return _Place((), 0, False, False)
    return _Place(tuple(f.type for f in kept), at, True, False)


def _same_order(old: DataType, new: DataType) -> bool:
    """Whether old values, cast, keep their order and are all kept: only then do old bounds bound the new values."""
    if old.with_nullable(True) == new.with_nullable(True):
        return True
    if old.root in _INTEGERS and new.root in _INTEGERS:
        return _INTEGERS.index(old.root) <= _INTEGERS.index(new.root)
    return old.root == "FLOAT" and new.root == "DOUBLE"


def _decode(files: list[DataFile], place: _Place, want: pa.DataType, keys: bool) -> Bounds:
    rows = pa.array([f.row_count for f in files], pa.int64())
    nothing = pa.nulls(len(files), want)
    if place.absent:
        return Bounds(nothing, nothing, rows, rows)
    if not place.usable:
        return Bounds(nothing, nothing, pa.nulls(len(files), pa.int64()), rows)
    stats = [f.key_stats if keys else f.value_stats for f in files]
    nulls = pa.array([_null_count(s, place.index) for s in stats], pa.int64())
    low = stats_column([s.min_values for s in stats], place.types, place.index)
    high = stats_column([s.max_values for s in stats], place.types, place.index)
    return Bounds(low.cast(want), high.cast(want), nulls, rows)


def _null_count(stats: SimpleStats, index: int) -> int | None:
    counts = stats.null_counts
    return counts[index] if counts is not None and index < len(counts) else None


def stats_column(rows: Sequence[bytes], types: Sequence[DataType], index: int) -> pa.Array:
    """Column `index` of serialized rows of `types`, as `arrow_type`; null where a row has no such columns."""
    t = types[index]
    arity = struct.pack(">i", len(types))
    usable = [r[:4] == arity and len(r) >= 12 for r in rows]
    if not all(usable):
        found = stats_column([r for r, ok in zip(rows, usable, strict=True) if ok], types, index)
        places = np.cumsum(usable) - 1
        return found.take(pa.array(places, mask=~np.asarray(usable, dtype=bool)))
    if not rows:
        return pa.array([], arrow_type(t))
    slots = _slots(rows, len(types), index)
    if slots is None:
        raise FormatError("statistics rows are too short", hint="the manifest is broken; read an earlier snapshot")
    values, null = slots
    if t.root in _WIDTH:
        narrow = np.ascontiguousarray(values).view(_WIDTH[t.root])[:: 8 // np.dtype(_WIDTH[t.root]).itemsize]
        plain = narrow.astype(bool) if t.root == "BOOLEAN" else narrow
        column = pa.array(plain, mask=null)
        return column.view(arrow_type(t)) if t.root in ("DATE", "TIME") else column
    if isinstance(t, Timestamp | LocalZonedTimestamp) and t.precision <= 3:
        return pa.array(values, mask=null).view(arrow_type(t))
    if isinstance(t, Decimal) and t.precision <= 18:
        wide = np.stack([values, values >> 63], axis=1)
        flags = pa.array(~null).buffers()[1]
        return pa.Decimal128Array.from_buffers(arrow_type(t), len(values), [flags, pa.py_buffer(wide.tobytes())])
    if t.root in ("CHAR", "VARCHAR", "BINARY", "VARBINARY"):
        return _texts(rows, values, null, t)
    decoded = [deserialize(types, row)[index] for row in rows]
    return pa.array([to_arrow_value(t, v) for v in decoded], arrow_type(t))


def _slots(rows: Sequence[bytes], arity: int, index: int) -> tuple[np.ndarray, np.ndarray] | None:
    """(8-byte slots as int64, null flags) of one column of all rows."""
    null_bytes = (arity + 63 + 8) // 64 * 8
    at = 4 + null_bytes + 8 * index
    lengths = np.fromiter((len(r) for r in rows), np.int64, len(rows))
    if lengths.min() < at + 8:
        return None
    data = np.frombuffer(b"".join(rows), np.uint8)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    slots = data[starts[:, None] + np.arange(at, at + 8)].copy().view("<i8").reshape(-1)
    bit = index + 8
    null = (data[starts + 4 + (bit >> 3)] >> (bit & 7)) & 1
    return slots, null.astype(bool)


def _texts(rows: Sequence[bytes], slots: np.ndarray, null: np.ndarray, t: DataType) -> pa.Array:
    out: list[bytes | None] = []
    for row, slot, missing in zip(rows, slots.tolist(), null.tolist(), strict=True):
        if missing:
            out.append(None)
            continue
        word = slot & 0xFFFFFFFFFFFFFFFF
        mark = word >> 56
        if mark & 0x80:
            out.append(word.to_bytes(8, "little")[: mark & 0x7F])
        else:
            start, size = 4 + (word >> 32), word & 0xFFFFFFFF
            if start + size > len(row):
                raise FormatError("a statistics value lies outside its row", hint="read an earlier snapshot")
            out.append(row[start : start + size])
    return pa.array(out, pa.binary()).cast(arrow_type(t))
