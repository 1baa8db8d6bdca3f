"""BTree global index files: an SST file from keys to row ids, with the rows of NULL in a bitmap.

Blocks of (key, row ids) entries in key order, a block with the last key of each, and a footer.
Source: Paimon 2.1 `globalindex/btree`, `sst/SstFileWriter`, `sst/BlockWriter`.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap64

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.index.global_index.index_blocks import BlockOutput, IndexFileSource, Location
from paimon_nb.format.index.global_index.index_keys import (
    IndexKey,
    SortedKeys,
    decode_index_key,
    decode_varint,
    encode_index_key,
    encode_varint,
)
from paimon_nb.format.index.global_index.row_id_bitmap import row_ids_from_bytes, row_ids_of, row_ids_to_bytes
from paimon_nb.fs.file_cache import FileCache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.format.types import DataType

_FOOTER = struct.Struct("<qiqqiqiii")  # bloom filter (offset, bytes, entries), index block, bitmap of NULLs
_MAGIC, _VERSION = 0x50425449, 1
_SAME_SIZE, _ANY_SIZE = 0, 1
"""Whether all entries of a block have the same size; else their positions follow them."""
_BROKEN = (struct.error, IndexError, ValueError)

_blocks = FileCache(64 << 20)


# -- writing


def write_btree_file(keys: SortedKeys, block_bytes: int, compression: str = "none", level: int = 1) -> bytes:
    """The bytes of an index file.

    Args:
        block_bytes: a block ends when it is larger.
    """
    out = BlockOutput(compression, level)
    block, blocks = _EntryBlock(), _EntryBlock()
    last = b""
    for key, rows in zip(keys.keys, keys.rows, strict=True):
        last = encode_index_key(keys.type, key)
        block.add(last, encode_varint(len(rows)) + b"".join(map(encode_varint, rows.tolist())))
        if block.size > block_bytes:
            block = _flush(out, block, blocks, last)
    if block.positions:
        _flush(out, block, blocks, last)
    nulls = Location(0, 0)
    if len(keys.nulls):
        data = row_ids_to_bytes(row_ids_of(keys.nulls))
        nulls = out.write(data)
        out.write(struct.pack("<I", zlib.crc32(data)))
    index = out.write_block(blocks.finish())
    out.write(_FOOTER.pack(0, 0, 0, index.offset, index.size, nulls.offset, nulls.size, _VERSION, _MAGIC))
    return bytes(out.data)


def _flush(out: BlockOutput, block: _EntryBlock, blocks: _EntryBlock, last: bytes) -> _EntryBlock:
    """Write a block, list it under its last key. Returns an empty one."""
    at = out.write_block(block.finish())
    blocks.add(last, encode_varint(at.offset) + encode_varint(at.size))
    return _EntryBlock()


class _EntryBlock:
    """A block that is being built."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.positions: list[int] = []
        self.sizes: set[int] = set()

    def add(self, key: bytes, value: bytes) -> None:
        begin = len(self.data)
        self.positions.append(begin)
        self.data += encode_varint(len(key)) + key + encode_varint(len(value)) + value
        self.sizes.add(len(self.data) - begin)

    @property
    def size(self) -> int:
        return len(self.data) + 5 + (0 if len(self.sizes) < 2 else 4 * len(self.positions))

    def finish(self) -> bytes:
        if len(self.sizes) == 1:
            return bytes(self.data) + struct.pack("<iB", next(iter(self.sizes)), _SAME_SIZE)
        positions = struct.pack(f"<{len(self.positions)}i", *self.positions)
        return bytes(self.data) + positions + struct.pack("<iB", len(self.positions), _ANY_SIZE)


# -- reading


