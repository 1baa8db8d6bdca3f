"""Manifests."""

from __future__ import annotations

from paimon_nb.options.enums import CODECS
from paimon_nb.options.option import among, at_least, boolean, integer, memory, text

MANIFEST_SORT_ENABLED = boolean("manifest-sort.enabled", False, "sorted manifest rewrite")
MANIFEST_SORT_MAX_REWRITE_SIZE = memory("manifest-sort.max-rewrite-size", "256 mb", "limit per sort pass")
MANIFEST_SORT_PARTITION_FIELD = text("manifest-sort.partition-field", None, "sort column")
MANIFEST_COMPRESSION = text("manifest.compression", "zstd", "codec of manifests", check=among(CODECS))
MANIFEST_DELETE_FILE_DROP_STATS = boolean("manifest.delete-file-drop-stats", False, "no statistics in DELETE entries")
MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE = memory(
    "manifest.full-compaction-threshold-size",
    "16 mb",
    "rewrite all manifests once those with changes are larger than this",
)
MANIFEST_MERGE_MIN_COUNT = integer(
    "manifest.merge-min-count", 30, "small manifests that are merged into one", check=at_least(1)
)
MANIFEST_MERGE_OPTIMIZE_ENABLED = boolean("manifest.merge-optimize.enabled", True, "block-aware merging")
MANIFEST_TARGET_FILE_SIZE = memory(
    "manifest.target-file-size", "8 mb", "size at which a manifest rolls", check=at_least(1)
)
