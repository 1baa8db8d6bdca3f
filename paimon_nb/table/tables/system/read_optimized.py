"""`t$ro`: only fully compacted files, read without merging; append tables unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.partition_choice import for_queries
from paimon_nb.table.tables.system.columns import SystemTable

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore


def _table_fields(store: TableStore) -> tuple[DataField, ...]:
    return store.schema.fields


def _read_top_level(store: TableStore) -> pa.Table:
    from paimon_nb.table.read import read_plan

    return read_plan(plan_scan(for_queries(store), optimized=True))


READ_OPTIMIZED = SystemTable(_table_fields, _read_top_level)
