"""`t$manifests`: the manifests of the selected snapshot: base, delta and changelog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.format.row import arity_of
from paimon_nb.table.read.live_files import snapshot_manifests
from paimon_nb.table.read.plan.time_travel import parse_travel, resolve_time_travel
from paimon_nb.table.tables.system.columns import partition_text_function, system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "file_name": "STRING NOT NULL",
    "file_size": "BIGINT NOT NULL",
    "num_added_files": "BIGINT NOT NULL",
    "num_deleted_files": "BIGINT NOT NULL",
    "schema_id": "BIGINT NOT NULL",
    "min_partition_stats": "STRING",
    "max_partition_stats": "STRING",
    "min_row_id": "BIGINT",
    "max_row_id": "BIGINT",
}


def _manifest_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    snapshot = resolve_time_travel(store, parse_travel(store.options))
    text = _stats_text(store)
    for m in snapshot_manifests(store, snapshot, changelog=True) if snapshot is not None else []:
        low, high = text(m.partition_stats.min_values), text(m.partition_stats.max_values)
        yield (m.file_name, m.file_size, m.num_added, m.num_deleted, m.schema_id, low, high, m.min_row_id, m.max_row_id)


def _stats_text(store: TableStore) -> Callable[[bytes], str | None]:
    partition, width = partition_text_function(store), len(store.schema.partition_keys)
    return lambda row: partition(row) if arity_of(row) == width else None


MANIFESTS = system_table_with_columns(COLUMNS, _manifest_rows)
