"""A batch write to a postponed table (`bucket` = -2) that gives its rows their buckets at once.

The rows are staged as postponed files, of which the number of buckets follows; then they are written to these buckets.
Rows that waited before still wait. Source: Paimon 2.1 `PostponeUtils`, `SparkPostponeStagedCommitter`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.row import bucket_of
from paimon_nb.format.types.arrow_builders import to_numpy
from paimon_nb.options import Option
from paimon_nb.options import table as opt
from paimon_nb.options.write import SINK_PARALLELISM
from paimon_nb.table.read import all_levels, plan_scan, read_split
from paimon_nb.table.read.live_files import LIVE_FILES
from paimon_nb.table.read.plan.snapshot_scan import written_order
from paimon_nb.table.read.split.inline_blobs import as_stored
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write.bucket_compact.sorted_run_reader import file_rows
from paimon_nb.table.write.input_rows import one_chunk, split_by_bucket, take_rows
from paimon_nb.table.write.publish.abort import abort_messages
from paimon_nb.table.write.publish.changes import CommitMessage
from paimon_nb.table.write.publish.overwrite import Overwrite
from paimon_nb.table.write.table_write import TableWrite

if TYPE_CHECKING:
    from paimon_nb.format.manifest import DataFile

Commit = Callable[[list[CommitMessage], Overwrite], list[int]]
"""Publishes messages that replace something; returns the new snapshots."""


def assigns_buckets_in_batch(store: TableStore) -> bool:
    """Whether batch writes of this table give rows their buckets, as in Paimon 2; in Paimon 1.3 the rows wait."""
    return store.bucket_option == POSTPONE_BUCKET and bool(store.options.get(opt.POSTPONE_BATCH_WRITE_FIXED_BUCKET))


@dataclass(frozen=True, slots=True)
class BucketCount:
    """The number of buckets for a partition's new rows."""

    buckets: int
    rescales: bool = False
    """The rows that the partition has move to that number of buckets first."""


def bucket_count_for_postponed(store: TableStore, rows: int, size: int, existing: int | None) -> BucketCount:
    """The buckets that staged rows need: those that exist, unless these are too few by far. Pure.

    Args:
        rows: staged rows of the partition. size: bytes of their files. existing: its buckets; None for none.

    Raises: BadOptionValue.
    """
    default = store.options.get(opt.POSTPONE_DEFAULT_BUCKET_NUM)
    if existing is None and default is not None:
        return BucketCount(default)
    limit = _positive_option(store, opt.POSTPONE_BATCH_WRITE_FIXED_BUCKET_MAX_PARALLELISM)
    tasks = store.options.get(SINK_PARALLELISM)
    if tasks is not None:  # as in Flink, where each task writes a bucket of a new partition
        return BucketCount(min(tasks, limit) if existing is None else existing)
    factor = _positive_option(store, opt.POSTPONE_BATCH_WRITE_FIXED_BUCKET_RESCALE_LOAD_FACTOR)
    needed = needed_buckets(store, rows, size)
    suggested = min(1 << (min(needed, limit) - 1).bit_length(), limit)
    if existing is None:
        return BucketCount(suggested)
    # Rows of a first-row table in level 0 are not merged yet: they stay where they are.
    if needed > existing * factor and suggested > existing and store.options.merge_engine != "first-row":
        return BucketCount(suggested, rescales=True)
    return BucketCount(existing)


