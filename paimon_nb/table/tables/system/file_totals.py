"""Totals over the live files of a snapshot, grouped by partition, bucket or both."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import DELETE, ManifestEntry
from paimon_nb.table.read.live_files import read_changes, read_live
from paimon_nb.table.read.plan.time_travel import parse_travel, resolve_time_travel

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class Totals:
    """Totals over some files."""

    rows: int = 0
    size: int = 0
    files: int = 0
    newest_ms: int | None = None
    """The latest creation time, on the writers' wall clocks."""
    total_buckets: int = -1

    def add(self, entry: ManifestEntry) -> None:
        """Add a file, or subtract a deleted one; the latest time stays that of any of them, as in Java."""
        f, sign = entry.file, -1 if entry.kind == DELETE else 1
        self.rows += sign * f.row_count
        self.size += sign * f.file_size
        self.files += sign
        if f.creation_time_ms is not None:
            self.newest_ms = max(self.newest_ms or f.creation_time_ms, f.creation_time_ms)
        self.total_buckets = entry.total_buckets


def selected_entries(store: TableStore) -> tuple[Snapshot | None, Sequence[ManifestEntry]]:
    """The snapshot selected by the store's options, and its files, level 0 included."""
    snapshot = resolve_time_travel(store, parse_travel(store.options))
    return snapshot, read_live(store, snapshot).entries if snapshot is not None else []


def unmerged_entries(store: TableStore, snapshot: Snapshot | None) -> list[ManifestEntry]:
    """Every entry of a snapshot's manifests, unmerged: added files, also those deleted later, and the deletions."""
    if snapshot is None:
        return []
    names = (snapshot.base_manifest_list, snapshot.delta_manifest_list)
    return [e for name in names for e in read_changes(store, name).entries]


def file_totals_by(entries: Sequence[ManifestEntry], key: Callable[[ManifestEntry], K]) -> dict[K, Totals]:
    """Totals by key, keys in order of first occurrence; keys without files are omitted."""
    out: dict[K, Totals] = {}
    for entry in entries:
        out.setdefault(key(entry), Totals()).add(entry)
    return {k: t for k, t in out.items() if t.files > 0}
