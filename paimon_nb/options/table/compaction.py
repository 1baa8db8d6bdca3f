"""When sorted runs and small files are merged, and by which order rows are clustered."""

from __future__ import annotations

from paimon_nb.options.option import at_least, between, boolean, choice, duration, integer, memory, number, text

CLUSTERING_COLUMNS = text(
    "clustering.columns", None, "columns for clustering", fallback_keys=("sink.clustering.by-columns",)
)
CLUSTERING_HISTORY_PARTITION_IDLE_TO_FULL_SORT = duration(
    "clustering.history-partition.idle-to-full-sort", None, "idle time before a partition is fully clustered"
)
CLUSTERING_HISTORY_PARTITION_LIMIT = integer("clustering.history-partition.limit", 5, "historic partitions per round")
CLUSTERING_INCREMENTAL = boolean("clustering.incremental", False, "incremental clustering on")
CLUSTERING_INCREMENTAL_MODE = choice(
    "clustering.incremental.mode", "global-sort", "global-sort local-sort", "global sort or local variants"
)
CLUSTERING_INCREMENTAL_OPTIMIZE_WRITE = boolean(
    "clustering.incremental.optimize-write", False, "cluster already at write"
)
CLUSTERING_STRATEGY = text(
    "clustering.strategy", "auto", "auto, order, zorder, hilbert", fallback_keys=("sink.clustering.strategy",)
)
COMPACTION_DELETE_RATIO_THRESHOLD = number(
    "compaction.delete-ratio-threshold",
    0.2,
    "append tables: rewrite a file once this share of its rows is deleted",
    check=between(0, 1),
)
COMPACTION_FILE_NUM_LIMIT = integer(
    "compaction.file-num-limit", 100000, "append tables: most files looked at by one compaction"
)
COMPACTION_FORCE_REWRITE_ALL_FILES = boolean(
    "compaction.force-rewrite-all-files", False, "a full compaction rewrites files that are on the top level already"
)
COMPACTION_FORCE_UP_LEVEL_0 = boolean("compaction.force-up-level-0", False, "every compaction takes all of level 0")
COMPACTION_INCREMENTAL_SIZE_THRESHOLD = memory(
    "compaction.incremental-size-threshold", None, "full compaction once the runs below the top are larger than this"
)
COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT = integer(
    "compaction.max-size-amplification-percent",
    200,
    "full compaction once the runs above the last are this many percent of it",
    check=at_least(0),
)
COMPACTION_MIN_FILE_NUM = integer(
    "compaction.min.file-num", 5, "append tables: small files needed for a compaction", check=at_least(1)
)
COMPACTION_OFFPEAK_RATIO = integer(
    "compaction.offpeak-ratio", 0, "run size tolerance in percent, added off-peak", check=at_least(0)
)
COMPACTION_OFFPEAK_END_HOUR = integer(
    "compaction.offpeak.end.hour", -1, "hour at which off-peak ends, not included; -1 none", check=between(-1, 23)
)
COMPACTION_OFFPEAK_START_HOUR = integer(
    "compaction.offpeak.start.hour", -1, "hour at which off-peak begins; -1 none", check=between(-1, 23)
)
COMPACTION_OPTIMIZATION_INTERVAL = duration(
    "compaction.optimization-interval", None, "longest time between two full compactions"
)
COMPACTION_SIZE_RATIO = integer(
    "compaction.size-ratio",
    1,
    "percent by which the next run may be larger than those before to be merged with them",
    check=at_least(0),
)
COMPACTION_SKIP_EXPIRED_PARTITIONS = boolean(
    "compaction.skip-expired-partitions", False, "leave expired partitions uncompacted"
)
COMPACTION_SMALL_FILE_RATIO = number(
    "compaction.small-file-ratio", 0.7, "a file below this share of the target size is small", check=between(0, 1)
)
COMPACTION_TOTAL_SIZE_THRESHOLD = memory(
    "compaction.total-size-threshold", None, "full compaction while the bucket is smaller than this"
)
FULL_COMPACTION_DELTA_COMMITS = integer(
    "full-compaction.delta-commits", None, "full compaction every so many commits", check=at_least(1)
)
NUM_LEVELS = integer("num-levels", None, "levels of the tree; compaction trigger + 1 unless set", check=at_least(2))
NUM_SORTED_RUN_COMPACTION_TRIGGER = integer(
    "num-sorted-run.compaction-trigger",
    5,
    "sorted runs that start a compaction; each file of level 0 is one",
    check=at_least(1),
)
NUM_SORTED_RUN_STOP_TRIGGER = integer(
    "num-sorted-run.stop-trigger",
    None,
    "sorted runs that make a writer wait for compaction; compaction trigger + 3 unless set",
)
OVERWRITE_UPGRADE = boolean("overwrite-upgrade", True, "put the files of an overwrite on the top level at once")
SORT_COMPACTION_LOCAL_SAMPLE_MAGNIFICATION = integer(
    "sort-compaction.local-sample.magnification", 1000, "sample factor"
)
SORT_COMPACTION_RANGE_STRATEGY = choice("sort-compaction.range-strategy", "size", "size quantity", "size or quantity")
ZORDER_VAR_LENGTH_CONTRIBUTION = integer("zorder.var-length-contribution", 8, "bytes of strings in z-order")
