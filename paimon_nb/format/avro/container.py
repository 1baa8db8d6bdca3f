"""Reads and writes Avro object container files: framing, codecs, and the whole files of metadata. Does not decode records.

Files may be anybody's: sizes are checked before anything is read, allocated or looped over, what is decompressed has a limit, and the
schema of metadata is one whose records end. Source: Avro 1.11 specification, "Object Container Files", "Schema Declaration", "Required
Codecs". Snappy comes from Arrow, so no further library is needed.
"""

from __future__ import annotations

import bz2
import gc
import io
import json
import lzma
import os
import zlib
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.file_errors import broken_file, is_out_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MAGIC = b"Obj\x01"
BLOCK_BYTES = 64_000
"""Uncompressed bytes of a block; Java's default."""
_SYNC = 16
MAX_PLAIN = 1 << 30
"""Maximum uncompressed bytes of one metadata file. Java rolls manifests at 8 MB compressed."""
_DEPTH = 32
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
        return _container_of(self.schema, "null", self.blocks)


def parse_container(data: bytes, path: str) -> Container:
    """Parse and decompress a container. Raises `CorruptFile`; `UnsupportedFormat` for codecs that Avro does not define."""
    try:
        file = Blocks(io.BytesIO(data))
    except LookupError as error:
        codec = str(error)
        raise UnsupportedFormat(
            f"{path}: unknown Avro codec {codec!r:.40}", hint="rewrite it with zstd", feature=codec
        ) from None
    except ValueError as error:
        raise CorruptFile(path, f"its Avro header is invalid ({error!s:.80})") from None
    try:
        schema, smallest = _parsed_schema(file.header.get(b"avro.schema", b""))
        if smallest < 1 or not _record_schema_of(schema)["fields"]:
            raise ValueError("records without bytes")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CorruptFile(path, f"its Avro header is invalid ({error!s:.80})") from None
    return Container(schema, tuple(_each_block(file, path, smallest)))


def uncompressed_container(data: bytes, path: str) -> bytes:
    """The same container without compression: its schema and its other header entries are as they were."""
    blocks = parse_container(data, path).blocks
    file = Blocks(io.BytesIO(data))
    more = {k.decode(): v.decode() for k, v in file.header.items() if k not in (b"avro.schema", b"avro.codec")}
    return _container_of(file.schema, "null", blocks, more)


def _record_schema_of(schema: Any) -> dict[str, Any]:
    """The only record schema of a union. pypaimon-rust writes unions, Java plain records."""
    branches = [b for b in schema if b != "null"] if isinstance(schema, list) else [schema]
    if len(branches) != 1 or not isinstance(branches[0], dict) or branches[0]["type"] != "record":
        raise ValueError("its rows are not records")
    return branches[0]


def _each_block(file: Blocks, path: str, smallest: int) -> Iterator[tuple[int, bytes]]:
    try:
        for count, block in file.plain(MAX_PLAIN, "file"):
            if not 0 <= count <= len(block) // smallest:
                raise ValueError(f"a block of {len(block)} bytes declares {count} records")
            yield count, block
    except Exception as error:  # each codec has its own errors for broken bytes
        if is_out_of_memory(error):
            raise broken_file(path, error) from None
        raise CorruptFile(path, f"a block cannot be read ({error!s:.80})") from None


def compress_container(
    container: bytes, schema: dict[str, Any], codec: str, header: Mapping[str, str] | None = None
) -> bytes:
    """Compress a container with `codec`, and store exactly this text of the schema and these further header entries."""
    return _container_of(schema, codec, Blocks(io.BytesIO(container)).framed(), header)


def _container_of(
    schema: Any, codec: str, blocks: Iterable[tuple[int, bytes]], header: Mapping[str, str] | None = None
) -> bytes:
    """A container of uncompressed blocks."""
    out = io.BytesIO()
    sink = BlockSink(out, schema, codec, header=header)
    for count, block in blocks:
        sink.write(count, block)
    return out.getvalue()


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


# -- blocks


