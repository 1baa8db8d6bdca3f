"""Warnings for options that are stored but have no effect here.

Options that would change rows or files are in `support.UNSUPPORTED`. There is no warning for tuning options (threads,
buffers, caches) and for options of jobs that do not run here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.options.support import Access, is_enabled, unsupported_options_set

if TYPE_CHECKING:
    from collections.abc import Mapping

_CALLBACK = "Java classes cannot be called"
_WAITS = "a micro-batch waits for the refresh of the lookup table"

WITHOUT_EFFECT: Mapping[str, str] = {
    "commit.custom-listeners": _CALLBACK,
    "cross-partition-upsert.index-ttl": "the index of keys does not expire",
    "lookup.refresh.async": _WAITS,
    "lookup.refresh.async.pending-snapshot-count": _WAITS,
    "metastore.tag-to-partition.preview": "a tag becomes a partition when it is created",
    "scan.plan-auto-tag-for-read.time-retained": "reads do not create tags",
    "scan.watermark.alignment.group": "the streams of a query do not wait for each other",
    "scan.watermark.idle-timeout": "a stream without rows holds the watermark back",
    "sink.key-only-deletes.enabled": "a -D row is stored with all columns",
    "snapshot.watermark-idle-timeout": "a snapshot without rows does not advance the watermark",
    "streaming-read-mode": "streams read the files of the table",
    "variant.shredding.inferenceMode": "each file infers its shredded columns from its own rows",
}
"""Key -> actual behaviour."""


def unsupported_option_warnings(raw: Mapping[str, str]) -> list[str]:
    """One sentence for each option of `raw` that has no effect or is not supported."""
    warnings = [
        f"option {key!r} is stored but has no effect: {why}"
        for key, why in WITHOUT_EFFECT.items()
        if key in raw and is_enabled(key, raw[key])
    ]
    refused = [
        f"option {key!r} is not supported, so {_join_with_and([_DONE[a] for a in entry.accesses])} rejected: {entry.why}"
        for key, entry in unsupported_options_set(raw).items()
    ]
    return [*warnings, *refused]


_DONE = {
    Access.READ: "reads are",
    Access.WRITE: "writes are",
    Access.COMPACT: "compactions are",
    Access.TAG: "tags are",
}


def _join_with_and(parts: list[str]) -> str:
    short = [p.removesuffix(" are") for p in parts[:-1]]
    return " and ".join(filter(None, [", ".join(short), parts[-1]]))
