"""`t$row_tracking`: the table's rows with their stable row id and sequence number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.data import TRACKING_FIELDS
from paimon_nb.format.types.arrow_builders import empty_table
from paimon_nb.table.read import plan_scan
from paimon_nb.table.tables.system.columns import SystemTable

if TYPE_CHECKING:
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore


def _tracked_fields(store: TableStore) -> tuple[DataField, ...]:
    return (*store.schema.fields, *TRACKING_FIELDS)


def check_tracks_rows(store: TableStore) -> None:
    """Raises UnsupportedOperation for a table without row tracking."""
    from paimon_nb.table.read.split.row_tracking import tracks_rows

    if not tracks_rows(store):
        raise UnsupportedOperation(
            f"{store.name} has no row tracking", hint="create an append table with 'row-tracking.enabled' = 'true'"
        )


def _read_tracked_rows(store: TableStore) -> pa.Table:
    from paimon_nb.table.read.row_positions import one_split_per_file
    from paimon_nb.table.read.split.row_tracking import tracked_rows

    check_tracks_rows(store)
    plan = plan_scan(store)
    parts = [empty_table((*plan.schema.fields, *TRACKING_FIELDS))]
    parts += [tracked_rows(plan.store, split) for split in one_split_per_file(plan)]
    return pa.concat_tables(parts)


ROW_TRACKING = SystemTable(_tracked_fields, _read_tracked_rows)
