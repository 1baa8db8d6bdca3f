"""The difference of two states of a bucket, row by row. Knows no files.

Source: Paimon `IncrementalDiffSplitRead.DiffMerger`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND, times_as_numbers
from paimon_nb.format.types.arrow_builders import fill_null, from_numpy, to_numpy
from paimon_nb.table.lsm.merge.groups import group_ends, group_starts, merge_order

if TYPE_CHECKING:
    from paimon_nb.table.lsm.merge import MergeSpec

_DELETE = 3


def diff_states(before: pa.Table, after: pa.Table, spec: MergeSpec, *, keep_deletes: bool) -> pa.Table:
    """Rows of `after` that are new or changed; with `keep_deletes` also removed rows of `before`, as -D.

    Args:
        before, after: kv tables with one row per key.
    """
    size = before.num_rows
    both = pa.concat_tables([before, after]).combine_chunks()
    if not both.num_rows:
        return both
    order = merge_order(both, spec)
    starts = group_starts(both.select(list(spec.keys)).take(from_numpy(order)), spec.keys)
    ends = group_ends(starts, len(order))
    one, other = order[starts], order[ends]
    first, last = np.minimum(one, other), np.maximum(one, other)  # by state: sequence numbers may begin again
    alone = first == last
    old, new = alone & (last < size), last >= size
    changed = np.zeros(len(first), dtype=bool)
    pairs = np.flatnonzero(~alone & new)
    changed[pairs] = ~_unchanged_rows(both, first[pairs], last[pairs])
    current = last[(alone & new) | changed]
    result = both.take(from_numpy(current))
    if keep_deletes:
        kinds = to_numpy(both.column(VALUE_KIND))
        removed = last[old]
        removed = removed[(kinds[removed] == 0) | (kinds[removed] == 2)]
        lost = both.take(from_numpy(removed))
        at = lost.schema.get_field_index(VALUE_KIND)
        lost = lost.set_column(at, lost.schema.field(at), from_numpy(np.full(len(removed), _DELETE, np.int8)))
        result = pa.concat_tables([result, lost])
    return result


def _unchanged_rows(rows: pa.Table, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Whether two rows have equal values and both add or both retract."""
    kinds = to_numpy(rows.column(VALUE_KIND))
    retracts = (kinds == 1) | (kinds == _DELETE)
    same = retracts[before] == retracts[after]
    for name in rows.column_names:
        if name not in (VALUE_KIND, SEQUENCE_NUMBER) and same.any():
            column = rows.column(name).combine_chunks()
            same &= same_values(column.take(from_numpy(before)), column.take(from_numpy(after)))
    return np.asarray(same)


def same_values(left: pa.Array, right: pa.Array) -> np.ndarray:
    """Where two columns have the same value, NULLs being equal."""
    if pa.types.is_nested(left.type):
        pairs = zip(times_as_numbers(left).to_pylist(), times_as_numbers(right).to_pylist(), strict=True)
        return np.array([comparable_nested_value(a) == comparable_nested_value(b) for a, b in pairs], bool)
    if pa.types.is_floating(left.type):  # bitwise, as Java compares rows: NaN equals NaN, -0.0 is not 0.0
        bits = pa.int32() if left.type == pa.float32() else pa.int64()
        left, right = left.view(bits), right.view(bits)
    both_null = pc.and_(pc.is_null(left), pc.is_null(right))
    return to_numpy(pc.or_(both_null, fill_null(pc.equal(left, right), False)))


def comparable_nested_value(value: Any) -> Any:
    """Nested values with floats as bits, and maps (lists of pairs in Arrow) sorted."""
    if isinstance(value, float):
        return struct.pack("<d", value)
    if isinstance(value, dict):
        return {k: comparable_nested_value(v) for k, v in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return sorted(([comparable_nested_value(k), comparable_nested_value(v)] for k, v in value), key=repr)
    return [comparable_nested_value(v) for v in value] if isinstance(value, list) else value
