"""`t$buckets`: current rows, bytes and files of each bucket; as in Java, time travel has no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.table.tables.system.columns import partition_text_function, system_table_with_columns
from paimon_nb.table.tables.system.file_totals import file_totals_by, unmerged_entries

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "partition": "STRING",
    "bucket": "INT NOT NULL",
    "record_count": "BIGINT NOT NULL",
    "file_size_in_bytes": "BIGINT NOT NULL",
    "file_count": "BIGINT NOT NULL",
    "last_update_time": "TIMESTAMP(3)",
}


def _bucket_rows(store: TableStore) -> list[tuple[Any, ...]]:
    entries = unmerged_entries(store, store.latest())
    text = partition_text_function(store)
    found = file_totals_by(entries, lambda e: (e.partition, e.bucket))
    rows = [(text(p), b, t.rows, t.size, t.files, t.newest_ms) for (p, b), t in found.items()]
    return sorted(rows, key=lambda row: row[:2])


BUCKETS = system_table_with_columns(COLUMNS, _bucket_rows)
