"""Snapshots and related files: hints, tags, consumers, branches, statistics."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr
from paimon_nb.format.snapshot.directory import BATCH_IDENTIFIER, NO_WATERMARK, Published, Snapshot, SnapshotDirectory

if TYPE_CHECKING:
    from paimon_nb.format.snapshot.branches import BranchDirectory
    from paimon_nb.format.snapshot.consumers import ConsumerDirectory
    from paimon_nb.format.snapshot.partition_statistics import PartitionStatistics
    from paimon_nb.format.snapshot.statistics import ColumnStatistics, Statistics
    from paimon_nb.format.snapshot.tags import Tag, TagDirectory
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "branches": "BranchDirectory",
            "consumers": "ConsumerDirectory",
            "partition_statistics": "PartitionStatistics",
            "statistics": "ColumnStatistics Statistics",
            "tags": "Tag TagDirectory",
        },
    )

__all__ = [
    "BATCH_IDENTIFIER", "NO_WATERMARK", "BranchDirectory", "ColumnStatistics", "ConsumerDirectory", "PartitionStatistics", "Published",
    "Snapshot",
    "SnapshotDirectory", "Statistics", "Tag", "TagDirectory",
]  # fmt: skip
