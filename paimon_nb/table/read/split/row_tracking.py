"""Row ids of tables with row tracking: stored in rewritten files, otherwise counted from the file's first row id.

Source: docs/spec/format.md section 8.2 (Paimon `RowTrackingTable`, `AppendCompactTask` of a table with
`row-tracking.enabled`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.data import TRACKING_FIELDS, read_data_file
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.read.data_evolution import anchor_file, group_by_row_range
from paimon_nb.table.read.split.split_reader import load_deletion_vector, read_split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import DvRef, Split
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore


_TRACKING_NAMES = {f.name for f in TRACKING_FIELDS}


def tracks_rows(store: TableStore) -> bool:
    """Whether each row keeps its id through rewrites."""
    return not store.has_keys and bool(store.options.get(opt.ROW_TRACKING_ENABLED))


def names_row_ids(store: TableStore, columns: Sequence[str] | None, where: str | Predicate | None) -> bool:
    """Whether a read names a tracking column, and the table has these."""
    if not tracks_rows(store):
        return False
    if any(c.upper() in _TRACKING_NAMES for c in columns or ()):
        return True
    if isinstance(where, str):
        return any(name in where.upper() for name in _TRACKING_NAMES)
    return where is not None and bool(where.columns() & _TRACKING_NAMES)


def stored_tracking_fields(file: DataFile) -> tuple[DataField, ...]:
    """Which of `TRACKING_FIELDS` the file stores."""
    return tuple(f for f in TRACKING_FIELDS if file.write_cols is not None and f.name in file.write_cols)


def with_tracking(rows: pa.Table, file: DataFile, position: int = 0) -> pa.Table:
    """The rows with `TRACKING_FIELDS` as last columns.

    Args:
        rows: all rows of the file from `position` on, with the columns that `stored_tracking_fields` names.
    """
    count = rows.num_rows
    first = file.first_row_id
    ids = pa.nulls(count, pa.int64()) if first is None else from_numpy(np.arange(count) + (first + position))
    sequence = from_numpy(np.full(count, file.max_sequence, np.int64))
    for field, default in zip(TRACKING_FIELDS, (ids, sequence), strict=True):
        values = default
        if field.name in rows.column_names:
            values = pc.coalesce(rows.column(field.name), default)
            rows = rows.drop_columns([field.name])
        rows = rows.append_column(field.name, values)
    return rows


def tracked_rows(store: TableStore, split: Split, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of a split of one file (or of files of the same rows) that are not deleted, in its order, with
    `TRACKING_FIELDS` as last columns. `columns`: names of the table's columns to read; None: all."""
    file = split.files[0]
    rows = read_split(store, split, columns)
    stored = stored_tracking_fields(file) if len(split.files) == 1 else ()
    path = store.data_path(split.partition, split.bucket, file)
    ids = (
        read_data_file(store.fs, path, stored, options=store.options, row_count=file.row_count)
        if stored
        else pa.table({"": pa.nulls(file.row_count)})
    )
    ids = with_tracking(ids, file).select([f.name for f in TRACKING_FIELDS])
    ref = (split.deletion_vectors or {}).get(anchor_file(split.files).file_name)
    if ref is not None:
        ids = ids.filter(from_numpy(~load_deletion_vector(store, ref).mask(file.row_count)))
    for field in TRACKING_FIELDS:
        rows = rows.append_column(field.name, ids.column(field.name))
    return rows


def split_by_file(split: Split, store: TableStore) -> list[Split]:
    """A split for each file; files of the same rows (data evolution) stay together, the newest first."""
    return [
        replace(
            split,
            files=tuple(group),
            raw=len(group) == 1,
            deletion_vectors=_vector_of_file(split, anchor_file(group).file_name),
        )
        for group in (group_by_row_range(split.files) if store.evolves_data else [[f] for f in split.files])
    ]


def _vector_of_file(split: Split, name: str) -> dict[str, DvRef] | None:
    ref = (split.deletion_vectors or {}).get(name)
    return None if ref is None else {name: ref}
