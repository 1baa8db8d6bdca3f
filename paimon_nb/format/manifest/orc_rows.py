"""Writes metadata rows as ORC, for tables with `manifest.format` = orc (possible up to release 1.3). The ORC types are
derived from the Avro schema, as in Paimon 1.3.1, whose reader finds columns by name.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.orc_library import require_pyorc

if TYPE_CHECKING:
    from collections.abc import Iterable

_CODECS = {
    "zstd": "ZSTD", "zstandard": "ZSTD", "none": "NONE", "null": "NONE", "uncompressed": "NONE", "snappy": "SNAPPY",
    "zlib": "ZLIB", "gzip": "ZLIB", "deflate": "ZLIB", "lz4": "LZ4",
}  # fmt: skip
"""`manifest.compression` -> ORC codec."""
_ATOMIC = {"int": "Int", "long": "BigInt", "string": "String", "bytes": "Binary"}
_TINY = ("_KIND", "_FILE_SOURCE")
"""ints in Avro, which has no smaller type."""


def orc_bytes(schema: dict[str, Any], rows: Iterable[dict[str, Any]], compression: str) -> bytes:
    """Serialize rows to an ORC file. Raises `UnsupportedFormat` for a codec that ORC does not have."""
    require_pyorc()
    import pyorc

    codec = _CODECS.get(compression.lower())
    if codec is None:
        raise UnsupportedFormat(
            f"manifest.compression {compression!r} is not known for ORC",
            hint=f"use one of {', '.join(sorted(_CODECS))}",
            feature=compression,
        )

    class Millis(pyorc.converters.ORCConverter):
        @staticmethod
        def to_orc(obj: int, _timezone: Any) -> tuple[int, int]:
            return obj // 1000, obj % 1000 * 1_000_000

        @staticmethod
        def from_orc(seconds: int, nanoseconds: int, _timezone: Any) -> int:
            return seconds * 1000 + nanoseconds // 1_000_000

    buffer = io.BytesIO()
    with pyorc.Writer(
        buffer,
        _orc_type(schema),
        struct_repr=pyorc.StructRepr.DICT,
        compression=getattr(pyorc.CompressionKind, codec),
        converters={pyorc.TypeKind.TIMESTAMP: Millis},
    ) as writer:
        writer.writerows(rows)
    return buffer.getvalue()


def _orc_type(node: Any, name: str = "") -> Any:
    require_pyorc()
    import pyorc

    if isinstance(node, list):  # null and one type; everything can be null in ORC
        return _orc_type(node[1], name)
    if isinstance(node, str):
        return pyorc.TinyInt() if name in _TINY else getattr(pyorc, _ATOMIC[node])()
    if node["type"] == "array":
        return pyorc.Array(_orc_type(node["items"]))
    if node["type"] == "record":
        return pyorc.Struct(**{f["name"]: _orc_type(f["type"], f["name"]) for f in node["fields"]})
    return pyorc.Timestamp()
