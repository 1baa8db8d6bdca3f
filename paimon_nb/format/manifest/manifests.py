"""Manifests: data files added and deleted. Source: format reference, sections 5.2 and 5.3."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
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
from paimon_nb.format.manifest.entries import DataFile, ManifestEntry
from paimon_nb.format.manifest.lists import checked_name, stats_node, stats_of
from paimon_nb.fs import FileIO

_VERSION = 2
_FILE = NAMESPACE + "__FILE"
_STRINGS = {"type": "array", "items": "string"}
_SCHEMA = record(
    NAMESPACE,
    [
        required("_VERSION", "int"),
        required("_KIND", "int"),
        required("_PARTITION", "bytes"),
        required("_BUCKET", "int"),
        required("_TOTAL_BUCKETS", "int"),
        required(
            "_FILE",
            record(
                _FILE,
                [
                    required("_FILE_NAME", "string"),
                    required("_FILE_SIZE", "long"),
                    required("_ROW_COUNT", "long"),
                    required("_MIN_KEY", "bytes"),
                    required("_MAX_KEY", "bytes"),
                    required("_KEY_STATS", stats_record(_FILE + "__KEY_STATS")),
                    required("_VALUE_STATS", stats_record(_FILE + "__VALUE_STATS")),
                    required("_MIN_SEQUENCE_NUMBER", "long"),
                    required("_MAX_SEQUENCE_NUMBER", "long"),
                    required("_SCHEMA_ID", "long"),
                    required("_LEVEL", "int"),
                    required("_EXTRA_FILES", _STRINGS),
                    optional("_CREATION_TIME", {"type": "long", "logicalType": "timestamp-millis"}),
                    optional("_DELETE_ROW_COUNT", "long"),
                    optional("_EMBEDDED_FILE_INDEX", "bytes"),
                    optional("_FILE_SOURCE", "int"),
                    optional("_VALUE_STATS_COLS", _STRINGS),
                    optional("_EXTERNAL_PATH", "string"),
                    optional("_FIRST_ROW_ID", "long"),
                    optional("_WRITE_COLS", _STRINGS),
                ],
            ),
        ),
    ],
)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

Wanted = Callable[[int, bytes, int], bool]
"""(kind, partition, bucket) -> whether the entry is needed; asked before its file is built."""


def read_manifest(fs: FileIO, path: str, wanted: Wanted | None = None) -> list[ManifestEntry]:
    """The entries of a manifest, in order. Raises `CorruptFile`, `NewerFormat`, `MissingFile`."""
    out = []
    for row in read_rows(fs, path):
        check_version(row, _VERSION, path, "manifest")
        try:
            kind, partition, bucket = row["_KIND"], row["_PARTITION"], row["_BUCKET"]
            if kind not in (0, 1) or not isinstance(partition, bytes):
                raise ValueError(f"kind {kind!r}")
            if wanted is not None and not wanted(kind, partition, bucket):
                continue
            out.append(ManifestEntry(kind, partition, bucket, row["_TOTAL_BUCKETS"], _data_file(row["_FILE"])))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise CorruptFile(path, f"a row is no manifest entry ({error!s:.80})") from None
    return out


def _data_file(node: dict[str, Any]) -> DataFile:
    size, rows = node["_FILE_SIZE"], node["_ROW_COUNT"]
    if size < 0 or rows < 0 or node["_LEVEL"] < 0:
        raise ValueError("negative counts")
    get = node.get
    created = get("_CREATION_TIME")
    columns, written = get("_VALUE_STATS_COLS"), get("_WRITE_COLS")
    return DataFile(
        checked_name(node["_FILE_NAME"]), size, rows, node["_MIN_KEY"], node["_MAX_KEY"], stats_of(node["_KEY_STATS"]),
        stats_of(node["_VALUE_STATS"]), node["_MIN_SEQUENCE_NUMBER"], node["_MAX_SEQUENCE_NUMBER"], node["_SCHEMA_ID"],
        node["_LEVEL"], tuple(checked_name(x) for x in node["_EXTRA_FILES"] or ()), None if created is None else _millis(created),
        get("_DELETE_ROW_COUNT"), get("_EMBEDDED_FILE_INDEX"), get("_FILE_SOURCE"), None if columns is None else tuple(columns),
        get("_EXTERNAL_PATH"), get("_FIRST_ROW_ID"), None if written is None else tuple(written),
    )  # fmt: skip


def _millis(value: Any) -> int:
    if isinstance(value, int):
        return value
    moment = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
    delta = moment - _EPOCH
    return int(delta.days * 86_400_000 + delta.seconds * 1000 + delta.microseconds // 1000)


def write_manifest(fs: FileIO, path: str, entries: Sequence[ManifestEntry], compression: str = "zstd") -> int:
    """Write a manifest; its size in bytes."""
    return write_rows(fs, path, _SCHEMA, map(_node, entries), compression)


def _node(entry: ManifestEntry) -> dict[str, Any]:
    f = entry.file
    return {
        "_VERSION": _VERSION, "_KIND": entry.kind, "_PARTITION": entry.partition, "_BUCKET": entry.bucket,
        "_TOTAL_BUCKETS": entry.total_buckets,
        "_FILE": {
            "_FILE_NAME": f.file_name, "_FILE_SIZE": f.file_size, "_ROW_COUNT": f.row_count, "_MIN_KEY": f.min_key,
            "_MAX_KEY": f.max_key, "_KEY_STATS": stats_node(f.key_stats), "_VALUE_STATS": stats_node(f.value_stats),
            "_MIN_SEQUENCE_NUMBER": f.min_sequence, "_MAX_SEQUENCE_NUMBER": f.max_sequence, "_SCHEMA_ID": f.schema_id,
            "_LEVEL": f.level, "_EXTRA_FILES": list(f.extra_files), "_CREATION_TIME": f.creation_time_ms,
            "_DELETE_ROW_COUNT": f.delete_row_count, "_EMBEDDED_FILE_INDEX": f.embedded_index, "_FILE_SOURCE": f.file_source,
            "_VALUE_STATS_COLS": None if f.value_stats_cols is None else list(f.value_stats_cols),
            "_EXTERNAL_PATH": f.external_path, "_FIRST_ROW_ID": f.first_row_id,
            "_WRITE_COLS": None if f.write_cols is None else list(f.write_cols),
        },
    }  # fmt: skip