class Blocks:
    """A container open for reading. Sizes are checked before anything is read, allocated or looped over.

    Raises:
        ValueError: the bytes are not a container, or are truncated. LookupError: unknown codec.
    """

    def __init__(self, source: Any) -> None:
        self._source = source
        self._size: int = source.seek(0, 2) or source.tell()
        source.seek(0)
        if source.read(4) != MAGIC:
            raise ValueError("it does not start with Avro's magic bytes")
        self.header = self._read_header()
        codec = self.header.get(b"avro.codec", b"null").decode("ascii", "replace")
        if codec not in UNPACK:
            raise LookupError(codec)
        self._unpack = UNPACK[codec]
        self._sync = self._read_exactly(_SYNC)
        self._start: int = source.tell()

    @property
    def schema(self) -> Any:
        """The writer's schema, as its JSON says."""
        return json.loads(self.header[b"avro.schema"])

    def counts(self) -> list[int]:
        """Number of records of each block. Decompresses nothing."""
        return [count for count, _ in self.framed(skip=True)]

    def plain(self, limit: int, of: str) -> Iterator[tuple[int, bytes]]:
        """Yield (number of records, uncompressed bytes) of each block, from the first one.

        Args:
            limit: Maximum uncompressed bytes.
            of: "block" or "file": what `limit` holds for.
        """
        left = limit
        for count, packed in self.framed():
            block = self._unpack(packed, left)
            if len(block) > left:
                raise ValueError(f"a {of} decompresses to more than {limit >> 20} MB")
            if of == "file":
                left -= len(block)
            yield count, block

    def framed(self, skip: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield (number of records, compressed bytes) of each block. `skip`: without the bytes, which are then not read."""
        self._source.seek(self._start)
        while first := self._source.read(1):
            count = self._read_long(first)
            size = self._read_long()
            packed = b"" if skip and self._has(size) else self._read_exactly(size)
            if skip:
                self._source.seek(size, 1)
            if self._read_exactly(_SYNC) != self._sync:
                raise ValueError("the sync marker after a block is wrong")
            if count < 0:
                raise ValueError("a block has a negative number of records")
            yield count, packed

    def _read_header(self) -> dict[bytes, bytes]:
        out: dict[bytes, bytes] = {}
        while count := self._read_long():
            if count < 0:  # then the block's size in bytes follows
                count = -count
                self._read_long()
            for _ in range(count):
                key = self._read_exactly(self._read_long())
                out[key] = self._read_exactly(self._read_long())
        return out

    def _has(self, size: int) -> bool:
        """Whether so many bytes follow."""
        return bool(0 <= size <= self._size - self._source.tell())

    def _read_exactly(self, size: int) -> bytes:
        data: bytes = self._source.read(size) if self._has(size) else b""
        if len(data) != size:
            raise ValueError("it is truncated, or contains a wrong length")
        return data

    def _read_long(self, first: bytes = b"") -> int:
        number = shift = 0
        while shift < 70:
            byte = (first or self._read_exactly(1))[0]
            first = b""
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (number >> 1) ^ -(number & 1)
        raise ValueError("an unterminated variable-length integer")


class BlockSink:
    """A container open for writing: takes encoded records, a block at a time."""

    def __init__(
        self, sink: Any, schema: Any, codec: str, level: int | None = None, header: Mapping[str, str] | None = None
    ) -> None:
        """`header`: further entries."""
        self._sink, self._pack, self._level = sink, PACK[codec], level
        self._sync = os.urandom(_SYNC)
        entries = {"avro.schema": json.dumps(schema, separators=(",", ":")), "avro.codec": codec, **(header or {})}
        out = bytearray(MAGIC + zigzag_varint(len(entries)))
        for entry in entries.items():
            for text in entry:
                data = text.encode()
                out += zigzag_varint(len(data)) + data
        sink.write(bytes(out) + b"\0" + self._sync)

    def write(self, count: int, plain: bytes) -> None:
        """Write one block."""
        packed = self._pack(plain, self._level)
        self._sink.write(zigzag_varint(count) + zigzag_varint(len(packed)) + packed + self._sync)


def zigzag_varint(number: int) -> bytes:
    """A zigzag variable-length long."""
    zigzag = (number << 1) ^ (number >> 63)
    out = bytearray()
    while zigzag > 0x7F:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    out.append(zigzag)
    return bytes(out)


# -- codecs: each takes the compressed bytes and the maximum uncompressed size


def _unpack_null(data: bytes, limit: int) -> bytes:
    return data


def _unpack_deflate(data: bytes, limit: int) -> bytes:
    return zlib.decompressobj(-15).decompress(data, limit + 1)


def _unpack_bzip2(data: bytes, limit: int) -> bytes:
    return bz2.BZ2Decompressor().decompress(data, limit + 1)


def _unpack_xz(data: bytes, limit: int) -> bytes:
    return lzma.LZMADecompressor(memlimit=1 << 28).decompress(data, limit + 1)


def _unpack_snappy(data: bytes, limit: int) -> bytes:
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


def _pack_deflate(data: bytes, level: int | None) -> bytes:
    packer = zlib.compressobj(6 if level is None else level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def _pack_snappy(data: bytes, level: int | None) -> bytes:
    packed: bytes = pa.Codec("snappy").compress(data, asbytes=True)
    return packed + zlib.crc32(data).to_bytes(4, "big")


def _pack_zstandard(data: bytes, level: int | None) -> bytes:
    import zstandard

    packed: bytes = zstandard.ZstdCompressor(level=1 if level is None else level, write_checksum=True).compress(data)
    return packed


PACK: dict[str, Callable[[bytes, int | None], bytes]] = {
    "null": lambda data, level: data,
    "deflate": _pack_deflate,
    "snappy": _pack_snappy,
    "bzip2": lambda data, level: bz2.compress(data),
    "xz": lambda data, level: lzma.compress(data),
    "zstandard": _pack_zstandard,
}
"""By codec: takes the plain bytes and a level, which only deflate and zstandard have. None: the codec's default."""
