"""Deletion vectors: which rows of a data file are deleted, and the index files that hold them.

Source: Paimon `BitmapDeletionVector`, `Bitmap64DeletionVector`, `DeletionVectorsIndexFile`; docs/spec/format.md section 12.3.
"""

from __future__ import annotations

import struct
import zlib
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from paimon_nb.base.errors import CorruptFile, NewerFormat
from paimon_nb.format.index import roaring
from paimon_nb.format.manifest import DvRange

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from paimon_nb.fs import FileIO

_FILE_VERSION = 1
_MAGIC_32 = struct.pack(">i", 1581511376)
_MAGIC_64 = struct.pack("<i", 1681511377)


class VectorVersion(IntEnum):
    """Layout of one vector."""

    V1 = 1  # positions below 2^32
    V2 = 2  # option deletion-vectors.bitmap64: the layout of Iceberg and Delta


class DeletionVector:
    """An immutable set of row positions, counted from 0 in the file's physical order."""

    __slots__ = ("_maps",)

    def __init__(self, maps: Iterable[BitMap] = ()) -> None:
        """`maps[h]` holds the positions whose upper 32 bits are h."""
        self._maps = tuple(maps)

    @staticmethod
    def of(positions: Iterable[int] | npt.NDArray[np.integer]) -> DeletionVector:
        """A vector of the given positions."""
        rows = np.asarray(positions if isinstance(positions, np.ndarray) else list(positions), dtype=np.int64)
        if len(rows) and rows.min() < 0:
            raise ValueError("row positions must not be negative")
        high = rows >> 32
        top = int(high.max(initial=-1)) + 1
        return DeletionVector(roaring.bitmap_of(rows[high == h] & 0xFFFFFFFF) for h in range(top))

    def with_positions(self, positions: Iterable[int] | npt.NDArray[np.integer]) -> DeletionVector:
        """This vector and more positions."""
        return self | DeletionVector.of(positions)

    def __or__(self, other: DeletionVector) -> DeletionVector:
        longer, shorter = sorted((self._maps, other._maps), key=len, reverse=True)
        return DeletionVector(m | shorter[h] if h < len(shorter) else m for h, m in enumerate(longer))

    def __len__(self) -> int:
        return sum(len(m) for m in self._maps)

    def __contains__(self, position: int) -> bool:
        high = position >> 32
        return 0 <= high < len(self._maps) and position & 0xFFFFFFFF in self._maps[high]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeletionVector) and np.array_equal(self.positions(), other.positions())

    def __hash__(self) -> int:
        return hash(self.positions().tobytes())

    def __repr__(self) -> str:
        return f"DeletionVector({len(self)} rows)"

    def __reduce__(self) -> tuple[object, ...]:
        return DeletionVector.of, (self.positions(),)

    def positions(self) -> npt.NDArray[np.int64]:
        """All positions in ascending order."""
        parts = [roaring.positions(m) + (h << 32) for h, m in enumerate(self._maps)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def mask(self, row_count: int, start: int = 0) -> npt.NDArray[np.bool_]:
        """bool of shape (row_count,): True where row `start + i` is deleted."""
        out = np.zeros(row_count, dtype=np.bool_)
        for h, m in enumerate(self._maps):
            begin, end = max(start - (h << 32), 0), min(start + row_count - (h << 32), 1 << 32)
            if begin < end:  # no other positions are expanded: a few bytes may hold billions
                out[roaring.positions(m & BitMap(range(begin, end))) + (h << 32) - start] = True
        return out

    def to_bytes(self, version: int = VectorVersion.V1) -> bytes:
        """The vector as stored in an index file: size, magic, bitmap, checksum."""
        body = (
            _MAGIC_32 + self._bytes_of_32_bit_vector()
            if version == VectorVersion.V1
            else _MAGIC_64 + self._bytes_of_64_bit_vector()
        )
        return struct.pack(">i", len(body)) + body + struct.pack(">I", zlib.crc32(body))

    def _bytes_of_32_bit_vector(self) -> bytes:
        if len(self._maps) > 1:
            raise ValueError("positions from 2^32 on need version 2")
        return roaring.dump(self._maps[0].copy() if self._maps else BitMap())

    def _bytes_of_64_bit_vector(self) -> bytes:
        parts = [struct.pack("<q", len(self._maps))]
        for high, bitmap in enumerate(self._maps):
            parts += [struct.pack("<i", high), roaring.dump(bitmap.copy())]
        return b"".join(parts)


def parse_vector(data: bytes, length: int, path: str) -> DeletionVector:
    """Parse the vector in `data`, which begins with its size field.

    Args:
        length: the length in the index manifest, which in version 1 does not include size and checksum.
    Raises: CorruptFile.
    """
    if len(data) < 8:
        raise CorruptFile(path, "it ends inside a deletion vector")
    (size,) = struct.unpack_from(">i", data)
    body = memoryview(data)[4 : 4 + size]
    magic = bytes(body[:4])
    if size < 8 or len(body) < size or magic not in (_MAGIC_32, _MAGIC_64):
        raise CorruptFile(path, "no deletion vector at the offset in the index manifest")
    if length != (size if magic == _MAGIC_32 else size + 8):
        raise CorruptFile(path, f"a deletion vector has {size} bytes, the index manifest lists {length}")
    # Java writes the checksum but never verifies it. A wrong bit would hide or restore rows.
    if data[4 + size : 8 + size] != struct.pack(">I", zlib.crc32(body)):
        raise CorruptFile(path, "a deletion vector does not match its checksum")
    try:
        return DeletionVector([roaring.read_bitmap(body, 4)[0]] if magic == _MAGIC_32 else _read_64_bit_bitmaps(body))
    except (roaring.BrokenBitmap, struct.error) as error:
        raise CorruptFile(path, f"a deletion vector is not a valid bitmap ({error})") from error


def _read_64_bit_bitmaps(body: memoryview) -> list[BitMap]:
    (count,) = struct.unpack_from("<q", body, 4)
    maps: list[BitMap] = []
    at = 12
    for _ in range(count):
        (high,) = struct.unpack_from("<i", body, at)
        if not len(maps) <= high < 1 << 16:  # dense and ascending in practice; large gaps would only waste memory
            raise roaring.BrokenBitmap(f"key {high} after {len(maps) - 1}")
        maps += [BitMap() for _ in range(high - len(maps))]
        bitmap, at = roaring.read_bitmap(body, at + 4)
        maps.append(bitmap)
    return maps


def read_deletion_vectors(fs: FileIO, path: str, ranges: Iterable[DvRange]) -> dict[str, DeletionVector]:
    """Data file name -> vector, for the given ranges of one index file.

    Raises: MissingFile. CorruptFile. NewerFormat.
    """
    ranges = list(ranges)
    if not ranges:
        return {}
    data = fs.read(path)
    _check_file_version(data[:1], path)
    vectors = {r.data_file: parse_vector(_bytes_at(data, r.offset, r.length), r.length, path) for r in ranges}
    for r in ranges:
        _check_cardinality(vectors[r.data_file], r.cardinality, path)
    return vectors


def _check_cardinality(vector: DeletionVector, cardinality: int | None, path: str) -> None:
    """Raises CorruptFile: the vector holds other positions than the index manifest counted. None of them is expanded."""
    if cardinality is not None and len(vector) != cardinality:
        raise CorruptFile(path, f"a vector deletes {len(vector)} rows, where the index manifest says {cardinality}")


def read_deletion_vector(
    fs: FileIO, path: str, offset: int, length: int, cardinality: int | None = None
) -> DeletionVector:
    """One vector of an index file, reading only its bytes. `cardinality`: that of the index manifest, None if it has none.

    Raises: MissingFile. CorruptFile. NewerFormat.
    """
    with fs.open(path) as source:
        _check_file_version(source.read(1), path)
        source.seek(max(offset, 0))
        vector = parse_vector(source.read(max(length, 0) + 8), length, path)
    _check_cardinality(vector, cardinality, path)
    return vector


def write_deletion_vectors(
    fs: FileIO, path: str, vectors: Mapping[str, DeletionVector], version: int = VectorVersion.V1
) -> tuple[int, list[DvRange]]:
    """Write a new index file.

    Args:
        vectors: data file name -> vector.
        version: `VectorVersion` of every vector.
    Returns: (file size in bytes, the range of each vector).
    """
    parts, ranges, at = [bytes([_FILE_VERSION])], [], 1
    for name, vector in vectors.items():
        data = vector.to_bytes(version)
        length = len(data) - 8 if version == VectorVersion.V1 else len(data)
        ranges.append(DvRange(name, at, length, len(vector)))
        parts.append(data)
        at += len(data)
    fs.write(path, b"".join(parts))
    return at, ranges


def _check_file_version(first: bytes, path: str) -> None:
    if not first:
        raise CorruptFile(path, "it is empty")
    if first[0] > _FILE_VERSION:
        raise NewerFormat(path, first[0], _FILE_VERSION, "deletion vector file")
    if first[0] != _FILE_VERSION:
        raise CorruptFile(path, f"a deletion vector file of version {first[0]}")


def _bytes_at(data: bytes, offset: int, length: int) -> bytes:
    return data[offset : offset + length + 8] if offset > 0 and length >= 0 else b""
