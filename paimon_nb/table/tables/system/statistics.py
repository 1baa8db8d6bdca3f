"""`t$statistics`: ANALYZE statistics of the selected snapshot; no row if it was not analyzed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.format.metadata_json import java_json
from paimon_nb.format.snapshot.statistics import Statistics
from paimon_nb.table.read.plan.time_travel import parse_travel, resolve_time_travel
from paimon_nb.table.tables.system.columns import system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "snapshot_id": "BIGINT NOT NULL",
    "schema_id": "BIGINT NOT NULL",
    "mergedRecordCount": "BIGINT",
    "mergedRecordSize": "BIGINT",
    "colstat": "STRING",
}


def _statistics_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    snapshot = resolve_time_travel(store, parse_travel(store.options))
    if snapshot is None or snapshot.statistics is None:
        return
    path = store.statistics_path(snapshot.statistics)
    found = Statistics.from_json(store.fs.read(path), path)
    columns = java_json(found.columns_node()).decode()
    yield found.snapshot_id, found.schema_id, found.merged_record_count, found.merged_record_size, columns


STATISTICS = system_table_with_columns(COLUMNS, _statistics_rows)
