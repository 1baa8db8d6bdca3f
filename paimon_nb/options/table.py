"""Every option of a table.

Names and defaults are Paimon's (its option reference); the words are ours.
"""

from __future__ import annotations

from paimon_nb.base.registry import Registry
from paimon_nb.options.option import (
    Option,
    at_least,
    between,
    boolean,
    choice,
    duration,
    integer,
    mapping,
    memory,
    number,
    text,
)
from paimon_nb.options.values import INFINITE


def _bucket(value: int) -> str | None:
    return (
        None if value >= 1 or value in (-1, -2) else "a bucket number is at least 1, or -1 (dynamic), or -2 (postpone)"
    )


ADD_COLUMN_BEFORE_PARTITION = boolean(
    "add-column-before-partition", False, "new columns go before first partition column"
)
AGGREGATION_REMOVE_RECORD_ON_DELETE = boolean(
    "aggregation.remove-record-on-delete", False, "-D removes whole row in aggregation engine", fixed_after_data=True
)
ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED = boolean(
    "alter-column-null-to-not-null.disabled", True, "forbid nullable→NOT NULL changes"
)
ASYNC_FILE_WRITE = boolean("async-file-write", True, "write files with async IO")
AUTO_CREATE = boolean("auto-create", False, "create table at path on first use")
BLOB_AS_DESCRIPTOR = boolean("blob-as-descriptor", False, "expose BLOB as reference bytes")
BLOB_COMPACTION_ENABLED = boolean("blob-compaction.enabled", False, "also compact blob files")
BLOB_DESCRIPTOR_FIELD = text(
    "blob-descriptor-field", None, "columns kept as inline blob references", fixed_after_data=True
)
BLOB_DESCRIPTOR_SOURCE_TABLE = text("blob-descriptor.source-table", None, "table whose FileIO reads referenced blobs")
BLOB_FIELD = text("blob-field", None, "BYTES columns treated as BLOB", fixed_after_data=True)
BLOB_VIEW_FIELD = text("blob-view-field", None, "columns storing views onto upstream blobs", fixed_after_data=True)
BLOB_VIEW_RESOLVE_ENABLED = boolean("blob-view.resolve.enabled", True, "resolve blob views while reading")
BLOB_WRITE_NULL_ON_FETCH_FAILURE = boolean(
    "blob-write-null-on-fetch-failure", False, "null instead of failing blob fetch"
)
BLOB_WRITE_NULL_ON_MISSING_FILE = boolean(
    "blob-write-null-on-missing-file", False, "null when referenced blob is absent"
)
BLOB_COPY_BUFFER_SIZE = memory("blob.copy-buffer-size", "4 kb", "buffer for blob copying")
BLOB_SPLIT_BY_FILE_SIZE = boolean("blob.split-by-file-size", None, "count blob bytes when splitting")
BLOB_TARGET_FILE_SIZE = memory("blob.target-file-size", None, "roll size of blob files")
BUCKET = integer("bucket", -1, "N fixed, -1 dynamic/unaware, -2 postpone", check=_bucket)
BUCKET_APPEND_ORDERED = boolean("bucket-append-ordered", True, "keep write order within append buckets")
BUCKET_FUNCTION_TYPE = choice(
    "bucket-function.type", "default", "default mod hive", "default murmur, mod, or hive hash", fixed_after_data=True
)
BUCKET_KEY = text("bucket-key", None, "columns hashed to buckets", fixed_after_data=True)
CACHE_PAGE_SIZE = memory("cache-page-size", "64 kb", "page size of block cache")
CHAIN_TABLE_CHAIN_PARTITION_KEYS = text("chain-table.chain-partition-keys", None, "suffix of partition keys that chain")
CHAIN_TABLE_ENABLED = boolean("chain-table.enabled", False, "turn on chain table")
CHAIN_TABLE_SPLIT_KEY_RANGE_ENABLED = boolean(
    "chain-table.split.key-range-enabled", True, "split chain reads by key range"
)
CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT = boolean(
    "chain-table.streaming.merge-snapshot", False, "merge anchor snapshot when a chain stream starts"
)
CHANGELOG_FILE_COMPRESSION = text("changelog-file.compression", None, "codec of changelog files")
CHANGELOG_FILE_FORMAT = text("changelog-file.format", None, "format of changelog files")
CHANGELOG_FILE_PREFIX = text("changelog-file.prefix", "changelog-", "changelog file name prefix")
CHANGELOG_FILE_STATS_MODE = text("changelog-file.stats-mode", None, "stats mode of changelog files")
CHANGELOG_PRODUCER = choice(
    "changelog-producer", "none", "none input full-compaction lookup", "none, input, lookup, full-compaction"
)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE = boolean(
    "changelog-producer.row-deduplicate", False, "suppress -U/+U of equal rows"
)
CHANGELOG_PRODUCER_ROW_DEDUPLICATE_IGNORE_FIELDS = text(
    "changelog-producer.row-deduplicate-ignore-fields", None, "columns left out of that comparison"
)
CHANGELOG_NUM_RETAINED_MAX = integer("changelog.num-retained.max", None, "max decoupled changelogs")
CHANGELOG_NUM_RETAINED_MIN = integer("changelog.num-retained.min", None, "min decoupled changelogs")
CHANGELOG_TIME_RETAINED = duration("changelog.time-retained", None, "age limit of decoupled changelogs")
CLUSTERING_COLUMNS = text("clustering.columns", None, "columns for clustering")
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
CLUSTERING_STRATEGY = text("clustering.strategy", "auto", "auto, order, zorder, hilbert")
COMMIT_CALLBACK_PARAM = text("commit.callback.#.param", None, "constructor parameter of callback #")
COMMIT_CALLBACKS = text("commit.callbacks", None, "classes run after commit")
COMMIT_DISCARD_DUPLICATE_FILES = boolean("commit.discard-duplicate-files", False, "ignore files already committed")
COMMIT_FORCE_COMPACT = boolean("commit.force-compact", False, "finish compaction before commit")
COMMIT_FORCE_CREATE_SNAPSHOT = boolean("commit.force-create-snapshot", False, "snapshot even without data (stream)")
COMMIT_MAX_RETRIES = integer("commit.max-retries", 10, "commit attempts", check=at_least(0))
COMMIT_MAX_RETRY_WAIT = duration("commit.max-retry-wait", "10 s", "back-off ceiling")
COMMIT_MIN_RETRY_WAIT = duration("commit.min-retry-wait", "10 ms", "back-off floor")
COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT = integer(
    "commit.strict-mode.last-safe-snapshot", None, "refuse foreign compact/overwrite after this id"
)
COMMIT_TIMEOUT = duration("commit.timeout", None, "total retry time")
COMMIT_USER_PREFIX = text("commit.user-prefix", None, "prefix of commit user ids")
COMPACTION_DELETE_RATIO_THRESHOLD = number(
    "compaction.delete-ratio-threshold", 0.2, "append: rewrite file above this deleted share", check=between(0, 1)
)
COMPACTION_FILE_NUM_LIMIT = integer("compaction.file-num-limit", 100000, "append: cap of files per compaction scan")
COMPACTION_FORCE_REWRITE_ALL_FILES = boolean(
    "compaction.force-rewrite-all-files", False, "full compaction rewrites everything"
)
COMPACTION_FORCE_UP_LEVEL_0 = boolean("compaction.force-up-level-0", False, "always take all L0 runs")
COMPACTION_INCREMENTAL_SIZE_THRESHOLD = memory(
    "compaction.incremental-size-threshold", None, "full compaction above this non-top size"
)
COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT = integer(
    "compaction.max-size-amplification-percent", 200, "space amplification trigger"
)
COMPACTION_MIN_FILE_NUM = integer("compaction.min.file-num", 5, "append: files needed to compact", check=at_least(1))
COMPACTION_OFFPEAK_RATIO = integer("compaction.offpeak-ratio", 0, "extra size ratio off-peak")
COMPACTION_OFFPEAK_END_HOUR = integer("compaction.offpeak.end.hour", -1, "end hour exclusive")
COMPACTION_OFFPEAK_START_HOUR = integer("compaction.offpeak.start.hour", -1, "start hour inclusive")
COMPACTION_OPTIMIZATION_INTERVAL = duration(
    "compaction.optimization-interval", None, "period of forced full compaction"
)
COMPACTION_SIZE_RATIO = integer("compaction.size-ratio", 1, "run size tolerance percent")
COMPACTION_SKIP_EXPIRED_PARTITIONS = boolean(
    "compaction.skip-expired-partitions", False, "leave expired partitions uncompacted"
)
COMPACTION_SMALL_FILE_RATIO = number(
    "compaction.small-file-ratio", 0.7, "share of target size below which files are small", check=between(0, 1)
)
COMPACTION_TOTAL_SIZE_THRESHOLD = memory(
    "compaction.total-size-threshold", None, "full compaction while table this small"
)
CONSUMER_ID = text("consumer-id", None, "name of reader progress record")
CONSUMER_CHANGELOG_ONLY = boolean("consumer.changelog-only", False, "consumer guards changelogs, not snapshots")
CONSUMER_EXPIRATION_TIME = duration("consumer.expiration-time", None, "age limit of consumer files")
CONSUMER_IGNORE_PROGRESS = boolean("consumer.ignore-progress", False, "start fresh though consumer exists")
CONSUMER_MODE = choice("consumer.mode", "exactly-once", "exactly-once at-least-once", "exactly-once or at-least-once")
CONTINUOUS_DISCOVERY_INTERVAL = duration("continuous.discovery-interval", "10 s", "poll interval of streams")
CROSS_PARTITION_UPSERT_BOOTSTRAP_PARALLELISM = integer(
    "cross-partition-upsert.bootstrap-parallelism", 10, "threads loading key index"
)
CROSS_PARTITION_UPSERT_INDEX_TTL = duration("cross-partition-upsert.index-ttl", None, "age limit of key index")
DATA_EVOLUTION_COMPACTION_REWRITE_ROW_IDS = boolean(
    "data-evolution.compaction.rewrite-row-ids", False, "legacy, must stay false"
)
DATA_EVOLUTION_ENABLED = boolean(
    "data-evolution.enabled", False, "column-wise updates by row id", fixed_after_data=True
)
DATA_EVOLUTION_MERGE_INTO_FILE_PRUNING = boolean(
    "data-evolution.merge-into.file-pruning", True, "prune files in partial MERGE"
)
DATA_EVOLUTION_MERGE_INTO_SOURCE_PERSIST = boolean(
    "data-evolution.merge-into.source-persist", False, "cache MERGE source"
)
DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT = integer(
    "data-evolution.reassign.skip-contiguous-row-count", 1000000000, "long runs skipped in reassign_row_id"
)
DATA_EVOLUTION_ROW_ID_CONFLICT_REWRITE_MAX_SIZE = memory(
    "data-evolution.row-id-conflict-rewrite.max-size", "256 mb", "rebase limit for conflicting updates (pypaimon)"
)
DATA_EVOLUTION_ROW_SIDECAR_ENABLED = boolean(
    "data-evolution.row-sidecar.enabled", False, "extra row-format copy for point reads"
)
DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTED_ROWS = integer(
    "data-evolution.row-sidecar.max-selected-rows", 4096, "row limit to use sidecar"
)
DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTION_RATIO = number(
    "data-evolution.row-sidecar.max-selection-ratio", 0.05, "ratio limit to use sidecar"
)
DATA_FILE_EXTERNAL_PATHS = text("data-file.external-paths", None, "extra roots for data files")
DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS = text(
    "data-file.external-paths.specific-fs", None, "scheme for specific-fs strategy"
)
DATA_FILE_EXTERNAL_PATHS_STRATEGY = choice(
    "data-file.external-paths.strategy",
    "none",
    "none specific-fs round-robin weight-robin entropy-inject",
    "none, specific-fs, round-robin, weighted…",
)
DATA_FILE_EXTERNAL_PATHS_WEIGHTS = text("data-file.external-paths.weights", None, "weights of external roots")
DATA_FILE_PATH_DIRECTORY = text("data-file.path-directory", None, "subdirectory for data", fixed_after_data=True)
DATA_FILE_PREFIX = text("data-file.prefix", "data-", "data file name prefix")
DATA_FILE_THIN_MODE = boolean("data-file.thin-mode", False, "omit _KEY_ columns")
DELETE_FORCE_PRODUCE_CHANGELOG = boolean("delete.force-produce-changelog", False, "changelog for SQL DELETE")
DELETION_VECTOR_INDEX_FILE_TARGET_SIZE = memory("deletion-vector.index-file.target-size", "2 mb", "DV file roll size")
DELETION_VECTORS_BITMAP64 = boolean("deletion-vectors.bitmap64", False, "64-bit DVs (Iceberg compatible)")
DELETION_VECTORS_ENABLED = boolean("deletion-vectors.enabled", False, "merge-on-write")
DELETION_VECTORS_MERGE_ON_READ = boolean("deletion-vectors.merge-on-read", False, "read L0 too, merging")
DELETION_VECTORS_MODIFIABLE = boolean("deletion-vectors.modifiable", False, "allow toggling DV mode")
DISABLE_EXPLICIT_TYPE_CASTING = boolean("disable-explicit-type-casting", False, "only implicit type changes in ALTER")
DYNAMIC_BUCKET_ASSIGNER_PARALLELISM = integer("dynamic-bucket.assigner-parallelism", None, "assigner tasks")
DYNAMIC_BUCKET_INITIAL_BUCKETS = integer(
    "dynamic-bucket.initial-buckets", None, "starting buckets per partition", fixed_after_data=True
)
DYNAMIC_BUCKET_MAX_BUCKETS = integer("dynamic-bucket.max-buckets", -1, "bucket cap (-1 none)")
DYNAMIC_BUCKET_TARGET_ROW_NUM = integer(
    "dynamic-bucket.target-row-num", 2000000, "rows per bucket before a new one", check=at_least(1)
)
DYNAMIC_PARTITION_OVERWRITE = boolean("dynamic-partition-overwrite", True, "overwrite only written partitions")
END_INPUT_CHECK_PARTITION_EXPIRE = boolean("end-input.check-partition-expire", False, "partition expiry at batch end")
FIELDS_DEFAULT_AGGREGATE_FUNCTION = text("fields.default-aggregate-function", None, "fallback aggregate")
FILE_INDEX_IN_MANIFEST_THRESHOLD = memory(
    "file-index.in-manifest-threshold", "500 bytes", "embed index up to this size"
)
FILE_INDEX_READ_ENABLED = boolean("file-index.read.enabled", True, "use file indexes")
FILE_OPERATION_THREAD_NUM = integer("file-operation.thread-num", None, "parallel deletes etc.")
FILE_READER_ASYNC_THRESHOLD = memory("file-reader-async-threshold", "10 mb", "async read above this size")
FILE_BLOCK_SIZE = memory("file.block-size", None, "stripe / row-group size")
FILE_COMPRESSION = text("file.compression", "zstd", "data codec")
FILE_COMPRESSION_PER_LEVEL = mapping("file.compression.per.level", "codec per level map")
FILE_COMPRESSION_ZSTD_LEVEL = integer("file.compression.zstd-level", 1, "zstd level", check=between(1, 22))
FILE_FORMAT = text("file.format", "parquet", "parquet, orc, avro (more in 2.x)")
FILE_FORMAT_PER_LEVEL = mapping("file.format.per.level", "format per level map")
FILE_SUFFIX_INCLUDE_COMPRESSION = boolean("file.suffix.include.compression", False, "codec in file name")
FORCE_LOOKUP = boolean("force-lookup", False, "always lookup-compact", fixed_after_data=True)
FORMAT_TABLE_COMMIT_HIVE_SYNC_URL = text("format-table.commit-hive-sync-url", None, "hive sync endpoint")
FORMAT_TABLE_FILE_COMPRESSION = text("format-table.file.compression", None, "codec of format tables")
FORMAT_TABLE_IMPLEMENTATION = text("format-table.implementation", "paimon", "paimon or engine")
FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE = boolean("format-table.partition-path-only-value", False, "dirs without key=")
FORMAT_TABLE_SCAN_LIST_PARALLELISM = integer("format-table.scan.list-parallelism", 64, "listing threads")
FULL_COMPACTION_DELTA_COMMITS = integer(
    "full-compaction.delta-commits", None, "full compaction every N commits", check=at_least(1)
)
FULL_TEXT_INDEX_SEARCH_MODE = text("full-text-index.search-mode", "fast", "fast/full/… search")
GLOBAL_INDEX_BUILD_MAX_PARALLELISM = integer("global-index.build.max-parallelism", 4096, "index build tasks")
GLOBAL_INDEX_BUILD_MAX_SHARD = integer("global-index.build.max-shard", 32, "index shards")
GLOBAL_INDEX_COLUMN_UPDATE_ACTION = text(
    "global-index.column-update-action", "THROW_ERROR", "what an update does to an index"
)
GLOBAL_INDEX_ENABLED = boolean("global-index.enabled", True, "use global indexes")
GLOBAL_INDEX_EXTERNAL_PATH = text("global-index.external-path", None, "root of index files")
GLOBAL_INDEX_ROW_COUNT_PER_SHARD = integer("global-index.row-count-per-shard", 100000, "rows per shard")
GLOBAL_INDEX_SEARCH_MODE = text("global-index.search-mode", None, "fallback search mode")
GLOBAL_INDEX_THREAD_NUM = integer("global-index.thread-num", 32, "index IO threads")
IGNORE_DELETE = boolean(
    "ignore-delete",
    False,
    "drop -U and -D",
    fallback_keys=("first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete"),
)
IGNORE_UPDATE_BEFORE = boolean("ignore-update-before", False, "drop -U")
INCREMENTAL_BETWEEN = text("incremental-between", None, "start(excl),end(incl) ids or tags")
INCREMENTAL_BETWEEN_SCAN_MODE = choice(
    "incremental-between-scan-mode", "auto", "auto delta changelog diff", "auto, delta, changelog, diff"
)
INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT = boolean(
    "incremental-between-tag-to-snapshot", False, "treat tags as snapshot ids"
)
INCREMENTAL_BETWEEN_TIMESTAMP = text("incremental-between-timestamp", None, "time window")
INCREMENTAL_TO_AUTO_TAG = text("incremental-to-auto-tag", None, "changes since previous auto tag")
INDEX_FILE_IN_DATA_FILE_DIR = boolean("index-file-in-data-file-dir", False, "index beside data", fixed_after_data=True)
LOCAL_KV_DB_BLOCK_SIZE = memory("local-kv-db.block-size", "4 kb", "local store block")
LOCAL_MERGE_BUFFER_SIZE = memory("local-merge-buffer-size", None, "pre-merge buffer before shuffle")
LOCAL_SORT_MAX_NUM_FILE_HANDLES = integer("local-sort.max-num-file-handles", 128, "fan-in of external sort")
LOOKUP_COMPACT = choice("lookup-compact", "radical", "radical gentle", "radical or gentle")
LOOKUP_COMPACT_MAX_INTERVAL = integer("lookup-compact.max-interval", None, "forced L0 period in gentle mode")
LOOKUP_WAIT = boolean("lookup-wait", True, "commit waits for lookup compaction")
LOOKUP_BLOB_AS_DESCRIPTOR = boolean("lookup.blob-as-descriptor", False, "lookup keeps blob reference")
LOOKUP_CACHE_FILE_RETENTION = duration("lookup.cache-file-retention", "1 h", "age of local lookup files")
LOOKUP_CACHE_MAX_DISK_SIZE = memory("lookup.cache-max-disk-size", "infinite", "disk cap")
LOOKUP_CACHE_MAX_MEMORY_SIZE = memory("lookup.cache-max-memory-size", "256 mb", "memory cap")
LOOKUP_CACHE_ROWS = integer("lookup.cache-rows", 10000, "row cache size")
LOOKUP_CACHE_SPILL_COMPRESSION = text("lookup.cache-spill-compression", "zstd", "codec of local files")
LOOKUP_CACHE_BLOOM_FILTER_ENABLED = boolean("lookup.cache.bloom.filter.enabled", True, "bloom in lookup files")
LOOKUP_CACHE_BLOOM_FILTER_FPP = number("lookup.cache.bloom.filter.fpp", 0.05, "its false positive rate")
LOOKUP_CACHE_HIGH_PRIORITY_POOL_RATIO = number(
    "lookup.cache.high-priority-pool-ratio", 0.25, "cache share for index blocks"
)
LOOKUP_CONTINUOUS_DISCOVERY_INTERVAL = duration("lookup.continuous.discovery-interval", None, "poll interval of lookup")
LOOKUP_HASH_LOAD_FACTOR = number("lookup.hash-load-factor", 0.75, "hash file load factor")
LOOKUP_MERGE_BUFFER_SIZE = memory("lookup.merge-buffer-size", "8 mb", "buffer per merged key")
LOOKUP_MERGE_RECORDS_THRESHOLD = integer("lookup.merge-records-threshold", 1024, "records before buffering")
LOOKUP_REMOTE_FILE_ENABLED = boolean("lookup.remote-file.enabled", False, "share lookup files remotely")
LOOKUP_REMOTE_FILE_LEVEL_THRESHOLD = integer(
    "lookup.remote-file.level-threshold", -2147483648, "lowest level with remote files"
)
MANIFEST_SORT_ENABLED = boolean("manifest-sort.enabled", False, "sorted manifest rewrite")
MANIFEST_SORT_MAX_REWRITE_SIZE = memory("manifest-sort.max-rewrite-size", "256 mb", "limit per sort pass")
MANIFEST_SORT_PARTITION_FIELD = text("manifest-sort.partition-field", None, "sort column")
MANIFEST_COMPRESSION = text("manifest.compression", "zstd", "manifest codec")
MANIFEST_DELETE_FILE_DROP_STATS = boolean("manifest.delete-file-drop-stats", False, "no stats in DELETE entries")
MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE = memory(
    "manifest.full-compaction-threshold-size", "16 mb", "full manifest merge trigger"
)
MANIFEST_MERGE_MIN_COUNT = integer("manifest.merge-min-count", 30, "files for minor merge", check=at_least(1))
MANIFEST_MERGE_OPTIMIZE_ENABLED = boolean("manifest.merge-optimize.enabled", True, "block-aware merging")
MANIFEST_TARGET_FILE_SIZE = memory("manifest.target-file-size", "8 mb", "manifest roll size", check=at_least(1))
MERGE_ENGINE = choice(
    "merge-engine",
    "deduplicate",
    "deduplicate partial-update aggregation first-row",
    "deduplicate, partial-update, aggregation, first-row",
    fixed_after_data=True,
)
METADATA_STATS_DENSE_STORE = boolean("metadata.stats-dense-store", True, "skip columns without stats")
METADATA_STATS_KEEP_FIRST_N_COLUMNS = integer("metadata.stats-keep-first-n-columns", -1, "stats for first N columns")
METADATA_STATS_MODE = text("metadata.stats-mode", "truncate(16)", "none, counts, truncate(n), full")
METADATA_STATS_MODE_PER_LEVEL = mapping("metadata.stats-mode.per.level", "stats mode per level")
METASTORE_PARTITIONED_TABLE = boolean("metastore.partitioned-table", False, "register partitions in metastore")
METASTORE_TAG_TO_PARTITION = text("metastore.tag-to-partition", None, "show tags as partitions")
METASTORE_TAG_TO_PARTITION_PREVIEW = choice(
    "metastore.tag-to-partition.preview", "none", "none process-time watermark batch", "preview source of those"
)
NUM_LEVELS = integer("num-levels", None, "level count (trigger+1)", check=at_least(2))
NUM_SORTED_RUN_COMPACTION_TRIGGER = integer(
    "num-sorted-run.compaction-trigger", 5, "runs that start compaction", check=at_least(1)
)
NUM_SORTED_RUN_STOP_TRIGGER = integer("num-sorted-run.stop-trigger", None, "runs that block writes (trigger+3)")
OVERWRITE_UPGRADE = boolean("overwrite-upgrade", True, "place overwrite files on top level")
PAGE_SIZE = memory("page-size", "64 kb", "memory page")
PARQUET_ENABLE_DICTIONARY = integer("parquet.enable.dictionary", None, "dictionary switch")
PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE = boolean(
    "partial-update.remove-record-on-delete", False, "-D removes row", fixed_after_data=True
)
PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP = text(
    "partial-update.remove-record-on-sequence-group", None, "-D of group removes row", fixed_after_data=True
)
PARTITION = text("partition", None, "partition columns via option", fixed_after_data=True)
PARTITION_DEFAULT_NAME = text("partition.default-name", "__DEFAULT_PARTITION__", "directory value for null/blank")
PARTITION_END_INPUT_TO_DONE = boolean("partition.end-input-to-done", False, "mark done at batch end")
PARTITION_EXPIRATION_BATCH_SIZE = integer("partition.expiration-batch-size", None, "partitions per expiry commit")
PARTITION_EXPIRATION_CHECK_INTERVAL = duration("partition.expiration-check-interval", "1 h", "expiry period")
PARTITION_EXPIRATION_MAX_NUM = integer("partition.expiration-max-num", 100, "partitions per round")
PARTITION_EXPIRATION_STRATEGY = text("partition.expiration-strategy", "values-time", "values-time or update-time")
PARTITION_EXPIRATION_TIME = duration("partition.expiration-time", None, "partition lifetime")
PARTITION_IDLE_TIME_TO_REPORT_STATISTIC = duration(
    "partition.idle-time-to-report-statistic", "0 ms", "delay of stats report"
)
PARTITION_LEGACY_NAME = boolean("partition.legacy-name", True, "toString naming (dates as ints)")
PARTITION_MARK_DONE_ACTION = text("partition.mark-done-action", "success-file", "what marking done does")
PARTITION_MARK_DONE_ACTION_CUSTOM_CLASS = text("partition.mark-done-action.custom.class", None, "custom action")
PARTITION_MARK_DONE_ACTION_HTTP_PARAMS = text("partition.mark-done-action.http.params", None, "http body")
PARTITION_MARK_DONE_ACTION_HTTP_URL = text("partition.mark-done-action.http.url", None, "http target")
PARTITION_SINK_STRATEGY = choice(
    "partition.sink-strategy", "none", "none hash partition_dynamic", "shuffle by partition"
)
PARTITION_TIMESTAMP_FORMAT_STRICT = boolean("partition.timestamp-format.strict", False, "error on unparsable partition")
PARTITION_TIMESTAMP_FORMATTER = text("partition.timestamp-formatter", None, "time format")
PARTITION_TIMESTAMP_PATTERN = text("partition.timestamp-pattern", None, "pattern over partition keys")
PK_BITMAP_INDEX_COLUMNS = text("pk-bitmap.index.columns", None, "pk bitmap index")
PK_BTREE_INDEX_COLUMNS = text("pk-btree.index.columns", None, "pk btree index")
PK_CLUSTERING_OVERRIDE = boolean("pk-clustering-override", False, "sort files by other columns", fixed_after_data=True)
PK_FULL_TEXT_INDEX_COLUMNS = text("pk-full-text.index.columns", None, "pk text index")
PK_MULTIVALUE_INDEX_COLUMNS = text("pk-multivalue.index.columns", None, "pk array index")
PK_VECTOR_INDEX_COLUMNS = text("pk-vector.index.columns", None, "pk vector index")
POSTPONE_BATCH_WRITE_FIXED_BUCKET = boolean("postpone.batch-write-fixed-bucket", True, "batch writes real buckets")
POSTPONE_BATCH_WRITE_FIXED_BUCKET_MAX_PARALLELISM = integer(
    "postpone.batch-write-fixed-bucket.max-parallelism", 2048, "bucket cap"
)
POSTPONE_BATCH_WRITE_FIXED_BUCKET_RESCALE_LOAD_FACTOR = integer(
    "postpone.batch-write-fixed-bucket.rescale-load-factor", 32, "load before rescale"
)
POSTPONE_DEFAULT_BUCKET_NUM = integer("postpone.default-bucket-num", None, "buckets of new partitions")
POSTPONE_MERGE_ON_READ = boolean("postpone.merge-on-read", False, "read postponed rows too")
POSTPONE_TARGET_ROW_NUM_PER_BUCKET = integer("postpone.target-row-num-per-bucket", None, "rows per bucket estimate")
POSTPONE_TARGET_SIZE_PER_BUCKET = memory("postpone.target-size-per-bucket", "1 gb", "bytes per bucket estimate")
PRIMARY_KEY = text("primary-key", None, "pk via option", fixed_after_data=True)
PRIMARY_KEY_NULLABLE = boolean("primary-key.nullable", False, "allow null pk", fixed_after_data=True)
QUERY_AUTH_ENABLED = boolean("query-auth.enabled", False, "catalog row/column auth")
READ_BATCH_SIZE = integer("read.batch-size", 1024, "rows per read batch")
RECORD_LEVEL_EXPIRE_TIME = duration("record-level.expire-time", None, "row TTL")
RECORD_LEVEL_TIME_FIELD = text("record-level.time-field", None, "row TTL column")
ROW_TRACKING_ENABLED = boolean("row-tracking.enabled", False, "unique row ids", fixed_after_data=True)
ROW_TRACKING_PARTITION_GROUP_ON_COMMIT = boolean(
    "row-tracking.partition-group-on-commit", True, "group files by partition for ids"
)
ROWKIND_FIELD = text("rowkind.field", None, "column with +I/-U/+U/-D", fixed_after_data=True)
SCALAR_INDEX_SEARCH_MODE = text("scalar-index.search-mode", "fast", "scalar index mode")
SCAN_BOUNDED_WATERMARK = integer("scan.bounded.watermark", None, "stop stream past watermark")
SCAN_BUCKET = integer("scan.bucket", None, "read one bucket")
SCAN_CREATION_TIME_MILLIS = integer("scan.creation-time-millis", None, "for from-creation-timestamp")
SCAN_FALLBACK_BRANCH = text("scan.fallback-branch", None, "branch for missing partitions")
SCAN_FALLBACK_BRANCH_READ_FAIL_FAST = boolean("scan.fallback-branch.read-fail-fast", False, "fail if fallback errors")
SCAN_FALLBACK_DELTA_BRANCH = text("scan.fallback-delta-branch", None, "chain delta branch")
SCAN_FALLBACK_SNAPSHOT_BRANCH = text("scan.fallback-snapshot-branch", None, "chain snapshot branch")
SCAN_FILE_CREATION_TIME_MILLIS = integer("scan.file-creation-time-millis", None, "only younger files")
SCAN_IGNORE_CORRUPT_FILES = boolean("scan.ignore-corrupt-files", False, "skip corrupt files")
SCAN_IGNORE_LOST_FILES = boolean("scan.ignore-lost-files", False, "skip missing files")
SCAN_MANIFEST_PARALLELISM = integer("scan.manifest.parallelism", None, "manifest threads")
SCAN_MAX_SPLITS_PER_TASK = integer("scan.max-splits-per-task", 10, "split cache per task")
SCAN_MODE = choice(
    "scan.mode",
    "default",
    "default latest-full full latest latest-delta compacted-full from-timestamp from-creation-timestamp from-file-creation-time from-snapshot from-snapshot-full incremental",
    "see semantics §8",
)
SCAN_PLAN_AUTO_TAG_FOR_READ_TIME_RETAINED = duration(
    "scan.plan-auto-tag-for-read.time-retained", None, "temporary tag while reading"
)
SCAN_PLAN_SORT_PARTITION = boolean("scan.plan-sort-partition", False, "order splits by partition")
SCAN_PRIMARY_BRANCH = text("scan.primary-branch", None, "branch read first")
SCAN_SNAPSHOT_ID = integer("scan.snapshot-id", None, "snapshot to read")
SCAN_TAG_NAME = text("scan.tag-name", None, "tag to read")
SCAN_TIMESTAMP = text("scan.timestamp", None, "time string to read")
SCAN_TIMESTAMP_MILLIS = integer("scan.timestamp-millis", None, "epoch ms to read")
SCAN_WATERMARK = integer("scan.watermark", None, "watermark to read")
SEQUENCE_FIELD = text("sequence.field", None, "ordering columns")
SEQUENCE_FIELD_SORT_ORDER = choice(
    "sequence.field.sort-order", "ascending", "ascending descending", "ascending or descending"
)
SEQUENCE_SNAPSHOT_ORDERING = boolean("sequence.snapshot-ordering", False, "order by commit id", fixed_after_data=True)
SINK_PROCESS_TIME_ZONE = text("sink.process-time-zone", None, "zone for process-time tags")
SINK_WATERMARK_TIME_ZONE = text("sink.watermark-time-zone", "UTC", "zone for watermark tags")
SNAPSHOT_CLEAN_EMPTY_DIRECTORIES = boolean("snapshot.clean-empty-directories", False, "remove empty dirs on expiry")
SNAPSHOT_EXPIRE_EXECUTION_MODE = choice("snapshot.expire.execution-mode", "sync", "sync async", "sync or async")
SNAPSHOT_EXPIRE_LIMIT = integer("snapshot.expire.limit", 50, "snapshots per expiry")
SNAPSHOT_IGNORE_EMPTY_COMMIT = boolean("snapshot.ignore-empty-commit", None, "skip empty commits")
SNAPSHOT_NUM_RETAINED_MAX = integer("snapshot.num-retained.max", INFINITE, "most snapshots kept", check=at_least(1))
SNAPSHOT_NUM_RETAINED_MIN = integer("snapshot.num-retained.min", 10, "fewest kept", check=at_least(1))
SNAPSHOT_TIME_RETAINED = duration("snapshot.time-retained", "1 h", "age kept")
SNAPSHOT_WATERMARK_IDLE_TIMEOUT = duration("snapshot.watermark-idle-timeout", None, "advance snapshots when idle")
SORT_COMPACTION_LOCAL_SAMPLE_MAGNIFICATION = integer(
    "sort-compaction.local-sample.magnification", 1000, "sample factor"
)
SORT_COMPACTION_RANGE_STRATEGY = choice("sort-compaction.range-strategy", "size", "size quantity", "size or quantity")
SORT_ENGINE = choice("sort-engine", "loser-tree", "min-heap loser-tree", "loser-tree or min-heap")
SORT_SPILL_BUFFER_SIZE = memory("sort-spill-buffer-size", "64 mb", "spill sort buffer")
SORT_SPILL_THRESHOLD = integer("sort-spill-threshold", None, "readers before spilling")
SOURCE_SPLIT_OPEN_FILE_COST = memory("source.split.open-file-cost", "4 mb", "per-file weight")
SOURCE_SPLIT_TARGET_SIZE = memory("source.split.target-size", "128 mb", "split size")
SPILL_COMPRESSION = text("spill-compression", "zstd", "spill codec")
SPILL_COMPRESSION_ZSTD_LEVEL = integer("spill-compression.zstd-level", 1, "its level")
STREAMING_READ_APPEND_OVERWRITE = boolean("streaming-read-append-overwrite", False, "stream reads append overwrites")
STREAMING_READ_OVERWRITE = boolean("streaming-read-overwrite", False, "stream reads overwrites")
STREAMING_READ_SNAPSHOT_DELAY = duration("streaming.read.snapshot.delay", None, "lag behind commits")
TABLE_READ_SEQUENCE_NUMBER_ENABLED = boolean(
    "table-read.sequence-number.enabled", False, "_SEQUENCE_NUMBER in audit_log/binlog"
)
TAG_AUTOMATIC_COMPLETION = boolean("tag.automatic-completion", False, "fill missing auto tags")
TAG_AUTOMATIC_CREATION = choice(
    "tag.automatic-creation", "none", "none process-time watermark batch", "none, process-time, watermark, batch"
)
TAG_BATCH_CUSTOMIZED_NAME = text("tag.batch.customized-name", None, "name for batch tag")
TAG_CALLBACK_PARAM = text("tag.callback.#.param", None, "callback parameter")
TAG_CALLBACKS = text("tag.callbacks", None, "classes run after tagging")
TAG_CREATE_SUCCESS_FILE = boolean("tag.create-success-file", False, "success file per tag")
TAG_CREATION_DELAY = duration("tag.creation-delay", "0 ms", "wait after period")
TAG_CREATION_PERIOD = choice("tag.creation-period", "daily", "daily hourly two-hours", "daily, hourly, two-hours")
TAG_CREATION_PERIOD_DURATION = duration("tag.creation-period-duration", None, "free period")
TAG_DEFAULT_TIME_RETAINED = duration("tag.default-time-retained", None, "tag TTL")
TAG_NUM_RETAINED_MAX = integer("tag.num-retained-max", None, "auto tags kept")
TAG_PERIOD_FORMATTER = choice(
    "tag.period-formatter", "with_dashes", "with_dashes without_dashes without_dashes_and_spaces", "tag name style"
)
TAG_TIME_EXPIRE_ENABLED = boolean("tag.time-expire-enabled", True, "TTL expiry on")
TARGET_FILE_ROW_NUM = integer("target-file-row-num", 9223372036854775807, "rows per file")
TARGET_FILE_SIZE = memory("target-file-size", None, "roll size (128 MB pk, 256 MB append)", check=at_least(1))
TYPE = choice(
    "type",
    "table",
    "table format-table materialized-table object-table",
    "table, format-table, object-table, …",
    fixed_after_data=True,
)
VARIANT_INFERSHREDDINGSCHEMA = boolean("variant.inferShreddingSchema", False, "infer variant shredding")
VARIANT_SHREDDING_ADAPTIVE_MAXINFERBUFFERROW = integer(
    "variant.shredding.adaptive.maxInferBufferRow", 256, "adaptive sample"
)
VARIANT_SHREDDING_ADAPTIVE_RETENTIONRATIO = number(
    "variant.shredding.adaptive.retentionRatio", 0.05, "adaptive retention"
)
VARIANT_SHREDDING_INFERENCEMODE = text("variant.shredding.inferenceMode", "per-file", "per-file or adaptive")
VARIANT_SHREDDING_MAXINFERBUFFERROW = integer("variant.shredding.maxInferBufferRow", 4096, "sample rows")
VARIANT_SHREDDING_MAXSCHEMADEPTH = integer("variant.shredding.maxSchemaDepth", 50, "depth limit")
VARIANT_SHREDDING_MAXSCHEMAWIDTH = integer("variant.shredding.maxSchemaWidth", 300, "width limit")
VARIANT_SHREDDING_MINFIELDCARDINALITYRATIO = number("variant.shredding.minFieldCardinalityRatio", 0.1, "presence limit")
VARIANT_SHREDDINGSCHEMA = text("variant.shreddingSchema", None, "explicit shredding")
VECTOR_FIELD = text("vector-field", None, "ARRAY columns as vector")
VECTOR_INDEX_SEARCH_MODE = text("vector-index.search-mode", "fast", "vector mode")
VECTOR_SEARCH_DISTRIBUTE_ENABLED = boolean("vector-search.distribute.enabled", False, "distributed search")
VECTOR_SEARCH_LATERAL_JOIN_BATCH_SIZE = integer(
    "vector-search.lateral-join.batch-size", 256, "batch for lateral search"
)
VECTOR_FILE_FORMAT = text("vector.file.format", None, "vector store format")
VECTOR_TARGET_FILE_SIZE = memory("vector.target-file-size", None, "vector roll size")
VISIBILITY_CALLBACK_CHECK_INTERVAL = duration("visibility-callback.check-interval", "10 s", "poll interval")
VISIBILITY_CALLBACK_ENABLED = boolean("visibility-callback.enabled", False, "commit waits for visibility")
VISIBILITY_CALLBACK_TIMEOUT = duration("visibility-callback.timeout", "30 min", "its limit")
WRITE_BUFFER_FOR_APPEND = boolean("write-buffer-for-append", False, "buffer append writes")
WRITE_BUFFER_SIZE = memory("write-buffer-size", "256 mb", "sort buffer")
WRITE_BUFFER_SPILL_MAX_DISK_SIZE = memory("write-buffer-spill.max-disk-size", "infinite", "spill cap")
WRITE_BUFFER_SPILLABLE = boolean("write-buffer-spillable", True, "spill allowed")
WRITE_MAX_WRITERS_TO_SPILL = integer("write-max-writers-to-spill", 10, "open writers before spilling")
WRITE_ONLY = boolean("write-only", False, "no compaction, no expiry")
WRITE_BATCH_MEMORY = memory("write.batch-memory", "128 mb", "batch memory")
WRITE_BATCH_SIZE = integer("write.batch-size", 1024, "rows per write batch")
WRITE_SEQUENCE_NUMBER_INIT_MODE = text("write.sequence-number-init-mode", "scan", "scan files or snapshot property")
ZORDER_VAR_LENGTH_CONTRIBUTION = integer("zorder.var-length-contribution", 8, "bytes of strings in z-order")

# Options of earlier releases that people still write (docs/sql.md).
COMPACTION_MAX_FILE_NUM = integer(
    "compaction.max.file-num", None, "compact once so many small files are there", check=at_least(1)
)
WRITE_MODE = choice(
    "write-mode", None, "auto append-only change-log", "change-log needs a primary key, append-only forbids one"
)
SCAN_FALLBACK_SNAPSHOT_ID = integer("snapshot-id", None, "alias of scan.snapshot-id for readers")
MANIFEST_FORMAT = choice("manifest.format", "avro", "avro orc", "format of manifests up to release 1.3")

TABLE_OPTIONS: Registry[Option[object]] = Registry(
    "table option", {o.key: o for o in list(globals().values()) if isinstance(o, Option)}
)
