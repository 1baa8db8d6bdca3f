"""Life of partitions: expiry, marking done, the metastore."""

from __future__ import annotations

from paimon_nb.options.option import boolean, choice, duration, integer, text

END_INPUT_CHECK_PARTITION_EXPIRE = boolean("end-input.check-partition-expire", False, "partition expiry at batch end")
METASTORE_PARTITIONED_TABLE = boolean("metastore.partitioned-table", False, "register partitions in metastore")
METASTORE_TAG_TO_PARTITION = text("metastore.tag-to-partition", None, "show tags as partitions")
METASTORE_TAG_TO_PARTITION_PREVIEW = choice(
    "metastore.tag-to-partition.preview", "none", "none process-time watermark batch", "preview source of those"
)
PARTITION_END_INPUT_TO_DONE = boolean("partition.end-input-to-done", False, "mark done at batch end")
PARTITION_EXPIRATION_BATCH_SIZE = integer("partition.expiration-batch-size", None, "partitions dropped by one commit")
PARTITION_EXPIRATION_CHECK_INTERVAL = duration(
    "partition.expiration-check-interval", "1 h", "how often expired partitions are looked for"
)
PARTITION_EXPIRATION_MAX_NUM = integer("partition.expiration-max-num", 100, "most partitions dropped by one check")
PARTITION_EXPIRATION_STRATEGY = choice(
    "partition.expiration-strategy",
    "values-time",
    "values-time update-time custom",
    "a partition's age counts from its values or from its last write",
)
PARTITION_EXPIRATION_TIME = duration("partition.expiration-time", None, "age at which a partition is dropped")
PARTITION_IDLE_TIME_TO_REPORT_STATISTIC = duration(
    "partition.idle-time-to-report-statistic", "0 ms", "delay of stats report"
)
PARTITION_MARK_DONE_ACTION = text("partition.mark-done-action", "success-file", "what marking a partition done does")
PARTITION_MARK_DONE_ACTION_CUSTOM_CLASS = text("partition.mark-done-action.custom.class", None, "custom action")
PARTITION_MARK_DONE_ACTION_HTTP_PARAMS = text(
    "partition.mark-done-action.http.params", None, "told with each partition to the service of http-report"
)
PARTITION_MARK_DONE_ACTION_HTTP_URL = text(
    "partition.mark-done-action.http.url", None, "address of the service that http-report tells"
)
PARTITION_TIMESTAMP_FORMAT_STRICT = boolean("partition.timestamp-format.strict", False, "error on unparsable partition")
PARTITION_TIMESTAMP_FORMATTER = text("partition.timestamp-formatter", None, "format of the time in partition values")
PARTITION_TIMESTAMP_PATTERN = text(
    "partition.timestamp-pattern", None, "how the time is put together from partition columns: '$dt $hour:00:00'"
)
