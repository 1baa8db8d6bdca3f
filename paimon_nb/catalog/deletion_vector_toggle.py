"""Deletion vectors are switched on or off only over files that read the same either way. Reads manifests, no rows.

Switched on, old versions of a row would no longer be merged away: keys would come twice, and rows on level 0 wait for a
compaction. Switched off, deleted rows would come back. After a full compaction there is one version of each row and no mark.
"""

from __future__ import annotations

from paimon_nb.base.errors import FixedOption
from paimon_nb.format.schema import TableSchema
from paimon_nb.options import TableOptions
from paimon_nb.table.commit.attempt import index_entries
from paimon_nb.table.commit.live_files import by_bucket, live_entries
from paimon_nb.table.commit.snapshot_change import DELETION_VECTORS
from paimon_nb.table.store import TableStore

KEY = "deletion-vectors.enabled"


def check_vectors(before: TableSchema, after: TableSchema, store: TableStore) -> None:
    """Raises FixedOption when files of the latest snapshot were written the other way, and it would show."""
    was, will = (TableOptions(s.options).deletion_vectors for s in (before, after))
    if was == will:
        return
    found = _unmerged(store) if will else _marked(store)
    if found is not None:
        raise FixedOption(
            f"{KEY!r} cannot be switched {'on' if will else 'off'} yet: {found}",
            hint="CALL sys.compact(`table` => '...', compact_strategy => 'full') first, with no writer at work",
            option=KEY,
        )


def _unmerged(store: TableStore) -> str | None:
    """Where a row may have several versions, or may be out of sight on level 0."""
    if not store.has_keys:
        return None
    for (partition, bucket), entries in by_bucket(live_entries(store, store.latest())).items():
        levels = sorted({e.file.level for e in entries})
        if bucket >= 0 and (len(levels) > 1 or levels == [0]):
            where = f"partition {store.partition_values(partition)}, " if store.schema.partition_keys else ""
            return f"{where}bucket {bucket} has files on level {', '.join(map(str, levels))} that are to be merged"
    return None


def _marked(store: TableStore) -> str | None:
    """Where rows are marked as deleted."""
    marks = [i for i in index_entries(store, store.latest()) if i.index_type == DELETION_VECTORS]
    return f"{sum(i.row_count for i in marks)} data files have rows that are only marked as deleted" if marks else None
