"""What a commit changes in each partition, for a catalog server that lists partitions. Source: Paimon `PartitionEntry.java`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.format.manifest import ADD, ManifestEntry
from paimon_nb.format.snapshot import PartitionStatistics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.table.read.store import TableStore


def partition_changes(store: TableStore, entries: Iterable[ManifestEntry]) -> list[PartitionStatistics]:
    """Added minus deleted rows, bytes and files of each partition that the entries touch."""
    grouped: dict[bytes, list[ManifestEntry]] = {}
    for entry in entries:
        grouped.setdefault(entry.partition, []).append(entry)
    return [_statistics_of_partition(store, partition, changed) for partition, changed in grouped.items()]


def _statistics_of_partition(store: TableStore, partition: bytes, changed: list[ManifestEntry]) -> PartitionStatistics:
    signs = [(1 if e.kind == ADD else -1, e.file) for e in changed]
    return PartitionStatistics(
        store.partition_texts(store.partition_values(partition)),
        record_count=sum(sign * f.row_count for sign, f in signs),
        file_size=sum(sign * f.file_size for sign, f in signs),
        file_count=sum(sign for sign, _ in signs),
        last_file_creation_ms=max(
            (clock.epoch_of_local_ms(f.creation_time_ms) for _, f in signs if f.creation_time_ms is not None), default=0
        ),
        total_buckets=changed[-1].total_buckets,
    )
