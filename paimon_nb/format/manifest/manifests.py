"""Manifests and manifest lists, and the files of metadata rows that they are: Avro or ORC. docs/spec/format.md section 5.

Files are read whatever wrote them, and written as Java does.
"""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paimon_nb.base.errors import CorruptFile, NewerFormat, UnsupportedFormat
from paimon_nb.format.avro.container import (
    BLOCK_BYTES,
    MAGIC,
    Container,
    compress_container,
    gc_paused,
    parse_container,
)
from paimon_nb.format.avro.records import Field, compile_columns, compile_fields, read_records
from paimon_nb.format.manifest.decoded_entries import entries_by_values
from paimon_nb.format.manifest.entries import DataFile, Entries, EntryList, ManifestEntry, ManifestFile, SimpleStats
from paimon_nb.fs.file_cache import FileCache

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.fs import FileIO, FileSink


NAMESPACE = "org.apache.paimon.avro.generated"
ROOT = "record"
_BY_SCHEMA: dict[tuple[int, str], tuple[Any, Any]] = {}
_MAX_BY_SCHEMA = 100
_CODECS = {
    "zstd": "zstandard", "zstandard": "zstandard", "none": "null", "null": "null", "uncompressed": "null",
    "snappy": "snappy", "gzip": "deflate", "deflate": "deflate", "zlib": "deflate", "bzip2": "bzip2", "xz": "xz",
}  # fmt: skip
"""`manifest.compression` -> Avro codec."""


def read_rows(fs: FileIO, path: str, schema: dict[str, Any], version: int, what: str) -> list[dict[str, Any]]:
    """Read all rows as dictionaries by field name, each with the fields and types of `schema`.

    Fields that `schema` lacks are included; nullable fields may be absent.

    Raises:
        MissingFile. CorruptFile: any invalid bytes. NewerFormat, UnsupportedFormat: another `version`.
    """
    data = fs.read(path)
    return checked_rows_of(data, avro_container_or_none(data, path), path, schema, version, what)


def avro_container_or_none(data: bytes, path: str) -> Container | None:
    """Decompress the container of an Avro file; None for ORC. Raises `CorruptFile`."""
    if data[:4] == MAGIC:
        return parse_container(data, path)
    if data[:3] == b"ORC":
        return None
    raise CorruptFile(path, "it is neither Avro nor ORC")


def checked_rows_of(
    data: bytes, container: Container | None, path: str, schema: dict[str, Any], version: int, what: str
) -> list[dict[str, Any]]:
    """As `read_rows`, for bytes and the result of `avro_container_or_none` for them."""
    if container is None:
        rows, sure = _read_orc(data, path), False
    else:
        rows = avro_records(container, path)
        sure = _once_for_schema(container.record, what, lambda found: schema_guarantees(found, schema))
    for row in rows:
        if not isinstance(row, dict) or row.get("_VERSION") != version:
            _refuse_version(row, version, path, what)
        if not sure and not _row_has_schema_shape(schema, row):
            raise CorruptFile(path, f"a row is not a valid {what} entry")
    return rows


def write_rows(
    fs: FileSink,
    path: str,
    schema: dict[str, Any],
    rows: Iterable[dict[str, Any]],
    compression: str,
    kind: str = "avro",
) -> int:
    """Write a metadata file; `kind`: avro or orc. Returns its size in bytes. Raises `UnsupportedFormat` for an unknown
    codec.
    """
    if kind == "orc":
        from paimon_nb.format.manifest.orc_rows import orc_bytes

        data = orc_bytes(schema, rows, compression)
    else:
        data = avro_bytes(path, schema, rows, compression)
    fs.write(path, data)
    return len(data)


def avro_bytes(
    path: str,
    schema: dict[str, Any],
    rows: Iterable[dict[str, Any]],
    compression: str,
    header: Mapping[str, str] | None = None,
) -> bytes:
    """A container of records; `header`: entries beside the schema. Raises `UnsupportedFormat` for an unknown codec."""
    import fastavro

    codec = _CODECS.get(compression.lower())
    if codec is None:
        raise UnsupportedFormat(
            f"compression {compression!r} of {path} is not known",
            hint=f"use one of {', '.join(sorted(_CODECS))}",
            feature=compression,
        )
    buffer = io.BytesIO()
    with gc_paused():
        fastavro.writer(buffer, _parsed_schema(schema), rows, codec="null", sync_interval=BLOCK_BYTES)
    return compress_container(buffer.getvalue(), schema, codec, header)


