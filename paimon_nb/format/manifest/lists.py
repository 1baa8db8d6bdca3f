"""Manifest lists. Source: format reference, section 5.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.manifest.avro import (  # fmt: skip
    NAMESPACE,
    check_version,
    optional,
    read_rows,
    record,
    required,
    stats_record,
    write_rows,
)
from paimon_nb.format.manifest.entries import ManifestFile, SimpleStats
from paimon_nb.fs import FileIO

_VERSION = 2
_SCHEMA = record(
    NAMESPACE,
    [
        required("_VERSION", "int"),
        required("_FILE_NAME", "string"),
        required("_FILE_SIZE", "long"),
        required("_NUM_ADDED_FILES", "long"),
        required("_NUM_DELETED_FILES", "long"),
        required("_PARTITION_STATS", stats_record(NAMESPACE + "__PARTITION_STATS")),
        required("_SCHEMA_ID", "long"),
        optional("_MIN_BUCKET", "int"),
        optional("_MAX_BUCKET", "int"),
        optional("_MIN_LEVEL", "int"),
        optional("_MAX_LEVEL", "int"),
    ],
)


def stats_of(node: Any) -> SimpleStats:
    """SimpleStats from a decoded record."""
    low, high, counts = node["_MIN_VALUES"], node["_MAX_VALUES"], node.get("_NULL_COUNTS")
    if not isinstance(low, bytes) or not isinstance(high, bytes):
        raise TypeError("statistics are no bytes")
    return SimpleStats(low, high, None if counts is None else tuple(counts))


def stats_node(stats: SimpleStats) -> dict[str, Any]:
    """SimpleStats as a record to encode."""
    counts = None if stats.null_counts is None else list(stats.null_counts)
    return {"_MIN_VALUES": stats.min_values, "_MAX_VALUES": stats.max_values, "_NULL_COUNTS": counts}


def checked_name(name: Any) -> str:
    """A file name from metadata; it must not lead out of its directory."""
    if not isinstance(name, str) or not name or "/" in name or "\0" in name or name in (".", ".."):
        raise ValueError(f"{name!r:.60} is no file name")
    return name


def read_manifest_list(fs: FileIO, path: str) -> list[ManifestFile]:
    """The manifests that a list names, in order. Raises `CorruptFile`, `NewerFormat`, `MissingFile`."""
    out = []
    for row in read_rows(fs, path):
        check_version(row, _VERSION, path, "manifest list")
        try:
            size, added, deleted = row["_FILE_SIZE"], row["_NUM_ADDED_FILES"], row["_NUM_DELETED_FILES"]
            if min(size, added, deleted) < 0:
                raise ValueError("negative counts")
            out.append(
                ManifestFile(
                    checked_name(row["_FILE_NAME"]), size, added, deleted, stats_of(row["_PARTITION_STATS"]), row["_SCHEMA_ID"],
                    row.get("_MIN_BUCKET"), row.get("_MAX_BUCKET"), row.get("_MIN_LEVEL"), row.get("_MAX_LEVEL"),
                    row.get("_MIN_ROW_ID"), row.get("_MAX_ROW_ID"),
                )
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorruptFile(path, f"a row is no manifest entry ({error!s:.80})") from None
    return out


def write_manifest_list(fs: FileIO, path: str, manifests: Sequence[ManifestFile], compression: str = "zstd") -> int:
    """Write a list (it may be empty); its size in bytes."""
    rows = (
        {
            "_VERSION": _VERSION, "_FILE_NAME": m.file_name, "_FILE_SIZE": m.file_size, "_NUM_ADDED_FILES": m.num_added,
            "_NUM_DELETED_FILES": m.num_deleted, "_PARTITION_STATS": stats_node(m.partition_stats), "_SCHEMA_ID": m.schema_id,
            "_MIN_BUCKET": m.min_bucket, "_MAX_BUCKET": m.max_bucket, "_MIN_LEVEL": m.min_level, "_MAX_LEVEL": m.max_level,
        }
        for m in manifests
    )  # fmt: skip
    return write_rows(fs, path, _SCHEMA, rows, compression)
