"""Reads and writes Avro object container files block by block. Does not decode records.

Source: Avro 1.11 specification, "Object Container Files".
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from paimon_nb.format.avro.codecs import PACK, UNPACK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAGIC = b"Obj\x01"
BLOCK_BYTES = 64_000
"""Uncompressed bytes of a block; Java's default."""
_SYNC = 16


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
