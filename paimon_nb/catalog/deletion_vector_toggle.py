"""Checks whether deletion vectors can be enabled or disabled with the existing files. Reads manifests, no rows.

Enabling stops merge-on-read: unmerged versions of a row would be duplicates, and level-0 rows would be invisible until
a compaction. Disabling would bring deleted rows back. After a full compaction neither can happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import FixedOption
from paimon_nb.options import TableOptions
from paimon_nb.table.read.live_files import by_bucket, index_entries, live_entries
from paimon_nb.table.write.publish.changes import DELETION_VECTORS

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.read.store import TableStore

KEY = "deletion-vectors.enabled"


def check_deletion_vector_toggle(before: TableSchema, after: TableSchema, store: TableStore) -> None:
    """Raises FixedOption if the files of the latest snapshot do not allow the change."""
    before_enabled, after_enabled = (TableOptions(s.options).deletion_vectors for s in (before, after))
    if before_enabled == after_enabled:
        return
    found = _first_unmerged_bucket(store) if after_enabled else _deletion_vector_files(store)
    if found is not None:
        raise FixedOption(
            f"{KEY!r} cannot be {'enabled' if after_enabled else 'disabled'} yet: {found}",
            hint="CALL sys.compact(`table` => '...', compact_strategy => 'full') first, without concurrent writers",
            option=KEY,
        )


def _first_unmerged_bucket(store: TableStore) -> str | None:
    """The bucket where a row may have several versions, or be invisible on level 0."""
    if not store.has_keys:
        return None
    for (partition, bucket), entries in by_bucket(live_entries(store, store.latest())).items():
        levels = sorted({e.file.level for e in entries})
        if bucket >= 0 and (len(levels) > 1 or levels == [0]):
            where = f"partition {store.partition_values(partition)}, " if store.schema.partition_keys else ""
            return f"{where}bucket {bucket} has unmerged files on level {', '.join(map(str, levels))}"
    return None


def _deletion_vector_files(store: TableStore) -> str | None:
    """The number of files with deletion vectors."""
    vector_indexes = [i for i in index_entries(store, store.latest()) if i.index_type == DELETION_VECTORS]
    return (
        f"{sum(i.row_count for i in vector_indexes)} data files have rows that are only marked as deleted by deletion vectors"
        if vector_indexes
        else None
    )
