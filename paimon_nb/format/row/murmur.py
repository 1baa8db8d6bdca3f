"""Murmur3 (32 bit, seed 42) over rows, vectorised. Knows words and nothing of types.

Source: Paimon `MurmurHashUtils.hashBytesByWords`; docs/spec/format.md section 10.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from paimon_nb.format.row.binary_row_vectorized import RowBytes, Words
from paimon_nb.format.unique import unique

SEED = 42
_C1, _C2 = np.uint32(0xCC9E2D51), np.uint32(0x1B873593)
_ADD, _FIVE = np.uint32(0xE6546B64), np.uint32(5)
U32 = npt.NDArray[np.uint32]


def hash_words(words: Iterable[Words]) -> npt.NDArray[np.int32]:
    """Hash of each row, given one int64 array a word position (all of one length)."""
    h: U32 | None = None
    count = 0
    for word in words:
        bits = np.ascontiguousarray(word).view(np.uint64)
        if h is None:
            h = np.full(len(bits), SEED, dtype=np.uint32)
        h = _mix_hash(_mix_hash(h, bits.astype(np.uint32)), (bits >> np.uint64(32)).astype(np.uint32))
        count += 8
    if h is None:
        raise ValueError("a row has at least one word")
    h ^= np.uint32(count)
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return h.view(np.int32)


def hash_rows(rows: RowBytes) -> npt.NDArray[np.int32]:
    """Hash of each row."""
    if rows.starts is None:
        return hash_words(rows.words[:, k] for k in range(rows.words.shape[1]))
    out = np.empty(len(rows), dtype=np.int32)
    starts = rows.starts[:-1]
    size = np.diff(rows.starts)
    for n in unique(size):
        same = np.flatnonzero(size == n)
        out[same] = hash_words(rows.words[starts[same] + k] for k in range(int(n)))
    return out


def hash_bytes(row: bytes) -> int:
    """Hash of one row given as bytes, a multiple of 8 long."""
    return int(hash_words(np.frombuffer(row, dtype="<i8").reshape(-1, 1))[0])


def _mix_hash(h: U32, k: U32) -> U32:
    k = k * _C1
    k = (k << np.uint32(15)) | (k >> np.uint32(17))
    h = h ^ (k * _C2)
    h = (h << np.uint32(13)) | (h >> np.uint32(19))
    return h * _FIVE + _ADD
