"""Files that may be deleted when some roots are removed: candidates minus everything that is still reachable.

Collected completely before anything is deleted, so that an unreadable file stops the operation before any deletion.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.errors import MissingFile
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import ManifestEntry, read_manifest_list
from paimon_nb.table.write.maintenance.reachable import Reachable, index_files, list_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore


@dataclass
class DeletionCandidates:
    """Candidate files by name, with their paths."""

    store: TableStore
    data: dict[str, str] = field(default_factory=dict)
    manifests: dict[str, str] = field(default_factory=dict)
    indexes: dict[str, str] = field(default_factory=dict)
    statistics: dict[str, str] = field(default_factory=dict)

    def add_entries(self, entries: Iterable[ManifestEntry]) -> None:
        """Data files of entries, with their sidecars."""
        for entry in entries:
            path = self.store.data_path(entry.partition, entry.bucket, entry.file)
            self.data[entry.file.file_name] = path
            for extra, extra_path in zip(
                entry.file.extra_files, self.store.extra_paths(entry.partition, entry.bucket, entry.file), strict=True
            ):
                self.data[extra] = extra_path

    def add_metadata(self, snapshot: Snapshot) -> None:
        """Manifest lists, manifests, index and statistics files of the snapshot.

        A missing list (an earlier expiry was interrupted) adds no candidates.
        """
        store = self.store
        for name in list_names(snapshot):
            self.manifests[name] = store.manifest_path(name)
            try:
                listed = read_manifest_list(store.fs, store.manifest_path(name))
            except MissingFile:
                continue
            for manifest in listed:
                self.manifests[manifest.file_name] = store.manifest_path(manifest.file_name)
        if snapshot.index_manifest:
            self.manifests[snapshot.index_manifest] = store.manifest_path(snapshot.index_manifest)
            try:
                for entry in index_files(store, snapshot):
                    self.indexes[entry.file_name] = store.index_path(entry)
            except MissingFile:
                pass
        if snapshot.statistics:
            self.statistics[snapshot.statistics] = store.statistics_path(snapshot.statistics)

    def unused(self, used: Reachable) -> list[str]:
        """Paths to delete: unreachable candidates. Data first, metadata last."""
        return [
            *(p for n, p in self.data.items() if n not in used.data),
            *(p for n, p in self.indexes.items() if n not in used.indexes),
            *(p for n, p in self.statistics.items() if n not in used.statistics),
            *(p for n, p in self.manifests.items() if n not in used.manifests),
        ]


def delete_paths(store: TableStore, paths: Iterable[str]) -> None:
    """Delete files that nothing needs any more; those that do not exist are skipped."""
    store.fs.delete_each(paths)
