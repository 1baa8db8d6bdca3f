"""Lengths as zigzag varints of the differences of neighbours: the indexes of `.blob` files.

Source: Paimon 2.1 `DeltaVarintCompressor`; docs/spec/format.md section 8.5.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Sequence


def encode_deltas(lengths: Sequence[int]) -> bytes:
    """The bytes of an index."""
    out = bytearray()
    for before, length in pairwise([0, *lengths]):
        delta = length - before
        zigzag = (delta << 1) ^ (delta >> 63)
        while zigzag > 0x7F:
            out.append(zigzag & 0x7F | 0x80)
            zigzag >>= 7
        out.append(zigzag)
    return bytes(out)


def decode_deltas(data: bytes, path: str) -> list[int]:
    """The lengths of an index. Raises CorruptFile, which names `path`."""
    lengths, length, number, shift = [], 0, 0, 0
    for byte in data:
        number |= (byte & 0x7F) << shift
        shift += 7
        if shift > 70:
            raise CorruptFile(path, "its index contains an unterminated number")
        if byte < 0x80:
            length += (number >> 1) ^ -(number & 1)
            lengths.append(length)
            number = shift = 0
    if shift:
        raise CorruptFile(path, "its index is truncated")
    return lengths
