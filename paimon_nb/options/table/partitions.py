"""Partitions: expiration, mark-done, metastore."""

from __future__ import annotations

from paimon_nb.options.option import boolean, choice, duration, integer, text

END_INPUT_CHECK_PARTITION_EXPIRE = boolean(
    "end-input.check-partition-expire", False, "check for expired partitions at the end of a batch job"
)
METASTORE_PARTITIONED_TABLE = boolean("metastore.partitioned-table", False, "register partitions in the metastore")
METASTORE_TAG_TO_PARTITION = text(
    "metastore.tag-to-partition", None, "partition column whose values are the tags, in the metastore"
)
METASTORE_TAG_TO_PARTITION_PREVIEW = choice(
    "metastore.tag-to-partition.preview",
    "none",
    "none process-time watermark batch",
    "register the next tag as a partition before it is created",
)
PARTITION_END_INPUT_TO_DONE = boolean(
    "partition.end-input-to-done", False, "mark partitions as done at the end of a batch job"
)
PARTITION_EXPIRATION_BATCH_SIZE = integer(
    "partition.expiration-batch-size", None, "maximum number of partitions dropped by one commit"
)
PARTITION_EXPIRATION_CHECK_INTERVAL = duration(
    "partition.expiration-check-interval", "1 h", "interval between checks for expired partitions"
)
PARTITION_EXPIRATION_MAX_NUM = integer(
    "partition.expiration-max-num", 100, "maximum number of partitions dropped by one check"
)
PARTITION_EXPIRATION_STRATEGY = choice(
    "partition.expiration-strategy",
    "values-time",
    "values-time update-time custom",
    "the age of a partition is derived from its values or from its last update",
)
PARTITION_EXPIRATION_TIME = duration("partition.expiration-time", None, "age at which a partition expires")
PARTITION_IDLE_TIME_TO_REPORT_STATISTIC = duration(
    "partition.idle-time-to-report-statistic", "0 ms", "idle time before the statistics of a partition are reported"
)
PARTITION_MARK_DONE_ACTION = text("partition.mark-done-action", "success-file", "actions that mark a partition as done")
PARTITION_MARK_DONE_ACTION_CUSTOM_CLASS = text(
    "partition.mark-done-action.custom.class", None, "class of the custom action"
)
PARTITION_MARK_DONE_ACTION_HTTP_PARAMS = text(
    "partition.mark-done-action.http.params", None, "parameter that http-report sends with each partition"
)
PARTITION_MARK_DONE_ACTION_HTTP_URL = text(
    "partition.mark-done-action.http.url", None, "URL of the service of http-report"
)
PARTITION_TIMESTAMP_FORMAT_STRICT = boolean(
    "partition.timestamp-format.strict", False, "fail if a partition value does not match the formatter"
)
PARTITION_TIMESTAMP_FORMATTER = text("partition.timestamp-formatter", None, "format of the time in partition values")
PARTITION_TIMESTAMP_PATTERN = text(
    "partition.timestamp-pattern",
    None,
    "how the time is composed from partition columns, for example '$dt $hour:00:00'",
)
