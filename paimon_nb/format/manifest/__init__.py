"""Manifest lists, manifests and index manifests."""

from paimon_nb.format.manifest.entries import (
    ADD,
    DELETE,
    EMPTY_ROW,
    EMPTY_STATS,
    FILE_NUMBERS,
    STATS_COLS,
    ConcatenatedEntries,
    DataFile,
    DvRange,
    Entries,
    EntryList,
    IndexEntry,
    LazyFiles,
    ManifestEntry,
    ManifestFile,
    SimpleStats,
    as_entries,
    concat_entries,
    data_files_of,
    null_counts,
)
from paimon_nb.format.manifest.index_manifests import (
    cache_index_manifest,
    read_index_manifest,
    write_index_manifest,
)
from paimon_nb.format.manifest.manifests import (
    cache_manifest,
    cache_manifest_list,
    read_entries,
    read_manifest,
    read_manifest_list,
    write_manifest,
    write_manifest_list,
)

__all__ = [
    "ADD", "DELETE", "EMPTY_ROW", "EMPTY_STATS", "FILE_NUMBERS", "STATS_COLS", "DataFile", "DvRange", "Entries", "LazyFiles", "IndexEntry", "ConcatenatedEntries", "EntryList",
    "ManifestEntry", "ManifestFile", "SimpleStats", "as_entries", "concat_entries", "cache_index_manifest", "cache_manifest", "cache_manifest_list", "data_files_of", "null_counts", "read_entries", "read_index_manifest", "read_manifest", "read_manifest_list",
    "write_index_manifest", "write_manifest", "write_manifest_list",
]  # fmt: skip
