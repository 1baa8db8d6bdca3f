"""Reads untrusted Avro object container files: header, blocks, codecs. Decompresses within limits; does not decode
records.

All sizes are checked before anything is allocated or looped over. Source: Avro 1.11
specification, "Object Container Files".
"""

from __future__ import annotations

import gc
import io
import json
import os
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.file_errors import broken_file, is_out_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MAGIC = b"Obj\x01"
MAX_PLAIN = 1 << 30
"""Maximum uncompressed bytes of one metadata file. Java rolls manifests at 8 MB compressed."""
BLOCK_BYTES = 64_000
"""Uncompressed bytes of a block; Java's default."""
_DEPTH = 32
_SYNC = 16
_SMALLEST = {"null": 0, "boolean": 1, "int": 1, "long": 1, "float": 4, "double": 8, "bytes": 1, "string": 1, "enum": 1}


@dataclass(frozen=True, slots=True)
class Container:
    """A container file, decompressed."""

    schema: Any
    """The writer's schema without logical types, so that times stay numbers: a record, or a union of null and a record.
    """
    blocks: tuple[tuple[int, bytes], ...]
    """Number of records and uncompressed bytes of each block."""

    @property
    def record(self) -> dict[str, Any]:
        """The schema of the records."""
        return _record_schema_of(self.schema)

    @property
    def records(self) -> int:
        """Number of records."""
        return sum(count for count, _ in self.blocks)

    @property
    def plain(self) -> bytes:
        """The same records as a container without compression."""
        return _joined_container(self.schema, "null", self.blocks)


def parse_container(data: bytes, path: str) -> Container:
    """Parse and decompress a container. Raises `CorruptFile`; `UnsupportedFormat` for codecs that Avro does not define."""
    try:
        reader = _Reader(data, path, len(MAGIC))
        header = reader.read_header()
        sync = reader.read_bytes(_SYNC)
        schema, smallest = _parsed_schema(header.get("avro.schema", b""))
        if smallest < 1 or not _record_schema_of(schema)["fields"]:
            raise ValueError("records without bytes")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CorruptFile(path, f"its Avro header is invalid ({error!s:.80})") from None
    codec = header.get("avro.codec", b"null").decode("ascii", "replace")
    if codec not in UNPACK:
        raise UnsupportedFormat(f"{path}: unknown Avro codec {codec!r:.40}", hint="rewrite it with zstd", feature=codec)
    return Container(schema, tuple(_each_block(reader, UNPACK[codec], sync, smallest)))


def uncompressed_container(data: bytes, path: str) -> bytes:
    """The same container without compression: its schema and its other header entries are as they were."""
    blocks = parse_container(data, path).blocks
    header = _Reader(data, path, len(MAGIC)).read_header()
    schema = json.loads(header.pop("avro.schema"))
    header.pop("avro.codec", None)
    return _joined_container(schema, "null", blocks, {key: value.decode() for key, value in header.items()})


def _record_schema_of(schema: Any) -> dict[str, Any]:
    """The only record schema of a union. pypaimon-rust writes unions, Java plain records."""
    branches = [b for b in schema if b != "null"] if isinstance(schema, list) else [schema]
    if len(branches) != 1 or not isinstance(branches[0], dict) or branches[0]["type"] != "record":
        raise ValueError("its rows are not records")
    return branches[0]


def _each_block(
    reader: _Reader, plain: Callable[[bytes, int], bytes], sync: bytes, smallest: int
) -> Iterator[tuple[int, bytes]]:
    left = MAX_PLAIN
    while reader.at < len(reader.data):
        count, size = reader.long(), reader.long()
        packed = reader.read_bytes(size)
        if reader.read_bytes(_SYNC) != sync:
            raise CorruptFile(reader.path, "the sync marker after a block is wrong")
        try:
            block = plain(packed, left)
        except CorruptFile:
            raise
        except Exception as error:  # each codec has its own errors for broken bytes
            if is_out_of_memory(error):
                raise broken_file(reader.path, error) from None
            raise CorruptFile(reader.path, f"a block cannot be decompressed ({error!s:.80})") from None
        left -= len(block)
        if left < 0:
            raise CorruptFile(reader.path, f"it decompresses to more than {MAX_PLAIN >> 20} MB")
        if not 0 <= count <= len(block) // smallest:
            raise CorruptFile(reader.path, f"a block of {len(block)} bytes declares {count} records")
        yield count, block