def _parsed_schema(schema: Any) -> Any:
    """The schema as parsed by fastavro."""
    import fastavro

    return _once_for_schema(schema, "parsed", fastavro.parse_schema)


def _once_for_schema(schema: Any, what: str, make: Callable[[Any], Any]) -> Any:
    """`make(schema)`, cached: it takes longer than the rows of a small file, and the files of a table have one schema."""
    held = _BY_SCHEMA.get((id(schema), what))
    if held is None:
        if len(_BY_SCHEMA) >= _MAX_BY_SCHEMA:
            _BY_SCHEMA.clear()
        held = _BY_SCHEMA[id(schema), what] = schema, make(schema)  # keeps the schema alive: its id stays unique
    return held[1]


def avro_records(container: Container, path: str) -> list[Any]:
    """The records, with plain numbers and bytes for logical types. Raises `CorruptFile`."""
    rows: list[Any] = []
    try:
        fields = _once_for_schema(container.schema, "fields", compile_fields)
        with gc_paused():
            for count, block in container.blocks:
                rows += (
                    _read_by_fastavro(container, count, block) if fields is None else read_records(fields, count, block)
                )
        return rows
    except Exception as error:  # the decoder raises anything for broken bytes
        raise CorruptFile(path, f"not readable as Avro ({type(error).__name__}: {error!s:.80})") from None


def _read_by_fastavro(container: Container, count: int, block: bytes) -> list[Any]:
    import fastavro

    schema, plain = _parsed_schema(container.schema), io.BytesIO(block)
    return [fastavro.schemaless_reader(plain, schema, None) for _ in range(count)]


def _read_orc(data: bytes, path: str) -> list[Any]:
    """Manifests of `manifest.format` = orc, which releases up to 1.3 could write."""
    from paimon_nb.format.data.orc_process import OrcFile

    file = OrcFile(io.BytesIO(data), path, None)
    try:
        return [row for table in file.rows(None) for row in table.to_pylist()]
    except (ValueError, OverflowError) as error:
        raise CorruptFile(path, f"not readable as ORC ({error!s:.80})") from None
    finally:
        file.close()


def _refuse_version(row: Any, known: int, path: str, what: str) -> None:
    version = row.get("_VERSION") if isinstance(row, dict) else None
    if not isinstance(version, int) or version < 1:
        raise CorruptFile(path, f"a row has the invalid version {version!r:.40}")
    if version > known:
        raise NewerFormat(path, version, known, what)
    raise UnsupportedFormat(
        f"{path}: {what} version {version} is from before Paimon 0.4",
        hint="recreate the table with a newer Paimon",
        feature=f"{what} version {version}",
    )


# -- shapes: whether a file contains the expected fields and types


def schema_guarantees(found: Any, expected: Any) -> bool:
    """Whether the writer's schema guarantees rows of the expected shape, so that rows need no check."""
    if isinstance(expected, list):
        inner = [b for b in found if b != "null"] if isinstance(found, list) else [found]
        return found == "null" or (len(inner) == 1 and schema_guarantees(inner[0], expected[1]))
    if isinstance(expected, str):
        return bool(found == expected) or (found, expected) == ("int", "long")
    if not isinstance(found, dict):
        return bool(found == expected["type"])  # timestamps: a plain long
    if found["type"] != expected["type"]:
        return False
    if expected["type"] == "array":
        return schema_guarantees(found["items"], expected["items"])
    found_types = {f["name"]: f["type"] for f in found["fields"]}
    return all(
        schema_guarantees(found_types[f["name"]], f["type"]) if f["name"] in found_types else "default" in f
        for f in expected["fields"]
    )


def _row_has_schema_shape(expected: Any, value: Any) -> bool:
    """Whether a value has the expected shape."""
    if isinstance(expected, list):
        return value is None or _row_has_schema_shape(expected[1], value)
    if expected in ("int", "long"):
        return type(value) is int
    if expected == "string":
        return isinstance(value, str)
    if expected == "bytes":
        return isinstance(value, bytes)
    if expected["type"] == "array":
        return isinstance(value, list) and all(_row_has_schema_shape(expected["items"], v) for v in value)
    if expected["type"] == "record":
        return isinstance(value, dict) and all(
            _row_has_schema_shape(f["type"], value[f["name"]]) if f["name"] in value else "default" in f
            for f in expected["fields"]
        )
    return type(value) is int or isinstance(value, dt.datetime)  # timestamp-millis