class _Entries:
    """A decoded block: entries in key order."""

    def __init__(self, data: bytes, path: str) -> None:
        """Raises: CorruptFile."""
        try:
            number, layout = struct.unpack_from("<iB", data, len(data) - 5)
            if layout == _SAME_SIZE:
                self.positions = np.arange(0, len(data) - 5, number, dtype=np.int64)
            else:
                self.positions = np.frombuffer(data, "<i4", number, len(data) - 5 - 4 * number).astype(np.int64)
        except (*_BROKEN, ZeroDivisionError) as error:
            raise CorruptFile(path, f"a block is broken ({error!s:.80})") from None
        self.data, self.path = data, path

    def __len__(self) -> int:
        return len(self.positions)

    def key(self, i: int) -> bytes:
        size, at = decode_varint(self.data, int(self.positions[i]))
        return self.data[at : at + size]

    def value(self, i: int) -> bytes:
        size, at = decode_varint(self.data, int(self.positions[i]))
        length, at = decode_varint(self.data, at + size)
        return self.data[at : at + length]

    def first_not_below(self, t: DataType, key: IndexKey, *, above: bool = False) -> int:
        """The first entry whose key is at least `key` (`above`: larger than it)."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            found = decode_index_key(t, self.key(middle))
            if found < key or (above and found == key):  # type: ignore[operator]  # keys of one type
                low = middle + 1
            else:
                high = middle
        return low

    def row_ids(self, begin: int, end: int) -> npt.NDArray[np.int64]:
        """Row ids of the entries from `begin` to before `end`."""
        if begin >= end:
            return np.empty(0, np.int64)
        data = np.frombuffer(self.data, np.uint8)
        key_sizes, at = _varints_at(data, self.positions[begin:end])
        value_sizes, at = _varints_at(data, at + key_sizes)
        _, first = _varints_at(data, at)  # the number of row ids
        inside = np.zeros(len(data) + 1, np.int8)
        np.add.at(inside, first, 1)
        np.add.at(inside, at + value_sizes, -1)
        return _row_ids_from_varints(data[np.cumsum(inside[:-1]).astype(bool)])


def _varints_at(
    data: npt.NDArray[np.uint8], at: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The varints at these offsets, and the ends of their bytes. Raises: IndexError."""
    numbers, ends, open_ = np.zeros(len(at), np.int64), at.copy(), np.ones(len(at), bool)
    shift = 0
    while open_.any():
        byte = data[ends[open_]].astype(np.int64)
        numbers[open_] |= (byte & 0x7F) << shift
        ends[open_] += 1
        open_[open_] = byte > 0x7F
        shift += 7
    return numbers, ends


def _row_ids_from_varints(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """All varints of consecutive bytes."""
    ends = np.flatnonzero(data < 0x80) + 1
    if not len(ends):
        return np.empty(0, np.int64)
    starts = np.concatenate([[0], ends[:-1]])
    shifts = np.arange(ends[-1]) - np.repeat(starts, ends - starts)
    return np.add.reduceat((data[: ends[-1]].astype(np.int64) & 0x7F) << (7 * shifts), starts)


class BTreeFileReader:
    """One index file; row ids are relative to the first row id of its range. Blocks are cached."""

    def __init__(self, source: IndexFileSource, t: DataType) -> None:
        """Raises: MissingFile, CorruptFile, UnsupportedFormat."""
        self._source, self._type = source, t
        footer = source.read(source.size - _FOOTER.size, _FOOTER.size)
        _, _, _, index_at, index_size, nulls_at, nulls_size, version, magic = _FOOTER.unpack(footer)
        if magic != _MAGIC or version != _VERSION:
            raise CorruptFile(source.path, f"not a BTree index (magic {magic:#x}, version {version})")
        self._nulls = Location(nulls_at, nulls_size)
        self._blocks = self._entries(Location(index_at, index_size))

    def rows_of_nulls(self) -> BitMap64:
        """Rows whose value is NULL."""
        if not self._nulls.size:
            return BitMap64()
        stored = self._source.read(self._nulls.offset, self._nulls.size + 4)
        data = stored[:-4]
        if zlib.crc32(data) != struct.unpack("<I", stored[-4:])[0]:
            raise CorruptFile(self._source.path, "the checksum of its NULLs is wrong")
        return row_ids_from_bytes(data, self._source.path)

    def rows_between(
        self, low: IndexKey | None, high: IndexKey | None, *, low_open: bool = False, high_open: bool = False
    ) -> BitMap64:
        """Rows whose key is in a range.

        Args:
            low, high: None is unbounded. low_open, high_open: whether the bound itself is excluded.
        """
        found = BitMap64()
        try:
            for rows in self._parts_between(low, high, low_open, high_open):
                found |= row_ids_of(rows)
        except (*_BROKEN, OverflowError) as error:
            raise CorruptFile(self._source.path, f"a block is broken ({error!s:.80})") from None
        return found

    def _parts_between(
        self, low: IndexKey | None, high: IndexKey | None, low_open: bool, high_open: bool
    ) -> Iterator[npt.NDArray[np.int64]]:
        """The row ids in a range of keys, block by block."""
        t = self._type
        first = 0 if low is None else self._blocks.first_not_below(t, low, above=low_open)
        for i in range(first, len(self._blocks)):
            offset, at = decode_varint(self._blocks.value(i), 0)
            entries = self._entries(Location(offset, decode_varint(self._blocks.value(i), at)[0]))
            begin = 0 if low is None or i > first else entries.first_not_below(t, low, above=low_open)
            end = len(entries) if high is None else entries.first_not_below(t, high, above=not high_open)
            yield entries.row_ids(begin, end)
            if end < len(entries):
                return

    def _entries(self, at: Location) -> _Entries:
        source = self._source

        def load() -> _Entries:
            return _Entries(source.block(at), source.path)

        return _blocks.get(source.fs, source.path, load, lambda e: 8 * len(e) + len(e.data) + 200, at.offset)
