"""Rows of several tables in merge order, gathered chunk by chunk: sorting all at once would need twice the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_nb.format.data import SEQUENCE_NUMBER
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.table.merge.groups import Groups
from paimon_nb.table.merge.sort_order import Indices, group_ends, group_starts, merge_order
from paimon_nb.table.merge.spec import MergeSpec

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
