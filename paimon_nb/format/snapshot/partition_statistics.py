"""The changes of one commit to a partition, for catalogs that list partitions. Source: Paimon
`PartitionStatistics.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class PartitionStatistics:
    """Differences, which may be negative."""

    spec: Mapping[str, str]
    """Partition key to value; empty for a table without partitions."""
    record_count: int
    file_size: int
    """Bytes."""
    file_count: int
    last_file_creation_ms: int
    total_buckets: int
    """Number of buckets of the partition's newest files; -1 if it is not fixed."""

    def to_node(self) -> dict[str, Any]:
        """The JSON object of the REST protocol."""
        return {
            "spec": dict(self.spec),
            "recordCount": self.record_count,
            "fileSizeInBytes": self.file_size,
            "fileCount": self.file_count,
            "lastFileCreationTime": self.last_file_creation_ms,
            "totalBuckets": self.total_buckets,
        }
