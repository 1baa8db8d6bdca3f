"""What a read sees and how it is split."""

from __future__ import annotations

from paimon_nb.options.option import at_least, boolean, choice, duration, integer, long, memory, text

BATCH_SCAN_MODE = choice("batch-scan-mode", "none", "none compact", "internal: how a compaction job reads")
CONTINUOUS_DISCOVERY_INTERVAL = duration(
    "continuous.discovery-interval", "10 s", "how often a stream looks for a new snapshot"
)
INCREMENTAL_BETWEEN = text(
    "incremental-between", None, "read changes between two snapshots or tags: 'start,end', start not included"
)
INCREMENTAL_BETWEEN_SCAN_MODE = choice(
    "incremental-between-scan-mode",
    "auto",
    "auto delta changelog diff",
    "what changes are read from: files of commits, changelogs, or the difference of two states",
)
INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT = boolean(
    "incremental-between-tag-to-snapshot",
    False,
    "take the snapshots of two tags instead of the difference of their states",
)
INCREMENTAL_BETWEEN_TIMESTAMP = text(
    "incremental-between-timestamp", None, "read changes between two times: 'start,end'"
)
INCREMENTAL_TO_AUTO_TAG = text("incremental-to-auto-tag", None, "read changes from the automatic tag before this one")
KEY_VALUE_SEQUENCE_NUMBER_ENABLED = boolean(
    "key-value.sequence_number.enabled", False, "internal: show _SEQUENCE_NUMBER beside the values"
)
QUERY_AUTH_ENABLED = boolean("query-auth.enabled", False, "catalog row/column auth")
READ_BATCH_SIZE = integer("read.batch-size", 1024, "rows per read batch", check=at_least(1))
SCAN_BOUNDED_WATERMARK = long("scan.bounded.watermark", None, "a stream ends past this watermark")
SCAN_BUCKET = integer("scan.bucket", None, "read this bucket only")
SCAN_CREATION_TIME_MILLIS = long("scan.creation-time-millis", None, "epoch ms for the mode from-creation-timestamp")
SCAN_FALLBACK_BRANCH = text("scan.fallback-branch", None, "branch that answers for partitions this one does not have")
SCAN_FALLBACK_BRANCH_READ_FAIL_FAST = boolean("scan.fallback-branch.read-fail-fast", False, "fail if fallback errors")
SCAN_FALLBACK_DELTA_BRANCH = text("scan.fallback-delta-branch", None, "chain delta branch")
SCAN_FALLBACK_SNAPSHOT_BRANCH = text("scan.fallback-snapshot-branch", None, "chain snapshot branch")
SCAN_FILE_CREATION_TIME_MILLIS = long("scan.file-creation-time-millis", None, "epoch ms; read files made later only")
SCAN_IGNORE_CORRUPT_FILES = boolean("scan.ignore-corrupt-files", False, "skip corrupt files")
SCAN_IGNORE_LOST_FILES = boolean("scan.ignore-lost-files", False, "skip missing files")
SCAN_MANIFEST_PARALLELISM = integer("scan.manifest.parallelism", None, "threads that read manifests")
SCAN_MAX_SPLITS_PER_TASK = integer("scan.max-splits-per-task", 10, "split cache per task")
SCAN_MODE = choice(
    "scan.mode",
    "default",
    "default latest-full full latest latest-delta compacted-full from-timestamp from-creation-timestamp from-file-creation-time from-snapshot from-snapshot-full incremental",
    "where a read starts: now, all, a time, a snapshot, a file time, or changes between two",
    fallback_keys=("log.scan",),
)
SCAN_PLAN_AUTO_TAG_FOR_READ_TIME_RETAINED = duration(
    "scan.plan-auto-tag-for-read.time-retained", None, "temporary tag while reading"
)
SCAN_PLAN_SORT_PARTITION = boolean("scan.plan-sort-partition", False, "give splits out partition by partition")
SCAN_PRIMARY_BRANCH = text("scan.primary-branch", None, "branch read first")
SCAN_SNAPSHOT_ID = long("scan.snapshot-id", None, "snapshot to read", fallback_keys=("snapshot-id",))
SCAN_TAG_NAME = text("scan.tag-name", None, "tag to read")
SCAN_TIMESTAMP = text("scan.timestamp", None, "local time to read at: '2024-01-31 12:00:00'")
SCAN_TIMESTAMP_MILLIS = long(
    "scan.timestamp-millis", None, "epoch ms to read at", fallback_keys=("log.scan.timestamp-millis",)
)
SCAN_VERSION = text("scan.version", None, "snapshot id or tag to read, whichever fits")
SCAN_WATERMARK = long("scan.watermark", None, "read the first snapshot with at least this watermark")
SOURCE_SPLIT_OPEN_FILE_COST = memory(
    "source.split.open-file-cost", "4 mb", "a file counts at least this much when files are put into splits"
)
SOURCE_SPLIT_TARGET_SIZE = memory("source.split.target-size", "128 mb", "bytes that one task reads")
STREAM_SCAN_MODE = choice(
    "stream-scan-mode", "none", "none compact-bucket-table file-monitor", "internal: how a monitoring job reads"
)
STREAMING_READ_APPEND_OVERWRITE = boolean(
    "streaming-read-append-overwrite", False, "streams of append tables see overwrites"
)
STREAMING_READ_OVERWRITE = boolean("streaming-read-overwrite", False, "streams see overwrites")
STREAMING_READ_SNAPSHOT_DELAY = duration("streaming.read.snapshot.delay", None, "lag behind commits")
TABLE_READ_SEQUENCE_NUMBER_ENABLED = boolean(
    "table-read.sequence-number.enabled", False, "show _SEQUENCE_NUMBER in $audit_log and $binlog"
)
