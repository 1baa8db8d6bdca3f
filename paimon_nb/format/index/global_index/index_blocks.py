"""Blocks of global index files: bytes, perhaps compressed, with a trailer of codec and checksum.

Source: Paimon 2.1 `sst/BlockTrailer`, `SstFileUtils`, `Lz4BlockCompressor`, `ZstdBlockCompressor`.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, CorruptFile, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.file_errors import BROKEN, broken_file, is_out_of_memory
from paimon_nb.format.index.global_index.index_keys import decode_varint, encode_varint

if TYPE_CHECKING:
    from paimon_nb.fs import FileIO

TRAILER_BYTES = 5
_MAX_BLOCK_BYTES = 1 << 28
"""Java's writers begin another block after 64 KB."""
_NONE, _ZSTD, _LZ4 = 0, 1, 2
_CODECS = {"none": _NONE, "zstd": _ZSTD, "lz4": _LZ4}
_LZ4_SIZES = struct.Struct("<ii")


@dataclass(frozen=True, slots=True)
class Location:
    """Where a block is in its file; `size` does not include the trailer."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class IndexFileSource:
    """Ranges of one index file."""

    fs: FileIO
    path: str
    size: int

    def read(self, offset: int, size: int) -> bytes:
        """Bytes of the file. Raises: MissingFile; CorruptFile: it ends before them."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise CorruptFile(self.path, f"it has no {size} bytes at {offset}")
        with self.fs.open(self.path) as source:
            source.seek(offset)
            data = bytes(source.read(size))
        if len(data) < size:
            raise CorruptFile(self.path, f"it ends within {size} bytes at {offset}")
        return data

    def block(self, at: Location) -> bytes:
        """The decompressed bytes of a block. Raises: MissingFile, CorruptFile, UnsupportedFormat."""
        if at.size < 0:
            raise CorruptFile(self.path, f"a block at {at.offset} has {at.size} bytes")
        stored = self.read(at.offset, at.size + TRAILER_BYTES)
        data, trailer = stored[: at.size], stored[at.size :]
        codec, checksum = struct.unpack("<BI", trailer)
        if _checksum(data, codec) != checksum:
            raise CorruptFile(self.path, f"the checksum of the block at {at.offset} is wrong")
        return self._decompress(data, codec)

    def _decompress(self, data: bytes, codec: int) -> bytes:
        if codec == _NONE:
            return data
        if codec not in (_ZSTD, _LZ4):
            raise UnsupportedFormat(
                f"{self.path}: blocks are compressed with codec {codec}, which is not supported",
                hint="'global-index.enabled' = 'false' reads the table without its global indexes",
                path=self.path,
            )
        try:
            size, begin = decode_varint(data, 0)
            if size > _MAX_BLOCK_BYTES:
                raise ValueError(f"it would decompress to {size} bytes")
            if codec == _ZSTD:
                return bytes(pa.Codec("zstd").decompress(data[begin:], decompressed_size=size, asbytes=True))
            packed, _ = _LZ4_SIZES.unpack_from(data, begin)
            begin += _LZ4_SIZES.size
            body = data[begin : begin + packed]
            return bytes(pa.Codec("lz4_raw").decompress(body, decompressed_size=size, asbytes=True))
        except BROKEN as error:
            if is_out_of_memory(error):
                raise broken_file(self.path, error) from None
            raise CorruptFile(self.path, f"a block cannot be decompressed ({error!s:.80})") from None


class BlockOutput:
    """Collects a file's bytes, and where its blocks are."""

    def __init__(self, compression: str = "none", level: int = 1) -> None:
        """Raises: BadOptionValue: an unknown codec."""
        if compression not in _CODECS:
            raise BadOptionValue(
                f"compression of an index cannot be {compression!r}", hint=f"use one of {', '.join(_CODECS)}"
            )
        self.data = bytearray()
        self._codec, self._level = _CODECS[compression], level

    def write(self, data: bytes) -> Location:
        """Append bytes without a trailer."""
        at = Location(len(self.data), len(data))
        self.data += data
        return at

    def write_block(self, data: bytes) -> Location:
        """Append a block; it is compressed where that saves at least an eighth."""
        codec, stored = _NONE, data
        if self._codec != _NONE:
            packed = self._compress(data)
            if len(packed) < len(data) - len(data) // 8:
                codec, stored = self._codec, packed
        at = self.write(stored)
        self.data += struct.pack("<BI", codec, _checksum(stored, codec))
        return at

    def _compress(self, data: bytes) -> bytes:
        size = encode_varint(len(data))
        if self._codec == _ZSTD:
            codec: Any = pa.Codec("zstd", compression_level=self._level)
            return size + bytes(codec.compress(data, asbytes=True))
        packed = bytes(pa.Codec("lz4_raw").compress(data, asbytes=True))
        return size + _LZ4_SIZES.pack(len(packed), len(data)) + packed


def _checksum(data: bytes, codec: int) -> int:
    return zlib.crc32(bytes((codec,)), zlib.crc32(data))
