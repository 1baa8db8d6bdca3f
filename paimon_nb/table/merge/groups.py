"""Rows of one merge: unsorted columns, the order, and the start of each key. Columns are gathered only when needed."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.table.merge.sort_order import Indices, group_ends


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
