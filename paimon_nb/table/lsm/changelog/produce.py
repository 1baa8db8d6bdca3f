"""Changelogs that compaction produces: before and after, per key. Pure functions over kv tables. docs/spec/merge-semantics.md section 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.data import VALUE_KIND, times_as_numbers
from paimon_nb.format.types.arrow_builders import fill_null, from_numpy, to_numpy
from paimon_nb.table.lsm.merge.aggregate.java_hash_order import java_equality_key
from paimon_nb.table.lsm.merge.merge import retraction_mask
from paimon_nb.table.lsm.superseded import is_in, key_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.table.lsm.merge import MergeSpec

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
_INSERT, _UPDATE_BEFORE, _UPDATE_AFTER, _DELETE = 0, 1, 2, 3


def lookup_changelog(before: pa.Table, after: pa.Table, spec: MergeSpec) -> pa.Table:
    """Changes of the keys of `after`, each a merge result that took in a level-0 record.

    Args:
        before: the previous record of each key (at most one per key; keys not in `after` are ignored).
        after: merge results, one per key, in key order.

    Returns:
        kv table in the order of `after`, -U directly before +U.
    """
    return _changes_per_key(before, after, spec)


def full_compaction_changelog(
    old_top: pa.Table, below: Sequence[pa.Table], after: pa.Table, spec: MergeSpec
) -> pa.Table:
    """Changes from the top level before a full compaction to the one after it.

    A key that exists only on the top level has not changed and emits nothing. A key that exists on lower levels too
    emits changes even if the record of the top level won.

    Args:
        old_top: the records of the top level. below: those of all other levels. after: merge results, in key order.
    """
    keys = [f for f in spec.fields if f.name in spec.keys]
    touched = np.zeros(after.num_rows, bool)
    for table in below:
        touched |= is_in(key_ids(after, keys), key_ids(table, keys))
    return _changes_per_key(old_top, after.filter(from_numpy(touched)), spec)


def _changes_per_key(before: pa.Table, after: pa.Table, spec: MergeSpec) -> pa.Table:
    after = after.combine_chunks()
    where = match_keys(after, before, [f for f in spec.fields if f.name in spec.keys])
    found = where >= 0
    at = np.where(found, where, 0)
    if before.num_rows:
        before = before.combine_chunks()
        old = before.take(from_numpy(at))
        had = found & ~retraction_mask(old)
    else:
        old, had = after, np.zeros(after.num_rows, bool)
    has = ~retraction_mask(after)
    same = np.zeros(after.num_rows, bool)
    if spec.row_deduplicate and before.num_rows:
        same |= had & has & _equal_rows(old, after, spec)
    both = had & has & ~same
    rows = pa.concat_tables([old.select(after.column_names), after]).combine_chunks()
    n = after.num_rows
    index = np.arange(n)
    # (position, order inside the key, row of `rows`, kind)
    pieces = [
        (index[both], 0, index[both], _UPDATE_BEFORE),
        (index[both], 1, index[both] + n, _UPDATE_AFTER),
        (index[had & ~has], 0, index[had & ~has], _DELETE),
        (index[has & ~had], 0, index[has & ~had] + n, _INSERT),
    ]
    position = np.concatenate([p for p, _, _, _ in pieces])
    inner = np.concatenate([np.full(len(p), o) for p, o, _, _ in pieces])
    source = np.concatenate([r for _, _, r, _ in pieces])
    kind = np.concatenate([np.full(len(p), k, np.int8) for p, _, _, k in pieces])
    order = np.lexsort((inner, position))
    out = rows.take(from_numpy(source[order]))
    return out.set_column(out.column_names.index(VALUE_KIND), VALUE_KIND, pa.array(kind[order], pa.int8()))


def _equal_rows(old: pa.Table, new: pa.Table, spec: MergeSpec) -> Mask:
    """Rows equal in every compared column."""
    equal = np.ones(new.num_rows, bool)
    for f in spec.fields:
        if f.name in spec.deduplicate_ignored:
            continue
        equal &= _equal_column(old.column(f.name), new.column(f.name))
    return equal


def _equal_column(a: pa.ChunkedArray, b: pa.ChunkedArray) -> Mask:
    """As the generated equaliser of Paimon 2.1: NULL equals NULL, NaN equals NaN, -0.0 and 0.0 differ."""
    if pa.types.is_nested(a.type):
        pairs = zip(times_as_numbers(a).to_pylist(), times_as_numbers(b).to_pylist(), strict=True)
        return np.array([_equal_field(x, y, a.type) for x, y in pairs], bool)
    both_null = to_numpy(a.is_null()) & to_numpy(b.is_null())
    equal: Mask = to_numpy(fill_null(pc.equal(a, b), False)) | both_null
    if pa.types.is_floating(a.type):
        nan = to_numpy(fill_null(pc.is_nan(a), False)) & to_numpy(fill_null(pc.is_nan(b), False))
        signs = (np.signbit(to_numpy(fill_null(column, 0.0))) for column in (a, b))
        equal = nan | (equal & np.equal(*signs)) | both_null
    return equal


def _equal_field(x: Any, y: Any, t: pa.DataType) -> bool:
    """A column, or a field of a row."""
    return x is y if x is None or y is None else _equal_value(x, y, t)


def _equal_value(x: Any, y: Any, t: pa.DataType) -> bool:
    """Two non-NULL values. As in Java, NULL inside arrays and maps equals nothing."""
    if pa.types.is_map(t):
        left_map, right_map = ({java_equality_key(k): v for k, v in pairs} for pairs in (x, y))
        return left_map.keys() == right_map.keys() and all(
            _equal_element(left_map[k], right_map[k], t.item_type) for k in left_map
        )
    if pa.types.is_list(t):
        return len(x) == len(y) and all(_equal_element(u, v, t.value_type) for u, v in zip(x, y, strict=True))
    if pa.types.is_struct(t):
        return all(_equal_field(x[f.name], y[f.name], f.type) for f in t.fields)
    return bool(java_equality_key(x) == java_equality_key(y))


def _equal_element(x: Any, y: Any, t: pa.DataType) -> bool:
    return x is not None and y is not None and _equal_value(x, y, t)


def match_keys(
    rows: pa.Table, among: pa.Table, keys: Sequence[DataField]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each row of `rows` the row number in `among` with the same key, -1 for none."""
    out = np.full(rows.num_rows, -1, np.int64)
    if not among.num_rows or not rows.num_rows:
        return out
    names = [f.name for f in keys]
    left, right = rows.select(names), among.select(names)
    if any(c.null_count for c in left.columns):  # a join matches no NULL
        names = ["id"]
        left, right = (pa.table({"id": key_ids(t, keys)}) for t in (left, right))
    left = left.append_column("__left", from_numpy(np.arange(rows.num_rows)))
    right = right.append_column("__right", from_numpy(np.arange(among.num_rows)))
    joined = left.join(right, keys=names, join_type="inner", use_threads=False)
    out[to_numpy(joined.column("__left"))] = to_numpy(joined.column("__right"))
    return out
