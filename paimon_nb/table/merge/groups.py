"""The rows of one merge in merge order, and the groups of rows with the same key.

The order is by key, then user sequence, then sequence number; the order of runs is never trusted. Columns are gathered only
when needed, and large inputs chunk by chunk: sorting all rows at once would need twice the memory.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.data import SEQUENCE_NUMBER
from paimon_nb.format.types.arrow_builders import filled, from_numpy, to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


class Groups:
    """Rows of a merge, in merge order, grouped by key.

    Args:
        kv: a key-value table with one chunk per column.
        order: row numbers in merge order; None if `kv` is in merge order.
        starts: position in merge order at which each group begins.
    """

    def __init__(self, kv: pa.Table, order: Indices | None, starts: Indices) -> None:
        self.kv, self.order, self.starts = kv, order, starts

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def rows(self) -> int:
        return int(self.kv.num_rows)

    @cached_property
    def ends(self) -> Indices:
        """Position of each group's last row."""
        return group_ends(self.starts, self.rows)

    @cached_property
    def sorted(self) -> pa.Table:
        """All rows in merge order."""
        return self.kv if self.order is None else self.kv.take(from_numpy(self.order))

    @cached_property
    def group_of(self) -> Indices:
        """The group of each position."""
        out = np.zeros(self.rows, np.int64)
        out[self.starts[1:]] = 1
        return np.cumsum(out)

    def filter(self, selected: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Groups:
        """The selected groups only."""
        positions = np.flatnonzero(selected[self.group_of])
        rows = positions if self.order is None else self.order[positions]
        sizes = np.diff(np.append(self.starts, self.rows))[selected]
        return Groups(self.kv.take(from_numpy(rows)).combine_chunks(), None, np.cumsum(sizes) - sizes)

    def take(self, positions: Indices) -> pa.Table:
        """The rows at these positions of the order."""
        if self.order is None and len(positions) == self.rows:
            return self.kv
        rows = positions if self.order is None else self.order[positions]
        return self.kv.take(from_numpy(rows))

    def take_column(
        self, name: str, positions: Indices, missing: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None
    ) -> pa.Array:
        """One column at these positions; NULL where `missing`."""
        rows = positions if self.order is None else self.order[positions]
        column = self.kv.column(name)
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)
        return column.take(from_numpy(rows, missing))

    def valid(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether the column has a value, in merge order."""
        mask: np.ndarray[tuple[int], np.dtype[np.bool_]] = to_numpy(self.kv.column(name).is_valid())
        return mask if self.order is None else mask[self.order]

    def last_true(
        self, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]
    ) -> tuple[Indices, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """For each group the position of its last True, and whether it has none."""
        marked = np.where(mask, np.arange(self.rows), -1)
        last = np.maximum.reduceat(marked, self.starts) if len(self.starts) else marked[:0]
        none = last < 0
        return np.where(none, self.ends, last), none

    def first_true(
        self, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]
    ) -> tuple[Indices, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
        """For each group the position of its first True, and whether it has none."""
        marked = np.where(mask, np.arange(self.rows), self.rows)
        first = np.minimum.reduceat(marked, self.starts) if len(self.starts) else marked[:0]
        none = first >= self.rows
        return np.where(none, self.ends, first), none


PIECE_KEYS = 1 << 17
_JOINED_BYTES = 32 << 20
"""Up to this size the tables are concatenated once and chunks gathered from one; beyond it from many, which costs a third
copy of each row but no second buffer.
"""


class SortedChunks:
    """Iterates over the groups of all keys, about 130,000 keys at a time; can be repeated.

    Args:
        tables: kv tables, at least one. They are kept in memory.
    """

    def __init__(self, tables: Sequence[pa.Table], spec: MergeSpec) -> None:
        if sum(t.nbytes for t in tables) <= _JOINED_BYTES:
            tables = [pa.concat_tables(tables)]
        self._tables = [t.combine_chunks() for t in tables]
        names = list(dict.fromkeys([*spec.keys, *spec.sequence_fields, SEQUENCE_NUMBER]))
        keys = pa.concat_tables([t.select(names) for t in self._tables]).combine_chunks()
        self._order = merge_order(keys, spec)
        self._starts = group_starts(keys.select(list(spec.keys)).take(from_numpy(self._order)), spec.keys)
        self._begins = np.cumsum([0, *(t.num_rows for t in self._tables)])

    def __iter__(self) -> Iterator[Groups]:
        ends = group_ends(self._starts, len(self._order))
        for begin in range(0, len(self._starts), PIECE_KEYS):
            starts = self._starts[begin : begin + PIECE_KEYS]
            first, last = starts[0], ends[begin + len(starts) - 1] + 1
            yield Groups(self._gathered(self._order[first:last]), None, starts - first)

    def _gathered(self, rows: Indices) -> pa.Table:
        """These rows of all tables, in this order."""
        if len(self._tables) == 1:
            table = self._tables[0]
            return table if len(rows) == table.num_rows and _ascends(rows) else table.take(from_numpy(rows))
        owner = np.searchsorted(self._begins, rows, "right") - 1
        by_owner = np.argsort(owner, kind="stable")
        parts = np.split(rows[by_owner], np.searchsorted(owner[by_owner], np.arange(1, len(self._tables))))
        taken = [
            table.take(from_numpy(part - begin))
            for table, part, begin in zip(self._tables, parts, self._begins[:-1], strict=True)
            if len(part)
        ]
        position = np.empty(len(rows), np.int64)
        position[by_owner] = np.arange(len(rows))
        return pa.concat_tables(taken).combine_chunks().take(from_numpy(position))


def _ascends(rows: Indices) -> bool:
    return bool((rows[1:] > rows[:-1]).all())
