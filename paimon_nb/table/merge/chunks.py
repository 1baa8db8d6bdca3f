"""Rows of several tables in merge order, gathered piece by piece: sorted all at once they would be there twice."""

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
"""Up to here the tables are joined once, and pieces gathered out of one; beyond, out of many, which costs a third copy of each
row and no second buffer."""


class SortedChunks:
    """Iterates over the groups of all keys, about 130,000 keys at a time; as often as wanted.

    Args:
        tables: kv tables, at least one. They stay in memory as long as this does.
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
        place = np.empty(len(rows), np.int64)
        place[by_owner] = np.arange(len(rows))
        return pa.concat_tables(taken).combine_chunks().take(from_numpy(place))


def _ascends(rows: Indices) -> bool:
    return bool((rows[1:] > rows[:-1]).all())
