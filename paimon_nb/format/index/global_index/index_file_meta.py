"""What the index manifest knows of a global index file: its smallest and largest key, and what it was built from.

Source: Paimon 2.1 `SortedIndexFileMeta`, `DataEvolutionIndexSourceMeta`, `PrimaryKeyIndexSourceMeta`.
"""

from __future__ import annotations

import struct

from paimon_nb.base.lazy_dataclass import dataclass

_VERSION = 1
_NO_FIRST, _NO_LAST = 1, 2
_SOURCE = struct.Struct(">iiq")
_SOURCE_MAGIC = 0x44454958
_FILES_HEADER = struct.Struct(">iii")
_NAME_LENGTH, _ROWS = struct.Struct(">H"), struct.Struct(">q")


@dataclass(frozen=True, slots=True)
class KeyBounds:
    """The serialized smallest and largest key of a file; None where it has only NULLs."""

    first: bytes | None
    last: bytes | None
    has_nulls: bool

    def to_bytes(self) -> bytes:
        flags = (self.first is None) * _NO_FIRST + (self.last is None) * _NO_LAST
        first, last = self.first or b"", self.last or b""
        keys = struct.pack("<i", len(first)) + first + struct.pack("<i", len(last)) + last
        return keys + bytes((self.has_nulls, _VERSION, flags))

    @staticmethod
    def parse(data: bytes) -> KeyBounds:
        """Raises: ValueError, struct.error, IndexError: the bytes are not such metadata."""
        first, at = _read_key(data, 0)
        last, at = _read_key(data, at)
        has_nulls, rest = data[at] == 1, data[at + 1 :]
        flags = 0
        if len(rest) >= 2:
            flags = rest[1] if rest[0] == _VERSION else 0
        elif not first and not last and has_nulls:  # older files mark a missing key by its length
            flags = _NO_FIRST | _NO_LAST
        return KeyBounds(None if flags & _NO_FIRST else first, None if flags & _NO_LAST else last, has_nulls)


def _read_key(data: bytes, at: int) -> tuple[bytes, int]:
    (size,) = struct.unpack_from("<i", data, at)
    if size < 0 or at + 4 + size > len(data):
        raise ValueError(f"a key of {size} bytes")
    return data[at + 4 : at + 4 + size], at + 4 + size


def source_meta(snapshot_id: int) -> bytes:
    """The metadata of an index that was built from this snapshot."""
    return _SOURCE.pack(_SOURCE_MAGIC, _VERSION, snapshot_id)


def scan_snapshot_of(data: bytes | None) -> int | None:
    """The snapshot that an index was built from; None if its metadata does not say it."""
    if data is None or len(data) != _SOURCE.size:
        return None
    magic, version, snapshot_id = _SOURCE.unpack(data)
    return snapshot_id if (magic, version) == (_SOURCE_MAGIC, _VERSION) else None


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """The data files of one level of a bucket that an index of a primary-key table was built from."""

    level: int
    """From 1 on."""
    files: tuple[tuple[str, int], ...]
    """Names and numbers of rows, by name. Positions in the index count the rows of all files in this order."""

    @property
    def row_count(self) -> int:
        return sum(rows for _, rows in self.files)

    def to_bytes(self) -> bytes:
        parts = [_FILES_HEADER.pack(_VERSION, self.level, len(self.files))]
        for name, rows in self.files:
            encoded = name.encode()
            parts += [_NAME_LENGTH.pack(len(encoded)), encoded, _ROWS.pack(rows)]
        return b"".join(parts)

    @staticmethod
    def parse(data: bytes | None) -> SourceFiles | None:
        """None: the bytes do not describe data files."""
        if data is None or len(data) <= _FILES_HEADER.size:
            return None
        version, level, count = _FILES_HEADER.unpack_from(data)
        at, files = _FILES_HEADER.size, list[tuple[str, int]]()
        if version != _VERSION or level < 1 or not 0 < count <= len(data) // (_NAME_LENGTH.size + _ROWS.size):
            return None
        try:
            for _ in range(count):
                (length,) = _NAME_LENGTH.unpack_from(data, at)
                at += _NAME_LENGTH.size
                name = data[at : at + length].decode()
                at += length
                (rows,) = _ROWS.unpack_from(data, at)
                at += _ROWS.size
                files.append((name, rows))
        except (struct.error, UnicodeDecodeError):
            return None
        return SourceFiles(level, tuple(files)) if at == len(data) and min(r for _, r in files) >= 0 else None
