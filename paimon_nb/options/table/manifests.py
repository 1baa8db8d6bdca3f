"""Manifests."""

from __future__ import annotations

from paimon_nb.options.enums import CODECS
from paimon_nb.options.option import at_least, boolean, integer, memory, one_of, text

MANIFEST_SORT_ENABLED = boolean(
    "manifest-sort.enabled", False, "sort entries by partition when manifests are rewritten"
)
MANIFEST_SORT_MAX_REWRITE_SIZE = memory(
    "manifest-sort.max-rewrite-size", "256 mb", "maximum size of one sorted rewrite"
)
MANIFEST_SORT_PARTITION_FIELD = text("manifest-sort.partition-field", None, "partition column to sort by")
MANIFEST_COMPRESSION = text("manifest.compression", "zstd", "codec of manifests", check=one_of(CODECS))
MANIFEST_DELETE_FILE_DROP_STATS = boolean("manifest.delete-file-drop-stats", False, "no statistics in DELETE entries")
MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE = memory(
    "manifest.full-compaction-threshold-size",
    "16 mb",
    "size of changed manifests that triggers a rewrite of all manifests",
)
MANIFEST_MERGE_MIN_COUNT = integer(
    "manifest.merge-min-count", 30, "number of small manifests that triggers a merge", check=at_least(1)
)
MANIFEST_MERGE_OPTIMIZE_ENABLED = boolean("manifest.merge-optimize.enabled", True, "merge manifests by blocks")
MANIFEST_TARGET_FILE_SIZE = memory("manifest.target-file-size", "8 mb", "target size of manifests", check=at_least(1))
