"""64-bit bitmaps in the serialised form of Java's `Roaring64Bitmap`: containers of 65,536 numbers in a radix tree.

The tree maps the upper 48 bits of a number to the slot of its container. Little-endian except for the keys. The bytes
equal Java's, except for the slots inside tree nodes of 17 to 48 children, which depend on the insertion order there.
Source: RoaringBitmap 1.2.1, `longlong/HighLowContainer`, `art/*` (the form of Paimon's `rbm64`).
"""

from __future__ import annotations

import struct
from dataclasses import field

import numpy as np
import numpy.typing as npt

from paimon_nb.base.lazy_dataclass import dataclass

Low = npt.NDArray[np.uint16]
"""The lower 16 bits of a container's numbers, ascending."""
_RUN, _BITS, _ARRAY = 0, 1, 2
_LEAF = 4
_BODY_BYTES = (4, 16, 256, 32)
_MAX_ARRAY = 4096
_KEY_BYTES = 6


@dataclass
class AggregatedBitmap64:
    """A value of the aggregate function `rbm64`, as Java's `Roaring64Bitmap` serialises it.

    Containers by key, in insertion slots; Java's slot array grows by half.
    """

    slot_of: dict[bytes, int] = field(default_factory=dict)
    containers: dict[int, Low] = field(default_factory=dict)
    capacity: int = 0
    last: int = -1

    @staticmethod
    def from_bytes(data: bytes) -> AggregatedBitmap64:
        """Raises ValueError for bytes that are not such a bitmap."""
        try:
            return _Reader(data).read_bitmap()
        except (struct.error, IndexError) as error:
            raise ValueError(str(error)) from error

    def add_all(self, other: AggregatedBitmap64) -> None:
        """Union with another bitmap, in place."""
        for key, slot in sorted(other.slot_of.items()):
            if key in self.slot_of:
                own = self.slot_of[key]
                self.containers[own] = np.union1d(self.containers[own], other.containers[slot])
                continue
            self.last += 1
            if self.last + 1 > self.capacity:
                self.capacity = max(self.capacity + (self.capacity >> 1), self.last + 1)
            self.slot_of[key] = self.last
            self.containers[self.last] = other.containers[slot]

    def to_bytes(self) -> bytes:
        if not self.slot_of:
            return b"\0"
        out = [b"\1", struct.pack("<q", len(self.slot_of)), _serialize_node(sorted(self.slot_of.items()), 0)]
        out.append(struct.pack("<ibi", 1, -2, self.capacity))
        for slot in range(self.capacity):
            low = self.containers.get(slot)
            out.append(b"\0" if low is None else b"\1" + _serialize_container(low))
        out.append(struct.pack("<qii", len(self.containers), 0, self.last))
        return b"".join(out)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def read_bitmap(self) -> AggregatedBitmap64:
        out = AggregatedBitmap64()
        if not self.read_struct("<b")[0]:
            return out
        self.read_struct("<q")
        self.read_art_node(out)
        (levels,) = self.read_struct("<i")
        if levels != 1:
            raise ValueError(levels)
        _, out.capacity = self.read_struct("<bi")
        for slot in range(out.capacity):
            if self.read_struct("<b")[0]:
                out.containers[slot] = self.read_container()
        _, _, out.last = self.read_struct("<qii")
        if set(out.slot_of.values()) - set(out.containers):
            raise ValueError("a key without container")
        return out

    def read_struct(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def read_bytes(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise ValueError(count)
        self.at += count
        return self.data[self.at - count : self.at]

    def read_art_node(self, out: AggregatedBitmap64) -> None:
        kind, children, prefix = self.read_struct("<bhb")
        self.read_bytes(prefix)
        if kind == _LEAF:
            key = self.read_bytes(_KEY_BYTES)
            (out.slot_of[key],) = self.read_struct("<q")
            return
        self.read_bytes(_BODY_BYTES[kind])
        for _ in range(children):
            self.read_art_node(out)

    def read_container(self) -> Low:
        kind, count = self.read_struct("<bi")
        if kind == _ARRAY:
            return np.frombuffer(self.read_bytes(2 * count), "<u2")
        if kind == _BITS:
            return np.flatnonzero(
                np.unpackbits(np.frombuffer(self.read_bytes(8192), np.uint8), bitorder="little")
            ).astype("<u2")
        if kind != _RUN:
            raise ValueError(kind)
        (runs,) = self.read_struct("<H")
        pairs = np.frombuffer(self.read_bytes(4 * runs), "<u2").astype(np.int64).reshape(-1, 2)
        return np.concatenate([np.arange(s, s + more + 1) for s, more in pairs]).astype("<u2")


def _serialize_container(low: Low) -> bytes:
    """Runs if they are smaller, like `runOptimize`."""
    breaks = np.flatnonzero(np.diff(low.astype(np.int64)) != 1) + 1
    starts = np.concatenate([[0], breaks])
    run_bytes = 2 + 4 * len(starts)
    if run_bytes < min(2 * len(low), 8192):
        ends = np.concatenate([breaks, [len(low)]]) - 1
        first = low[starts].astype(np.int64)
        pairs = np.stack([first, low[ends] - first], axis=1).astype("<u2")
        return struct.pack("<biH", _RUN, len(low), len(starts)) + pairs.tobytes()
    if len(low) <= _MAX_ARRAY:
        return struct.pack("<bi", _ARRAY, len(low)) + low.astype("<u2").tobytes()
    bits = np.zeros(65536, np.uint8)
    bits[low] = 1
    return struct.pack("<bi", _BITS, len(low)) + np.packbits(bits, bitorder="little").tobytes()


def _serialize_node(leaves: list[tuple[bytes, int]], depth: int) -> bytes:
    """The node over these leaves, whose keys agree up to `depth`, and its children."""
    if len(leaves) == 1:
        return struct.pack("<bhb", _LEAF, 0, 0) + leaves[0][0] + struct.pack("<q", leaves[0][1])
    first, last = leaves[0][0], leaves[-1][0]
    branch = next(i for i in range(depth, _KEY_BYTES) if first[i] != last[i])
    children: dict[int, list[tuple[bytes, int]]] = {}
    for leaf in leaves:
        children.setdefault(leaf[0][branch], []).append(leaf)
    kind, body = _serialize_branch_keys(list(children))
    head = struct.pack("<bhb", kind, len(children), branch - depth) + first[depth:branch]
    return b"".join([head, body, *(_serialize_node(below, branch + 1) for below in children.values())])


def _serialize_branch_keys(keys: list[int]) -> tuple[int, bytes]:
    """(type, body) of a node with these key bytes: Java stores them in longs, first byte on top."""
    if len(keys) <= 16:
        kind, width = (0, 4) if len(keys) <= 4 else (1, 8)
        padded = bytes(keys).ljust(_BODY_BYTES[kind], b"\0")
        return kind, b"".join(padded[i : i + width][::-1] for i in range(0, len(padded), width))
    if len(keys) <= 48:
        index = bytearray(b"\xff" * 256)
        for slot, key in enumerate(keys):
            index[key] = slot
        return 2, b"".join(bytes(index[i : i + 8][::-1]) for i in range(0, 256, 8))
    mask = np.zeros(256, np.uint8)
    mask[keys] = 1
    return 3, np.packbits(mask, bitorder="little").tobytes()
