"""The exact difference between the rows of two snapshots: both states are read whole and compared.

`incremental-between-scan-mode = diff` works like Java, on the files that differ. It misses changes where files of both
states still must be merged with newer ones, where an overwrite restarted the sequence numbers, and rows deleted by
vectors. This diff is exact, at the cost of reading everything.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND, times_as_numbers
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.table.lsm.merge import MergeSpec
from paimon_nb.table.lsm.merge.merge import without_retracts
from paimon_nb.table.read.plan.snapshot_scan import plan_snapshot
from paimon_nb.table.read.split.bucket_diff import comparable_nested_value, diff_states
from paimon_nb.table.read.split.split_reader import read_plan

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

_DELETE = 3


def changed_rows(store: TableStore, start: Snapshot, end: Snapshot) -> pa.Table:
    """The table's columns and `_VALUE_KIND`: new or changed rows of `end`, and removed rows of `start` as -D.

    Tables without keys: rows are equal if all values are; duplicates count, so a second copy is one new row.
    """
    before, after = _state_at(store, start, 0), _state_at(store, end, 1)
    if not store.has_keys:
        return _rows_without_equal_counterpart(before, after)
    spec = replace(MergeSpec.of(store.schema, store.options), keys=store.schema.primary_keys, sequence_fields=())
    return diff_states(before, after, spec, keep_deletes=True).drop_columns([SEQUENCE_NUMBER])


def _state_at(store: TableStore, snapshot: Snapshot, number: int) -> pa.Table:
    rows = without_retracts(read_plan(plan_snapshot(store, snapshot), kinds=True))
    return rows.append_column(SEQUENCE_NUMBER, from_numpy(np.full(rows.num_rows, number, np.int64)))


def _rows_without_equal_counterpart(before: pa.Table, after: pa.Table) -> pa.Table:
    before, after = before.drop_columns([SEQUENCE_NUMBER]), after.drop_columns([SEQUENCE_NUMBER])
    old, new = rows_as_text(before), rows_as_text(after)
    lost = before.filter(pa.array(_unmatched_rows(old, Counter(new)), pa.bool_()))
    at = lost.schema.get_field_index(VALUE_KIND)
    lost = lost.set_column(at, lost.schema.field(at), from_numpy(np.full(lost.num_rows, _DELETE, np.int8)))
    return pa.concat_tables([lost, after.filter(pa.array(_unmatched_rows(new, Counter(old)), pa.bool_()))])


def rows_as_text(rows: pa.Table) -> list[str]:
    """A text for each row; equal texts are equal rows, floating-point numbers bit by bit."""
    columns = [times_as_numbers(rows.column(n)).to_pylist() for n in rows.column_names if n != VALUE_KIND]
    return [repr([comparable_nested_value(v) for v in row]) for row in zip(*columns, strict=True)]


def _unmatched_rows(rows: list[str], among: Counter[Any]) -> list[bool]:
    """Which rows have no partner of their own among the others."""
    left = Counter(among)
    out = []
    for row in rows:
        out.append(left[row] <= 0)
        left[row] -= 1
    return out
