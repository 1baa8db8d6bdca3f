"""Index manifests: the complete list of live index files. Source: docs/spec/format.md section 12.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.manifest.entries import ADD, DvRange, IndexEntry
from paimon_nb.format.manifest.manifests import ROOT, checked_name, optional, read_rows, record, required, write_rows
from paimon_nb.fs.file_cache import FileCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.fs import FileIO, FileSink

_VERSION = 1
_CACHE = FileCache(64 << 20)
_ENTRY_BYTES, _RANGE_BYTES = 800, 250
"""Rough sizes in memory."""
_RANGE = record(
    ROOT + "__DELETIONS_VECTORS_RANGES",  # sic
    [required("f0", "string"), required("f1", "int"), required("f2", "int"), optional("_CARDINALITY", "long")],
)
_GLOBAL = record(
    ROOT + "__GLOBAL_INDEX",
    [
        required("_ROW_RANGE_START", "long"),
        required("_ROW_RANGE_END", "long"),
        required("_INDEX_FIELD_ID", "int"),
        optional("_EXTRA_FIELD_IDS", {"type": "array", "items": "int"}),
        optional("_INDEX_META", "bytes"),
        optional("_SOURCE_META", "bytes"),
    ],
)


def _schema_with(*newer: dict[str, Any]) -> dict[str, Any]:
    """Fields 0-8 are those of release 1.3, followed by fields of newer releases."""
    return record(
        ROOT,
        [
            required("_VERSION", "int"),
            required("_KIND", "int"),
            required("_PARTITION", "bytes"),
            required("_BUCKET", "int"),
            required("_INDEX_TYPE", "string"),
            required("_FILE_NAME", "string"),
            required("_FILE_SIZE", "long"),
            required("_ROW_COUNT", "long"),
            optional("_DELETIONS_VECTORS_RANGES", {"type": "array", "items": ["null", _RANGE]}),
            optional("_EXTERNAL_PATH", "string"),
            *newer,
        ],
    )


_SCHEMA = _schema_with()
_SCHEMA_1_4 = _schema_with(optional("_GLOBAL_INDEX", _GLOBAL))
"""Used only if an entry was written by a newer release, to preserve all of its fields."""


def read_index_manifest(fs: FileIO, path: str) -> list[IndexEntry]:
    """Raises `CorruptFile`, `NewerFormat`, `MissingFile`."""
    entries = _CACHE.get(fs, path, lambda: _decode(fs, path), _memory_bytes)
    return list(entries)


def cache_index_manifest(fs: FileIO, path: str, entries: Sequence[IndexEntry]) -> None:
    """Let this process read what it just wrote from memory."""
    _CACHE.put(fs, path, tuple(entries), _memory_bytes(entries))


def _memory_bytes(entries: Sequence[IndexEntry]) -> int:
    ranges = sum(len(e.dv_ranges or ()) for e in entries)
    return _ENTRY_BYTES * (1 + len(entries)) + _RANGE_BYTES * ranges


def _decode(fs: FileIO, path: str) -> tuple[IndexEntry, ...]:
    try:
        return tuple(_index_entry_of_row(row) for row in read_rows(fs, path, _SCHEMA_1_4, _VERSION, "index manifest"))
    except ValueError as error:
        raise CorruptFile(path, f"a row is not a valid index entry ({error!s:.80})") from None


def _index_entry_of_row(row: dict[str, Any]) -> IndexEntry:
    size, rows = row["_FILE_SIZE"], row["_ROW_COUNT"]
    ranges, extra = row.get("_DELETIONS_VECTORS_RANGES"), row.get("_GLOBAL_INDEX")
    if size < 0 or rows < 0 or row["_KIND"] not in (0, 1):
        raise ValueError("negative counts")
    return IndexEntry(
        row["_PARTITION"],
        row["_BUCKET"],
        row["_INDEX_TYPE"],
        checked_name(row["_FILE_NAME"]),
        size,
        rows,
        None if ranges is None else tuple(_dv_range_of_node(r) for r in ranges if r is not None),
        row.get("_EXTERNAL_PATH"),
        None if extra is None else tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in extra.items()),
        row["_KIND"],
    )


def _dv_range_of_node(node: dict[str, Any]) -> DvRange:
    if node["f1"] < 0 or node["f2"] < 0:
        raise ValueError("negative offset")
    return DvRange(node["f0"], node["f1"], node["f2"], node.get("_CARDINALITY"))


def write_index_manifest(
    fs: FileSink, path: str, entries: Sequence[IndexEntry], compression: str = "zstd", kind: str = "avro"
) -> int:
    """Write the complete list. Returns its size in bytes."""
    rows = (
        {
            "_VERSION": _VERSION, "_KIND": ADD, "_PARTITION": e.partition, "_BUCKET": e.bucket, "_INDEX_TYPE": e.index_type,
            "_FILE_NAME": e.file_name, "_FILE_SIZE": e.file_size, "_ROW_COUNT": e.row_count,
            "_DELETIONS_VECTORS_RANGES": None if e.dv_ranges is None else [
                {"f0": r.data_file, "f1": r.offset, "f2": r.length, "_CARDINALITY": r.cardinality} for r in e.dv_ranges
            ],
            "_EXTERNAL_PATH": e.external_path,
            "_GLOBAL_INDEX": _global_index_node(e),
        }
        for e in entries
    )  # fmt: skip
    newer = any(e.global_index is not None for e in entries)
    return write_rows(fs, path, _SCHEMA_1_4 if newer else _SCHEMA, rows, compression, kind)


def _global_index_node(entry: IndexEntry) -> dict[str, Any] | None:
    if entry.global_index is None:
        return None
    # Lists: in a union, fastavro takes a tuple for (type, value).
    return {k: list(v) if isinstance(v, tuple) else v for k, v in entry.global_index}
