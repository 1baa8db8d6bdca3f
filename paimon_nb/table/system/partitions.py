"""`t$partitions`: rows, bytes and files of each partition, including those read from the fallback branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.options import table as opt
from paimon_nb.table.scan.plan.planner import fallback_state
from paimon_nb.table.scan.plan.time_travel import parse_travel, resolve
from paimon_nb.table.system.columns import fixed, partition_texts
from paimon_nb.table.system.file_totals import totals, unmerged_entries

if TYPE_CHECKING:
    from paimon_nb.table.store import TableStore

COLUMNS = {
    "partition": "STRING",
    "record_count": "BIGINT NOT NULL",
    "file_size_in_bytes": "BIGINT NOT NULL",
    "file_count": "BIGINT NOT NULL",
    "last_update_time": "TIMESTAMP(3)",
}


def _partition_rows(store: TableStore) -> list[tuple[Any, ...]]:
    travel = parse_travel(store.options)
    snapshot = resolve(store, travel)
    entries = unmerged_entries(store, snapshot)
    text = partition_texts(store)
    if name := store.options.get(opt.SCAN_FALLBACK_BRANCH):
        own = set(totals(entries, lambda e: e.partition))
        other, state = fallback_state(store, name, travel, snapshot)
        entries += [e for e in unmerged_entries(other, state) if e.partition not in own]
    # Postponed files belong to no partition yet, as in Java.
    real = [e for e in entries if e.bucket >= 0] if store.bucket_option == -2 else entries
    found = totals(real, lambda e: e.partition)
    return sorted((text(p), t.rows, t.size, t.files, t.newest_ms) for p, t in found.items())


PARTITIONS = fixed(COLUMNS, _partition_rows)
