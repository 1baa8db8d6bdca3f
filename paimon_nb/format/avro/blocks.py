"""Reads and writes Avro object container files block by block: framing and codecs. Does not decode records.

Source: Avro 1.11 specification, "Object Container Files". Snappy comes from Arrow, so no further library is needed.
"""

from __future__ import annotations

import bz2
import json
import lzma
import os
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.format.avro.container import UNPACK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAGIC = b"Obj\x01"
BLOCK_BYTES = 64_000
"""Uncompressed bytes of a block; Java's default."""
_SYNC = 16
_MAX_BLOCK_BYTES = 1 << 30
"""Maximum uncompressed bytes of a block."""


class Blocks:
    """A container open for reading.

    Raises:
        ValueError: the bytes are not a container, or are truncated. LookupError: unknown codec.
    """

    def __init__(self, source: Any) -> None:
        self._source = source
        self._size: int = source.seek(0, 2) or source.tell()
        source.seek(0)
        if source.read(4) != MAGIC:
            raise ValueError("it does not start with Avro's magic bytes")
        header = self._read_header()
        self.schema: Any = json.loads(header[b"avro.schema"])
        codec = header.get(b"avro.codec", b"null").decode()
        if codec not in UNPACK:
            raise LookupError(codec)
        self._unpack = UNPACK[codec]
        self._sync = self._read_exactly(_SYNC)
        self._start: int = source.tell()

    def counts(self) -> list[int]:
        """Number of records of each block. Decompresses nothing."""
        return [count for count, _ in self._framed_blocks(skip=True)]

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield (number of records, uncompressed bytes) of each block, from the first one."""
        for count, packed in self._framed_blocks():
            plain = self._unpack(packed, _MAX_BLOCK_BYTES)
            if len(plain) > _MAX_BLOCK_BYTES:
                raise ValueError(f"a block decompresses to more than {_MAX_BLOCK_BYTES >> 20} MB")
            yield count, plain

    def _framed_blocks(self, skip: bool = False) -> Iterator[tuple[int, bytes]]:
        """`skip`: without the bytes of the blocks, which are then not read."""
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
    """A container open for writing: takes encoded records and writes a block when it is large enough."""

    def __init__(self, sink: Any, schema: Any, codec: str, level: int | None) -> None:
        self._sink, self._pack, self._level = sink, PACK[codec], level
        self._sync = os.urandom(_SYNC)
        header = {b"avro.schema": json.dumps(schema, separators=(",", ":")).encode(), b"avro.codec": codec.encode()}
        out = bytearray(MAGIC + zigzag_varint(len(header)))
        for key, value in header.items():
            out += zigzag_varint(len(key)) + key + zigzag_varint(len(value)) + value
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
