"""Scans and streaming reads."""

from __future__ import annotations

from paimon_nb.options.option import at_least, boolean, choice, duration, integer, long, memory, text

BATCH_SCAN_MODE = choice("batch-scan-mode", "none", "none compact", "internal: scan mode of a compaction job")
CONTINUOUS_DISCOVERY_INTERVAL = duration(
    "continuous.discovery-interval", "10 s", "interval between checks of a stream for a new snapshot"
)
INCREMENTAL_BETWEEN = text(
    "incremental-between", None, "read changes between two snapshots or tags: 'start,end', start exclusive"
)
INCREMENTAL_BETWEEN_SCAN_MODE = choice(
    "incremental-between-scan-mode",
    "auto",
    "auto delta changelog diff",
    "source of the changes: delta files, changelog files, or the difference of two snapshots",
)
INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT = boolean(
    "incremental-between-tag-to-snapshot",
    False,
    "read the changes between the snapshots of two tags instead of their difference",
)
INCREMENTAL_BETWEEN_TIMESTAMP = text(
    "incremental-between-timestamp", None, "read changes between two times: 'start,end'"
)
INCREMENTAL_TO_AUTO_TAG = text("incremental-to-auto-tag", None, "read changes from the automatic tag before this one")
KEY_VALUE_SEQUENCE_NUMBER_ENABLED = boolean(
    "key-value.sequence_number.enabled", False, "internal: return the column _SEQUENCE_NUMBER"
)
QUERY_AUTH_ENABLED = boolean("query-auth.enabled", False, "apply row filters and column masks of the catalog")
READ_BATCH_SIZE = integer("read.batch-size", 1024, "rows per read batch", check=at_least(1))
SCAN_BOUNDED_WATERMARK = long("scan.bounded.watermark", None, "a stream ends after this watermark")
SCAN_BUCKET = integer("scan.bucket", None, "read this bucket only")
SCAN_CREATION_TIME_MILLIS = long("scan.creation-time-millis", None, "epoch ms for the mode from-creation-timestamp")
SCAN_FALLBACK_BRANCH = text(
    "scan.fallback-branch", None, "branch to read for partitions that do not exist in this branch"
)
SCAN_FALLBACK_BRANCH_READ_FAIL_FAST = boolean(
    "scan.fallback-branch.read-fail-fast", False, "fail if the fallback branch cannot be read"
)
SCAN_FALLBACK_DELTA_BRANCH = text("scan.fallback-delta-branch", None, "delta branch of a chain table")
SCAN_FALLBACK_SNAPSHOT_BRANCH = text("scan.fallback-snapshot-branch", None, "snapshot branch of a chain table")
SCAN_FILE_CREATION_TIME_MILLIS = long("scan.file-creation-time-millis", None, "epoch ms; read only files created later")
SCAN_IGNORE_CORRUPT_FILES = boolean("scan.ignore-corrupt-files", False, "queries leave out files that are broken")
SCAN_IGNORE_LOST_FILES = boolean("scan.ignore-lost-files", False, "queries leave out files that are missing")
SCAN_MANIFEST_PARALLELISM = integer("scan.manifest.parallelism", None, "threads that read manifests")
SCAN_MAX_SPLITS_PER_TASK = integer("scan.max-splits-per-task", 10, "maximum number of splits in a task")
SCAN_MODE = choice(
    "scan.mode",
    "default",
    "default latest-full full latest latest-delta compacted-full from-timestamp from-creation-timestamp from-file-creation-time from-snapshot from-snapshot-full incremental",
    "start of a read: latest, full, a time, a snapshot, a file creation time, or incremental",
    fallback_keys=("log.scan",),
)
SCAN_PLAN_AUTO_TAG_FOR_READ_TIME_RETAINED = duration(
    "scan.plan-auto-tag-for-read.time-retained", None, "create a tag for the duration of a read"
)
SCAN_PLAN_SORT_PARTITION = boolean("scan.plan-sort-partition", False, "order splits by partition")
SCAN_PRIMARY_BRANCH = text("scan.primary-branch", None, "branch to read for partitions that exist in it")
SCAN_SNAPSHOT_ID = long("scan.snapshot-id", None, "snapshot to read", fallback_keys=("snapshot-id",))
SCAN_TAG_NAME = text("scan.tag-name", None, "tag to read")
SCAN_TIMESTAMP = text("scan.timestamp", None, "local time to read at: '2024-01-31 12:00:00'")
SCAN_TIMESTAMP_MILLIS = long(
    "scan.timestamp-millis", None, "epoch ms to read at", fallback_keys=("log.scan.timestamp-millis",)
)
SCAN_VERSION = text("scan.version", None, "snapshot id or tag to read, whichever fits")
SCAN_WATERMARK = long("scan.watermark", None, "read the first snapshot with at least this watermark")
SOURCE_SPLIT_OPEN_FILE_COST = memory(
    "source.split.open-file-cost", "4 mb", "minimum size of a file when files are packed into splits"
)
SOURCE_SPLIT_TARGET_SIZE = memory("source.split.target-size", "128 mb", "target size of a split")
STREAM_SCAN_MODE = choice(
    "stream-scan-mode", "none", "none compact-bucket-table file-monitor", "internal: scan mode of a monitoring job"
)
STREAMING_READ_APPEND_OVERWRITE = boolean(
    "streaming-read-append-overwrite", False, "streams of append tables include overwrites"
)
STREAMING_READ_OVERWRITE = boolean("streaming-read-overwrite", False, "streams include overwrites")
STREAMING_READ_SNAPSHOT_DELAY = duration("streaming.read.snapshot.delay", None, "delay of snapshots in a stream")
TABLE_READ_SEQUENCE_NUMBER_ENABLED = boolean(
    "table-read.sequence-number.enabled", False, "include _SEQUENCE_NUMBER in $audit_log and $binlog"
)
