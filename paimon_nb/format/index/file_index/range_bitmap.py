"""The range-bitmap index: a sorted dictionary of the column's values, and the rows' codes as bit slices.

Source: Paimon `RangeBitmap`, `BitSliceIndexBitmap`, `ChunkedDictionary`, `FixedLengthChunk`, `VariableLengthChunk`.
"""

from __future__ import annotations

import bisect
import struct
from typing import TYPE_CHECKING

import numpy as np
from pyroaring import BitMap

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.index import roaring
from paimon_nb.format.index.file_index.api import UnknownVersion, rows_for_comparison
from paimon_nb.format.index.file_index.bit_slice import Slices, slices_of
from paimon_nb.format.index.file_index.bitmap_keys import (
    Key,
    decode_key,
    encode_key,
    group_rows,
    has_keys,
    index_keys_of,
    is_exact,
)
from paimon_nb.options.option import parse_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.format.row.binary_row import Value
    from paimon_nb.format.types import DataType

_VERSION = 1
_TEXT = ("CHAR", "VARCHAR")
_UNCHUNKED = ("BOOLEAN", "TINYINT", "SMALLINT")


def supports(t: DataType) -> bool:
    """Whether the type has exact keys."""
    return has_keys(t) and is_exact(t)


@dataclass(frozen=True, slots=True)
class _Chunk:
    first: Key
    code: int
    """Code of `first`; the following keys have the next codes."""
    keys_at: int
    size: int


class RangeBitmapReader:
    """A range-bitmap index of one column."""

    def __init__(self, t: DataType, data: memoryview) -> None:
        self._type, self._data = t, data
        head_length, version, self._row_count, self._key_count = struct.unpack_from(">ibii", data)
        if version > _VERSION:
            raise UnknownVersion
        if self._row_count < 0:
            raise ValueError("a negative count")
        at = 13
        if self._key_count > 0:
            _, at = decode_key(t, data, at)
            _, at = decode_key(t, data, at)
        (dictionary_length,) = struct.unpack_from(">i", data, at)
        dictionary_at = 4 + head_length
        self._chunks = self._read_chunks(dictionary_at) if self._key_count > 0 else []
        self._slices = (
            _read_slices(data, dictionary_at + dictionary_length) if self._key_count > 0 else Slices(BitMap(), ())
        )

    def _read_chunks(self, at: int) -> list[_Chunk]:
        head_length, version, count, offsets_length, chunks_length = struct.unpack_from(">ibiii", self._data, at)
        if version > _VERSION:
            raise UnknownVersion
        body = at + 4 + head_length
        keys_at = body + offsets_length + chunks_length
        chunks = []
        for i in range(count):
            (offset,) = struct.unpack_from(">i", self._data, body + 4 * i)
            chunks.append(self._read_chunk(body + offsets_length + offset, keys_at))
        return chunks

    def _read_chunk(self, at: int, keys_at: int) -> _Chunk:
        if self._data[at] > _VERSION:
            raise UnknownVersion
        first, at = decode_key(self._type, self._data, at + 1)
        code, offset, size, a, _ = struct.unpack_from(">iiiii", self._data, at)
        # Strings are preceded by their offsets (a = bytes of the offsets); other keys have a fixed size (a = bytes of
        # the keys).
        skip = a if self._type.root in _TEXT else 0
        return _Chunk(first, code, keys_at + offset + skip, size)

    def _code_of_key(self, key: Key) -> tuple[int, bool]:
        """(code of the first key that is not less than `key`, whether it equals the key)."""
        at = bisect.bisect_right(self._chunks, key, key=lambda chunk: chunk.first) - 1
        if at < 0:
            return 0, False
        chunk = self._chunks[at]
        keys = [chunk.first]
        position = chunk.keys_at
        for _ in range(chunk.size):
            following, position = decode_key(self._type, self._data, position)
            keys.append(following)
        nth = bisect.bisect_left(keys, key)
        return chunk.code + nth, nth < len(keys) and keys[nth] == key

    def may_match(self, op: str, literals: Sequence[Value]) -> bool:
        rows = self.candidates(op, literals)
        return rows is None or bool(rows)

    def candidates(self, op: str, literals: Sequence[Value]) -> BitMap | None:
        present = self._slices.present
        if op == "is null":
            return BitMap(range(self._row_count)) - present
        if op == "is not null":
            return present
        if op in ("in", "not in"):
            equal = BitMap()
            for literal in literals:
                equal |= self._compare_rows(literal)[1]
            return equal if op == "in" else present - equal
        return rows_for_comparison(op, *self._compare_rows(literals[0]))

    def _compare_rows(self, literal: Value) -> tuple[BitMap, BitMap, BitMap]:
        """Rows whose value is (less than, equal to, greater than) the literal."""
        keys = index_keys_of(self._type, literal)
        less, equal, greater = self._compare_key(keys[0])
        if len(keys) == 1:
            return less, equal, greater
        _, more, greater = self._compare_key(keys[1])  # both zeros are equal
        return less, equal | more, greater

    def _compare_key(self, key: Key) -> tuple[BitMap, BitMap, BitMap]:
        code, found = self._code_of_key(key)
        if code >= self._key_count:
            return self._slices.present, BitMap(), BitMap()
        less, equal, greater = self._slices.rows_compared_with(code)
        return (less, equal, greater) if found else (less, BitMap(), equal | greater)


