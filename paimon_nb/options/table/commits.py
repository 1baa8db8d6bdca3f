"""Commits, snapshots, changelogs, tags, consumers and callbacks."""

from __future__ import annotations

from paimon_nb.options.option import INT_MAX, at_least, boolean, choice, duration, integer, long, text

CHANGELOG_NUM_RETAINED_MAX = integer(
    "changelog.num-retained.max",
    None,
    "maximum number of changelogs retained after their snapshots expired; default: as for snapshots",
    check=at_least(1),
)
CHANGELOG_NUM_RETAINED_MIN = integer(
    "changelog.num-retained.min",
    None,
    "minimum number of changelogs retained after their snapshots expired; default: as for snapshots",
    check=at_least(1),
)
CHANGELOG_TIME_RETAINED = duration(
    "changelog.time-retained", None, "how long changelogs are retained; default: as for snapshots"
)
COMMIT_CALLBACK_PARAM = text("commit.callback.#.param", None, "constructor parameter of callback #")
COMMIT_CALLBACKS = text("commit.callbacks", None, "classes run after commit")
COMMIT_DISCARD_DUPLICATE_FILES = boolean(
    "commit.discard-duplicate-files", False, "skip files that are already committed"
)
COMMIT_FORCE_COMPACT = boolean("commit.force-compact", False, "finish compactions before every commit")
COMMIT_FORCE_CREATE_SNAPSHOT = boolean(
    "commit.force-create-snapshot", False, "checkpoints of a stream create snapshots even without rows"
)
COMMIT_MAX_RETRIES = integer(
    "commit.max-retries", 10, "maximum number of retries of a commit after a conflict", check=at_least(0)
)
COMMIT_MAX_RETRY_WAIT = duration("commit.max-retry-wait", "10 s", "maximum wait between two attempts")
COMMIT_MIN_RETRY_WAIT = duration("commit.min-retry-wait", "10 ms", "minimum wait between two attempts")
COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT = long(
    "commit.strict-mode.last-safe-snapshot",
    None,
    "fail if another user committed a compaction or overwrite after this snapshot",
)
COMMIT_TIMEOUT = duration("commit.timeout", None, "time after which a commit stops retrying")
COMMIT_USER_PREFIX = text("commit.user-prefix", None, "prefix of the commit user")
CONSUMER_ID = text(
    "consumer-id", None, "id under which a reader stores its progress; snapshots it has not read do not expire"
)
CONSUMER_CHANGELOG_ONLY = boolean("consumer.changelog-only", False, "a consumer retains changelogs only, not snapshots")
CONSUMER_EXPIRATION_TIME = duration(
    "consumer.expiration-time", None, "time without progress after which a consumer is removed"
)
CONSUMER_IGNORE_PROGRESS = boolean("consumer.ignore-progress", False, "ignore the stored progress of the consumer")
CONSUMER_MODE = choice(
    "consumer.mode",
    "exactly-once",
    "exactly-once at-least-once",
    "record progress at checkpoints (exactly-once) or as rows are read (at-least-once)",
)
SINK_PROCESS_TIME_ZONE = text("sink.process-time-zone", None, "time zone of tags by process time")
SINK_WATERMARK_TIME_ZONE = text("sink.watermark-time-zone", "UTC", "time zone of tags by watermark")
SNAPSHOT_CLEAN_EMPTY_DIRECTORIES = boolean(
    "snapshot.clean-empty-directories",
    False,
    "delete directories that are empty after expiration",
    fallback_keys=("snapshot.expire.clean-empty-directories",),
)
SNAPSHOT_EXPIRE_EXECUTION_MODE = choice(
    "snapshot.expire.execution-mode", "sync", "sync async", "expire snapshots synchronously or asynchronously"
)
SNAPSHOT_EXPIRE_LIMIT = integer(
    "snapshot.expire.limit", 50, "maximum number of snapshots expired at once", check=at_least(1)
)
SNAPSHOT_IGNORE_EMPTY_COMMIT = boolean(
    "snapshot.ignore-empty-commit", None, "create no snapshot for a commit without changes"
)
SNAPSHOT_NUM_RETAINED_MAX = integer(
    "snapshot.num-retained.max", INT_MAX, "maximum number of snapshots retained", check=at_least(1)
)
SNAPSHOT_NUM_RETAINED_MIN = integer(
    "snapshot.num-retained.min", 10, "minimum number of snapshots retained, regardless of age", check=at_least(1)
)
SNAPSHOT_TIME_RETAINED = duration("snapshot.time-retained", "1 h", "how long snapshots are retained")
SNAPSHOT_WATERMARK_IDLE_TIMEOUT = duration(
    "snapshot.watermark-idle-timeout", None, "idle time after which the watermark of new snapshots advances"
)
TAG_AUTOMATIC_COMPLETION = boolean("tag.automatic-completion", False, "create missed automatic tags")
TAG_AUTOMATIC_CREATION = choice(
    "tag.automatic-creation",
    "none",
    "none process-time watermark batch",
    "create tags by processing time, by watermark, or at the end of a batch job",
)
TAG_BATCH_CUSTOMIZED_NAME = text("tag.batch.customized-name", None, "name of the tag created by a batch job")
TAG_CALLBACK_PARAM = text("tag.callback.#.param", None, "callback parameter")
TAG_CALLBACKS = text("tag.callbacks", None, "classes run after tagging")
TAG_CREATE_SUCCESS_FILE = boolean("tag.create-success-file", False, "write a success file for each tag")
TAG_CREATION_DELAY = duration("tag.creation-delay", "0 ms", "delay of a tag after the end of its period")
TAG_CREATION_PERIOD = choice("tag.creation-period", "daily", "daily hourly two-hours", "period of automatic tags")
TAG_CREATION_PERIOD_DURATION = duration("tag.creation-period-duration", None, "period of automatic tags as a duration")
TAG_DEFAULT_TIME_RETAINED = duration("tag.default-time-retained", None, "how long tags are retained")
TAG_NUM_RETAINED_MAX = integer("tag.num-retained-max", None, "maximum number of automatic tags retained")
TAG_PERIOD_FORMATTER = choice(
    "tag.period-formatter",
    "with_dashes",
    "with_dashes without_dashes without_dashes_and_spaces",
    "format of the time in tag names",
)
TAG_TIME_EXPIRE_ENABLED = boolean("tag.time-expire-enabled", True, "delete expired tags")
VISIBILITY_CALLBACK_CHECK_INTERVAL = duration(
    "visibility-callback.check-interval", "10 s", "interval between visibility checks"
)
VISIBILITY_CALLBACK_ENABLED = boolean("visibility-callback.enabled", False, "a commit waits until its rows are visible")
VISIBILITY_CALLBACK_TIMEOUT = duration("visibility-callback.timeout", "30 min", "maximum wait for visibility")
WRITE_SEQUENCE_NUMBER_INIT_MODE = choice(
    "write.sequence-number-init-mode",
    "scan",
    "scan snapshot",
    "read the initial sequence number from files or from a snapshot property",
)
