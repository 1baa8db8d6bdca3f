"""Manifest lists, manifests and index manifests."""

from paimon_nb.format.manifest.cache import CACHE, FileCache
from paimon_nb.format.manifest.entries import (
    ADD,
    DELETE,
    EMPTY_ROW,
    EMPTY_STATS,
    DataFile,
    DvRange,
    IndexEntry,
    ManifestEntry,
    ManifestFile,
    SimpleStats,
)
from paimon_nb.format.manifest.index_manifests import read_index_manifest, write_index_manifest
from paimon_nb.format.manifest.lists import read_manifest_list, write_manifest_list
from paimon_nb.format.manifest.manifests import read_manifest, write_manifest

__all__ = [
    "ADD", "CACHE", "DELETE", "EMPTY_ROW", "EMPTY_STATS", "DataFile", "DvRange", "FileCache", "IndexEntry", "ManifestEntry",
    "ManifestFile", "SimpleStats", "read_index_manifest", "read_manifest", "read_manifest_list", "write_index_manifest",
    "write_manifest", "write_manifest_list",
]  # fmt: skip
