"""What one commit changes in a partition, as catalogs that list partitions keep it. Source: Paimon `PartitionStatistics.java`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class PartitionStatistics:
    """Differences, so they may be negative."""

    spec: Mapping[str, str]
    """Partition key to value; empty for a table without partitions."""
    record_count: int
    file_size: int
    """Bytes."""
    file_count: int
    last_file_creation_ms: int
    total_buckets: int
    """Of the partition's newest files; -1 if the bucket count is not fixed."""

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
