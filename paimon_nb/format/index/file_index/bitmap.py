"""The bitmap index: the rows of each value of a column, in two versions.

Source: Paimon `BitmapFileIndex`, `BitmapFileIndexMeta`, `BitmapFileIndexMetaV2`; docs/spec/format.md section 13.
"""

from __future__ import annotations

import bisect
import struct
from typing import TYPE_CHECKING

from pyroaring import BitMap

from paimon_nb.format.index import roaring
from paimon_nb.format.index.file_index.api import UnknownVersion
from paimon_nb.format.index.file_index.bitmap_keys import (
    Key,
    decode_key,
    encode_key,
    group_rows,
    index_keys_of,
    is_exact,
)
from paimon_nb.options.option import parse_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.format.row.binary_row import Value
    from paimon_nb.format.types import DataType

NEWEST = 2
_DEFAULT_BLOCK = "16 kb"


class BitmapReader:
    """A bitmap index of one column."""

    def __init__(self, t: DataType, data: memoryview) -> None:
        if data[0] not in (1, 2):
            raise UnknownVersion
        self._type, self._data, self._version = t, data, data[0]
        self._row_count, self._key_count, has_null = struct.unpack_from(">ii?", data, 1)
        if self._row_count < 0 or self._key_count < 0:
            raise ValueError("a negative count")
        self._null_offset: int | None = None
        at = 10
        if has_null:
            (self._null_offset,) = struct.unpack_from(">i", data, at)
            at += 4 if self._version == 1 else 8
        self._offsets: dict[Key, int] = {}
        if self._version == 1:
            self._body = self._read_entries(at, self._key_count, 4)
        else:
            self._read_blocks(at)

    def _read_entries(self, at: int, count: int, tail: int) -> int:
        for _ in range(count):
            key, at = decode_key(self._type, self._data, at)
            (self._offsets[key],) = struct.unpack_from(">i", self._data, at)
            at += tail
        return at

    def _read_blocks(self, at: int) -> None:
        (blocks,) = struct.unpack_from(">i", self._data, at)
        at += 4
        self._firsts: list[Key] = []
        self._block_offsets: list[int] = []
        for _ in range(blocks):
            key, at = decode_key(self._type, self._data, at)
            self._firsts.append(key)
            self._block_offsets += struct.unpack_from(">i", self._data, at)
            at += 4
        (index_bytes,) = struct.unpack_from(">i", self._data, at)
        self._index_blocks = at + 4
        self._body = self._index_blocks + index_bytes
        self._loaded: set[int] = set()

    def _bitmap_offset(self, key: Key) -> int | None:
        if self._version == NEWEST:
            block = bisect.bisect_right(self._firsts, key) - 1
            if block < 0:
                return None
            if block not in self._loaded:
                at = self._index_blocks + self._block_offsets[block]
                (count,) = struct.unpack_from(">i", self._data, at)
                self._read_entries(at + 4, count, 8)
                self._loaded.add(block)
        return self._offsets.get(key)

    def _rows_at(self, offset: int | None) -> BitMap:
        if offset is None:
            return BitMap()
        if offset < 0:  # one row: its position is stored instead of the offset
            return BitMap([-1 - offset])
        return roaring.read_bitmap(self._data, self._body + offset)[0]

    def may_match(self, op: str, literals: Sequence[Value]) -> bool:
        rows = self.candidates(op, literals)
        return rows is None or bool(rows)

    def candidates(self, op: str, literals: Sequence[Value]) -> BitMap | None:
        if op == "is null":
            return self._rows_at(self._null_offset)
        if op == "is not null":
            return self._all_rows() - self._rows_at(self._null_offset)
        if op not in ("=", "in", "<>", "not in"):
            return None
        rows = BitMap()
        for literal in literals:
            for key in index_keys_of(self._type, literal):
                rows |= self._rows_at(self._bitmap_offset(key))
        if op in ("=", "in"):
            return rows
        present = self._all_rows() - self._rows_at(self._null_offset)
        return present - rows if is_exact(self._type) else present

    def _all_rows(self) -> BitMap:
        return BitMap(range(self._row_count))


def write_bitmap(t: DataType, column: pa.Array | pa.ChunkedArray, options: Mapping[str, str]) -> bytes:
    """The index of a column. Options: `version` (1 or 2, default 2), `index-block-size` (16 kb)."""
    version = int(options.get("version", NEWEST))
    groups = group_rows(t, column)
    nulls = roaring.dump(roaring.bitmap_of(groups.nulls))
    many_nulls = len(groups.nulls) > 1
    body = [nulls] if many_nulls else []
    at = len(nulls) if many_nulls else 0
    entries: list[tuple[bytes, int, int]] = []
    for key, rows in zip(groups.keys, groups.rows, strict=True):
        if len(rows) == 1:
            entries.append((encode_key(t, key), -1 - int(rows[0]), -1))
            continue
        body.append(roaring.dump(roaring.bitmap_of(rows)))
        entries.append((encode_key(t, key), at, len(body[-1])))
        at += len(body[-1])
    head = struct.pack(">Bii?", version, groups.row_count, len(entries), len(groups.nulls) > 0)
    if len(groups.nulls):
        head += struct.pack(">i", -1 - int(groups.nulls[0]) if len(groups.nulls) == 1 else 0)
        head += struct.pack(">i", len(nulls)) if version == NEWEST else b""
    if version == 1:
        return b"".join([head, *(key + struct.pack(">i", offset) for key, offset, _ in entries), *body])
    block_size = parse_memory(options.get("index-block-size", _DEFAULT_BLOCK))
    return b"".join([head, _bitmap_index_blocks(entries, block_size), *body])


def _bitmap_index_blocks(entries: list[tuple[bytes, int, int]], block_size: int) -> bytes:
    blocks: list[list[bytes]] = []
    firsts: list[bytes] = []
    used = block_size
    for key, offset, length in entries:
        entry = key + struct.pack(">ii", offset, length)
        if used + len(entry) > block_size:
            blocks.append([])
            firsts.append(key)
            used = 4
        blocks[-1].append(entry)
        used += len(entry)
    packed = [struct.pack(">i", len(block)) + b"".join(block) for block in blocks]
    directory, at = [], 0
    for key, block_bytes in zip(firsts, packed, strict=True):
        directory.append(key + struct.pack(">i", at))
        at += len(block_bytes)
    return b"".join([struct.pack(">i", len(packed)), *directory, struct.pack(">i", at), *packed])
