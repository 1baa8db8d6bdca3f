"""`t$partitions`: rows, bytes and files of each partition."""

from __future__ import annotations

from typing import Any

from paimon_nb.table.store import TableStore
from paimon_nb.table.system.groups import live_entries, totals
from paimon_nb.table.system.shape import fixed, partition_texts

COLUMNS = {
    "partition": "STRING",
    "record_count": "BIGINT NOT NULL",
    "file_size_in_bytes": "BIGINT NOT NULL",
    "file_count": "BIGINT NOT NULL",
    "last_update_time": "TIMESTAMP(3)",
}


def _rows(store: TableStore) -> list[tuple[Any, ...]]:
    _, entries = live_entries(store)
    text = partition_texts(store)
    # Files that wait for a real bucket belong to no partition yet, as in Java.
    real = [e for e in entries if e.bucket >= 0] if store.bucket_option == -2 else entries
    found = totals(real, lambda e: e.partition)
    return sorted((text(p), t.rows, t.size, t.files, t.newest_ms) for p, t in found.items())


PARTITIONS = fixed(COLUMNS, _rows)