def compress_container(
    container: bytes, schema: dict[str, Any], codec: str, path: str, header: Mapping[str, str] | None = None
) -> bytes:
    """Compress a container with `codec`, and store exactly this text of the schema and these further header entries."""
    reader = _Reader(container, path, len(MAGIC))
    reader.read_header()
    reader.read_bytes(_SYNC)
    blocks = []
    while reader.at < len(container):
        count, size = reader.long(), reader.long()
        blocks.append((count, _PACK[codec](reader.read_bytes(size))))
        reader.read_bytes(_SYNC)
    return _joined_container(schema, codec, blocks, header)


def _joined_container(schema: Any, codec: str, blocks: Any, more: Mapping[str, str] | None = None) -> bytes:
    sync = os.urandom(_SYNC)
    out = io.BytesIO()
    out.write(MAGIC)
    header = {b"avro.schema": json.dumps(schema, separators=(",", ":")).encode(), b"avro.codec": codec.encode()}
    header |= {key.encode(): value.encode() for key, value in (more or {}).items()}
    out.write(_zigzag_varint(len(header)))
    for key, value in header.items():
        out.write(_zigzag_varint(len(key)) + key + _zigzag_varint(len(value)) + value)
    out.write(b"\0" + sync)
    for count, block in blocks:
        out.write(_zigzag_varint(count) + _zigzag_varint(len(block)))
        out.write(block)
        out.write(sync)
    return out.getvalue()


class _Reader:
    """Bytes with a position; every read is checked against the end."""

    def __init__(self, data: bytes, path: str, at: int) -> None:
        self.data, self.path, self.at = data, path, at

    def read_bytes(self, size: int) -> bytes:
        if not 0 <= size <= len(self.data) - self.at:
            raise CorruptFile(self.path, "it is truncated, or contains a wrong length")
        self.at += size
        return self.data[self.at - size : self.at]

    def long(self) -> int:
        number = shift = 0
        while True:
            byte = self.read_bytes(1)[0]
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (number >> 1) ^ -(number & 1)
            if shift > 63:
                raise CorruptFile(self.path, "an unterminated variable-length integer")

    def read_header(self) -> dict[str, bytes]:
        out: dict[str, bytes] = {}
        while count := self.long():
            if count < 0:  # then the block's size in bytes follows
                count = -count
                self.long()
            for _ in range(min(count, len(self.data))):
                key = self.read_bytes(self.long()).decode("utf-8")
                out[key] = self.read_bytes(self.long())
        return out


def _zigzag_varint(number: int) -> bytes:
    zigzag = (number << 1) ^ (number >> 63)
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    out.append(zigzag)
    return bytes(out)


@lru_cache(maxsize=16)
def _parsed_schema(text: bytes) -> tuple[Any, int]:
    """`_plain_schema` of a header. Cached: the manifests of a table have one schema. Callers do not change it."""
    return _plain_schema(json.loads(text), {}, 0)


