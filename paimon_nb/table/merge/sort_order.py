"""The order of rows in a merge: by key, then user sequence, then sequence number. The order of runs is never trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.data import SEQUENCE_NUMBER
from paimon_nb.format.types.arrow_builders import filled, from_numpy, to_numpy
from paimon_nb.table.merge.spec import MergeSpec

Indices = npt.NDArray[np.int64]


def merge_order(kv: pa.Table, spec: MergeSpec) -> Indices:
    """Row numbers in merge order."""
    sequence = _numbers(kv.column(SEQUENCE_NUMBER))
    key = _single_integer(kv, spec)
    if key is not None and not spec.sequence_fields:
        order = np.argsort(key, kind="stable")
        # Runs are usually passed oldest first, so a stable sort is enough; otherwise sequence numbers decide.
        k, s = key[order], sequence[order]
        same = k[1:] == k[:-1]
        if bool((same & (s[1:] < s[:-1])).any()):
            several = np.zeros(len(order), bool)
            several[1:] |= same
            several[:-1] |= same
            tied = np.flatnonzero(several)
            order[tied] = order[tied[np.lexsort((s[tied], k[tied]))]]
        return order.astype(np.int64, copy=False)
    names = [*spec.keys]
    columns: list[Any] = [_sortable(kv.column(n)) for n in names]
    sort_keys = [(f"k{i}", "ascending", "at_start") for i in range(len(columns))]
    for i, name in enumerate(spec.sequence_fields):
        columns.append(_sortable(kv.column(name)))
        # NULL is the smallest sequence, and so merged first, in either order.
        sort_keys.append((f"s{i}", "descending" if spec.descending else "ascending", "at_start"))
    columns.append(kv.column(SEQUENCE_NUMBER))
    sort_keys.append(("n", "ascending", "at_start"))
    table = pa.table(columns, names=[k for k, _, _ in sort_keys])
    order = pc.sort_indices(table, sort_keys=sort_keys)
    return to_numpy(order).astype(np.int64)


def group_starts(kv: pa.Table, keys: Sequence[str]) -> Indices:
    """Start of each key in a sorted table."""
    n = kv.num_rows
    if n == 0:
        return np.empty(0, np.int64)
    changed = np.zeros(n, bool)
    changed[0] = True
    for name in keys:
        column = _sortable(kv.column(name)).combine_chunks()
        left, right = column.slice(0, n - 1), column.slice(1)
        differs = to_numpy(filled(pc.not_equal(left, right), False))
        if column.null_count:
            differs = differs | (to_numpy(left.is_null()) != to_numpy(right.is_null()))
        changed[1:] |= differs
    return np.flatnonzero(changed)


def group_ends(starts: Indices, rows: int) -> Indices:
    """The last row of each group."""
    return np.append(starts[1:], rows) - 1 if len(starts) else starts


def _single_integer(kv: pa.Table, spec: MergeSpec) -> npt.NDArray[np.int64] | None:
    if len(spec.keys) != 1:
        return None
    column = kv.column(spec.keys[0])
    t = column.type
    if column.null_count:
        return None
    if pa.types.is_timestamp(t) or pa.types.is_date32(t) or pa.types.is_time32(t):
        column = column.cast(pa.int64() if pa.types.is_timestamp(t) else pa.int32())
    elif not pa.types.is_integer(t):
        return None
    return _numbers(column).astype(np.int64, copy=False)


def _numbers(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    return to_numpy(column)


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that Arrow can sort in Java's order."""
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8())
    if pa.types.is_floating(column.type):
        return pa.chunked_array([_float_order(c) for c in column.chunks], pa.int64())
    return column


def _float_order(values: pa.Array) -> pa.Array:
    """Integers in Java's order of floats: one NaN after all numbers. -0.0 and 0.0 are the same key, and equal as
    sequences.
    """
    numbers = to_numpy(filled(values.cast(pa.float64()), 0.0))
    numbers = np.where(np.isnan(numbers), np.nan, numbers) + 0.0
    bits = numbers.view(np.int64)
    codes = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
    return from_numpy(codes, to_numpy(values.is_null()))
