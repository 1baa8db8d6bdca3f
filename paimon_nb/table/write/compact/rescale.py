"""Rescale: rewrites partitions with another number of buckets. The table's option stays unchanged.

Source: docs/spec/merge-semantics.md section 5 (Paimon `RescaleProcedure`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation
from paimon_nb.options import table as opt
from paimon_nb.options.support import Access
from paimon_nb.table.read import plan_scan, read_split
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.split.inline_blobs import as_stored
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.compact.compact import refuse_level0_rows
from paimon_nb.table.write.publish.overwrite import Overwrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.table.write.publish.changes import CommitMessage


def rescale(
    store: TableStore, buckets: int | None, partitions: Callable[[bytes], bool] | None = None
) -> tuple[TableStore, list[CommitMessage], Overwrite]:
    """Rewrite rows into `buckets` buckets (None: the option's number). Commit the messages with the overwrite.

    Args:
        partitions: a test for serialized partitions; None means all.
    Returns: the store to commit with, the messages, what they replace.
    Raises: UnsupportedOperation: the table's buckets are not fixed, or have no files. BadOptionValue.
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
    plan = plan_scan(store.without_fallback().copy({opt.POSTPONE_MERGE_ON_READ.key: "false"}))
    live = [e for e in live_entries(store, plan.snapshot) if e.bucket != POSTPONE_BUCKET]
    if not any(partitions is None or partitions(e.partition) for e in live):
        where = "" if partitions is None else " in the selected partitions"
        raise UnsupportedOperation(
            f"{store.name} has no files in buckets{where}: nothing can be rescaled",
            hint="CALL sys.compact moves postponed rows to buckets"
            if postponed
            else "rescale partitions that have rows",
        )
    refuse_level0_rows(store, [e for e in live if partitions is None or partitions(e.partition)])
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