# -- building Avro schemas


def record(name: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    """A record type; names follow Java's path scheme (`record__FILE__KEY_STATS`)."""
    space = {"namespace": NAMESPACE} if name == ROOT else {}
    return {"type": "record", "name": name, **space, "fields": fields}


def required(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": kind}


def optional(name: str, kind: Any) -> dict[str, Any]:
    """null must come first: Java's decoder takes branch 0 as null."""
    return {"name": name, "type": ["null", kind], "default": None}


def stats_record(name: str) -> dict[str, Any]:
    """SimpleStats."""
    counts = {"type": "array", "items": ["null", "long"]}
    return record(
        name, [required("_MIN_VALUES", "bytes"), required("_MAX_VALUES", "bytes"), optional("_NULL_COUNTS", counts)]
    )


_LIST_VERSION = 2
_LIST_CACHE = FileCache(64 << 20)
_LIST_WEIGHT = 700
"""Rough bytes of an entry in memory."""


def _list_schema(*newer: dict[str, Any]) -> dict[str, Any]:
    """Fields 0-9 are those of release 1.3, followed by fields of newer releases."""
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


_LIST_SCHEMA = _list_schema()
_LIST_SCHEMA_1_4 = _list_schema(optional("_MIN_ROW_ID", "long"), optional("_MAX_ROW_ID", "long"))
"""Used if a manifest has row ids, which it has where all its files have them."""


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
    """A file name from metadata. Raises `ValueError` if it contains a directory."""
    if not name or "/" in name or "\0" in name or name in (".", ".."):
        raise ValueError(f"{name!r:.60} is not a file name")
    return name


def read_manifest_list(fs: FileIO, path: str) -> list[ManifestFile]:
    """Read the manifests of a manifest list, in order. Raises `CorruptFile`, `NewerFormat`, `MissingFile`."""
    manifests = _LIST_CACHE.get(fs, path, lambda: _decode_list(fs, path), _list_weight)
    return list(manifests)


def _list_weight(manifests: Collection[ManifestFile]) -> int:
    return _LIST_WEIGHT * (1 + len(manifests))


def _decode_list(fs: FileIO, path: str) -> tuple[ManifestFile, ...]:
    try:
        return tuple(
            _manifest_file_of_row(row) for row in read_rows(fs, path, _LIST_SCHEMA_1_4, _LIST_VERSION, "manifest list")
        )
    except ValueError as error:
        raise CorruptFile(path, f"a row is not a valid manifest list entry ({error!s:.80})") from None


def _manifest_file_of_row(row: dict[str, Any]) -> ManifestFile:
    size, added, deleted, get = row["_FILE_SIZE"], row["_NUM_ADDED_FILES"], row["_NUM_DELETED_FILES"], row.get
    if min(size, added, deleted) < 0:
        raise ValueError("negative counts")
    return ManifestFile(
        checked_name(row["_FILE_NAME"]), size, added, deleted, stats_of(row["_PARTITION_STATS"]), row["_SCHEMA_ID"],
        get("_MIN_BUCKET"), get("_MAX_BUCKET"), get("_MIN_LEVEL"), get("_MAX_LEVEL"), get("_MIN_ROW_ID"), get("_MAX_ROW_ID"),
    )  # fmt: skip


def write_manifest_list(
    fs: FileSink, path: str, manifests: Sequence[ManifestFile], compression: str = "zstd", kind: str = "avro"
) -> int:
    """Write a manifest list, which may be empty. Returns its size in bytes."""
    rows = (
        {
            "_VERSION": _LIST_VERSION, "_FILE_NAME": m.file_name, "_FILE_SIZE": m.file_size, "_NUM_ADDED_FILES": m.num_added,
            "_NUM_DELETED_FILES": m.num_deleted, "_PARTITION_STATS": stats_node(m.partition_stats), "_SCHEMA_ID": m.schema_id,
            "_MIN_BUCKET": m.min_bucket, "_MAX_BUCKET": m.max_bucket, "_MIN_LEVEL": m.min_level, "_MAX_LEVEL": m.max_level,
            "_MIN_ROW_ID": m.min_row_id, "_MAX_ROW_ID": m.max_row_id,
        }
        for m in manifests
    )  # fmt: skip
    newer = any(m.min_row_id is not None or m.max_row_id is not None for m in manifests)
    return write_rows(fs, path, _LIST_SCHEMA_1_4 if newer else _LIST_SCHEMA, rows, compression, kind)


def cache_manifest_list(fs: FileIO, path: str, manifests: Sequence[ManifestFile]) -> None:
    """Let this process read what it just wrote from memory."""
    _LIST_CACHE.put(fs, path, tuple(manifests), _list_weight(manifests))


_VERSION = 2
_CACHE = FileCache()
_WEIGHT = 1024
"""Approximate bytes of an entry in memory without what grows with the columns of the table."""
_MANY = 1_000
"""Number of entries from which columns are faster than objects, which are then created on access. The first use, which
loads Arrow's kernels, is included.
"""
_FILE = ROOT + "__FILE"
_STRINGS = {"type": "array", "items": "string"}


def _schema_with(*newer: dict[str, Any]) -> dict[str, Any]:
    """Fields 0-19 are those of release 1.3, followed by fields of newer releases."""
    file = [
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
        *newer,
    ]
    return record(
        ROOT,
        [
            required("_VERSION", "int"),
            required("_KIND", "int"),
            required("_PARTITION", "bytes"),
            required("_BUCKET", "int"),
            required("_TOTAL_BUCKETS", "int"),
            required("_FILE", record(_FILE, file)),
        ],
    )


_SCHEMA = _schema_with()
_SCHEMA_2_1 = _schema_with(optional("_WRITE_COLS_SEQUENCES", {"type": "array", "items": "long"}))
"""Used only if an entry was written by a newer release, to preserve all of its fields."""
_KINDS_OF_LATER_RELEASES = 8
"""Kinds of entries below this may be those of a later release; other numbers are broken bytes."""
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

EntryFilter = Callable[[int, bytes, int], bool]
"""(kind, partition, bucket) -> whether the entry is needed."""


def read_entries(fs: FileIO, path: str) -> Entries:
    """Read the entries of a manifest, in order. If there are many, objects are created on access.

    Raises `CorruptFile`, `NewerFormat`, `MissingFile`: immediately, not on access.
    """
    return _CACHE.get(fs, path, lambda: _decode_manifest(fs, path), _memory_bytes)


def read_manifest(fs: FileIO, path: str, keep: EntryFilter | None = None) -> list[ManifestEntry]:
    """The entries of a manifest, in order; with `keep`, only those it accepts. Raises as `read_entries`."""
    entries = read_entries(fs, path).objects()
    if keep is None:
        return entries
    return [e for e in entries if keep(e.kind, e.partition, e.bucket)]


def _memory_bytes(entries: Entries) -> int:
    """An estimate by the first entry: those of a manifest are of one table."""
    if not len(entries):
        return _WEIGHT
    (first,) = entries.objects(np.array([0]), cached=False)
    stats, index = first.file.value_stats, first.file.embedded_index
    more = len(stats.min_values) + len(stats.max_values) + 40 * len(stats.null_counts or ()) + len(index or b"")
    return (_WEIGHT + more) * (1 + len(entries))


def _decode_manifest(fs: FileIO, path: str) -> Entries:
    data = fs.read(path)
    container = avro_container_or_none(data, path)
    if container is not None and container.records >= _MANY and schema_guarantees(container.record, _SCHEMA_2_1):
        from paimon_nb.format.manifest.manifest_batch import entries_by_columns

        columns = entries_by_columns(container, _VERSION)
        if columns is not None:
            return columns
    fields = None if container is None else _once_for_schema(container.schema, "columns", _manifest_fields)
    if container is not None and fields is not None:
        values = entries_by_values(container, fields, _VERSION)
        if values is not None:
            return values
    return _entries_of_rows(checked_rows_of(data, container, path, _SCHEMA_2_1, _VERSION, "manifest"), path)


def _manifest_fields(schema: Any) -> tuple[Field, ...] | None:
    """What `entries_by_values` needs of a schema; None if it is not a record with the fields of a manifest, or has unusual types."""
    return compile_columns(schema) if schema_guarantees(schema, _SCHEMA_2_1) else None


def _entries_of_rows(rows: list[dict[str, Any]], path: str) -> EntryList:
    partitions: dict[bytes, bytes] = {}  # thousands of entries share a few partitions
    try:
        with gc_paused():
            return EntryList(
                ManifestEntry(
                    _checked_kind(row["_KIND"], path),
                    partitions.setdefault(row["_PARTITION"], row["_PARTITION"]),
                    row["_BUCKET"],
                    row["_TOTAL_BUCKETS"],
                    _data_file_of_node(row["_FILE"]),
                )
                for row in rows
            )
    except (ValueError, OverflowError) as error:
        raise CorruptFile(path, f"a row is not a valid manifest entry ({error!s:.80})") from None


def _checked_kind(kind: int, path: str) -> int:
    if kind in (0, 1):
        return kind
    if 1 < kind < _KINDS_OF_LATER_RELEASES:
        raise UnsupportedFormat(
            f"{path}: a manifest entry is of kind {kind}, which is not known here; 0 is a new file, 1 a deleted one",
            hint="upgrade paimon_nb, or read an earlier snapshot or tag; if no newer Paimon writes this table, the file is broken",
            feature=f"manifest entry kind {kind}",
        )
    raise ValueError(f"kind {kind}")


def _data_file_of_node(node: dict[str, Any]) -> DataFile:
    size, rows, level = node["_FILE_SIZE"], node["_ROW_COUNT"], node["_LEVEL"]
    if size < 0 or rows < 0 or level < 0:
        raise ValueError("negative counts")
    get = node.get
    created, extra = get("_CREATION_TIME"), node["_EXTRA_FILES"]
    columns, written, sequences = get("_VALUE_STATS_COLS"), get("_WRITE_COLS"), get("_WRITE_COLS_SEQUENCES")
    return DataFile(
        checked_name(node["_FILE_NAME"]), size, rows, node["_MIN_KEY"], node["_MAX_KEY"], stats_of(node["_KEY_STATS"]),
        stats_of(node["_VALUE_STATS"]), node["_MIN_SEQUENCE_NUMBER"], node["_MAX_SEQUENCE_NUMBER"], node["_SCHEMA_ID"],
        level, tuple(map(checked_name, extra)) if extra else (), _epoch_ms_or_none(created), get("_DELETE_ROW_COUNT"),
        get("_EMBEDDED_FILE_INDEX"), get("_FILE_SOURCE"), None if columns is None else tuple(columns), get("_EXTERNAL_PATH"),
        get("_FIRST_ROW_ID"), None if written is None else tuple(written), None if sequences is None else tuple(sequences),
    )  # fmt: skip


def _epoch_ms_or_none(value: Any) -> int | None:
    """Epoch milliseconds; ORC returns datetimes."""
    if value is None or isinstance(value, int):
        return value
    instant = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
    return int((instant - _EPOCH) // dt.timedelta(milliseconds=1))


def write_manifest(
    fs: FileSink, path: str, entries: Sequence[ManifestEntry], compression: str = "zstd", kind: str = "avro"
) -> int:
    """Write a manifest. Returns its size in bytes. Raises `UnsupportedFormat` for an unknown compression."""
    newer = any(e.file.write_cols_sequences is not None for e in entries)
    return write_rows(fs, path, _SCHEMA_2_1 if newer else _SCHEMA, map(_entry_record, entries), compression, kind)


def cache_manifest(fs: FileIO, path: str, entries: Sequence[ManifestEntry]) -> None:
    """Let this process read what it just wrote from memory."""
    cached = EntryList(entries)
    _CACHE.put(fs, path, cached, _memory_bytes(cached))


def _entry_record(entry: ManifestEntry) -> dict[str, Any]:
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
            "_VALUE_STATS_COLS": _list_or_none(f.value_stats_cols), "_EXTERNAL_PATH": f.external_path, "_FIRST_ROW_ID": f.first_row_id,
            "_WRITE_COLS": _list_or_none(f.write_cols), "_WRITE_COLS_SEQUENCES": _list_or_none(f.write_cols_sequences),
        },
    }  # fmt: skip


def _list_or_none(items: Sequence[Any] | None) -> list[Any] | None:
    """In a union, fastavro takes a tuple for (type, value)."""
    return None if items is None else list(items)
