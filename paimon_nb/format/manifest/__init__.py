"""Manifest lists, manifests and index manifests."""

from paimon_nb.format.manifest.entries import (
    ADD,
    DELETE,
    EMPTY_ROW,
    EMPTY_STATS,
    FILE_NUMBERS,
    STATS_COLS,
    DataFile,
    DvRange,
    Entries,
    Files,
    IndexEntry,
    Joined,
    Listed,
    ManifestEntry,
    ManifestFile,
    SimpleStats,
    as_entries,
    joined,
    null_counts,
)
from paimon_nb.format.manifest.index_manifests import read_index_manifest, write_index_manifest
from paimon_nb.format.manifest.manifests import (
    keep_manifest,
    keep_manifest_list,
    read_entries,
    read_manifest,
    read_manifest_list,
    write_manifest,
    write_manifest_list,
)

__all__ = [
    "ADD", "DELETE", "EMPTY_ROW", "EMPTY_STATS", "FILE_NUMBERS", "STATS_COLS", "DataFile", "DvRange", "Entries", "Files", "IndexEntry", "Joined", "Listed",
    "ManifestEntry", "ManifestFile", "SimpleStats", "as_entries", "joined", "keep_manifest", "keep_manifest_list", "null_counts", "read_entries", "read_index_manifest", "read_manifest", "read_manifest_list",
    "write_index_manifest", "write_manifest", "write_manifest_list",
]  # fmt: skip