def _read_slices(data: memoryview, at: int) -> Slices:
    head_length, version, count, present_length, _ = struct.unpack_from(">ibbii", data, at)
    if version > _VERSION:
        raise UnknownVersion
    body = at + 4 + head_length
    slices = []
    for i in range(count):
        offset, _ = struct.unpack_from(">ii", data, at + 14 + 8 * i)
        slices.append(roaring.read_bitmap(data, body + present_length + offset)[0])
    return Slices(roaring.read_bitmap(data, body)[0], slices)


def write_range_bitmap(t: DataType, column: pa.Array | pa.ChunkedArray, options: Mapping[str, str]) -> bytes:
    """The index of a column. Option: `chunk-size` (16 kb; no chunks for BOOLEAN, TINYINT and SMALLINT)."""
    groups = group_rows(t, column)
    limit = parse_memory(options.get("chunk-size", "0 b" if t.root in _UNCHUNKED else "16 kb"))
    encoded = [encode_key(t, key) for key in groups.keys]
    dictionary = _key_dictionary(encoded, limit, t.root in _TEXT)
    head = struct.pack(">bii", _VERSION, groups.row_count, len(encoded))
    if encoded:
        head += encoded[0] + encoded[-1]
    head += struct.pack(">i", len(dictionary))
    rows = np.concatenate(groups.rows) if encoded else np.zeros(0, dtype=np.int64)
    codes = np.repeat(np.arange(len(encoded), dtype=np.uint64), [len(part) for part in groups.rows])
    # Java derives the number of slices from the number of keys; without keys it writes 64.
    count = max((len(encoded) - 1).bit_length(), 1) if encoded else 64
    order = np.argsort(rows)
    return b"".join(
        [struct.pack(">i", len(head)), head, dictionary, _slices_bytes(rows[order], codes[order], count)]
    )  # fmt: skip


def _key_dictionary(keys: list[bytes], limit: int, text: bool) -> bytes:
    offsets, chunks, bodies = [], [], []
    chunk_at = keys_at = 0
    for start, stop in _chunk_ranges(keys, limit, text):
        rest = keys[start + 1 : stop]
        entry_offsets = np.cumsum([0, *map(len, rest)])[:-1].astype(">i4").tobytes() if text and rest else b""
        body = b"".join(rest)
        last = (
            struct.pack(">ii", len(entry_offsets), len(body))
            if text
            else struct.pack(">ii", len(body), len(keys[start]))
        )
        chunk = struct.pack(">b", _VERSION) + keys[start] + struct.pack(">iii", start, keys_at, len(rest)) + last
        offsets.append(struct.pack(">i", chunk_at))
        chunks.append(chunk)
        bodies.append(entry_offsets + body)
        chunk_at += len(chunk)
        keys_at += len(entry_offsets) + len(body)
    head = struct.pack(">biii", _VERSION, len(chunks), 4 * len(chunks), chunk_at)
    return b"".join([struct.pack(">i", len(head)), head, *offsets, *chunks, *bodies])


def _chunk_ranges(keys: list[bytes], limit: int, text: bool) -> list[tuple[int, int]]:
    """Split keys into chunks: a first key, and the following ones whose bytes fit into `limit`."""
    out: list[tuple[int, int]] = []
    start = used = 0
    for i, key in enumerate(keys):
        fits = used + len(key) <= limit and not (text and 4 * (i - start) > limit)
        if i > start and fits:
            used += len(key)
        elif i > start:
            out.append((start, i))
            start, used = i, 0
    return [*out, (start, len(keys))] if keys else out


def _slices_bytes(rows: np.ndarray, codes: np.ndarray, count: int) -> bytes:
    present = roaring.dump(roaring.bitmap_of(rows))
    slices = [roaring.dump(bitmap) for bitmap in slices_of(codes, rows, count)]
    index, at = [], 0
    for part in slices:
        index.append(struct.pack(">ii", at, len(part)))
        at += len(part)
    head = struct.pack(">bbii", _VERSION, count, len(present), 8 * count) + b"".join(index)
    return b"".join([struct.pack(">i", len(head)), head, present, *slices])
