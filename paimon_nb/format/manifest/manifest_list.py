"""Manifest lists. Source: docs/spec/format.md section 5.1."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.file_cache import FileCache
from paimon_nb.format.manifest.entries import ManifestFile, SimpleStats
from paimon_nb.format.manifest.metadata_codec import (
    ROOT,
    optional,
    read_rows,
    record,
    required,
    stats_record,
    write_rows,
)
from paimon_nb.fs import FileIO

_VERSION = 2
_CACHE = FileCache(64 << 20)
_WEIGHT = 700
"""Rough bytes of an entry in memory."""


def _schema_with(*newer: dict[str, Any]) -> dict[str, Any]:
    """Fields 0-9, those of release 1.3, and then fields of newer releases."""
    return record(
        ROOT,
        [
            required("_VERSION", "int"),
            required("_FILE_NAME", "string"),
            required("_FILE_SIZE", "long"),
            required("_NUM_ADDED_FILES", "long"),
            required("_NUM_DELETED_FILES", "long"),
            required("_PARTITION_STATS", stats_record(ROOT + "__PARTITION_STATS")),
            required("_SCHEMA_ID", "long"),
            optional("_MIN_BUCKET", "int"),
            optional("_MAX_BUCKET", "int"),
            optional("_MIN_LEVEL", "int"),
            optional("_MAX_LEVEL", "int"),
            *newer,
        ],
    )


_SCHEMA = _schema_with()
_SCHEMA_1_4 = _schema_with(optional("_MIN_ROW_ID", "long"), optional("_MAX_ROW_ID", "long"))
"""Written only when a manifest of a newer writer is carried along, so that nothing of it is lost."""


def stats_of(node: dict[str, Any]) -> SimpleStats:
    """SimpleStats from a decoded record."""
    counts = node.get("_NULL_COUNTS")
    return SimpleStats(node["_MIN_VALUES"], node["_MAX_VALUES"], None if counts is None else tuple(counts))


def stats_node(stats: SimpleStats) -> dict[str, Any]:
    """SimpleStats as a record to encode."""
    # A list: in a union, fastavro takes a tuple for (type, value).
    counts = None if stats.null_counts is None else list(stats.null_counts)
    return {"_MIN_VALUES": stats.min_values, "_MAX_VALUES": stats.max_values, "_NULL_COUNTS": counts}


def checked_name(name: str) -> str:
    """A file name from metadata. Raises `ValueError` if it would lead out of its directory."""
    if not name or "/" in name or "\0" in name or name in (".", ".."):
        raise ValueError(f"{name!r:.60} is not a file name")
    return name


def read_manifest_list(fs: FileIO, path: str) -> list[ManifestFile]:
    """The manifests that a list names, in order. Raises `CorruptFile`, `NewerFormat`, `MissingFile`."""
    manifests = _CACHE.get(fs, path, lambda: _decode_list(fs, path), _memory_bytes)
    return list(manifests)


def _memory_bytes(manifests: Collection[ManifestFile]) -> int:
    return _WEIGHT * (1 + len(manifests))


def _decode_list(fs: FileIO, path: str) -> tuple[ManifestFile, ...]:
    try:
        return tuple(_manifest_file(row) for row in read_rows(fs, path, _SCHEMA_1_4, _VERSION, "manifest list"))
    except ValueError as error:
        raise CorruptFile(path, f"a row names no manifest ({error!s:.80})") from None


def _manifest_file(row: dict[str, Any]) -> ManifestFile:
    size, added, deleted, get = row["_FILE_SIZE"], row["_NUM_ADDED_FILES"], row["_NUM_DELETED_FILES"], row.get
    if min(size, added, deleted) < 0:
        raise ValueError("negative counts")
    return ManifestFile(
        checked_name(row["_FILE_NAME"]), size, added, deleted, stats_of(row["_PARTITION_STATS"]), row["_SCHEMA_ID"],
        get("_MIN_BUCKET"), get("_MAX_BUCKET"), get("_MIN_LEVEL"), get("_MAX_LEVEL"), get("_MIN_ROW_ID"), get("_MAX_ROW_ID"),
    )  # fmt: skip


def write_manifest_list(
    fs: FileIO, path: str, manifests: Sequence[ManifestFile], compression: str = "zstd", kind: str = "avro"
) -> int:
    """Write a list (it may be empty); its size in bytes."""
    rows = (
        {
            "_VERSION": _VERSION, "_FILE_NAME": m.file_name, "_FILE_SIZE": m.file_size, "_NUM_ADDED_FILES": m.num_added,
            "_NUM_DELETED_FILES": m.num_deleted, "_PARTITION_STATS": stats_node(m.partition_stats), "_SCHEMA_ID": m.schema_id,
            "_MIN_BUCKET": m.min_bucket, "_MAX_BUCKET": m.max_bucket, "_MIN_LEVEL": m.min_level, "_MAX_LEVEL": m.max_level,
            "_MIN_ROW_ID": m.min_row_id, "_MAX_ROW_ID": m.max_row_id,
        }
        for m in manifests
    )  # fmt: skip
    newer = any(m.min_row_id is not None or m.max_row_id is not None for m in manifests)
    return write_rows(fs, path, _SCHEMA_1_4 if newer else _SCHEMA, rows, compression, kind)


def keep_manifest_list(fs: FileIO, path: str, manifests: Sequence[ManifestFile]) -> None:
    """Let this process read what it just wrote from memory."""
    _CACHE.put(fs, path, tuple(manifests), _memory_bytes(manifests))
