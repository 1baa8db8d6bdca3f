"""`t$audit_log`: the table's rows with their kinds, retractions included; with incremental options, its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.row_kinds import ROWKIND, with_kind_first
from paimon_nb.table.tables.system.columns import SystemTable

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore


def _audit_log_fields(store: TableStore) -> tuple[DataField, ...]:
    return (ROWKIND, *store.schema.fields)


def _read_audit_log(store: TableStore) -> pa.Table:
    from paimon_nb.table.read import read_plan

    return with_kind_first(read_plan(plan_scan(store.for_queries()), kinds=True))


AUDIT_LOG = SystemTable(_audit_log_fields, _read_audit_log)
