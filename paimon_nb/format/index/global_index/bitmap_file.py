"""Bitmap global index files: a bitmap of row ids for each key, and a dictionary from keys to bitmaps.

Java 2.1 orders the dictionary by key and pypaimon 2.1 by serialized key, and each searches it in its own order. So a file in
either order is read here, and where the orders differ, each block of a written dictionary has one key: both find it then.
Source: Paimon 2.1 `globalindex/bitmap/BitmapGlobalIndexFormat`, pypaimon `bitmap_index_writer.py`.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
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
    from paimon_nb.format.types import DataType

_FOOTER = struct.Struct(">qiqiqiiii")  # rows of NULL, of other values, dictionary (offset, bytes); number of values
_MAGIC, _VERSION = 0x42474958, 1

_dictionaries = FileCache(64 << 20)

_Listing = tuple[tuple[IndexKey, ...], tuple[Location, ...]]
"""Keys in order, and where each one's bitmap (or block of the dictionary) is."""


def write_bitmap_file(
    keys: SortedKeys, block_bytes: int, compression: str = "none", level: int = 1, *, present: bool = True
) -> bytes:
    """The bytes of an index file.

    Args:
        block_bytes: target size of the blocks of the dictionary. present: whether it lists the rows that are not NULL.
    """
    out = BlockOutput(compression, level)
    blocks: list[bytes] = []
    pending: list[bytes] = []
    first, size = b"", 0
    order = [encode_index_key(keys.type, key) for key in keys.keys]
    if order != sorted(order):
        block_bytes = 1
    for encoded, rows in zip(order, keys.rows, strict=True):
        entry = _entry(encoded, out.write(row_ids_to_bytes(row_ids_of(rows))))
        if pending and size + len(entry) > block_bytes:
            blocks.append(_entry(first, out.write_block(_listing(pending))))
            pending, size = [], 0
        first = encoded if not pending else first
        pending.append(entry)
        size += len(entry)
    if pending:
        blocks.append(_entry(first, out.write_block(_listing(pending))))
    nulls = out.write(row_ids_to_bytes(row_ids_of(keys.nulls)))
    others = np.sort(np.concatenate([np.empty(0, np.int64), *(keys.rows if present else ())]))
    rows_of_others = out.write(row_ids_to_bytes(row_ids_of(others)))
    index = out.write_block(_listing(blocks))
    numbers = (nulls.offset, nulls.size, rows_of_others.offset, rows_of_others.size, index.offset, index.size)
    out.write(_FOOTER.pack(*numbers, len(keys.keys), _VERSION, _MAGIC))
    return bytes(out.data)


def _entry(key: bytes, at: Location) -> bytes:
    return encode_varint(len(key)) + key + encode_varint(at.offset) + encode_varint(at.size)


def _listing(entries: list[bytes]) -> bytes:
    return encode_varint(len(entries)) + b"".join(entries)


class BitmapFileReader:
    """One index file; row ids are relative to the first row id of its range. The dictionary is cached."""

    def __init__(self, source: IndexFileSource, t: DataType) -> None:
        """Raises: MissingFile, CorruptFile."""
        self._source, self._type = source, t
        footer = source.read(source.size - _FOOTER.size, _FOOTER.size)
        numbers = _FOOTER.unpack(footer)
        version, magic = numbers[-2:]
        if magic != _MAGIC or version != _VERSION:
            raise CorruptFile(source.path, f"not a bitmap index (magic {magic:#x}, version {version})")
        self._nulls, _, self._index = (Location(*numbers[i : i + 2]) for i in (0, 2, 4))

    def rows_of_nulls(self) -> BitMap64:
        """Rows whose value is NULL."""
        return self._bitmap(self._nulls)

    def rows_between(
        self, low: IndexKey | None, high: IndexKey | None, *, low_open: bool = False, high_open: bool = False
    ) -> BitMap64:
        """Rows whose key is in a range.

        Args:
            low, high: None is unbounded. low_open, high_open: whether the bound itself is excluded.
        """
        found = BitMap64()
        for block in self._blocks_with(low) if low is not None and low == high else self._listing_at(self._index)[1]:
            for key, at in zip(*self._listing_at(block), strict=True):
                above = low is None or key > low or (key == low and not low_open)  # type: ignore[operator]
                if above and (high is None or key < high or (key == high and not high_open)):  # type: ignore[operator]
                    found |= self._bitmap(at)
        return found

    def _blocks_with(self, key: IndexKey) -> set[Location]:
        """Blocks of the dictionary that may hold a key, in whichever order it is."""
        firsts, blocks = self._listing_at(self._index)
        by_key: list[Any] = sorted(zip(firsts, blocks, strict=True), key=itemgetter(0))
        by_bytes = sorted(((encode_index_key(self._type, k), block) for k, block in by_key), key=itemgetter(0))
        locations = (
            (bisect_right(by_key, key, key=itemgetter(0)), by_key),
            (bisect_right(by_bytes, encode_index_key(self._type, key), key=itemgetter(0)), by_bytes),
        )
        return {listed[at - 1][1] for at, listed in locations if at}

    def _bitmap(self, at: Location) -> BitMap64:
        return row_ids_from_bytes(self._source.read(at.offset, at.size), self._source.path)

    def _listing_at(self, at: Location) -> _Listing:
        """The dictionary's list of blocks, or one of these."""
        source = self._source
        return _dictionaries.get(
            source.fs, source.path, lambda: self._read_listing(at), lambda found: 200 * len(found[0]) + 100, at.offset
        )

    def _read_listing(self, at: Location) -> _Listing:
        data = self._source.block(at)
        keys, locations = list[IndexKey](), list[Location]()
        try:
            count, position = decode_varint(data, 0)
            for _ in range(count):
                size, position = decode_varint(data, position)
                keys.append(decode_index_key(self._type, data[position : position + size]))
                offset, position = decode_varint(data, position + size)
                length, position = decode_varint(data, position)
                locations.append(Location(offset, length))
        except (struct.error, IndexError, ValueError) as error:
            raise CorruptFile(self._source.path, f"its dictionary is broken ({error!s:.80})") from None
        return tuple(keys), tuple(locations)
