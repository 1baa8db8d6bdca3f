"""Options of Flink's and Spark's connectors: kept, and used where they mean something here.

Names and defaults are Paimon's (its option reference); the words are ours.
"""

from __future__ import annotations

from paimon_nb.base.registry import Registry
from paimon_nb.options.option import Option, at_least, boolean, choice, duration, integer, memory, number, text

FORMAT_TABLE_REPAIR_COLLECT_STATISTICS = boolean("format-table.repair.collect-statistics", False, "stats in MSCK")
FORMAT_TABLE_STATISTICS_PARALLELISM = integer("format-table.statistics.parallelism", 8, "stats threads")
LEGACY_TIMESTAMP_MAPPING_ENABLED = boolean("legacy-timestamp-mapping.enabled", False, "TIMESTAMP→Spark TIMESTAMP")
READ_ALLOW_FULLSCAN = boolean("read.allow.fullScan", True, "scan without partition filter")
READ_CHANGELOG = boolean("read.changelog", False, "rowkind column in reads")
READ_STREAM_MAXBYTESPERTRIGGER = integer("read.stream.maxBytesPerTrigger", None, "bytes per batch")
READ_STREAM_MAXFILESPERTRIGGER = integer("read.stream.maxFilesPerTrigger", None, "files per batch")
READ_STREAM_MAXROWSPERTRIGGER = integer("read.stream.maxRowsPerTrigger", None, "rows per batch")
READ_STREAM_MAXTRIGGERDELAYMS = integer("read.stream.maxTriggerDelayMs", None, "longest wait with minRows")
READ_STREAM_MINROWSPERTRIGGER = integer("read.stream.minRowsPerTrigger", None, "rows needed for a batch")
REQUIREDSPARKCONFSCHECK_ENABLED = boolean("requiredSparkConfsCheck.enabled", True, "check session confs")
SOURCE_SPLIT_TARGET_SIZE_WITH_COLUMN_PRUNING = boolean(
    "source.split.target-size-with-column-pruning", False, "split by projected size"
)
VECTOR_SEARCH_LATERAL_JOIN_PARALLELISM = integer("vector-search.lateral-join.parallelism", 16, "lateral parallelism")
WRITE_DATA_EVOLUTION_UPDATE_CONFLICT_RETRY_MAX_ATTEMPTS = integer(
    "write.data-evolution.update-conflict-retry.max-attempts", 20, "update retries"
)
WRITE_DATA_EVOLUTION_UPDATE_CONFLICT_RETRY_WAIT_MS = integer(
    "write.data-evolution.update-conflict-retry.wait-ms", 10, "retry wait"
)
WRITE_HIVE_STYLE_DYNAMIC_PARTITION_ENABLED = boolean(
    "write.hive-style-dynamic-partition.enabled", False, "Hive column order"
)
WRITE_MERGE_SCHEMA = boolean("write.merge-schema", False, "evolve schema on write")
WRITE_MERGE_SCHEMA_EXPLICIT_CAST = boolean("write.merge-schema.explicit-cast", False, "allow lossy evolution")
WRITE_MERGE_SCHEMA_TYPE_WIDENING = boolean("write.merge-schema.type-widening", False, "widen types")
WRITE_USE_V2_WRITE = boolean("write.use-v2-write", False, "DSv2 write path")
COMPACTION_BUCKET_DISTRIBUTION_STRATEGY = text(
    "compaction.bucket-distribution-strategy", "linear", "bucket to writer mapping"
)
CHANGELOG_PRECOMMIT_COMPACT_THREAD_NUM = integer("changelog.precommit-compact.thread-num", None, "copy threads")
COMMIT_CUSTOM_LISTENERS = text("commit.custom-listeners", None, "listener ids")
END_INPUT_WATERMARK = integer("end-input.watermark", None, "watermark at batch end")
FILESYSTEM_JOB_LEVEL_SETTINGS_ENABLED = boolean("filesystem.job-level-settings.enabled", True, "job fs settings")
LOOKUP_ASYNC = boolean("lookup.async", False, "async join")
LOOKUP_ASYNC_THREAD_NUMBER = integer("lookup.async-thread-number", 16, "its threads")
LOOKUP_BOOTSTRAP_PARALLELISM = integer("lookup.bootstrap-parallelism", 4, "load threads")
LOOKUP_CACHE = choice("lookup.cache", "auto", "auto full memory", "AUTO, FULL, MEMORY")
LOOKUP_DYNAMIC_PARTITION_REFRESH_INTERVAL = duration(
    "lookup.dynamic-partition.refresh-interval", "1 h", "max_pt refresh"
)
LOOKUP_DYNAMIC_PARTITION_REFRESH_ASYNC = boolean(
    "lookup.dynamic-partition.refresh.async", False, "async partition refresh"
)
LOOKUP_REFRESH_ASYNC = boolean("lookup.refresh.async", False, "async refresh")
LOOKUP_REFRESH_ASYNC_PENDING_SNAPSHOT_COUNT = integer(
    "lookup.refresh.async.pending-snapshot-count", 5, "sync when behind"
)
LOOKUP_REFRESH_FULL_LOAD_THRESHOLD = integer("lookup.refresh.full-load-threshold", None, "reload when far behind")
LOOKUP_REFRESH_TIME_PERIODS_BLACKLIST = text("lookup.refresh.time-periods-blacklist", None, "no refresh in these hours")
PARTITION_IDLE_TIME_TO_DONE = duration("partition.idle-time-to-done", None, "idle before done")
PARTITION_MARK_DONE_ACTION_MODE = text("partition.mark-done-action.mode", "process-time", "process-time or watermark")
PARTITION_MARK_DONE_RECOVER_FROM_STATE = boolean("partition.mark-done.recover-from-state", True, "state recovery")
PARTITION_TIME_INTERVAL = duration("partition.time-interval", None, "partition period")
PRECOMMIT_COMPACT = boolean("precommit-compact", False, "merge small changelog files")
READ_SHUFFLE_BUCKET_WITH_PARTITION = boolean("read.shuffle-bucket-with-partition", True, "shuffle key")
SCAN_BOUNDED = boolean("scan.bounded", None, "bounded source")
SCAN_DEDICATED_SPLIT_GENERATION = boolean("scan.dedicated-split-generation", False, "plan on task manager")
SCAN_INFER_PARALLELISM = boolean("scan.infer-parallelism", True, "source parallelism from splits/buckets")
SCAN_INFER_PARALLELISM_MAX = integer("scan.infer-parallelism.max", 1024, "its cap")
SCAN_MAX_SNAPSHOT_COUNT = integer("scan.max-snapshot.count", -1, "snapshots per checkpoint")
SCAN_PARALLELISM = integer("scan.parallelism", None, "source parallelism", check=at_least(1))
SCAN_PARTITIONS = text("scan.partitions", None, "partitions to read")
SCAN_REMOVE_NORMALIZE = boolean("scan.remove-normalize", False, "no normalize operator")
SCAN_SPLIT_ENUMERATOR_BATCH_SIZE = integer("scan.split-enumerator.batch-size", 10, "splits per request")
SCAN_SPLIT_ENUMERATOR_MODE = text("scan.split-enumerator.mode", "fair", "fair or preemptive")
SCAN_WATERMARK_ALIGNMENT_GROUP = text("scan.watermark.alignment.group", None, "alignment group")
SCAN_WATERMARK_ALIGNMENT_MAX_DRIFT = duration("scan.watermark.alignment.max-drift", None, "allowed drift")
SCAN_WATERMARK_ALIGNMENT_UPDATE_INTERVAL = duration(
    "scan.watermark.alignment.update-interval", "1 s", "alignment period"
)
SCAN_WATERMARK_EMIT_STRATEGY = text("scan.watermark.emit.strategy", "on-event", "when watermarks go out")
SCAN_WATERMARK_IDLE_TIMEOUT = duration("scan.watermark.idle-timeout", None, "idle source timeout")
SINK_CLUSTERING_SAMPLE_FACTOR = integer("sink.clustering.sample-factor", 100, "sample factor")
SINK_CLUSTERING_SORT_IN_CLUSTER = boolean("sink.clustering.sort-in-cluster", True, "sort inside ranges")
SINK_COMMITTER_CPU = number("sink.committer-cpu", 1.0, "committer cores")
SINK_COMMITTER_MEMORY = memory("sink.committer-memory", None, "committer heap")
SINK_COMMITTER_OPERATOR_CHAINING = boolean("sink.committer-operator-chaining", True, "chain committer")
SINK_COORDINATOR_COMMIT_ENABLED = boolean("sink.coordinator-commit.enabled", False, "commit in job manager")
SINK_CROSS_PARTITION_MANAGED_MEMORY = memory("sink.cross-partition.managed-memory", "256 mb", "key index memory")
SINK_KEY_ONLY_DELETES_ENABLED = boolean("sink.key-only-deletes.enabled", False, "partial deletes")
SINK_MANAGED_WRITER_BUFFER_MEMORY = memory("sink.managed.writer-buffer-memory", "256 mb", "managed write buffer")
SINK_OPERATOR_UID_SUFFIX = text("sink.operator-uid.suffix", None, "uid suffix")
SINK_PARALLELISM = integer("sink.parallelism", None, "sink parallelism", check=at_least(1))
SINK_SAVEPOINT_AUTO_TAG = boolean("sink.savepoint.auto-tag", False, "tag on savepoint")
SINK_USE_MANAGED_MEMORY_ALLOCATOR = boolean("sink.use-managed-memory-allocator", False, "managed memory")
SINK_WRITER_COORDINATOR_CACHE_EXPIRE_AFTER_ACCESS = duration(
    "sink.writer-coordinator.cache-expire-after-access", None, "cache TTL"
)
SINK_WRITER_COORDINATOR_CACHE_MEMORY = memory("sink.writer-coordinator.cache-memory", "2 gb", "cache size")
SINK_WRITER_COORDINATOR_CACHE_SOFT_VALUES = boolean(
    "sink.writer-coordinator.cache-soft-values", True, "soft references"
)
SINK_WRITER_COORDINATOR_ENABLED = boolean("sink.writer-coordinator.enabled", False, "plan in job manager")
SINK_WRITER_COORDINATOR_PAGE_SIZE = memory("sink.writer-coordinator.page-size", "32 kb", "rpc page")
SINK_WRITER_COORDINATOR_PREFETCH_MANIFESTS = boolean(
    "sink.writer-coordinator.prefetch-manifests", False, "eager manifests"
)
SINK_WRITER_CPU = number("sink.writer-cpu", 1.0, "writer cores")
SINK_WRITER_MEMORY = memory("sink.writer-memory", None, "writer heap")
SINK_WRITER_REFRESH_DETECTORS = text("sink.writer-refresh-detectors", None, "refreshable option groups")
SOURCE_CHECKPOINT_ALIGN_ENABLED = boolean("source.checkpoint-align.enabled", False, "align checkpoints")
SOURCE_CHECKPOINT_ALIGN_TIMEOUT = duration("source.checkpoint-align.timeout", "30 s", "its limit")
SOURCE_OPERATOR_UID_SUFFIX = text("source.operator-uid.suffix", None, "uid suffix")
UNAWARE_BUCKET_COMPACTION_PARALLELISM = integer(
    "unaware-bucket.compaction.parallelism", None, "append compaction tasks"
)
UNAWARE_BUCKET_NO_SHUFFLE = boolean("unaware-bucket.no-shuffle", False, "no shuffle in CDC")

CONNECTOR_OPTIONS: Registry[Option[object]] = Registry(
    "connector option", {o.key: o for o in list(globals().values()) if isinstance(o, Option)}
)
