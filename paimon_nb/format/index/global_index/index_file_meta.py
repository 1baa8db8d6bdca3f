"""What the index manifest knows of a global index file: its smallest and largest key, and the snapshot it was built from.

Source: Paimon 2.1 `SortedIndexFileMeta`, `DataEvolutionIndexSourceMeta`.
"""

from __future__ import annotations

import struct

from paimon_nb.base.lazy_dataclass import dataclass

_VERSION = 1
_NO_FIRST, _NO_LAST = 1, 2
_SOURCE = struct.Struct(">iiq")
_SOURCE_MAGIC = 0x44454958


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
