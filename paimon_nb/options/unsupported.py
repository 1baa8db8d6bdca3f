"""Options that change rows, files or errors in Java Paimon and are only kept here: whoever sets one is told.

What only tunes (threads, buffers, caches), or steers a process that does not run here, is no reason to speak.
"""

from __future__ import annotations

from collections.abc import Mapping

from paimon_nb.options.connector import CONNECTOR_OPTIONS
from paimon_nb.options.table import TABLE_OPTIONS

_CALLBACK = "it names a class of Java, which is not run here"
_LATER = "it is of a later release of Paimon, whose tables are not read that way here"
_INDEX = "this index is built and asked by Java only"
_BLOB = "columns of large objects are not kept apart here"
_WAITS = "a micro-batch waits for the newest rows that it looks up"

ELSEWHERE: Mapping[str, str] = {
    "blob-descriptor-field": _BLOB,
    "blob-field": _BLOB,
    "blob-view-field": _BLOB,
    "chain-table.enabled": _LATER,
    "commit.callbacks": _CALLBACK,
    "commit.custom-listeners": _CALLBACK,
    "cross-partition-upsert.index-ttl": "no key is forgotten here, however old",
    "lookup.blob-as-descriptor": _BLOB,
    "lookup.dynamic-partition.refresh.async": _WAITS,
    "lookup.refresh.async": _WAITS,
    "lookup.refresh.async.pending-snapshot-count": _WAITS,
    "metadata.iceberg.storage": "Iceberg's metadata is written by Java only",
    "metastore.tag-to-partition.preview": "a tag becomes a partition when it is made",
    "partition.mark-done-action.custom.class": _CALLBACK,
    "pk-bitmap.index.columns": _INDEX,
    "pk-btree.index.columns": _INDEX,
    "pk-clustering-override": _LATER,
    "pk-full-text.index.columns": _INDEX,
    "pk-multivalue.index.columns": _INDEX,
    "pk-vector.index.columns": _INDEX,
    "postpone.merge-on-read": "rows that wait for their bucket are seen once they are compacted",
    "primary-key.nullable": "a primary key holds no NULL here",
    "query-auth.enabled": "it is a REST catalog that answers it",
    "read.allow.fullScan": "a scan without a condition on partitions is not refused",
    "scan.bucket": "every bucket is read",
    "scan.fallback-delta-branch": _LATER,
    "scan.fallback-snapshot-branch": _LATER,
    "scan.ignore-corrupt-files": "a corrupt file is an error here",
    "scan.ignore-lost-files": "a missing file is an error here",
    "scan.plan-auto-tag-for-read.time-retained": "a read makes no tag",
    "scan.primary-branch": _LATER,
    "scan.remove-normalize": "no stream is normalized here: without a changelog-producer it tells rows as they were written",
    "scan.watermark.alignment.group": "the streams of a query do not wait for each other",
    "scan.watermark.idle-timeout": "a stream without rows holds the watermark back",
    "sequence.snapshot-ordering": "rows of a key are ordered by their sequence numbers",
    "sink.key-only-deletes.enabled": "a -D is stored with all its columns",
    "snapshot.watermark-idle-timeout": "a snapshot without rows moves no watermark here",
    "streaming-read-mode": "a stream reads the table's files",
    "table-read.sequence-number.enabled": "$audit_log and $binlog show no sequence numbers",
    "tag.callbacks": _CALLBACK,
    "vector-field": _BLOB,
    "visibility-callback.enabled": "a commit does not wait until its rows can be seen",
}
"""Key -> what holds here instead."""


def kept_only(raw: Mapping[str, str]) -> list[str]:
    """One sentence for each option of `raw` that asks for something that it has no effect on here."""
    return [
        f"option {key!r} is only kept: {why}" for key, why in ELSEWHERE.items() if key in raw and _asks(key, raw[key])
    ]


def _asks(key: str, value: str) -> bool:
    """Whether a value asks for anything; what the default says, and what switches a thing off that is off, does not."""
    option = TABLE_OPTIONS.get(key) or CONNECTOR_OPTIONS.get(key)
    said = value.strip().lower()
    if option is not None and option.default is not None:
        return said != str(option.default).lower()
    return said not in ("false", "none", "disabled", "file", "")
