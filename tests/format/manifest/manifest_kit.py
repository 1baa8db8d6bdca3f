"""Values of every kind of manifest file, with their readers and writers."""

from dataclasses import replace

from paimon_nb.format.manifest import (
    EMPTY_ROW,
    EMPTY_STATS,
    DataFile,
    DvRange,
    IndexEntry,
    ManifestEntry,
    ManifestFile,
    SimpleStats,
    read_index_manifest,
    read_manifest,
    read_manifest_list,
    write_index_manifest,
    write_manifest,
    write_manifest_list,
)

KEY = b"\0\0\0\1" + bytes(16)
STATS = SimpleStats(KEY, KEY, (0,))
APPENDED = DataFile("data-u-0.parquet", 700, 3, EMPTY_ROW, EMPTY_ROW, EMPTY_STATS, STATS, 0, 2, 0, 0)
FULL = DataFile(
    "data-u-1.parquet",
    701,
    4,
    KEY,
    KEY,
    STATS,
    SimpleStats(KEY, KEY, (None, 2)),
    -5,
    1 << 62,
    3,
    5,
    ("data-u-1.parquet.index",),
    1_700_000_000_123,
    1,
    b"index",
    1,
    ("a", "größe"),
    "s3://b/data-u-1.parquet",
    77,
    ("a",),
)
ENTRIES = [
    ManifestEntry(0, EMPTY_ROW, 0, -1, APPENDED),
    ManifestEntry(1, KEY, -2, -2, FULL),
    ManifestEntry(0, KEY, 3, 4, replace(APPENDED, value_stats_cols=(), value_stats=replace(STATS, null_counts=None))),
]
MANIFESTS = [
    ManifestFile("manifest-u-0", 2000, 5, 0, EMPTY_STATS, 0),
    ManifestFile("manifest-u-1", 2001, 0, 7, STATS, 2, -2, 3, 0, 5),
]
INDEXES = [
    IndexEntry(KEY, 0, "HASH", "index-u-0", 40, 10),
    IndexEntry(
        EMPTY_ROW, 0, "DELETION_VECTORS", "index-u-1", 60, 2, (DvRange("f", 1, 22, 2), DvRange("g", 31, 22)), "/x/i"
    ),
]
KINDS = {
    "manifest": (read_manifest, write_manifest, ENTRIES),
    "manifest list": (read_manifest_list, write_manifest_list, MANIFESTS),
    "index manifest": (read_index_manifest, write_index_manifest, INDEXES),
}
