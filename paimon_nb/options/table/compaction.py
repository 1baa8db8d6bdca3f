"""Compaction and clustering."""

from __future__ import annotations

from paimon_nb.options.option import at_least, between, boolean, choice, duration, integer, memory, number, text

CLUSTERING_COLUMNS = text(
    "clustering.columns", None, "columns for clustering", fallback_keys=("sink.clustering.by-columns",)
)
CLUSTERING_HISTORY_PARTITION_IDLE_TO_FULL_SORT = duration(
    "clustering.history-partition.idle-to-full-sort", None, "idle time after which a partition is fully sorted"
)
CLUSTERING_HISTORY_PARTITION_LIMIT = integer(
    "clustering.history-partition.limit", 5, "maximum number of historical partitions per compaction"
)
CLUSTERING_INCREMENTAL = boolean("clustering.incremental", False, "cluster files incrementally during compaction")
CLUSTERING_INCREMENTAL_MODE = choice(
    "clustering.incremental.mode", "global-sort", "global-sort local-sort", "sort globally or per file group"
)
CLUSTERING_INCREMENTAL_OPTIMIZE_WRITE = boolean(
    "clustering.incremental.optimize-write", False, "cluster rows when they are written"
)
CLUSTERING_STRATEGY = text(
    "clustering.strategy",
    "auto",
    "sort order: auto, order, zorder or hilbert",
    fallback_keys=("sink.clustering.strategy",),
)
COMPACTION_DELETE_RATIO_THRESHOLD = number(
    "compaction.delete-ratio-threshold",
    0.2,
    "append tables: share of deleted rows from which a file is rewritten",
    check=between(0, 1),
)
COMPACTION_FILE_NUM_LIMIT = integer(
    "compaction.file-num-limit", 100000, "append tables: maximum number of files in one compaction"
)
COMPACTION_FORCE_REWRITE_ALL_FILES = boolean(
    "compaction.force-rewrite-all-files", False, "a full compaction also rewrites files on the highest level"
)
COMPACTION_FORCE_UP_LEVEL_0 = boolean("compaction.force-up-level-0", False, "every compaction includes all of level 0")
COMPACTION_INCREMENTAL_SIZE_THRESHOLD = memory(
    "compaction.incremental-size-threshold",
    None,
    "full compaction if the runs below the highest level exceed this size",
)
COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT = integer(
    "compaction.max-size-amplification-percent",
    200,
    "full compaction if the size of all runs except the last exceeds this percentage of the last run",
    check=at_least(0),
)
COMPACTION_MIN_FILE_NUM = integer(
    "compaction.min.file-num", 5, "append tables: minimum number of small files for a compaction", check=at_least(1)
)
COMPACTION_OFFPEAK_RATIO = integer(
    "compaction.offpeak-ratio", 0, "added to compaction.size-ratio during off-peak hours, in percent", check=at_least(0)
)
COMPACTION_OFFPEAK_END_HOUR = integer(
    "compaction.offpeak.end.hour", -1, "end of the off-peak hours, exclusive; -1 none", check=between(-1, 23)
)
COMPACTION_OFFPEAK_START_HOUR = integer(
    "compaction.offpeak.start.hour", -1, "start of the off-peak hours; -1 none", check=between(-1, 23)
)
COMPACTION_OPTIMIZATION_INTERVAL = duration(
    "compaction.optimization-interval", None, "maximum time between two full compactions"
)
COMPACTION_SIZE_RATIO = integer(
    "compaction.size-ratio",
    1,
    "percentage by which the next sorted run may exceed the runs already picked",
    check=at_least(0),
)
COMPACTION_SKIP_EXPIRED_PARTITIONS = boolean(
    "compaction.skip-expired-partitions", False, "do not compact expired partitions"
)
COMPACTION_SMALL_FILE_RATIO = number(
    "compaction.small-file-ratio", 0.7, "share of the target file size below which a file is small", check=between(0, 1)
)
COMPACTION_TOTAL_SIZE_THRESHOLD = memory(
    "compaction.total-size-threshold", None, "full compaction if the bucket is smaller than this size"
)
FULL_COMPACTION_DELTA_COMMITS = integer(
    "full-compaction.delta-commits", None, "number of commits between two full compactions", check=at_least(1)
)
NUM_LEVELS = integer("num-levels", None, "number of LSM levels; default: compaction trigger + 1", check=at_least(2))
NUM_SORTED_RUN_COMPACTION_TRIGGER = integer(
    "num-sorted-run.compaction-trigger",
    5,
    "number of sorted runs that triggers a compaction; each level-0 file is a sorted run",
    check=at_least(1),
)
NUM_SORTED_RUN_STOP_TRIGGER = integer(
    "num-sorted-run.stop-trigger",
    None,
    "number of sorted runs at which writers wait for compaction; default: compaction trigger + 3",
)
OVERWRITE_UPGRADE = boolean("overwrite-upgrade", True, "write the files of an overwrite to the highest level")
SORT_COMPACTION_LOCAL_SAMPLE_MAGNIFICATION = integer(
    "sort-compaction.local-sample.magnification", 1000, "sample size per task relative to the number of ranges"
)
SORT_COMPACTION_RANGE_STRATEGY = choice(
    "sort-compaction.range-strategy", "size", "size quantity", "divide ranges by size or by number of rows"
)
ZORDER_VAR_LENGTH_CONTRIBUTION = integer(
    "zorder.var-length-contribution", 8, "bytes of a variable-length column used for z-order"
)
