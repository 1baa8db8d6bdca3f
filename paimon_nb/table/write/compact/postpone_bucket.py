"""Assigns postponed rows (bucket = -2) to real buckets. Source: docs/spec/merge-semantics.md section 5."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write.compact.postponed_batch import needed_buckets, write_to_buckets
from paimon_nb.table.write.publish.changes import CommitMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import DataFile


def compact_postponed(
    store: TableStore, partition: bytes, files: Sequence[DataFile], base_snapshot: int
) -> list[CommitMessage]:
    """Move the rows of postponed files to real buckets, each bucket compacted as after a write.

    A partition with real buckets keeps their number; otherwise `postpone.default-bucket-num` applies,
    or as many as the rows or bytes that wait need.
    """
    from paimon_nb.table.write.table_write import TableWrite

    entries = live_entries(store, store.snapshots.get(base_snapshot), {partition})
    total = next(
        (e.total_buckets for e in entries if e.bucket >= 0), store.options.get(opt.POSTPONE_DEFAULT_BUCKET_NUM)
    )
    if total is None:
        total = needed_buckets(store, sum(f.row_count for f in files), sum(f.file_size for f in files))
    # As every compaction, also of a write-only table: deletion vectors hide rows that stay in level 0.
    target = store.with_buckets(total).copy({opt.WRITE_ONLY.key: "false"})
    with TableWrite(target) as write:
        write_to_buckets(store, write, partition, files, total)
        messages = write.prepare_commit()
    removal = CommitMessage(
        partition, POSTPONE_BUCKET, POSTPONE_BUCKET, compact_before=tuple(files), base_snapshot=base_snapshot
    )
    return [*(_move_as_compaction_message(store, m) for m in messages), removal]


def _move_as_compaction_message(store: TableStore, message: CommitMessage) -> CommitMessage:
    """New files of the move and their changelog belong to the COMPACT snapshot: the rows were committed before."""
    replaced = {f.file_name for f in message.compact_before}
    remaining = tuple(f for f in message.new_files if f.file_name not in replaced)
    own = {f.file_name for f in message.new_files}
    before = tuple(f for f in message.compact_before if f.file_name not in own)
    after = {f.file_name for f in message.compact_after}
    for file in message.new_files:
        if file.file_name in replaced - after:
            for path in store.paths_of(message.partition, message.bucket, file):
                store.fs.delete(path)  # never visible
    # An upgraded new file is new on its final level.
    return replace(
        message, new_files=(), changelog_files=(), compact_before=before, compact_after=(*remaining, *message.compact_after),
        compact_changelog=(*message.changelog_files, *message.compact_changelog), row_count=0,
    )  # fmt: skip
