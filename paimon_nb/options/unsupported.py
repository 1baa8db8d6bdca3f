"""Options that differ from Java Paimon in something else than rows and files, and what is said when one is set.

Those that would change rows or files are `support.UNSUPPORTED`.

What only tunes (threads, buffers, caches), or steers a process that does not run here, is no reason to speak.
"""

from __future__ import annotations

from collections.abc import Mapping

from paimon_nb.options.support import Access, is_enabled, unsupported

_CALLBACK = "it names a class of Java, which is not run here"
_BLOB = "columns of large objects are not kept apart here"
_WAITS = "a micro-batch waits for the newest rows that it looks up"

ELSEWHERE: Mapping[str, str] = {
    "commit.custom-listeners": _CALLBACK,
    "cross-partition-upsert.index-ttl": "no key is forgotten here, however old",
    "lookup.blob-as-descriptor": _BLOB,
    "lookup.dynamic-partition.refresh.async": _WAITS,
    "lookup.refresh.async": _WAITS,
    "lookup.refresh.async.pending-snapshot-count": _WAITS,
    "metastore.tag-to-partition.preview": "a tag becomes a partition when it is made",
    "scan.ignore-corrupt-files": "a corrupt file is an error here",
    "scan.ignore-lost-files": "a missing file is an error here",
    "scan.plan-auto-tag-for-read.time-retained": "a read makes no tag",
    "scan.watermark.alignment.group": "the streams of a query do not wait for each other",
    "scan.watermark.idle-timeout": "a stream without rows holds the watermark back",
    "sink.key-only-deletes.enabled": "a -D is stored with all its columns",
    "snapshot.watermark-idle-timeout": "a snapshot without rows moves no watermark here",
    "streaming-read-mode": "a stream reads the table's files",
    "table-read.sequence-number.enabled": "$audit_log and $binlog show no sequence numbers",
    "visibility-callback.enabled": "a commit does not wait until its rows can be seen",
}
"""Key -> what holds here instead."""


def unsupported_option_warnings(raw: Mapping[str, str]) -> list[str]:
    """One sentence for each option of `raw` that asks for something that it has no effect on here."""
    warnings = [
        f"option {key!r} is only kept: {why}"
        for key, why in ELSEWHERE.items()
        if key in raw and is_enabled(key, raw[key])
    ]
    refused = [
        f"option {key!r} is not supported, so {_listed([_DONE[a] for a in entry.accesses])} refused: {entry.why}"
        for key, entry in unsupported(raw).items()
    ]
    return [*warnings, *refused]


_DONE = {
    Access.READ: "reads are",
    Access.WRITE: "writes are",
    Access.COMPACT: "compactions are",
    Access.TAG: "tags are",
    Access.READ_POSTPONED: "reads while rows wait for a bucket are",
}


def _listed(parts: list[str]) -> str:
    short = [p.removesuffix(" are") for p in parts[:-1]]
    return " and ".join(filter(None, [", ".join(short), parts[-1]]))
