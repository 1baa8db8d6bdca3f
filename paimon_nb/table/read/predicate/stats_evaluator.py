"""Whether a file may hold matching rows, from its statistics; one answer per file, all files at once.

The answer is conservative: False means that surely no row matches. Knows no manifests.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import FormatError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import TRACKING_FIELDS
from paimon_nb.format.manifest import STATS_COLS, Entries, null_counts
from paimon_nb.format.row import deserialize, to_scalar
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.types import Char, DataField, DataType, Decimal, LocalZonedTimestamp, Timestamp, arrow_type
from paimon_nb.format.types.arrow_builders import arrow_column as column_of
from paimon_nb.format.types.arrow_builders import fill_null, from_numpy, scalar, sorted_unique
from paimon_nb.table.read.predicate.evaluate import like_prefix, padded
from paimon_nb.table.read.predicate.key_rows import ranges_with_values
from paimon_nb.table.read.predicate.model import (
    And,
    Compare,
    Computed,
    Constant,
    In,
    IsNotNull,
    IsNull,
    Known,
    Leaf,
    Like,
    Not,
    Or,
    Predicate,
    RowIn,
    StartsWith,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.format.schema import TableSchema


def may_match(
    predicate: Predicate, size: int, bounds: Callable[[str], Bounds | None], type_of: Callable[[str], DataType]
) -> pa.Array:
    """One boolean per file, never null.

    Args:
        predicate: bound. size: number of files. bounds: of a column, None if unknown.
    """
    match predicate:
        case And(parts):
            return reduce(pc.and_, (may_match(p, size, bounds, type_of) for p in parts), _constant_answer(size, True))
        case Or(parts):
            return reduce(pc.or_, (may_match(p, size, bounds, type_of) for p in parts), _constant_answer(size, False))
        case Constant(value):
            return _constant_answer(size, value is True)
        case Not(part):
            found = bounds(part.column) if isinstance(part, Leaf) else None
            return _constant_answer(size, True) if found is None else _some_value(found)
        case Leaf(column):
            found = bounds(column)
            return (
                _constant_answer(size, True)
                if found is None
                else _unknown_as_match(_leaf_may_match(predicate, found, type_of(column)))
            )
        case RowIn(names, rows):
            found = bounds(names[0])
            return _constant_answer(size, True) if found is None else _rows_may_match(found, type_of(names[0]), rows)
        case Computed():
            return _constant_answer(size, True)
    raise TypeError(f"unknown predicate {predicate!r}")


def _leaf_may_match(leaf: Leaf, b: Bounds, t: DataType) -> Any:
    if isinstance(t, Char):
        b = replace(b, high=_char_high(b.high, t))
    match leaf:
        case IsNull():
            return pc.greater(b.nulls, 0)
        case IsNotNull():
            return _some_value(b)
        case Known(_, value):
            return _some_value(b) if value else _constant_answer(len(b.rows), False)
        case Compare(_, op, literal):
            return pc.and_(_some_value(b), _unknown_as_match(_comparison_may_match(b, t, op, literal)))
        case In(_, literals):
            hits: Sequence[Any] = [_unknown_as_match(_comparison_may_match(b, t, "=", v)) for v in literals]
            return pc.and_(_some_value(b), reduce(pc.or_, hits, _constant_answer(len(b.rows), False)))
        case StartsWith(_, prefix):
            return pc.and_(_some_value(b), _unknown_as_match(_prefix_may_match(b, prefix)))
        case Like(_, pattern):
            return pc.and_(_some_value(b), _unknown_as_match(_prefix_may_match(b, like_prefix(pattern)[0])))
    raise TypeError(f"unknown predicate {leaf!r}")


def _rows_may_match(b: Bounds, t: DataType, rows: pa.Table) -> Any:
    """Whether the first column of sorted rows may have values of a file."""
    values = rows.column(0)
    if isinstance(t, Char) or t.root == "BOOLEAN" or not len(values):
        return _constant_answer(len(b.rows), len(values) > 0)
    return from_numpy(ranges_with_values(values.cast(b.low.type), b.low, b.high))


def _char_high(high: Any, t: Char) -> Any:
    """An upper bound of padded CHAR(n) values, from a bound of values that may be stored unpadded."""
    # 'a\x1f' < 'a ' although 'a' < 'a\x1f': after a character below the space the rest of the bound is useless.
    spaces = padded(pc.replace_substring_regex(high, r"(?s)[\x00-\x1f].*", ""), t)
    return pc.if_else(pc.greater(spaces, high), spaces, high)


def _comparison_may_match(b: Bounds, t: DataType, op: str, literal: Any) -> Any:
    if t.root in ("FLOAT", "DOUBLE"):
        return _compare_floats(b, op, literal)
    low, high = b.low, b.high
    value = to_scalar(t, literal)
    if t.root == "BOOLEAN":
        low, high, value = low.cast(pa.int8()), high.cast(pa.int8()), scalar(int(literal), pa.int8())
    match op:
        case "=":
            return pc.and_(
                _unknown_as_match(pc.less_equal(low, value)), _unknown_as_match(pc.greater_equal(high, value))
            )
        case "<>":
            return pc.invert(pc.and_kleene(pc.equal(low, value), pc.equal(high, value)))
        case "<":
            return pc.less(low, value)
        case "<=":
            return pc.less_equal(low, value)
        case ">":
            return pc.greater(high, value)
    return pc.greater_equal(high, value)


def _compare_floats(b: Bounds, op: str, literal: float) -> Any:
    # Statistics ignore NaN, which is larger than every number: no upper bound is certain.
    low = b.low.cast(pa.float64())
    low = pc.if_else(pc.is_nan(low), scalar(None, pa.float64()), low)
    value = scalar(literal, pa.float64())
    if literal != literal or op in ("<>", ">", ">="):
        return _constant_answer(len(b.rows), True)
    if op == "<":
        return pc.less(low, value)
    if op == "<=":
        return pc.less_equal(low, value)
    high = b.high.cast(pa.float64())
    high = pc.if_else(pc.is_nan(high), scalar(None, pa.float64()), high)
    return pc.and_(_unknown_as_match(pc.less_equal(low, value)), _unknown_as_match(pc.greater_equal(high, value)))


def _prefix_may_match(b: Bounds, prefix: str) -> Any:
    if not prefix:
        return _constant_answer(len(b.rows), True)
    value = scalar(prefix, b.low.type)
    # The upper bound may be a truncated and incremented prefix; it is still above every value.
    below = pc.or_(_unknown_as_match(pc.less_equal(b.low, value)), _unknown_as_match(pc.starts_with(b.low, prefix)))
    return pc.and_(below, _unknown_as_match(pc.greater_equal(b.high, value)))


def _some_value(b: Bounds) -> Any:
    return _unknown_as_match(pc.less(b.nulls, b.rows))


def _unknown_as_match(answer: Any) -> Any:
    """Unknown counts as a possible match."""
    return fill_null(answer, True)


def _constant_answer(size: int, value: bool) -> pa.Array:
    return pa.repeat(scalar(value, pa.bool_()), size)


_WIDTH = {"BOOLEAN": "<i1", "TINYINT": "<i1", "SMALLINT": "<i2", "INT": "<i4", "DATE": "<i4", "TIME": "<i4", "BIGINT": "<i8", "FLOAT": "<f4", "DOUBLE": "<f8"}  # fmt: skip
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")


@dataclass(frozen=True, slots=True)
class Bounds:
    """One column over n files; null = unknown (or, for min and max, that all values are NULL)."""

    low: pa.Array
    high: pa.Array
    nulls: pa.Array
    """int64."""
    rows: pa.Array
    """int64, never null."""


def column_bounds(
    files: Entries, field: DataField, schema_of: Callable[[int], TableSchema], *, keys: bool = False
) -> Bounds:
    """The files' statistics of a column of the current schema.

    Args:
        keys: look into the key statistics (over the trimmed primary key) instead of the value statistics.
    """
    size = len(files)
    want = arrow_type(field.type)
    parts: list[tuple[np.ndarray, Bounds]] = []
    for source, members in _files_by_stats_column(files, field, schema_of, keys).items():
        parts.append((np.flatnonzero(members), _decode_bounds(files.filter(members), source, want, keys)))
    if len(parts) == 1 and len(parts[0][0]) == size:
        return parts[0][1]
    order = (
        from_numpy(np.argsort(np.concatenate([m for m, _ in parts]), kind="stable"))
        if parts
        else pa.nulls(0, pa.int64())
    )
    return Bounds(*(pa.concat_arrays([getattr(b, n) for _, b in parts]).take(order) for n in Bounds.__slots__))


@dataclass(frozen=True, slots=True)
class _StatsColumn:
    """Where a file's statistics hold the column."""

    types: tuple[DataType, ...]
    index: int
    usable: bool
    absent: bool
    """The file was written before the column was added: all NULL."""


