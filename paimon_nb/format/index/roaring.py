"""Reads (untrusted) and writes roaring bitmaps in the portable format. Knows no Paimon file.

Source: the RoaringFormatSpec; Java writes run-optimised bitmaps.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

if TYPE_CHECKING:
    from collections.abc import Iterable

_COOKIE, _COOKIE_NO_RUNS = 12347, 12346
_NO_OFFSETS_BELOW = 4
"""Below this number of containers, a bitmap with runs has no offset table."""


class BrokenBitmap(ValueError):
    """The bytes are not a roaring bitmap. Callers add the file's path."""


def read_bitmap(data: bytes | memoryview, at: int = 0) -> tuple[BitMap, int]:
    """Read the bitmap at `at`. Returns it and the end of its bytes. Raises: BrokenBitmap."""
    end = at + bitmap_size(data, at)
    try:
        return BitMap.deserialize(bytes(data[at:end])), end
    except ValueError as error:
        raise BrokenBitmap(str(error)) from error


def dump(bitmap: BitMap) -> bytes:
    """Serialize a bitmap, with runs where they are shorter."""
    bitmap.run_optimize()
    return bytes(bitmap.serialize())


def positions(bitmap: BitMap) -> npt.NDArray[np.int64]:
    """The members in ascending order."""
    return np.frombuffer(bitmap.to_array(), dtype=np.uint32).astype(np.int64)


def bitmap_of(rows: Iterable[int] | npt.NDArray[np.integer]) -> BitMap:
    """A bitmap of 32-bit positions."""
    return BitMap(rows.astype(np.uint32)) if isinstance(rows, np.ndarray) else BitMap(rows)


def bitmap_size(data: bytes | memoryview, at: int = 0) -> int:
    """Size in bytes of the bitmap at `at`, from its headers. Raises: BrokenBitmap."""
    view = memoryview(data)[at:]
    try:
        size = _serialized_size(view)
    except struct.error as error:
        raise BrokenBitmap("a bitmap ends within its header") from error
    if size > len(view):
        raise BrokenBitmap(f"a bitmap of {size} bytes, of which {len(view)} are there")
    return size


def _serialized_size(view: memoryview) -> int:
    (cookie,) = struct.unpack_from("<I", view)
    if cookie & 0xFFFF == _COOKIE:
        count = (cookie >> 16) + 1
        header = 4 + (count + 7) // 8
        has_run = _read_run_flags(view, 4, count)
        offsets = count >= _NO_OFFSETS_BELOW
    elif cookie == _COOKIE_NO_RUNS:
        (count,) = struct.unpack_from("<I", view, 4)
        header, has_run, offsets = 8, [False] * min(count, 1 << 16), True
    else:
        raise BrokenBitmap(f"a bitmap begins with {cookie}")
    if count > 1 << 16:
        raise BrokenBitmap(f"a bitmap of {count} containers")
    at = int(header + 4 * count * (2 if offsets else 1))
    for i, run in enumerate(has_run):
        if run:
            (runs,) = struct.unpack_from("<H", view, at)
            at += 2 + 4 * runs
        else:
            (cardinality,) = struct.unpack_from("<H", view, header + 4 * i + 2)
            at += 2 * (cardinality + 1) if cardinality < 4096 else 8192
    return at


def _read_run_flags(view: memoryview, at: int, count: int) -> list[bool]:
    raw = bytes(view[at : at + (count + 7) // 8])
    if len(raw) < (count + 7) // 8:
        raise BrokenBitmap("a bitmap ends within its header")
    return [bool(raw[i >> 3] >> (i & 7) & 1) for i in range(count)]
