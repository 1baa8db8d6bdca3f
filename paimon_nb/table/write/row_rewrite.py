"""Deletes rows by position from tables without primary key and from compacted files of others: marks them, or rewrites files.

Source: docs/spec/merge-semantics.md sections 4.1 and 6 (Paimon on Spark: `PaimonRowLevelCommand`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.read.data_evolution import anchor_file
from paimon_nb.table.read.live_files import index_entries, live_entries
from paimon_nb.table.read.plan.snapshot_scan import ScanPlan, Split, is_independent
from paimon_nb.table.read.row_positions import rows_with_positions
from paimon_nb.table.read.split.row_tracking import tracks_rows
from paimon_nb.table.read.store import POSTPONE_BUCKET
from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors
from paimon_nb.table.write.bucket_compact.sorted_run_reader import file_rows
from paimon_nb.table.write.data_file_writer import COMPACT_SOURCE, AppendFileWriter, FileTarget, write_key_values
from paimon_nb.table.write.publish.changes import CommitMessage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.store import TableStore

Marked = tuple[Split, np.ndarray]
"""A file, and the physical positions of its deleted rows."""


def check_compacted(plan: ScanPlan) -> None:
    """Raises UnsupportedOperation if rows of a primary-key table wait to be merged with others, so that a deleted key could return."""
    store = plan.store
    if not store.has_keys:
        return
    unread = is_independent(store)  # level 0 is read after a compaction only
    waiting = (
        e.bucket == POSTPONE_BUCKET or (unread and e.file.level == 0) for e in live_entries(store, plan.snapshot)
    )
    if any(waiting) or not all(split.raw for split in plan.splits):
        raise UnsupportedOperation(
            f"{store.name}: merge engine {store.options.merge_engine} supports DELETE only from compacted files",
            hint=f"CALL sys.compact(`table` => '{store.name}'), then DELETE again",
            engine=store.options.merge_engine,
        )


def delete_marked_rows(store: TableStore, plan: ScanPlan, marked: Sequence[Marked]) -> list[CommitMessage]:
    """Messages that delete the marked rows; writes new index files, publishes nothing.

    For tables with deletion vectors only; otherwise call `rewrite_without_rows` file by file, in tasks if there are many.
    """
    index = index_entries(store, plan.snapshot)
    by_bucket: dict[tuple[bytes, int], list[Marked]] = {}
    for split, positions in marked:
        by_bucket.setdefault((split.partition, split.bucket), []).append((split, positions))
    messages = []
    for (partition, bucket), members in by_bucket.items():
        vectors = BucketVectors(store, partition, bucket, index)
        for split, positions in members:
            vectors.delete_rows(anchor_file(split.files).file_name, positions)
        new, old = vectors.finish()
        first = members[0][0]
        messages.append(
            CommitMessage(
                partition, bucket, first.total_buckets, new_index=tuple(new), deleted_index=tuple(old),
                base_snapshot=first.snapshot_id,
            )
        )  # fmt: skip
    return messages


def rewrite_without_rows(store: TableStore, split: Split, positions: np.ndarray) -> CommitMessage:
    """Rewrites a file in its bucket, level and order without the rows at `positions`; tracked rows keep their ids.

    `store` has the newest schema, so that no column is lost.
    """
    if store.has_keys:
        (file,) = split.files
        target = FileTarget(split.partition, split.bucket, file.level, COMPACT_SOURCE)
        return _file_replacement_message(
            split, write_key_values(store, target, _key_values_without(store, split, positions))
        )
    tracked = tracks_rows(store)
    rows, positions_of = rows_with_positions(store, split, tracked=tracked)
    remaining = rows.filter(from_numpy(~np.isin(positions_of, positions)))
    (file,) = split.files
    with AppendFileWriter(store, FileTarget(split.partition, split.bucket), file.min_sequence, tracked=tracked) as out:
        if remaining.num_rows:
            out.write(remaining)
        new = out.finish()
    return _file_replacement_message(split, new)


def _file_replacement_message(split: Split, new: Sequence[DataFile]) -> CommitMessage:
    """The message that replaces the files of a split."""
    return CommitMessage(
        split.partition, split.bucket, split.total_buckets, new_files=tuple(new), deleted_files=tuple(split.files),
        base_snapshot=split.snapshot_id,
    )  # fmt: skip


def _key_values_without(store: TableStore, split: Split, positions: np.ndarray) -> Iterator[pa.Table]:
    """The key-value rows of a file, in key order, without those at `positions`."""
    (file,) = split.files
    start = 0
    for rows in file_rows(store, split.partition, split.bucket, file, None):
        yield rows.filter(from_numpy(~np.isin(np.arange(start, start + rows.num_rows), positions)))
        start += rows.num_rows


def uses_deletion_vectors(store: TableStore) -> bool:
    """True if deleted rows are marked in deletion vectors."""
    return bool(store.options.get(opt.DELETION_VECTORS_ENABLED))
