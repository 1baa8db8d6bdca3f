"""Global indexes of columns that get new values: the update is refused, or the index dropped, as the table's option says.

Otherwise readers that use the index would miss rows. Source: Paimon 2 `MergeIntoPaimonDataEvolutionTable.checkUpdateResult`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import index_entries
from paimon_nb.table.write.publish.changes import CommitMessage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from paimon_nb.format.manifest import IndexEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore


def indexed_fields(entry: IndexEntry) -> set[int]:
    """Ids of the fields that a global index holds; none for an index of another kind."""
    known = dict(entry.global_index or ())
    return {known["_INDEX_FIELD_ID"], *(known.get("_EXTRA_FIELD_IDS") or ())} if known else set()


def drop_stale_indexes(
    store: TableStore, latest: Snapshot | None, columns: Collection[str], partitions: Iterable[bytes]
) -> list[CommitMessage]:
    """Messages that drop the global indexes of these columns in these partitions; none where they may stay.

    Raises: UnsupportedOperation: there are such indexes, and `global-index.column-update-action` is THROW_ERROR.
    """
    action = str(store.options.get(opt.GLOBAL_INDEX_COLUMN_UPDATE_ACTION))
    if action == "ignore" or not columns:
        return []
    touched, ids = set(partitions), {f.id for f in store.schema.fields if f.name in columns}
    stale = [e for e in index_entries(store, latest) if e.partition in touched and indexed_fields(e) & ids]
    if not stale:
        return []
    if action == "throw_error":
        held = set[int]().union(*map(indexed_fields, stale)) & ids
        names = [f.name for f in store.schema.fields if f.id in held]
        raise UnsupportedOperation(
            f"{store.name}: column {', '.join(names)} has a global index ({stale[0].index_type}), which new values would make wrong",
            hint=f"'{opt.GLOBAL_INDEX_COLUMN_UPDATE_ACTION.key}' = 'DROP_PARTITION_INDEX' drops it with the update, 'IGNORE' keeps it stale",
            columns=names,
        )
    buckets = dict.fromkeys((e.partition, e.bucket) for e in stale)
    return [
        CommitMessage(
            partition, bucket, -1, deleted_index=tuple(e for e in stale if (e.partition, e.bucket) == (partition, bucket)),
            base_snapshot=latest.id if latest else None,
        )
        for partition, bucket in buckets
    ]  # fmt: skip
