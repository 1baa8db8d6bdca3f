"""`t$partitions`: rows, bytes and files of each partition, including those read from other branches.

Source: Paimon 2.1 `PartitionsTable`. Who created a partition, and when, is known to catalog servers only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.format.row import cast_to_string
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import index_entries
from paimon_nb.table.read.plan.planner import fallback_state
from paimon_nb.table.read.plan.time_travel import parse_travel, resolve_time_travel
from paimon_nb.table.tables.system.columns import system_table_with_columns
from paimon_nb.table.tables.system.file_totals import file_totals_by, unmerged_entries

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "partition": "STRING",
    "record_count": "BIGINT NOT NULL",
    "file_size_in_bytes": "BIGINT NOT NULL",
    "file_count": "BIGINT NOT NULL",
    "last_update_time": "TIMESTAMP(3)",
    "created_at": "TIMESTAMP(3)",
    "created_by": "STRING",
    "updated_by": "STRING",
    "options": "STRING",
    "total_buckets": "INT NOT NULL",
    "done": "BOOLEAN NOT NULL",
    "deleted_record_count": "BIGINT",
}


def _partition_rows(store: TableStore) -> list[tuple[Any, ...]]:
    travel = parse_travel(store.options)
    snapshot = resolve_time_travel(store, travel)
    entries = unmerged_entries(store, snapshot)
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
    deleted = _deleted_rows(store, snapshot)
    none = (None, None, None, None)
    return sorted(
        (
            (_text(store, p), t.rows, t.size, t.files, t.newest_ms, *none, t.total_buckets, False, deleted.get(p, 0))
            for p, t in found.items()
        ),
        key=lambda row: row[0],
    )


def _text(store: TableStore, partition: bytes) -> str:
    """`dt=2024-01-05/h=7`, not escaped; NULL is the default name."""
    default = str(store.options.get(opt.PARTITION_DEFAULT_NAME))
    texts = [
        (f.name, cast_to_string(f.type, v))
        for f, v in zip(store.schema.partition_fields, store.partition_values(partition), strict=True)
    ]
    return "/".join(f"{name}={default if text is None else text}" for name, text in texts)


def _deleted_rows(store: TableStore, snapshot: Snapshot | None) -> dict[bytes, int | None]:
    """Rows of each partition that deletion vectors hide; None: an older writer did not count them."""
    found: dict[bytes, int | None] = {}
    if not store.options.deletion_vectors:
        return found
    for entry in index_entries(store, snapshot):
        for vector in entry.dv_ranges or ():
            count = found.get(entry.partition, 0)
            known = count is not None and vector.cardinality is not None
            found[entry.partition] = (count or 0) + (vector.cardinality or 0) if known else None
    return found


PARTITIONS = system_table_with_columns(COLUMNS, _partition_rows)
