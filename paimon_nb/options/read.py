"""Options of readers in Spark and Flink: streams, lookup joins, watermarks.

Stored with a table; used where supported. Names and defaults are Paimon's (its option reference).
"""

from __future__ import annotations

from paimon_nb.base.registry import Registry
from paimon_nb.options.option import Option, at_least, boolean, choice, duration, integer, long, text

FORMAT_TABLE_REPAIR_COLLECT_STATISTICS = boolean("format-table.repair.collect-statistics", False, "stats in MSCK")
FORMAT_TABLE_STATISTICS_PARALLELISM = integer("format-table.statistics.parallelism", 8, "stats threads")
LEGACY_TIMESTAMP_MAPPING_ENABLED = boolean("legacy-timestamp-mapping.enabled", False, "TIMESTAMP→Spark TIMESTAMP")
LOOKUP_ASYNC = boolean("lookup.async", False, "look up without waiting for each row")
LOOKUP_ASYNC_THREAD_NUMBER = integer("lookup.async-thread-number", 16, "its threads")
LOOKUP_BOOTSTRAP_PARALLELISM = integer("lookup.bootstrap-parallelism", 4, "load threads")
LOOKUP_CACHE = choice(
    "lookup.cache",
    "auto",
    "auto full memory",
    "cache the whole lookup table (full) or requested rows (auto), in memory or on disk",
)
LOOKUP_DYNAMIC_PARTITION_REFRESH_INTERVAL = duration(
    "lookup.dynamic-partition.refresh-interval", "1 h", "interval of checks for the greatest partition, if set"
)
LOOKUP_DYNAMIC_PARTITION_REFRESH_ASYNC = boolean(
    "lookup.dynamic-partition.refresh.async", False, "async partition refresh"
)
LOOKUP_REFRESH_ASYNC = boolean("lookup.refresh.async", False, "async refresh")
LOOKUP_REFRESH_ASYNC_PENDING_SNAPSHOT_COUNT = integer(
    "lookup.refresh.async.pending-snapshot-count", 5, "sync when behind"
)
LOOKUP_REFRESH_FULL_LOAD_THRESHOLD = integer("lookup.refresh.full-load-threshold", None, "reload when far behind")
LOOKUP_REFRESH_TIME_PERIODS_BLACKLIST = text(
    "lookup.refresh.time-periods-blacklist",
    None,
    "no refresh in these time ranges: '2024-01-31 08:00->2024-01-31 20:00,...'",
)
READ_ALLOW_FULLSCAN = boolean("read.allow.fullScan", True, "allow a scan of a partitioned table that skips no file")
READ_CHANGELOG = boolean("read.changelog", False, "streams return each row's kind in the column rowkind")
READ_SHUFFLE_BUCKET_WITH_PARTITION = boolean(
    "read.shuffle-bucket-with-partition",
    True,
    "shuffle key",
    fallback_keys=("streaming-read.shuffle-bucket-with-partition",),
)
READ_STREAM_MAXBYTESPERTRIGGER = long("read.stream.maxBytesPerTrigger", None, "most bytes of one micro-batch")
READ_STREAM_MAXFILESPERTRIGGER = integer("read.stream.maxFilesPerTrigger", None, "most files of one micro-batch")
READ_STREAM_MAXROWSPERTRIGGER = long("read.stream.maxRowsPerTrigger", None, "most rows of one micro-batch")
READ_STREAM_MAXTRIGGERDELAYMS = long("read.stream.maxTriggerDelayMs", None, "longest wait for those fewest rows, in ms")
READ_STREAM_MINROWSPERTRIGGER = long("read.stream.minRowsPerTrigger", None, "fewest rows of one micro-batch")
REQUIREDSPARKCONFSCHECK_ENABLED = boolean("requiredSparkConfsCheck.enabled", True, "check session confs")
SCAN_BOUNDED = boolean("scan.bounded", None, "streaming queries read the table as it is and end")
SCAN_DEDICATED_SPLIT_GENERATION = boolean("scan.dedicated-split-generation", False, "plan on task manager")
SCAN_INFER_PARALLELISM = boolean(
    "scan.infer-parallelism", True, "read with as many tasks as there are splits or buckets"
)
SCAN_INFER_PARALLELISM_MAX = integer("scan.infer-parallelism.max", 1024, "its cap")
SCAN_MAX_SNAPSHOT_COUNT = integer("scan.max-snapshot.count", -1, "snapshots per checkpoint")
SCAN_PARALLELISM = integer("scan.parallelism", None, "tasks that read", check=at_least(1))
SCAN_PARTITIONS = text("scan.partitions", None, "partitions to read", fallback_keys=("lookup.dynamic-partition",))
SCAN_REMOVE_NORMALIZE = boolean(
    "scan.remove-normalize", False, "no normalize operator", fallback_keys=("log.scan.remove-normalize",)
)
SCAN_SPLIT_ENUMERATOR_BATCH_SIZE = integer("scan.split-enumerator.batch-size", 10, "splits per request")
SCAN_SPLIT_ENUMERATOR_MODE = choice("scan.split-enumerator.mode", "fair", "fair preemptive", "fair or preemptive")
SCAN_WATERMARK_ALIGNMENT_GROUP = text("scan.watermark.alignment.group", None, "sources that wait for each other")
SCAN_WATERMARK_ALIGNMENT_MAX_DRIFT = duration("scan.watermark.alignment.max-drift", None, "allowed drift")
SCAN_WATERMARK_ALIGNMENT_UPDATE_INTERVAL = duration(
    "scan.watermark.alignment.update-interval", "1 s", "alignment period"
)
SCAN_WATERMARK_EMIT_STRATEGY = choice(
    "scan.watermark.emit.strategy", "on-event", "on-periodic on-event", "when watermarks go out"
)
SCAN_WATERMARK_IDLE_TIMEOUT = duration("scan.watermark.idle-timeout", None, "a source counts as idle after this")
SOURCE_CHECKPOINT_ALIGN_ENABLED = boolean("source.checkpoint-align.enabled", False, "one snapshot a micro-batch")
SOURCE_CHECKPOINT_ALIGN_TIMEOUT = duration("source.checkpoint-align.timeout", "30 s", "its limit")
SOURCE_OPERATOR_UID_SUFFIX = text("source.operator-uid.suffix", None, "uid suffix")
SOURCE_SPLIT_TARGET_SIZE_WITH_COLUMN_PRUNING = boolean(
    "source.split.target-size-with-column-pruning", False, "split by projected size"
)
VECTOR_SEARCH_LATERAL_JOIN_PARALLELISM = integer("vector-search.lateral-join.parallelism", 16, "lateral parallelism")

READ_OPTIONS: Registry[Option[object]] = Registry(
    "read option", {o.key: o for o in list(globals().values()) if isinstance(o, Option)}
)
