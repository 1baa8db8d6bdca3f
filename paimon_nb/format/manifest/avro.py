"""Avro container files of metadata rows: read whatever wrote them, write as Java does. Format reference, section 5."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from paimon_nb.base.errors import CorruptFile, PaimonError, UnsupportedFormat
from paimon_nb.fs import FileIO

_CODECS = {"zstd": "zstandard", "zstandard": "zstandard", "none": "null", "null": "null", "snappy": "snappy", "gzip": "deflate", "deflate": "deflate", "lz4": "lz4", "zlib": "deflate"}  # fmt: skip
NAMESPACE = "org.apache.paimon.avro.generated.record"


def read_rows(fs: FileIO, path: str) -> list[dict[str, Any]]:
    """All rows of a metadata file as dictionaries by field name.

    Raises:
        MissingFile, CorruptFile: also for truncated and garbled bytes of every kind.
    """
    data = fs.read(path)
    if data[:4] == b"Obj\x01":
        return _read_avro(data, path)
    if data[:3] == b"ORC":
        return _read_orc(data, path)
    raise CorruptFile(path, "it is neither Avro nor ORC")


def _read_avro(data: bytes, path: str) -> list[dict[str, Any]]:
    import fastavro

    try:
        rows = list(fastavro.reader(io.BytesIO(data)))
    except PaimonError:
        raise
    except MemoryError:
        raise CorruptFile(path, "it asks for more memory than there is") from None
    except Exception as error:  # the decoder raises whatever broken bytes lead it to
        raise CorruptFile(path, f"not readable as Avro ({type(error).__name__}: {error!s:.80})") from None
    if any(not isinstance(row, dict) for row in rows):
        raise CorruptFile(path, "its rows are no records")
    return rows  # type: ignore[return-value]


def _read_orc(data: bytes, path: str) -> list[dict[str, Any]]:
    """Manifests of `manifest.format` = orc, which releases up to 1.3 could write."""
    import pyarrow as pa
    from pyarrow import orc

    try:
        rows: list[dict[str, Any]] = orc.ORCFile(pa.BufferReader(data)).read().to_pylist()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptFile(path, f"not readable as ORC ({error!s:.80})") from None
    return rows


def write_rows(fs: FileIO, path: str, schema: dict[str, Any], rows: Iterable[dict[str, Any]], compression: str) -> int:
    """Write a metadata file; its size in bytes."""
    import fastavro

    codec = _CODECS.get(compression.lower())
    if codec is None:
        raise UnsupportedFormat(
            f"manifest.compression {compression!r} is not known", hint=f"use one of {', '.join(sorted(_CODECS))}"
        )
    buffer = io.BytesIO()
    level = 1 if codec == "zstandard" else None
    fastavro.writer(buffer, fastavro.parse_schema(schema), rows, codec=codec, codec_compression_level=level)
    data = buffer.getvalue()
    fs.write(path, data)
    return len(data)


def check_version(row: dict[str, Any], known: int, path: str, what: str) -> None:
    """Every row carries the version of its form."""
    from paimon_nb.base.errors import NewerFormat

    version = row.get("_VERSION")
    if not isinstance(version, int) or version < 1:
        raise CorruptFile(path, f"a row says version {version!r}")
    if version > known:
        raise NewerFormat(path, version, known, what)
    if version < known:
        raise UnsupportedFormat(
            f"{path}: {what} version {version} is from before Paimon 0.4", hint="recreate the table with a newer Paimon"
        )


def record(name: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    """A record type; names follow Java's path scheme."""
    return {"type": "record", "name": name, "fields": fields}


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
