"""Deprecated options and aliases."""

from __future__ import annotations

from paimon_nb.options.option import at_least, boolean, choice, integer, long, text

COMPACTION_MAX_FILE_NUM = integer(
    "compaction.max.file-num",
    None,
    "number of small files that triggers a compaction; before release 1.1",
    check=at_least(1),
)
LOG_CHANGELOG_MODE = choice("log.changelog-mode", "auto", "auto all upsert", "log system; up to release 1.3")
LOG_CONSISTENCY = choice("log.consistency", "transactional", "transactional eventual", "log system; up to release 1.3")
LOG_FORMAT = text("log.format", "debezium-json", "log system; up to release 1.3")
LOG_IGNORE_DELETE = boolean("log.ignore-delete", False, "log system; up to release 1.3")
LOG_KEY_FORMAT = text("log.key.format", "json", "log system; up to release 1.3")
LOOKUP_LOCAL_FILE_TYPE = choice(
    "lookup.local-file-type", "sort", "sort hash", "format of local lookup files; up to release 1.3"
)
MANIFEST_FORMAT = choice("manifest.format", "avro", "avro orc", "format of manifests; up to release 1.3")
SCAN_FALLBACK_SNAPSHOT_ID = long("snapshot-id", None, "alias of scan.snapshot-id for readers")
STREAMING_READ_MODE = choice("streaming-read-mode", None, "log file", "source of a stream; up to release 1.3")
UPSERT_KEY = text("upsert-key", None, "key of changes to an append table; up to release 1.3")
WRITE_MODE = choice(
    "write-mode",
    None,
    "auto append-only change-log",
    "change-log needs a primary key, append-only forbids one; before release 0.6",
)
