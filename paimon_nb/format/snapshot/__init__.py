"""Snapshots and related files: hints, tags, consumers, branches, statistics."""

from paimon_nb.format.snapshot.branches import BranchDirectory
from paimon_nb.format.snapshot.consumers import ConsumerDirectory
from paimon_nb.format.snapshot.directory import BATCH_IDENTIFIER, NO_WATERMARK, Published, Snapshot, SnapshotDirectory
from paimon_nb.format.snapshot.partition_statistics import PartitionStatistics
from paimon_nb.format.snapshot.statistics import ColumnStatistics, Statistics
from paimon_nb.format.snapshot.tags import Tag, TagDirectory

__all__ = [
    "BATCH_IDENTIFIER", "NO_WATERMARK", "BranchDirectory", "ColumnStatistics", "ConsumerDirectory", "PartitionStatistics", "Published",
    "Snapshot",
    "SnapshotDirectory", "Statistics", "Tag", "TagDirectory",
]  # fmt: skip
