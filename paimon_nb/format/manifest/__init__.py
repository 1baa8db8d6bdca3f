"""Manifest lists, manifests and index manifests."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr
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
    FileFields,
    IndexEntry,
    LazyFiles,
    ManifestEntry,
    ManifestFile,
    SimpleStats,
    as_entries,
    concat_entries,
    null_counts,
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

if TYPE_CHECKING:
    from paimon_nb.format.manifest.index_manifests import (
        cache_index_manifest,
        read_index_manifest,
        write_index_manifest,
    )
else:
    __getattr__ = lazy_getattr(
        __name__, {"index_manifests": "cache_index_manifest read_index_manifest write_index_manifest"}
    )

__all__ = [
    "ADD", "DELETE", "EMPTY_ROW", "EMPTY_STATS", "FILE_NUMBERS", "STATS_COLS", "DataFile", "DvRange", "Entries", "LazyFiles", "IndexEntry", "ConcatenatedEntries", "EntryList",
    "ManifestEntry", "ManifestFile", "SimpleStats", "as_entries", "concat_entries", "cache_index_manifest", "cache_manifest", "cache_manifest_list", "FileFields", "null_counts", "read_entries", "read_index_manifest", "read_manifest", "read_manifest_list",
    "write_index_manifest", "write_manifest", "write_manifest_list",
]  # fmt: skip
