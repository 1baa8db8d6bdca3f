"""Commits and what they leave: snapshots, changelogs, tags, consumers, callbacks."""

from __future__ import annotations

from paimon_nb.options.option import at_least, boolean, choice, duration, integer, long, text
from paimon_nb.options.parsing import INT_MAX

CHANGELOG_NUM_RETAINED_MAX = integer(
    "changelog.num-retained.max",
    None,
    "most changelogs kept after their snapshots expired; as snapshots unless set",
    check=at_least(1),
)
CHANGELOG_NUM_RETAINED_MIN = integer(
    "changelog.num-retained.min",
    None,
    "fewest changelogs kept after their snapshots expired; as snapshots unless set",
    check=at_least(1),
)
CHANGELOG_TIME_RETAINED = duration(
    "changelog.time-retained", None, "how long changelogs outlive; as snapshots unless set"
)
COMMIT_CALLBACK_PARAM = text("commit.callback.#.param", None, "constructor parameter of callback #")
COMMIT_CALLBACKS = text("commit.callbacks", None, "classes run after commit")
COMMIT_DISCARD_DUPLICATE_FILES = boolean("commit.discard-duplicate-files", False, "ignore files already committed")
COMMIT_FORCE_COMPACT = boolean("commit.force-compact", False, "finish compactions before every commit")
COMMIT_FORCE_CREATE_SNAPSHOT = boolean(
    "commit.force-create-snapshot", False, "checkpoints of a stream make snapshots, also without rows"
)
COMMIT_MAX_RETRIES = integer(
    "commit.max-retries", 10, "how often a commit that lost a race tries again", check=at_least(0)
)
COMMIT_MAX_RETRY_WAIT = duration("commit.max-retry-wait", "10 s", "longest wait between two tries")
COMMIT_MIN_RETRY_WAIT = duration("commit.min-retry-wait", "10 ms", "first wait between two tries")
COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT = long(
    "commit.strict-mode.last-safe-snapshot", None, "refuse foreign compact/overwrite after this id"
)
COMMIT_TIMEOUT = duration("commit.timeout", None, "time after which a commit that keeps losing gives up")
COMMIT_USER_PREFIX = text("commit.user-prefix", None, "start of the commit user's name")
CONSUMER_ID = text(
    "consumer-id", None, "name under which a reader records how far it came; its snapshots do not expire"
)
CONSUMER_CHANGELOG_ONLY = boolean(
    "consumer.changelog-only", False, "a consumer holds back changelogs only, not snapshots"
)
CONSUMER_EXPIRATION_TIME = duration(
    "consumer.expiration-time", None, "age after which a consumer that reads no more is forgotten"
)
CONSUMER_IGNORE_PROGRESS = boolean("consumer.ignore-progress", False, "ignore the consumer's stored progress")
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
    "remove directories that expiry empties",
    fallback_keys=("snapshot.expire.clean-empty-directories",),
)
SNAPSHOT_EXPIRE_EXECUTION_MODE = choice(
    "snapshot.expire.execution-mode", "sync", "sync async", "expire within the commit or beside it"
)
SNAPSHOT_EXPIRE_LIMIT = integer("snapshot.expire.limit", 50, "most snapshots expired at once", check=at_least(1))
SNAPSHOT_IGNORE_EMPTY_COMMIT = boolean(
    "snapshot.ignore-empty-commit", None, "make no snapshot for a commit without changes"
)
SNAPSHOT_NUM_RETAINED_MAX = integer("snapshot.num-retained.max", INT_MAX, "most snapshots kept", check=at_least(1))
SNAPSHOT_NUM_RETAINED_MIN = integer(
    "snapshot.num-retained.min", 10, "fewest snapshots kept, however old", check=at_least(1)
)
SNAPSHOT_TIME_RETAINED = duration("snapshot.time-retained", "1 h", "age up to which snapshots are kept")
SNAPSHOT_WATERMARK_IDLE_TIMEOUT = duration("snapshot.watermark-idle-timeout", None, "advance snapshots when idle")
TAG_AUTOMATIC_COMPLETION = boolean("tag.automatic-completion", False, "make the automatic tags that were missed")
TAG_AUTOMATIC_CREATION = choice(
    "tag.automatic-creation",
    "none",
    "none process-time watermark batch",
    "make tags by process time, by watermark, or at the end of a batch job",
)
TAG_BATCH_CUSTOMIZED_NAME = text("tag.batch.customized-name", None, "name of the tag that a batch job makes")
TAG_CALLBACK_PARAM = text("tag.callback.#.param", None, "callback parameter")
TAG_CALLBACKS = text("tag.callbacks", None, "classes run after tagging")
TAG_CREATE_SUCCESS_FILE = boolean("tag.create-success-file", False, "write a success file for each tag")
TAG_CREATION_DELAY = duration("tag.creation-delay", "0 ms", "wait so long after a period's end before its tag")
TAG_CREATION_PERIOD = choice(
    "tag.creation-period", "daily", "daily hourly two-hours", "one tag a day, an hour, or two hours"
)
TAG_CREATION_PERIOD_DURATION = duration("tag.creation-period-duration", None, "one tag each so long")
TAG_DEFAULT_TIME_RETAINED = duration("tag.default-time-retained", None, "age at which a tag is deleted")
TAG_NUM_RETAINED_MAX = integer("tag.num-retained-max", None, "most automatic tags kept")
TAG_PERIOD_FORMATTER = choice(
    "tag.period-formatter",
    "with_dashes",
    "with_dashes without_dashes without_dashes_and_spaces",
    "how a tag's name shows its time",
)
TAG_TIME_EXPIRE_ENABLED = boolean("tag.time-expire-enabled", True, "delete tags that are too old")
VISIBILITY_CALLBACK_CHECK_INTERVAL = duration("visibility-callback.check-interval", "10 s", "poll interval")
VISIBILITY_CALLBACK_ENABLED = boolean("visibility-callback.enabled", False, "commit waits for visibility")
VISIBILITY_CALLBACK_TIMEOUT = duration("visibility-callback.timeout", "30 min", "its limit")
WRITE_SEQUENCE_NUMBER_INIT_MODE = choice(
    "write.sequence-number-init-mode", "scan", "scan snapshot", "scan files or snapshot property"
)
