"""Files of metadata rows, Avro or ORC: read whatever wrote them, write as Java does. docs/spec/format.md section 5."""

from __future__ import annotations

import datetime as dt
import gc
import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import CorruptFile, NewerFormat, UnsupportedFormat
from paimon_nb.format.avro.container import BLOCK_BYTES, MAGIC, Container, pack, unpack
from paimon_nb.format.manifest.orc_rows import orc_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paimon_nb.fs import FileIO

NAMESPACE = "org.apache.paimon.avro.generated"
ROOT = "record"
_PARSED: dict[int, tuple[dict[str, Any], Any]] = {}
_CODECS = {
    "zstd": "zstandard", "zstandard": "zstandard", "none": "null", "null": "null", "uncompressed": "null",
    "snappy": "snappy", "gzip": "deflate", "deflate": "deflate", "zlib": "deflate", "bzip2": "bzip2", "xz": "xz",
}  # fmt: skip
"""`manifest.compression` -> Avro codec."""


def read_rows(fs: FileIO, path: str, schema: dict[str, Any], version: int, what: str) -> list[dict[str, Any]]:
    """All rows as dictionaries by field name, each with the fields and types of `schema`.

    Fields that `schema` does not know are there too; nullable ones may be absent.

    Raises:
        MissingFile. CorruptFile: for every kind of broken byte. NewerFormat, UnsupportedFormat: another `version`.
    """
    data = fs.read(path)
    return rows_of(data, unpacked(data, path), path, schema, version, what)


def unpacked(data: bytes, path: str) -> Container | None:
    """The container of an Avro file, None for ORC. Raises `CorruptFile`."""
    if data[:4] == MAGIC:
        return unpack(data, path)
    if data[:3] == b"ORC":
        return None
    raise CorruptFile(path, "it is neither Avro nor ORC")


def rows_of(
    data: bytes, container: Container | None, path: str, schema: dict[str, Any], version: int, what: str
) -> list[dict[str, Any]]:
    """As `read_rows`, of bytes and what `unpacked` made of them."""
    if container is None:
        rows, sure = _read_orc(data, path), False
    else:
        rows, sure = _read_avro(container, path), promises(container.record, schema)
    for row in rows:
        if not isinstance(row, dict) or row.get("_VERSION") != version:
            _refuse_version(row, version, path, what)
        if not sure and not _has_shape(schema, row):
            raise CorruptFile(path, f"a row is no {what} entry")
    return rows


def write_rows(
    fs: FileIO, path: str, schema: dict[str, Any], rows: Iterable[dict[str, Any]], compression: str, kind: str = "avro"
) -> int:
    """Write a metadata file of a `kind`, avro or orc; its size in bytes. Raises `UnsupportedFormat` for an unknown codec."""
    if kind == "orc":
        data = orc_bytes(schema, rows, compression)
    else:
        data = _avro_bytes(path, schema, rows, compression)
    fs.write(path, data)
    return len(data)


def _avro_bytes(path: str, schema: dict[str, Any], rows: Iterable[dict[str, Any]], compression: str) -> bytes:
    import fastavro

    codec = _CODECS.get(compression.lower())
    if codec is None:
        raise UnsupportedFormat(
            f"manifest.compression {compression!r} is not known",
            hint=f"use one of {', '.join(sorted(_CODECS))}",
            feature=compression,
        )
    buffer = io.BytesIO()
    with gc_paused():
        fastavro.writer(buffer, _parsed_schema(schema), rows, codec="null", sync_interval=BLOCK_BYTES)
    return pack(buffer.getvalue(), schema, codec, path)


def _parsed_schema(schema: dict[str, Any]) -> Any:
    """The schema as fastavro wants it. Parsing takes longer than writing a few rows, and there are only a few schemas."""
    import fastavro

    held = _PARSED.get(id(schema))
    if held is None:
        held = _PARSED[id(schema)] = (schema, fastavro.parse_schema(schema))  # holds the schema: its id stays its own
    return held[1]


def _read_avro(container: Container, path: str) -> list[Any]:
    import fastavro

    try:
        with gc_paused():
            return list(fastavro.reader(io.BytesIO(container.plain)))
    except Exception as error:  # the decoder raises whatever broken bytes lead it to
        raise CorruptFile(path, f"not readable as Avro ({type(error).__name__}: {error!s:.80})") from None


def _read_orc(data: bytes, path: str) -> list[Any]:
    """Manifests of `manifest.format` = orc, which releases up to 1.3 could write."""
    from paimon_nb.format.manifest import orc_process  # another process decodes them

    try:
        rows: list[Any] = orc_process.ORC.read(data).to_pylist()
    except (ValueError, OverflowError) as error:
        raise CorruptFile(path, f"not readable as ORC ({error!s:.80})") from None
    return rows


@contextmanager
def gc_paused() -> Iterator[None]:
    """Rows hold no cycles; looking for some among 100,000 of them costs a third of the time."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def _refuse_version(row: Any, known: int, path: str, what: str) -> None:
    version = row.get("_VERSION") if isinstance(row, dict) else None
    if not isinstance(version, int) or version < 1:
        raise CorruptFile(path, f"a row says version {version!r:.40}")
    if version > known:
        raise NewerFormat(path, version, known, what)
    raise UnsupportedFormat(
        f"{path}: {what} version {version} is from before Paimon 0.4",
        hint="recreate the table with a newer Paimon",
        feature=f"{what} version {version}",
    )


# -- shapes: does a file hold what we ask for?


def promises(found: Any, expected: Any) -> bool:
    """Whether the writer's schema guarantees rows of the wanted shape, so that no row has to be looked at."""
    if isinstance(expected, list):
        inner = [b for b in found if b != "null"] if isinstance(found, list) else [found]
        return found == "null" or (len(inner) == 1 and promises(inner[0], expected[1]))
    if isinstance(expected, str):
        return bool(found == expected) or (found, expected) == ("int", "long")
    if not isinstance(found, dict):
        return bool(found == expected["type"])  # timestamps: a plain long
    if found["type"] != expected["type"]:
        return False
    if expected["type"] == "array":
        return promises(found["items"], expected["items"])
    found_types = {f["name"]: f["type"] for f in found["fields"]}
    return all(
        promises(found_types[f["name"]], f["type"]) if f["name"] in found_types else "default" in f
        for f in expected["fields"]
    )


def _has_shape(expected: Any, value: Any) -> bool:
    """Whether a value has the wanted shape."""
    if isinstance(expected, list):
        return value is None or _has_shape(expected[1], value)
    if expected in ("int", "long"):
        return type(value) is int
    if expected == "string":
        return isinstance(value, str)
    if expected == "bytes":
        return isinstance(value, bytes)
    if expected["type"] == "array":
        return isinstance(value, list) and all(_has_shape(expected["items"], v) for v in value)
    if expected["type"] == "record":
        return isinstance(value, dict) and all(
            _has_shape(f["type"], value[f["name"]]) if f["name"] in value else "default" in f
            for f in expected["fields"]
        )
    return type(value) is int or isinstance(value, dt.datetime)  # timestamp-millis


# -- how schemas are spelled


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
