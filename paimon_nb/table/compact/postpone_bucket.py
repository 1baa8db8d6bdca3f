"""Assigns postponed rows (bucket = -2) to real buckets. Source: docs/spec/merge-semantics.md section 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.manifest import DataFile
from paimon_nb.format.row import bucket_of
from paimon_nb.format.types.arrow_builders import to_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.bucket_compact.sorted_run_reader import file_rows
from paimon_nb.table.live_files import live_entries
from paimon_nb.table.publish.changes import CommitMessage
from paimon_nb.table.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write.bucket_assigner import one_chunk, split, take


def compact_postponed(
    store: TableStore, partition: bytes, files: Sequence[DataFile], base_snapshot: int
) -> list[CommitMessage]:
    """Move the rows of postponed files to real buckets, each bucket compacted as after a write.

    A partition with real buckets keeps their number; otherwise `postpone.default-bucket-num` applies.
    """
    from paimon_nb.table.write.table_write import TableWrite

    entries = live_entries(store, store.snapshots.get(base_snapshot), {partition})
    total = next(
        (e.total_buckets for e in entries if e.bucket >= 0), store.options.get(opt.POSTPONE_DEFAULT_BUCKET_NUM) or 1
    )
    real = store.copy({"bucket": str(total)})
    fields = [store.schema.field(n) for n in store.schema.bucket_keys]
    write = TableWrite(real)
    with write:
        for file in written_order(files):
            for kv in file_rows(store, partition, POSTPONE_BUCKET, file, None):
                kinds = to_numpy(kv.column(VALUE_KIND))
                rows = kv.drop_columns([SEQUENCE_NUMBER, VALUE_KIND])
                columns = [one_chunk(rows.column(f.name)) for f in fields]
                buckets = np.asarray(bucket_of([f.type for f in fields], columns, total), np.int32)
                for _, bucket, numbers in split(rows, np.zeros(rows.num_rows, np.int64), buckets):
                    write.write_bucket(partition, bucket, take(rows, numbers), kinds[numbers])
        messages = write.prepare_commit()
    removal = CommitMessage(
        partition, POSTPONE_BUCKET, POSTPONE_BUCKET, compact_before=tuple(files), base_snapshot=base_snapshot
    )
    return [*(_as_compaction(store, m) for m in messages), removal]


def written_order(files: Sequence[DataFile]) -> list[DataFile]:
    """Files in write order: later rows win."""
    return sorted(files, key=lambda f: (f.creation_time_ms or 0, f.min_sequence, f.file_name))


def _as_compaction(store: TableStore, message: CommitMessage) -> CommitMessage:
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