def _plain_schema(node: Any, known: dict[str, int], depth: int) -> tuple[Any, int]:
    """The schema without logical types, and the minimum bytes of one value. Raises `ValueError` if decoding might not
    end.

    Rejected: recursive types, and arrays of values without bytes, where a few bytes can declare billions of items.
    """
    if depth > _DEPTH:
        raise ValueError("types are nested too deeply")
    if isinstance(node, list):
        branches = [_plain_schema(b, known, depth + 1)[0] for b in node]
        return branches, 1
    if isinstance(node, str):
        return node, _SMALLEST[node] if node in _SMALLEST else known[node]
    kind = node["type"]
    if kind == "record":
        fields, total = [], 0
        for field in node["fields"]:
            inner, minimum = _plain_schema(field["type"], known, depth + 1)
            fields.append({"name": field["name"], "type": inner})
            total += minimum
        out = {k: node[k] for k in ("type", "name", "namespace") if k in node}
        known[node["name"]] = known[f"{node.get('namespace', '')}.{node['name']}"] = total
        return out | {"fields": fields}, total
    if kind in ("array", "map"):
        part = "items" if kind == "array" else "values"
        inner, minimum = _plain_schema(node[part], known, depth + 1)
        if kind == "array" and minimum < 1:
            raise ValueError("an array of items without bytes")
        return {"type": kind, part: inner}, 1
    if kind == "fixed":
        if not 0 <= node["size"] <= MAX_PLAIN:
            raise ValueError("a fixed type with an invalid size")
        known[node["name"]] = node["size"]
        return {k: node[k] for k in ("type", "name", "namespace", "size") if k in node}, node["size"]
    if kind == "enum":
        known[node["name"]] = 1
        return {k: node[k] for k in ("type", "name", "namespace", "symbols") if k in node}, 1
    return _plain_schema(kind, known, depth + 1)


# -- codecs: each takes the compressed bytes and the maximum uncompressed size


def _unpack_null(data: bytes, limit: int) -> bytes:
    return data


def _unpack_deflate(data: bytes, limit: int) -> bytes:
    import zlib

    return zlib.decompressobj(-15).decompress(data, limit + 1)


def _unpack_bzip2(data: bytes, limit: int) -> bytes:
    import bz2

    return bz2.BZ2Decompressor().decompress(data, limit + 1)


def _unpack_xz(data: bytes, limit: int) -> bytes:
    import lzma

    return lzma.LZMADecompressor(memlimit=1 << 28).decompress(data, limit + 1)


def _unpack_snappy(data: bytes, limit: int) -> bytes:
    import zlib

    import pyarrow as pa

    size = shift = 0
    for byte in data[:5]:  # the plain length comes first
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    # An element of two bytes decodes to at most 64.
    if size > min(limit + 1, 64 * len(data)):
        raise ValueError("a wrong length")
    plain: bytes = pa.Codec("snappy").decompress(data[:-4], size, asbytes=True)
    if zlib.crc32(plain).to_bytes(4, "big") != data[-4:]:
        raise ValueError("a wrong checksum")
    return plain


def _unpack_zstandard(data: bytes, limit: int) -> bytes:
    import pyarrow as pa

    # Java writes frames without a content size, so they are decompressed in chunks up to the limit. Arrow is loaded anyway.
    source = pa.CompressedInputStream(pa.BufferReader(data), "zstd")
    parts: list[bytes] = []
    taken = 0
    while taken <= limit and (part := source.read(1 << 18)):
        parts.append(part)
        taken += len(part)
    return b"".join(parts)


UNPACK: dict[str, Callable[[bytes, int], bytes]] = {
    "null": _unpack_null,
    "deflate": _unpack_deflate,
    "snappy": _unpack_snappy,
    "bzip2": _unpack_bzip2,
    "xz": _unpack_xz,
    "zstandard": _unpack_zstandard,
}
"""By codec: takes the compressed bytes and the maximum uncompressed size, which it exceeds by little if there is more."""


def _pack_deflate(data: bytes) -> bytes:
    import zlib

    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _pack_bzip2(data: bytes) -> bytes:
    import bz2

    return bz2.compress(data)


def _pack_xz(data: bytes) -> bytes:
    import lzma

    return lzma.compress(data)


def _pack_snappy(data: bytes) -> bytes:
    import zlib

    import pyarrow as pa

    packed: bytes = pa.Codec("snappy").compress(data, asbytes=True)
    return packed + zlib.crc32(data).to_bytes(4, "big")


def _pack_zstandard(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=1).compress(data)


_PACK: dict[str, Callable[[bytes], bytes]] = {
    "null": bytes,
    "deflate": _pack_deflate,
    "snappy": _pack_snappy,
    "bzip2": _pack_bzip2,
    "xz": _pack_xz,
    "zstandard": _pack_zstandard,
}


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
