"""Converts upserts of a primary-key table to changes: each replaced row is retracted first. Reads no table.

Without a changelog producer a commit contains only the new row of a key, not the old one. A stream keeps the rows that
it delivered, and converts each new row to +I, or to -U and +U. Source: Flink's `ChangelogNormalize`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.options.read import SCAN_REMOVE_NORMALIZE
from paimon_nb.table.lsm.merge.merge import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from paimon_nb.table.lsm.superseded import is_in, key_ids
from paimon_nb.table.read.split.bucket_diff import same_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore


def is_upsert_stream(store: TableStore) -> bool:
    """Whether a stream of the table has to be normalised, because its changes lack the replaced rows."""
    options = store.options
    return store.has_keys and options.changelog_producer == "none" and not options.get(SCAN_REMOVE_NORMALIZE)


class ChangelogNormalize:
    """Keeps the latest row of each key that went through it; rows of one table are handed to it in their order."""

    def __init__(self, keys: Sequence[DataField]) -> None:
        self._keys = tuple(keys)
        self._rows: pa.Table | None = None
        self._ids: pa.Array | None = None

    def load(self, rows: pa.Table) -> None:
        """Start with these rows as already delivered, one per key."""
        self._rows, self._ids = rows, self._ids_of(rows)

    @property
    def rows(self) -> pa.Table | None:
        """The latest row of each key that was not deleted; None before the first rows."""
        return self._rows

    def apply(self, rows: pa.Table, kinds: np.ndarray) -> tuple[pa.Table, np.ndarray]:
        """The changes that the rows make, and their kinds (int8).

        Args:
            rows: the key columns and others, the same ones each time. kinds: of each row; +I and +U mean its new state.
        """
        if not rows.num_rows:
            return rows, kinds
        ids = self._ids_of(rows)
        old_rows, old_ids, others = self._split_by_keys(rows, ids)
        every, first = pa.concat_tables([old_rows, rows]), old_rows.num_rows
        present = np.concatenate([np.ones(first, bool), (kinds == INSERT) | (kinds == UPDATE_AFTER)])
        codes = to_numpy(pc.dictionary_encode(pa.concat_arrays([old_ids, ids]), null_encoding="encode").indices)
        order = np.argsort(codes, kind="stable")
        last = np.append(codes[order][1:] != codes[order][:-1], True)
        before = np.full(len(order), -1)
        before[order[1:]] = np.where(last[:-1], -1, order[:-1])
        before[(before >= 0) & ~present[before]] = -1
        self._store_latest_rows(every, order[last & present[order]], others)
        return _changes_of_rows(every, present, before, first)

    def _ids_of(self, rows: pa.Table) -> pa.Array:
        return key_ids(rows, self._keys) if self._keys else pa.nulls(rows.num_rows, pa.int8())  # no key: one row

    def _split_by_keys(self, rows: pa.Table, ids: pa.Array) -> tuple[pa.Table, pa.Array, tuple[pa.Table, pa.Array]]:
        """The remembered rows of some keys, and those of all other keys."""
        if self._rows is None or self._ids is None:
            return rows.slice(0, 0), ids.slice(0, 0), (rows.slice(0, 0), ids.slice(0, 0))
        matched = is_in(self._ids, ids)
        found, others = from_numpy(matched), from_numpy(~matched)
        return (
            self._rows.filter(found),
            self._ids.filter(found),
            (self._rows.filter(others), self._ids.filter(others)),
        )

    def _store_latest_rows(self, rows: pa.Table, selected: np.ndarray, others: tuple[pa.Table, pa.Array]) -> None:
        newest = rows.take(from_numpy(selected))
        self._rows = pa.concat_tables([others[0], newest]).combine_chunks()
        self._ids = pa.concat_arrays([others[1], self._ids_of(newest)]) if newest.num_rows else others[1]


def _changes_of_rows(
    rows: pa.Table, present: np.ndarray, before: np.ndarray, first: int
) -> tuple[pa.Table, np.ndarray]:
    """What the rows from `first` on change. `before`: the row of the same key that each one replaces; -1 for none."""
    positions = np.arange(len(before))
    both = np.flatnonzero(present & (before >= 0))
    same = np.zeros(len(before), bool)
    same[both] = _equal_rows(rows.take(from_numpy(before[both])), rows.take(from_numpy(both)))
    old_rows = np.where(before >= 0, before, -1)
    new_rows = np.where(present, positions, -1)
    old_rows[same], new_rows[same] = -1, -1
    old_kinds = np.where(present, UPDATE_BEFORE, DELETE)
    new_kinds = np.where(before >= 0, UPDATE_AFTER, INSERT)
    indices = np.stack([old_rows, new_rows], axis=1)[first:].ravel()
    kinds = np.stack([old_kinds, new_kinds], axis=1)[first:].ravel()
    selected = indices >= 0
    return rows.take(from_numpy(indices[selected])), kinds[selected].astype(np.int8)


def _equal_rows(left: pa.Table, right: pa.Table) -> np.ndarray:
    """Which rows are the same."""
    same = np.ones(left.num_rows, bool)
    for name in left.column_names:
        same &= same_values(left.column(name).combine_chunks(), right.column(name).combine_chunks())
    return same
