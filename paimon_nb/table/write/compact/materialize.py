"""Applies the deletion vectors of data-evolution tables: the remaining rows are written again, with new row ids.

Source: Paimon 2.1 `DataEvolutionDeletionVectorMaterializeCoordinator`, `DataEvolutionMaterializeDeletionCompactTask`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.options.support import Access
from paimon_nb.table.read.live_files import by_bucket, index_entries, live_entries
from paimon_nb.table.write.bucket_compact.data_evolution import rewrite_without_deleted_rows
from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors
from paimon_nb.table.write.publish.abort import abort_messages
from paimon_nb.table.write.publish.changes import CommitMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.table.read.store import TableStore


def materialize_deletion_vectors(
    store: TableStore, partitions: Callable[[bytes], bool] | None = None
) -> list[CommitMessage]:
    """Messages that replace the files with deleted rows. Global indexes of their partitions are dropped: they name the old row ids.

    Args:
        partitions: a test for serialized partitions; None: all.

    Raises: UnsupportedOperation: the table has no data evolution or no deletion vectors.
    """
    store.check_supported(Access.COMPACT)
    store.check_writable_columns()
    if not store.evolves_data or not store.options.deletion_vectors:
        raise UnsupportedOperation(
            f"{store.name}: only tables with data evolution and deletion vectors have their vectors materialized",
            hint=f"CALL sys.compact('{store.name}') applies the vectors of other tables",
        )
    snapshot, store = store.latest(), store.at_newest_schema()
    if snapshot is None:
        return []
    index, messages = index_entries(store, snapshot), list[CommitMessage]()
    try:
        for (partition, bucket), entries in by_bucket(live_entries(store, snapshot)).items():
            if partitions is not None and not partitions(partition):
                continue
            message = CommitMessage(partition, bucket, entries[0].total_buckets, base_snapshot=snapshot.id)
            vectors = BucketVectors(store, partition, bucket, index)
            result = rewrite_without_deleted_rows(store, message, [e.file for e in entries], vectors)
            if result.before:
                stale = [e for e in index if e.partition == partition and e.global_index is not None]
                result = replace(result, deleted_index=[*result.deleted_index, *stale])
                messages.append(result.attach_to(message))
    except BaseException:
        abort_messages(store, messages)
        raise
    return messages
