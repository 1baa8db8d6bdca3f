"""Options that change rows, files or errors in Java Paimon and are only kept here: whoever sets one is told.

What only tunes (threads, buffers, caches), or steers a process that does not run here, is no reason to speak.
"""

from __future__ import annotations

from collections.abc import Mapping

_CALLBACK = "it names a class of Java, which is not run here"
_LATER = "it is of a later release of Paimon, whose tables are not read that way here"
_INDEX = "this index is built and asked by Java only"
_BLOB = "columns of large objects are not kept apart here"

ELSEWHERE: Mapping[str, str] = {
    "blob-descriptor-field": _BLOB,
    "blob-field": _BLOB,
    "blob-view-field": _BLOB,
    "chain-table.enabled": _LATER,
    "commit.callbacks": _CALLBACK,
    "cross-partition-upsert.index-ttl": "no key is forgotten here, however old",
    "metadata.iceberg.storage": "Iceberg's metadata is written by Java only",
    "metastore.tag-to-partition.preview": "a tag becomes a partition when it is made",
    "pk-bitmap.index.columns": _INDEX,
    "pk-btree.index.columns": _INDEX,
    "pk-clustering-override": _LATER,
    "pk-full-text.index.columns": _INDEX,
    "pk-multivalue.index.columns": _INDEX,
    "pk-vector.index.columns": _INDEX,
    "postpone.merge-on-read": "rows that wait for their bucket are seen once they are compacted",
    "primary-key.nullable": "a primary key holds no NULL here",
    "query-auth.enabled": "it is a REST catalog that answers it",
    "scan.bucket": "every bucket is read",
    "scan.ignore-corrupt-files": "a corrupt file is an error here",
    "scan.ignore-lost-files": "a missing file is an error here",
    "scan.primary-branch": _LATER,
    "sequence.snapshot-ordering": "rows of a key are ordered by their sequence numbers",
    "snapshot.watermark-idle-timeout": "a stream that gets no rows makes no snapshot here",
    "tag.callbacks": _CALLBACK,
    "vector-field": _BLOB,
}
"""Key -> what holds here instead."""


def kept_only(raw: Mapping[str, str]) -> list[str]:
    """One sentence for each option of `raw` that has no effect here; `false` and `none` ask for nothing."""
    return [
        f"option {key!r} is only kept: {why}"
        for key, why in ELSEWHERE.items()
        if raw.get(key, "false").strip().lower() not in ("false", "none", "disabled", "")
    ]