def needed_buckets(store: TableStore, rows: int, size: int) -> int:
    """Rows or bytes over their target per bucket, at least 1. Raises BadOptionValue."""
    if store.options.get(opt.POSTPONE_TARGET_ROW_NUM_PER_BUCKET) is not None:
        return max(1, -(-rows // _positive_option(store, opt.POSTPONE_TARGET_ROW_NUM_PER_BUCKET)))
    return max(1, -(-size // _positive_option(store, opt.POSTPONE_TARGET_SIZE_PER_BUCKET)))


def _positive_option(store: TableStore, option: Option[Any]) -> int:
    value = int(store.options.get(option))
    if value < 1:
        raise BadOptionValue(
            f"option {option.key!r} cannot be {value}", hint="use a number of at least 1", option=option.key
        )
    return value


def assign_buckets(
    store: TableStore, messages: Sequence[CommitMessage], commit: Commit, *, overwrite: bool
) -> tuple[list[CommitMessage], list[int]]:
    """The messages with their postponed rows in real buckets, and the snapshots of a rescale that this needed.

    The staged files are deleted in any case.

    Args:
        commit: publishes a rescale.
        overwrite: the commit replaces what the partitions hold, so that their buckets do not matter.
    """
    staged: list[CommitMessage] = []
    others: list[CommitMessage] = []
    for message in messages:
        (staged if message.bucket == POSTPONE_BUCKET and message.new_files else others).append(message)
    written: list[CommitMessage] = []
    made: list[int] = []
    try:
        files: dict[bytes, list[DataFile]] = defaultdict(list)
        for message in staged:
            files[message.partition] += message.new_files
        existing = {} if overwrite else LIVE_FILES.at_newest(store, store.latest())[2]
        counts = {
            p: bucket_count_for_postponed(
                store, sum(f.row_count for f in some), sum(f.file_size for f in some), existing.get(p)
            )
            for p, some in files.items()
        }
        rescaled = {p: count.buckets for p, count in counts.items() if count.rescales}
        if rescaled:
            made = commit(*_rescale_real_buckets(store, rescaled))
        written = _write_postponed_to_buckets(store, files, {p: c.buckets for p, c in counts.items()}, overwrite)
    except BaseException:
        abort_messages(store, [*written, *others])
        raise
    finally:
        abort_messages(store, staged)
    return [*written, *others], made


def _write_postponed_to_buckets(
    store: TableStore, files: Mapping[bytes, Sequence[DataFile]], counts: Mapping[bytes, int], overwrite: bool
) -> list[CommitMessage]:
    """One message per bucket. Their rows are not compacted, as in Java."""
    messages: list[CommitMessage] = []
    try:
        for count in sorted(set(counts.values())):
            with TableWrite(_with_count(store, count), overwrite=overwrite) as writing:
                for partition in [p for p, n in counts.items() if n == count]:
                    write_to_buckets(store, writing, partition, files[partition], count)
                messages += writing.prepare_commit()
    except BaseException:
        abort_messages(store, messages)
        raise
    return messages


def _rescale_real_buckets(store: TableStore, counts: Mapping[bytes, int]) -> tuple[list[CommitMessage], Overwrite]:
    """The rows of the real buckets of some partitions, in other numbers of buckets."""
    # Rows that wait for a bucket stay. Level 0 too, which ordinary scans of a table with deletion vectors leave to a compaction.
    whole = store.without_fallback().copy(
        {opt.DELETION_VECTORS_MERGE_ON_READ.key: "true", opt.POSTPONE_MERGE_ON_READ.key: "false"}
    )
    plan = plan_scan(whole, levels=all_levels)
    messages: list[CommitMessage] = []
    try:
        for count in sorted(set(counts.values())):
            with TableWrite(_with_count(store, count), overwrite=True) as writing:
                for part in plan.splits:
                    if counts.get(part.partition) == count:
                        writing.write(read_split(as_stored(plan.store), part))
                messages += writing.prepare_commit()
    except BaseException:
        abort_messages(store, messages)
        raise
    read = plan.snapshot.id if plan.snapshot else None
    messages = [replace(m, base_snapshot=read) for m in messages]
    return messages, Overwrite(read_snapshot=read, replaced_partitions=frozenset(counts))


def _with_count(store: TableStore, count: int) -> TableStore:
    return store.with_buckets(count).copy({opt.WRITE_ONLY.key: "true"})


def write_to_buckets(
    store: TableStore, writing: TableWrite, partition: bytes, files: Sequence[DataFile], total: int
) -> None:
    """Write the rows of postponed files of a partition to their buckets, in the order in which they were written."""
    fields = [store.schema.field(n) for n in store.schema.bucket_keys]
    function = str(store.options.get(opt.BUCKET_FUNCTION_TYPE))
    for file in written_order(files):
        for kv in file_rows(store, partition, POSTPONE_BUCKET, file, None):
            kinds = to_numpy(kv.column(VALUE_KIND))
            rows = kv.drop_columns([SEQUENCE_NUMBER, VALUE_KIND])
            columns = [one_chunk(rows.column(f.name)) for f in fields]
            buckets = np.asarray(bucket_of([f.type for f in fields], columns, total, function), np.int32)
            for _, bucket, numbers in split_by_bucket(rows, np.zeros(rows.num_rows, np.int64), buckets):
                writing.write_bucket(partition, bucket, take_rows(rows, numbers), kinds[numbers])
