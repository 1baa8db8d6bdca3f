"""Incremental clustering: files of a table without primary key are arranged in levels and sorted run by run.

New files start on level 0. The files that universal compaction picks are sorted by `clustering.columns` onto a level of
their own, so most rows are not sorted again each time. Files of one level may overlap: the order is not guaranteed.
Buckets of a table with fixed buckets are clustered by themselves, after writes too.
Source: Paimon 1.3 `append/cluster/IncrementalClusterManager.java`, `IncrementalClusterStrategy.java`,
`HistoryPartitionCluster.java`; Paimon 2.1 `BucketedAppendClusterManager.java`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.levels import Levels
from paimon_nb.table.lsm.pick import PickLimits, Unit, pick_universal
from paimon_nb.table.read.store import POSTPONE_BUCKET
from paimon_nb.table.write.bucket_compact.append import BucketLocation, rewrite_append
from paimon_nb.table.write.cluster import Order
from paimon_nb.table.write.data_file_writer import APPEND_SOURCE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors
    from paimon_nb.table.write.bucket_compact.result import CompactResult


def uses_clustering(store: TableStore) -> bool:
    """Whether the table uses incremental clustering."""
    fits = not store.has_keys and store.bucket_option != POSTPONE_BUCKET
    return fits and bool(store.options.get(opt.CLUSTERING_INCREMENTAL))


def pick_cluster(store: TableStore, files: Iterable[DataFile], *, full: bool) -> Unit | None:
    """What to sort in one bucket; None if nothing is due. `full`: everything, unless it is already sorted by these
    columns.

    Raises: BadOptionValue: no columns to cluster by.
    """
    o = store.options
    if not o.names(opt.CLUSTERING_COLUMNS):
        raise BadOptionValue(
            f"{store.name} has '{opt.CLUSTERING_INCREMENTAL.key}' but no '{opt.CLUSTERING_COLUMNS.key}'",
            hint="ALTER TABLE ... SET ('clustering.columns' = 'a,b')",
        )
    levels, limits = cluster_levels(store, files)
    if not full:
        return pick_universal(levels, limits)
    runs = levels.runs
    if not runs or (len(runs) == 1 and runs[0].level == levels.max_level and _same_order(store, runs[0].run.files[0])):
        return None
    return Unit.of_runs(levels.max_level, runs)


def cluster_levels(store: TableStore, files: Iterable[DataFile]) -> tuple[Levels, PickLimits]:
    """The sorted runs of one bucket, and what decides when they are sorted again."""
    o = store.options
    limits = PickLimits(
        trigger=o.get(opt.NUM_SORTED_RUN_COMPACTION_TRIGGER),
        max_size_amplification=o.get(opt.COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT),
        size_ratio=o.get(opt.COMPACTION_SIZE_RATIO),
    )
    return Levels.of(files, o.num_levels, lambda _: 0), limits


def _same_order(store: TableStore, file: DataFile) -> bool:
    """Whether the file was written with the table's current clustering columns."""
    then = TableOptions(store.schemas.get(file.schema_id).options)
    return then.names(opt.CLUSTERING_COLUMNS) == store.options.names(opt.CLUSTERING_COLUMNS)


def idle_history_partitions(
    store: TableStore, files: Mapping[bytes, Sequence[DataFile]], selected: Collection[bytes]
) -> set[bytes]:
    """Partitions that received no file for `clustering.history-partition.idle-to-full-sort` and are not fully sorted yet,
    besides the selected ones.

    Args:
        files: all partitions' live files.
    """
    o = store.options
    idle = o.get(opt.CLUSTERING_HISTORY_PARTITION_IDLE_TO_FULL_SORT)
    if idle is None or not store.schema.partition_keys or store.bucket_option != -1:
        return set()
    top, limit = o.num_levels - 1, clock.local_now_ms() - idle
    waiting = []
    for partition, its in files.items():
        newest = max((f.creation_time_ms or 0 for f in its if f.level < top), default=None)
        if newest is not None and newest < limit and partition not in selected:
            waiting.append((newest, partition))
    return {partition for _, partition in sorted(waiting)[: o.get(opt.CLUSTERING_HISTORY_PARTITION_LIMIT)]}


def cluster_files(
    store: TableStore, where: BucketLocation, unit: Unit, vectors: BucketVectors | None = None
) -> CompactResult:
    """Sort the unit's files onto its level. Rows hidden by deletion vectors are dropped, and so are the vectors."""
    order = Order.of_options(store)
    assert order is not None, "pick_cluster asks for columns"
    # Java writes them like any rows and then changes the level: they count as appended.
    result = rewrite_append(store, where, unit.files, vectors, APPEND_SOURCE, order=order)
    result.after = [replace(file, level=unit.output_level) for file in result.after]
    return result