def _files_by_stats_column(
    files: Entries, field: DataField, schema_of: Callable[[int], TableSchema], keys: bool
) -> dict[_StatsColumn, np.ndarray]:
    """Which files store the column at which position: a boolean per file."""
    schemas = files.column("schema_id")
    listed = np.zeros(len(files), np.int64)
    forms: list[tuple[str, ...] | None] = [None]
    if not keys:
        seen: dict[tuple[str, ...] | None, int] = {}
        listed = np.array([seen.setdefault(c, len(seen)) for c in files.column(STATS_COLS)], np.int64)
        forms = list(seen)
    out: dict[_StatsColumn, np.ndarray] = {}
    for schema_id in sorted_unique(schemas).tolist():
        for form in sorted_unique(listed[schemas == schema_id]).tolist():
            source = _stats_column(schema_of(schema_id), forms[form], field, keys)
            members = (schemas == schema_id) & (listed == form)
            out[source] = out[source] | members if source in out else members
    return out


def _stats_column(schema: TableSchema, listed: tuple[str, ...] | None, field: DataField, keys: bool) -> _StatsColumn:
    fields = schema.key_fields if keys else schema.fields
    if all(f.id != field.id for f in schema.fields):
        return _StatsColumn((), 0, False, True)
    stored = list(fields) if listed is None else [f for f in (*fields, *TRACKING_FIELDS) if f.name in listed]
    if listed is not None:
        stored.sort(key=lambda f: listed.index(f.name))
    at = next((i for i, f in enumerate(stored) if f.id == field.id), None)
    if at is None or not _same_order(stored[at].type, field.type):
        return _StatsColumn((), 0, False, False)
    return _StatsColumn(tuple(f.type for f in stored), at, True, False)


