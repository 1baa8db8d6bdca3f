"""Options of writers in Spark and Flink: schema merging, sinks, committers.

Stored with a table; used where supported. Names and defaults are Paimon's (its option reference).
"""

from __future__ import annotations

from paimon_nb.base.registry import Registry
from paimon_nb.options.option import Option, at_least, boolean, choice, duration, integer, long, memory, number, text

CHANGELOG_PRODUCER_COMPACTION_INTERVAL = duration(
    "changelog-producer.compaction-interval", "0 s", "full compaction each so long, with that changelog producer"
)
CHANGELOG_PRECOMMIT_COMPACT_BUFFER_SIZE = memory(
    "changelog.precommit-compact.buffer-size", "128 mb", "buffer for copying small changelog files"
)
CHANGELOG_PRECOMMIT_COMPACT_THREAD_NUM = integer("changelog.precommit-compact.thread-num", None, "copy threads")
COMMIT_CUSTOM_LISTENERS = text("commit.custom-listeners", None, "listener ids")
COMPACTION_BUCKET_DISTRIBUTION_STRATEGY = choice(
    "compaction.bucket-distribution-strategy", "linear", "linear size-aware-batch", "bucket to writer mapping"
)
END_INPUT_WATERMARK = long("end-input.watermark", None, "watermark of the commit that ends a batch")
FILESYSTEM_JOB_LEVEL_SETTINGS_ENABLED = boolean("filesystem.job-level-settings.enabled", True, "job fs settings")
PARTITION_IDLE_TIME_TO_DONE = duration(
    "partition.idle-time-to-done", None, "a stream marks a partition done when nothing came for so long behind its time"
)
PARTITION_MARK_DONE_ACTION_MODE = choice(
    "partition.mark-done-action.mode",
    "process-time",
    "process-time watermark",
    "whose time says that a partition is done: the clock's or the stream's",
)
PARTITION_MARK_DONE_RECOVER_FROM_STATE = boolean("partition.mark-done.recover-from-state", True, "state recovery")
PARTITION_TIME_INTERVAL = duration(
    "partition.time-interval", None, "how long a partition's time is, from its values on"
)
PRECOMMIT_COMPACT = boolean(
    "precommit-compact",
    False,
    "join small changelog files before the commit",
    fallback_keys=("changelog.precommit-compact",),
)
SINK_CLUSTERING_SAMPLE_FACTOR = integer("sink.clustering.sample-factor", 100, "sample factor", check=at_least(20))
SINK_CLUSTERING_SORT_IN_CLUSTER = boolean("sink.clustering.sort-in-cluster", True, "sort inside ranges")
SINK_COMMITTER_CPU = number("sink.committer-cpu", 1.0, "committer cores")
SINK_COMMITTER_MEMORY = memory("sink.committer-memory", None, "committer heap")
SINK_COMMITTER_OPERATOR_CHAINING = boolean("sink.committer-operator-chaining", True, "chain committer")
SINK_COORDINATOR_COMMIT_ENABLED = boolean("sink.coordinator-commit.enabled", False, "commit in job manager")
SINK_CROSS_PARTITION_MANAGED_MEMORY = memory("sink.cross-partition.managed-memory", "256 mb", "key index memory")
SINK_KEY_ONLY_DELETES_ENABLED = boolean("sink.key-only-deletes.enabled", False, "partial deletes")
SINK_MANAGED_WRITER_BUFFER_MEMORY = memory(
    "sink.managed.writer-buffer-memory", "256 mb", "managed write buffer", check=at_least(1)
)
SINK_OPERATOR_UID_SUFFIX = text("sink.operator-uid.suffix", None, "uid suffix")
SINK_PARALLELISM = integer("sink.parallelism", None, "tasks that write", check=at_least(1))
SINK_SAVEPOINT_AUTO_TAG = boolean(
    "sink.savepoint.auto-tag", False, "a job that is stopped with a savepoint tags its last snapshot"
)
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
UNAWARE_BUCKET_COMPACTION_PARALLELISM = integer(
    "unaware-bucket.compaction.parallelism", None, "append compaction tasks"
)
UNAWARE_BUCKET_NO_SHUFFLE = boolean("unaware-bucket.no-shuffle", False, "no shuffle in CDC")
WRITE_DATA_EVOLUTION_UPDATE_CONFLICT_RETRY_MAX_ATTEMPTS = integer(
    "write.data-evolution.update-conflict-retry.max-attempts", 20, "update retries"
)
WRITE_DATA_EVOLUTION_UPDATE_CONFLICT_RETRY_WAIT_MS = long(
    "write.data-evolution.update-conflict-retry.wait-ms", 10, "retry wait"
)
WRITE_HIVE_STYLE_DYNAMIC_PARTITION_ENABLED = boolean(
    "write.hive-style-dynamic-partition.enabled", False, "Hive column order"
)
WRITE_MERGE_SCHEMA = boolean("write.merge-schema", False, "take new columns of the rows into the table")
WRITE_MERGE_SCHEMA_EXPLICIT_CAST = boolean(
    "write.merge-schema.explicit-cast", False, "also change types where values may be cut"
)
WRITE_MERGE_SCHEMA_TYPE_WIDENING = boolean("write.merge-schema.type-widening", False, "also widen types")
WRITE_USE_V2_WRITE = boolean("write.use-v2-write", False, "DSv2 write path")

WRITE_OPTIONS: Registry[Option[object]] = Registry(
    "write option", {o.key: o for o in list(globals().values()) if isinstance(o, Option)}
)
