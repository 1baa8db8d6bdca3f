"""Ids of rows in tables that track them: a rewritten file holds them, in any other they are counted from the file's first.

Source: format reference, section 8.2 (Paimon `RowTrackingTable`, `AppendCompactTask` of a table with `row-tracking.enabled`).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.data import TRACKING_FIELDS
from paimon_nb.format.manifest import DataFile
from paimon_nb.format.types import DataField
from paimon_nb.options import table as opt
from paimon_nb.table.store import TableStore


def tracks_rows(store: TableStore) -> bool:
    """Whether each row keeps its id through rewrites."""
    return not store.has_keys and bool(store.options.get(opt.ROW_TRACKING_ENABLED))


def held(file: DataFile) -> tuple[DataField, ...]:
    """Which of `TRACKING_FIELDS` are columns of the file."""
    return tuple(f for f in TRACKING_FIELDS if file.write_cols is not None and f.name in file.write_cols)


def with_tracking(rows: pa.Table, file: DataFile, position: int = 0) -> pa.Table:
    """The rows with `TRACKING_FIELDS` as last columns.

    Args:
        rows: all rows of the file from `position` on, none left out, with the columns that `held` names.
    """
    count = rows.num_rows
    first = file.first_row_id
    ids = pa.nulls(count, pa.int64()) if first is None else pa.array(np.arange(count) + (first + position), pa.int64())
    sequence = pa.array(np.full(count, file.max_sequence), pa.int64())
    for field, default in zip(TRACKING_FIELDS, (ids, sequence), strict=True):
        values = default
        if field.name in rows.column_names:
            values = pc.coalesce(rows.column(field.name), default)
            rows = rows.drop_columns([field.name])
        rows = rows.append_column(field.name, values)
    return rows
