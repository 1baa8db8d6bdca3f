"""Rescale: rewrites partitions with another number of buckets. The table's option stays unchanged.

Source: docs/spec/merge-semantics.md section 5 (Paimon `RescaleProcedure`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.options import table as opt
from paimon_nb.options.support import Access
from paimon_nb.table.read import all_levels, plan_scan, read_split
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.split.inline_blobs import as_stored
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.compact.compact import refuse_level0_rows
from paimon_nb.table.write.publish.overwrite import Overwrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.format.manifest import ManifestEntry
    from paimon_nb.table.write.publish.changes import CommitMessage


def has_files_to_rescale(store: TableStore, partitions: Callable[[bytes], bool] | None = None) -> bool:
    """Whether the partitions have files in buckets; rows that wait for a bucket do not count."""
    return bool(_real_files(store, partitions))


def _real_files(store: TableStore, partitions: Callable[[bytes], bool] | None) -> list[ManifestEntry]:
    live = live_entries(store, store.latest())
    return [e for e in live if e.bucket != POSTPONE_BUCKET and (partitions is None or partitions(e.partition))]


def rescale(
    store: TableStore, buckets: int | None, partitions: Callable[[bytes], bool] | None = None
) -> tuple[TableStore, list[CommitMessage], Overwrite]:
    """Rewrite rows into `buckets` buckets (None: the option's number). Commit the messages with the overwrite.

    Args:
        partitions: a test for serialized partitions; None means all.
    Returns: the store to commit with, the messages, what they replace.
    Raises: UnsupportedOperation: the table's buckets are not fixed, or it has no snapshot. BadOptionValue.
    """
    count = store.bucket_option if buckets is None else buckets
    postponed = store.bucket_option == POSTPONE_BUCKET
    if postponed and buckets is None:
        raise BadOptionValue(
            f"{store.name} has bucket = -2, so the new number of buckets is required",
            hint="CALL sys.rescale(table => ..., bucket_num => 4)",
        )
    if store.bucket_option < 1 and not postponed:
        raise UnsupportedOperation(
            f"{store.name} has bucket = {store.bucket_option}: only fixed and postponed buckets can be rescaled",
            hint="rescale needs 'bucket' > 0, or -2",
        )
    if count < 1:
        raise BadOptionValue(f"{count} is not a valid number of buckets", hint="use a number of at least 1")
    store.check_supported(Access.COMPACT)
    store.check_writable_columns()
    store = store.at_newest_schema()
    if store.latest() is None:
        raise UnsupportedOperation(
            f"{store.name} has no snapshot: nothing can be rescaled", hint="rescale a table with rows, or ALTER TABLE ... SET ('bucket' = ...)"
        )  # fmt: skip
    # Rows that wait for a bucket stay. Level 0 too is read, which ordinary scans of a table with deletion vectors leave to a compaction.
    whole = {opt.DELETION_VECTORS_MERGE_ON_READ.key: "true", opt.POSTPONE_MERGE_ON_READ.key: "false"}
    plan = plan_scan(store.without_fallback().copy(whole), levels=all_levels)
    if store.options.merge_engine == "first-row":
        refuse_level0_rows(store, _real_files(store, partitions))
    read = plan.snapshot.id if plan.snapshot else None
    if postponed:  # rows that wait for a bucket still wait
        selected = frozenset(s.partition for s in plan.splits if partitions is None or partitions(s.partition))
        scope = Overwrite(read_snapshot=read, replaced_partitions=selected)
    else:
        scope = Overwrite(dynamic=bool(store.schema.partition_keys), read_snapshot=read)
    target = store.with_buckets(count)
    with TableWrite(target, overwrite=True, compact=False) as writing:
        for split in plan.splits:
            if partitions is None or partitions(split.partition):
                writing.write(read_split(as_stored(plan.store), split))
        messages = writing.prepare_commit()
    return target, [replace(m, base_snapshot=read) for m in messages], scope