def _same_order(old: DataType, new: DataType) -> bool:
    """Whether cast old values keep their order and none is lost: only then do old bounds hold for the new values."""
    if old.with_nullable(True) == new.with_nullable(True):
        return True
    if old.root in _INTEGERS and new.root in _INTEGERS:
        return _INTEGERS.index(old.root) <= _INTEGERS.index(new.root)
    return old.root == "FLOAT" and new.root == "DOUBLE"


def _decode_bounds(files: Entries, source: _StatsColumn, want: pa.DataType, keys: bool) -> Bounds:
    rows = from_numpy(files.column("row_count"))
    nothing = pa.nulls(len(files), want)
    if source.absent:
        return Bounds(nothing, nothing, rows, rows)
    if not source.usable:
        return Bounds(nothing, nothing, pa.nulls(len(files), pa.int64()), rows)
    low, high = (files.column(n) for n in (("key_low", "key_high") if keys else ("value_low", "value_high")))
    return Bounds(
        stats_column(low, source.types, source.index).cast(want),
        stats_column(high, source.types, source.index).cast(want),
        files.column(null_counts(keys, source.index)),
        rows,
    )


def stats_column(rows: pa.Array, types: Sequence[DataType], index: int) -> pa.Array:
    """Column `index` of serialized rows of `types`, as `arrow_type`; null if a row has no such column.

    Args:
        rows: large_binary, none null.
    """
    t = types[index]
    starts, lengths, data = _row_ranges(rows)
    usable = lengths >= 12
    first = np.where(usable, starts, 0)
    for i, byte in enumerate(struct.pack(">i", len(types))):
        usable &= (data[first + i] == byte) if len(data) > 3 else False
    if not usable.all():
        found = stats_column(rows.filter(from_numpy(usable)), types, index)
        return found.take(from_numpy(np.cumsum(usable) - 1, ~usable))
    if not len(rows):
        return pa.nulls(0, arrow_type(t))
    values, null = _read_slots(starts, lengths, data, len(types), index)
    if t.root in _WIDTH:
        narrow = np.ascontiguousarray(values).view(_WIDTH[t.root])[:: 8 // np.dtype(_WIDTH[t.root]).itemsize]
        plain = narrow.astype(bool) if t.root == "BOOLEAN" else narrow
        column = from_numpy(plain, null)
        return column.view(arrow_type(t)) if t.root in ("DATE", "TIME") else column
    if isinstance(t, Timestamp | LocalZonedTimestamp) and t.precision <= 3:
        return from_numpy(values, null).view(arrow_type(t))
    if isinstance(t, Decimal) and t.precision <= 18:
        wide = np.stack([values, values >> 63], axis=1)
        flags = from_numpy(~null).buffers()[1]
        return pa.Decimal128Array.from_buffers(arrow_type(t), len(values), [flags, pa.py_buffer(wide.tobytes())])
    if t.root in ("CHAR", "VARCHAR", "BINARY", "VARBINARY"):
        return _read_texts(starts, lengths, data, values, null, t)
    decoded = [deserialize(types, row)[index] for row in rows.to_pylist()]
    return column_of([to_arrow_value(t, v) for v in decoded], arrow_type(t))


def _row_ranges(rows: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(start and length of each row, the buffer that contains them)."""
    _, offsets, data = rows.buffers()
    cuts = np.frombuffer(offsets, np.int64)[rows.offset : rows.offset + len(rows) + 1] if len(rows) else np.zeros(1, np.int64)  # fmt: skip
    return cuts[:-1], np.diff(cuts), np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)


def _read_slots(
    starts: np.ndarray, lengths: np.ndarray, data: np.ndarray, arity: int, index: int
) -> tuple[np.ndarray, np.ndarray]:
    """(8-byte slots as int64, null flags) of one column of all rows."""
    null_bytes = (arity + 63 + 8) // 64 * 8
    at = 4 + null_bytes + 8 * index
    if lengths.min() < at + 8:
        raise FormatError("statistics rows are too short", hint="the manifest is corrupt; read an earlier snapshot")
    slots = data[starts[:, None] + np.arange(at, at + 8)].view("<i8").reshape(-1)
    bit = index + 8
    null = (data[starts + 4 + (bit >> 3)] >> (bit & 7)) & 1
    return slots, null.astype(bool)


def _read_texts(
    starts: np.ndarray, lengths: np.ndarray, data: np.ndarray, slots: np.ndarray, null: np.ndarray, t: DataType
) -> pa.Array:
    """Up to seven bytes are stored in the slot itself, followed by a marker with their number. Longer values: offset and
    length in the row.
    """
    words = slots.view("<u8")
    marks = (words >> np.uint64(56)).astype(np.int64)
    short = (marks & 0x80) > 0
    offset, size = (words >> np.uint64(32)).astype(np.int64), (words & np.uint64(0xFFFFFFFF)).astype(np.int64)
    if (~null & ~short & (4 + offset + size > lengths)).any():
        raise FormatError("a statistics value is outside its row", hint="read an earlier snapshot")
    plain, inline = data.tobytes(), slots.tobytes()
    out: list[bytes | None] = [
        None if is_null else inline[8 * i : 8 * i + min(mark & 0x7F, 8)] if here else plain[start : start + count]
        for i, (is_null, here, mark, start, count) in enumerate(
            zip(
                null.tolist(),
                short.tolist(),
                marks.tolist(),
                (starts + 4 + offset).tolist(),
                size.tolist(),
                strict=True,
            )
        )
    ]
    return column_of(out, pa.binary()).cast(arrow_type(t))
