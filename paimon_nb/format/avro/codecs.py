"""Avro's codecs: the bytes of a block, compressed and plain.

Source: Avro 1.11 specification, "Required Codecs", "Optional Codecs". Snappy comes from Arrow, so no further library is needed.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable


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
