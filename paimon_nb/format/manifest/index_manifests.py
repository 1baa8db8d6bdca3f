"""Index manifests: the complete list of live index files. Source: format reference, section 12.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.manifest.avro import NAMESPACE, check_version, optional, read_rows, record, required, write_rows
from paimon_nb.format.manifest.entries import DvRange, IndexEntry
from paimon_nb.format.manifest.lists import checked_name
from paimon_nb.fs import FileIO

_VERSION = 1
_RANGE = record(
    NAMESPACE + "__DELETIONS_VECTORS_RANGES",  # sic
    [required("f0", "string"), required("f1", "int"), required("f2", "int"), optional("_CARDINALITY", "long")],
)
_SCHEMA = record(
    NAMESPACE,
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
    ],
)


def read_index_manifest(fs: FileIO, path: str) -> list[IndexEntry]:
    """Raises `CorruptFile`, `NewerFormat`, `MissingFile`."""
    out = []
    for row in read_rows(fs, path):
        check_version(row, _VERSION, path, "index manifest")
        try:
            ranges = row.get("_DELETIONS_VECTORS_RANGES")
            extra = row.get("_GLOBAL_INDEX")
            if row["_FILE_SIZE"] < 0 or row["_ROW_COUNT"] < 0 or not isinstance(row["_PARTITION"], bytes):
                raise ValueError("negative counts")
            out.append(
                IndexEntry(
                    row["_PARTITION"], row["_BUCKET"], row["_INDEX_TYPE"], checked_name(row["_FILE_NAME"]), row["_FILE_SIZE"],
                    row["_ROW_COUNT"], None if ranges is None else tuple(_range(r) for r in ranges if r is not None),
                    row.get("_EXTERNAL_PATH"), None if extra is None else tuple(sorted(extra.items())), row["_KIND"],
                )
            )  # fmt: skip
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorruptFile(path, f"a row is no index entry ({error!s:.80})") from None
    return out


def _range(node: Any) -> DvRange:
    if isinstance(node, tuple | list):
        node = dict(zip(("f0", "f1", "f2", "_CARDINALITY"), node, strict=False))
    if node["f1"] < 0 or node["f2"] < 0:
        raise ValueError("negative offset")
    return DvRange(node["f0"], node["f1"], node["f2"], node.get("_CARDINALITY"))


def write_index_manifest(fs: FileIO, path: str, entries: Sequence[IndexEntry], compression: str = "zstd") -> int:
    """Write the live set; its size in bytes."""
    rows = (
        {
            "_VERSION": _VERSION, "_KIND": 0, "_PARTITION": e.partition, "_BUCKET": e.bucket, "_INDEX_TYPE": e.index_type,
            "_FILE_NAME": e.file_name, "_FILE_SIZE": e.file_size, "_ROW_COUNT": e.row_count,
            "_DELETIONS_VECTORS_RANGES": None if e.dv_ranges is None else [
                {"f0": r.data_file, "f1": r.offset, "f2": r.length, "_CARDINALITY": r.cardinality} for r in e.dv_ranges
            ],
            "_EXTERNAL_PATH": e.external_path,
        }
        for e in entries
    )  # fmt: skip
    return write_rows(fs, path, _SCHEMA, rows, compression)
