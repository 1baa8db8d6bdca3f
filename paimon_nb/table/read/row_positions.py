"""Rows of a plan together with their physical positions in their files, for DELETE, UPDATE and index searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.table.read.data_evolution import anchor_file
from paimon_nb.table.read.split.row_tracking import split_by_file, tracked_rows
from paimon_nb.table.read.split.split_reader import load_deletion_vector, read_split

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan, Split
    from paimon_nb.table.read.store import TableStore


def one_split_per_file(plan: ScanPlan) -> tuple[Split, ...]:
    """The plan's files, one per split; `__paimon_file` columns refer to a file by its index in this tuple.

    Files of the same rows (data evolution) stay together, the newest first.
    """
    return tuple(one for split in plan.splits for one in split_by_file(split, plan.store))


def rows_with_positions(
    store: TableStore, split: Split, *, tracked: bool = False, columns: Sequence[str] | None = None
) -> tuple[pa.Table, np.ndarray]:
    """The rows of a split of `one_split_per_file` that are not deleted, and their physical positions (int64).

    tracked: with their `TRACKING_FIELDS` as last columns. columns: names of the columns to read if not `tracked`; None: all.
    """
    file = anchor_file(split.files)
    rows = tracked_rows(store, split) if tracked else read_split(store, split, columns)
    ref = (split.deletion_vectors or {}).get(file.file_name)
    if ref is None:
        return rows, np.arange(rows.num_rows, dtype=np.int64)
    return rows, np.flatnonzero(~load_deletion_vector(store, ref).mask(file.row_count)).astype(np.int64)
