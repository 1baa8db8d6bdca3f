"""`t$partitions`: rows, bytes and files of each partition, including those read from other branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.options import table as opt
from paimon_nb.table.read.plan.planner import fallback_state
from paimon_nb.table.read.plan.time_travel import parse_travel, resolve_time_travel
from paimon_nb.table.tables.system.columns import partition_text_function, system_table_with_columns
from paimon_nb.table.tables.system.file_totals import file_totals_by, unmerged_entries

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "partition": "STRING",
    "record_count": "BIGINT NOT NULL",
    "file_size_in_bytes": "BIGINT NOT NULL",
    "file_count": "BIGINT NOT NULL",
    "last_update_time": "TIMESTAMP(3)",
}


def _partition_rows(store: TableStore) -> list[tuple[Any, ...]]:
    travel = parse_travel(store.options)
    snapshot = resolve_time_travel(store, travel)
    entries = unmerged_entries(store, snapshot)
    text = partition_text_function(store)
    fallback, primary = store.options.get(opt.SCAN_FALLBACK_BRANCH), store.options.get(opt.SCAN_PRIMARY_BRANCH)
    for name in store.chain_branches or filter(None, (fallback, primary)):
        other, state = fallback_state(store, name, travel, snapshot)
        added = unmerged_entries(other, state)
        if name == primary:
            entries, added = added, entries
        own = set(file_totals_by(entries, lambda e: e.partition))
        entries += [e for e in added if e.partition not in own]
    # Postponed files belong to no partition yet, as in Java.
    real = [e for e in entries if e.bucket >= 0] if store.bucket_option == -2 else entries
    found = file_totals_by(real, lambda e: e.partition)
    return sorted((text(p), t.rows, t.size, t.files, t.newest_ms) for p, t in found.items())


PARTITIONS = system_table_with_columns(COLUMNS, _partition_rows)
