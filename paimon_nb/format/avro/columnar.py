"""Decodes Avro records to columns: all records of a container at once with NumPy, without a Python object per value.

An Avro record does not contain its length, so records can only be decoded one after the other. But blocks start at
known positions, and a guessed record start inside a block is confirmed if decoding the records before it ends exactly
there. Each start begins a lane. All lanes are decoded in step, field by field. fastavro is compiled but creates
objects: it takes ten times as long for many records, and is faster for a few. Source: Avro 1.11 specification, "Binary
Encoding".

For anything else (a lane that does not end at the next one, a number of more than 8 bytes, an unsupported type) the
decoder raises `UnsupportedLayout`. The caller then reads with fastavro, which reports corruption.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.override import override
from paimon_nb.format.types.arrow_builders import from_numpy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LANES = 3_000
"""Number of lanes. With fewer, NumPy's calls cost more than their work; with more, the data leaves the processor's
cache.
"""
_LOOK = 8
"""The first bytes of a block; where they occur again, another record may begin."""
WORTH = 20
"""Minimum average number of records per step; below it fastavro is faster."""
_MAX_ITEMS, _MAX_BLOCKS = 10_000, 100
"""Limits of one array. Java writes one block of items."""
_ENDS = np.uint64(0x8080808080808080)
_ONE = np.uint64(1)


class UnsupportedLayout(Exception):
    """This decoder does not support the data; fastavro may."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Values of an int or long field."""

    values: np.ndarray
    """int64; 0 where null."""
    null: np.ndarray | None
    """bool; None: no value is null."""


@dataclass(frozen=True)
class Texts:
    """Values of a string or bytes field, as ranges of the uncompressed bytes."""

    plain: bytes
    starts: np.ndarray
    """int64, ascending where not null; 0 where null."""
    sizes: np.ndarray
    """int64; 0 where null."""
    null: np.ndarray | None

    @cached_property
    def arrow(self) -> pa.Array:
        """As large_binary."""
        there = self.starts > 0  # a length comes before every value
        if there.all():
            return self._cut_values(self.starts, self.sizes)
        found = self._cut_values(self.starts[there], self.sizes[there])
        return found.take(from_numpy(np.cumsum(there) - 1, ~there))

    @property
    def joined(self) -> bytes:
        """All values, concatenated."""
        _, offsets, data = self.arrow.buffers()
        if data is None or not len(self.starts):
            return b""
        return bytes(data.slice(0, int(np.frombuffer(offsets, np.int64)[len(self.starts)])))

    def _cut_values(self, starts: np.ndarray, sizes: np.ndarray) -> pa.Array:
        # An array over the unchanged bytes, alternately of values and of the gaps between them: every second item is a
        # value.
        cuts = np.empty(2 * len(starts), np.int64)
        cuts[0::2], cuts[1::2] = starts, starts + sizes
        if len(cuts) and ((cuts[1:] < cuts[:-1]).any() or cuts[-1] > len(self.plain)):
            raise UnsupportedLayout("values overlap")
        parts = [None, pa.py_buffer(cuts), pa.py_buffer(self.plain)]
        both = pa.LargeBinaryArray.from_buffers(pa.large_binary(), max(0, len(cuts) - 1), parts)
        return both.take(from_numpy(np.arange(0, len(cuts), 2)))


@dataclass(frozen=True, slots=True)
class Lists:
    """Values of an array field."""

    counts: np.ndarray
    """int64, items of each row; 0 where null."""
    ends: np.ndarray
    """int64, the index after each row's last item."""
    null: np.ndarray | None
    items: Any
    """The items of all rows, concatenated, as a column."""


def read_columns(
    schema: Any, blocks: Sequence[tuple[int, bytes]], lanes: int = LANES, worth: int = WORTH
) -> Mapping[str, Any]:
    """Columns by the path of their fields ('_FILE._KEY_STATS._MIN_VALUES').

    Args:
        schema: a record, or a union of null and one, without logical types. blocks: number of records and uncompressed
        bytes of each. lanes: approximate number of lanes. worth: minimum average number of records per step.

    Raises: UnsupportedLayout.
    """
    plain = b"".join([*(block for _, block in blocks), bytes(8)])
    begins, sure = list(_lane_starts(blocks, lanes)), list(_lane_starts(blocks, 0))
    try:
        return _decode_records(schema, plain, blocks, begins, worth)
    except UnsupportedLayout:
        if len(begins) == len(sure):
            raise
        return _decode_records(schema, plain, blocks, sure, worth)  # a guess may have been wrong


def _decode_records(
    schema: Any, plain: bytes, blocks: Sequence[tuple[int, bytes]], begins: Sequence[int], worth: int
) -> Mapping[str, Any]:
    walk = _Walk(plain)
    root = _decoder_of_type(schema, walk)
    try:
        return dict(root.columns("", walk.decode_lanes(root, begins, blocks, worth)))
    except (IndexError, OverflowError, pa.ArrowInvalid) as error:
        raise UnsupportedLayout(str(error)) from None


def _lane_starts(blocks: Sequence[tuple[int, bytes]], lane_count: int) -> Iterator[int]:
    """Positions in the uncompressed bytes where a record begins, or probably begins."""
    total = sum(len(block) for _, block in blocks)
    stride, begin = max(1, total // lane_count if lane_count else total), 0
    for count, block in blocks:
        if count:
            yield begin
            look, last = block[:_LOOK], 0
            for guess in range(stride, len(block), stride) if count > 1 else ():
                found = block.find(look, max(guess, last + 1))
                if found < 0:
                    break
                if found != last:
                    yield begin + found
                last = found
        begin += len(block)


class _Walk:
    """The uncompressed bytes, and decoding of numbers and records in all lanes."""

    def __init__(self, plain: bytes) -> None:
        self.plain = plain
        self.bytes = np.frombuffer(plain, np.uint8)
        self.words = np.ndarray((len(plain) - 7,), "<u8", plain, strides=(1,))
        """The eight bytes from each position."""

    def varint_words(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(the words that begin with the numbers, or single bytes if all numbers are that short; the positions after
        them).
        """
        first = self.bytes[at]
        if first.max(initial=0) < 0x80:
            return first, at + 1
        words = self.words[at]
        return words, _positions_after_varints(at, words)

    def decode_lanes(
        self, root: _Node, begins: Sequence[int], blocks: Sequence[tuple[int, bytes]], worth: int
    ) -> _Order:
        """Decode all lanes to their ends. Raises `UnsupportedLayout`; `IndexError` if a lane runs past the bytes."""
        sizes = [len(block) for _, block in blocks]
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        at = np.asarray(begins, np.int64)
        end = np.append(at[1:], bounds[-1])
        if len(at) == 0 or any((count == 0) != (size == 0) for (count, _), size in zip(blocks, sizes, strict=True)):
            raise UnsupportedLayout("empty blocks")
        records = sum(count for count, _ in blocks)
        steps = int((end - at).max()) * records // int(bounds[-1]) + 1
        if records < steps * worth:
            raise UnsupportedLayout("few lanes")
        record_starts: list[np.ndarray] = []
        seen = 0
        while len(at):
            if len(record_starts) > 4 * steps + 100:
                raise UnsupportedLayout("a lane does not end")
            record_starts.append(at)
            at = root.step(at, np.arange(seen, seen + len(at)))
            seen += len(record_starts[-1])
            going = at < end
            if not going.all():
                if (at > end).any():
                    raise UnsupportedLayout("a lane does not end where it should")
                at, end = at[going], end[going]
        positions = np.concatenate(record_starts)
        counted = np.bincount(np.searchsorted(bounds[1:], positions, "right"), minlength=len(blocks)).tolist()
        if any(found != count for found, (count, _) in zip(counted, blocks, strict=True)):
            raise UnsupportedLayout("another number of records")
        return _Order(np.argsort(positions, kind="stable"))


class _Order:
    """Restores record order for values that were decoded in lane order."""

    def __init__(self, order: np.ndarray) -> None:
        self.order = order

    def in_record_order(self, ids: list[np.ndarray], values: list[np.ndarray]) -> np.ndarray:
        """Values in the order of the rows; 0 where there is none."""
        size, found = len(self.order), np.concatenate(values) if values else np.zeros(0, np.uint8)
        if len(found) != size:
            met = np.zeros(size, found.dtype)
            if len(found):
                met[np.concatenate(ids)] = found
            found = met
        ordered: np.ndarray = found[self.order]
        return ordered


class _Node:
    """Decoder of a type: steps over its values, and returns columns at the end."""

    def step(self, at: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Record one value at each position. Returns the positions after them."""
        raise NotImplementedError

    def columns(self, path: str, rows: _Order) -> Iterator[tuple[str, Any]]:
        raise NotImplementedError


class _Record(_Node):
    def __init__(self, fields: Sequence[tuple[str, _Node]]) -> None:
        self.fields = fields

    def step(self, at: np.ndarray, ids: np.ndarray) -> np.ndarray:
        for _, field in self.fields:
            at = field.step(at, ids)
        return at

    def columns(self, path: str, rows: _Order) -> Iterator[tuple[str, Any]]:
        for name, field in self.fields:
            yield from field.columns(f"{path}.{name}" if path else name, rows)


class _Number(_Node):
    """int and long: zigzag, seven bits per byte, the lowest first; a byte without its highest bit is the last."""

    def __init__(self, walk: _Walk) -> None:
        self.walk = walk
        self.ids: list[np.ndarray] = []
        self.words: list[np.ndarray] = []

    def step(self, at: np.ndarray, ids: np.ndarray) -> np.ndarray:
        words, behind = self.walk.varint_words(at)
        self.ids.append(ids)
        self.words.append(words)
        return behind

    def columns(self, path: str, rows: _Order) -> Iterator[tuple[str, Any]]:
        yield path, Numbers(_zigzag_decoded(rows.in_record_order(self.ids, self.words)), None)


class _Text(_Node):
    """bytes and string: a length, then that many bytes."""

    def __init__(self, walk: _Walk, text: bool) -> None:
        self.walk, self.text = walk, text
        self.ids: list[np.ndarray] = []
        self.starts: list[np.ndarray] = []
        self.words: list[np.ndarray] = []

    def step(self, at: np.ndarray, ids: np.ndarray) -> np.ndarray:
        words, start = self.walk.varint_words(at)
        self.ids.append(ids)
        self.starts.append(start)
        self.words.append(words)
        end: np.ndarray = start + _short_numbers(words)
        return end

    def columns(self, path: str, rows: _Order) -> Iterator[tuple[str, Any]]:
        sizes = _zigzag_decoded(rows.in_record_order(self.ids, self.words))
        if len(sizes) and (sizes.min() < 0 or sizes.max() >= 1 << 27):
            raise UnsupportedLayout("a length")
        found = Texts(self.walk.plain, rows.in_record_order(self.ids, self.starts), sizes, None)
        if self.text and not found.joined.isascii():
            pc.cast(found.arrow, pa.large_string())  # raises if it is not UTF-8
        yield path, found


class _Optional(_Node):
    """A union of null and one other type: the branch index, then its value."""

    def __init__(self, walk: _Walk, inner: _Node, null_first: bool) -> None:
        self.walk, self.inner, self.here = walk, inner, 2 if null_first else 0
        self.ids: list[np.ndarray] = []
        self.branches: list[np.ndarray] = []

    def step(self, at: np.ndarray, ids: np.ndarray) -> np.ndarray:
        branches = self.walk.bytes[at]
        self.ids.append(ids)
        self.branches.append(branches)
        at = at + 1
        here = branches == self.here
        count = np.count_nonzero(here)
        if count == len(at):
            return self.inner.step(at, ids)
        if count:
            at[here] = self.inner.step(at[here], ids[here])
        return at

    def columns(self, path: str, rows: _Order) -> Iterator[tuple[str, Any]]:
        branches = rows.in_record_order(self.ids, self.branches)
        if len(branches) and (branches & 0xFD).any():
            raise UnsupportedLayout("a branch")
        null = branches != self.here
        for name, found in self.inner.columns(path, rows):
            yield name, _with_more_nulls(found, null)


class _List(_Node):
    """Blocks of items: a count, then the items; an empty block ends the array."""

    def __init__(self, walk: _Walk, inner: _Node) -> None:
        self.walk, self.inner = walk, inner
        self.parents: list[np.ndarray] = []
        self.seen = 0

    def step(self, at: np.ndarray, ids: np.ndarray) -> np.ndarray:
        out, open_ = at.copy(), np.arange(len(at))
        for _ in range(_MAX_BLOCKS):
            words, at = self.walk.varint_words(at)
            if (words & words.dtype.type(1)).any():
                raise UnsupportedLayout("a block of items with a byte size")
            left = _short_numbers(words)
            out[open_] = at
            some = left > 0
            open_, at, left = open_[some], at[some], left[some]
            if not len(open_):
                return out
            if left.max() > _MAX_ITEMS:
                raise UnsupportedLayout("very many items")
            doing = np.arange(len(at))
            while len(doing):
                now = at if len(doing) == len(at) else at[doing]
                self.parents.append(ids[open_[doing]])
                now = self.inner.step(now, np.arange(self.seen, self.seen + len(doing)))
                self.seen += len(doing)
                at[doing] = now
                left[doing] -= 1
                doing = doing[left[doing] > 0]
        raise UnsupportedLayout("very many blocks of items")

    def columns(self, path: str, rows: _Order) -> Iterator[tuple[str, Any]]:
        rank = np.empty(len(rows.order), np.int64)
        rank[rows.order] = np.arange(len(rank))
        parents = rank[np.concatenate(self.parents)] if self.parents else np.zeros(0, np.int64)
        counts = np.bincount(parents, minlength=len(rank)).astype(np.int64)
        found = dict(self.inner.columns("", _Order(np.argsort(parents, kind="stable"))))
        if list(found) != [""]:
            raise UnsupportedLayout("items of several fields")
        yield path, Lists(counts, np.cumsum(counts), None, found[""])


class _Nothing(_Node):
    """null: no bytes and no column."""

    @override
    def step(self, at: np.ndarray, ids: np.ndarray) -> np.ndarray:
        return at

    @override
    def columns(self, path: str, rows: _Order) -> Iterator[tuple[str, Any]]:
        yield from ()


def _decoder_of_type(schema: Any, walk: _Walk) -> _Node:
    """The decoder of a type. Raises `UnsupportedLayout` for a type that manifests never contain."""
    if isinstance(schema, list):
        if len(schema) != 2 or schema.count("null") != 1:
            raise UnsupportedLayout("a union")
        null_first = schema[0] == "null"
        return _Optional(walk, _decoder_of_type(schema[null_first], walk), null_first)
    match schema if isinstance(schema, str) else schema["type"]:
        case "null":
            return _Nothing()
        case "int" | "long":
            return _Number(walk)
        case "string" | "bytes" as kind:
            return _Text(walk, kind == "string")
        case "array":
            return _List(walk, _decoder_of_type(schema["items"], walk))
        case "record":
            return _Record([(f["name"], _decoder_of_type(f["type"], walk)) for f in schema["fields"]])
    raise UnsupportedLayout("a type")


def _with_more_nulls(found: Any, null: np.ndarray) -> Any:
    own = found.null
    both = null if own is None else null | own
    nulls = both if both.any() else None
    if isinstance(found, Numbers):
        return Numbers(found.values, nulls)
    if isinstance(found, Texts):
        return Texts(found.plain, found.starts, found.sizes, nulls)
    return Lists(found.counts, found.ends, nulls, found.items)


def _positions_after_varints(at: np.ndarray, words: np.ndarray) -> np.ndarray:
    """The positions after the numbers at the start of words; eight bytes further for longer numbers."""
    ends = ~words & _ENDS
    behind: np.ndarray = at + (np.bitwise_count(ends ^ (ends - _ONE)) >> 3)
    return behind


def _short_numbers(words: np.ndarray) -> np.ndarray:
    """Lengths of at most four bytes, zigzag-decoded; longer or negative ones are detected later."""
    if words.dtype == np.uint8:
        return (words >> 1).astype(np.int64)
    ends = ~words & _ENDS
    bits = words & (ends ^ (ends - _ONE)) & np.uint64(0x7F7F7F7F)
    bits = (bits & np.uint64(0x007F007F)) | (bits >> _ONE & np.uint64(0x3F803F80))
    bits = (bits & np.uint64(0x3FFF)) | (bits >> np.uint64(2) & np.uint64(0x0FFFC000))
    return (bits >> _ONE).astype(np.int64)


def _zigzag_decoded(words: np.ndarray) -> np.ndarray:
    """The numbers at the start of words, int64. Raises `UnsupportedLayout` for one of more than 8 bytes."""
    if words.dtype == np.uint8:
        small = words.astype(np.int64)
        return (small >> 1) ^ -(small & 1)
    ends = ~words & _ENDS
    if len(ends) and not ends.all():
        raise UnsupportedLayout("a long number")
    bits = words & (ends ^ (ends - _ONE)) & np.uint64(0x7F7F7F7F7F7F7F7F)
    bits = (bits & np.uint64(0x007F007F007F007F)) | (bits >> _ONE & np.uint64(0x3F803F803F803F80))
    bits = (bits & np.uint64(0x00003FFF00003FFF)) | (bits >> np.uint64(2) & np.uint64(0x0FFFC0000FFFC000))
    bits = (bits & np.uint64(0x000000000FFFFFFF)) | (bits >> np.uint64(4) & np.uint64(0x00FFFFFFF0000000))
    return (bits >> _ONE).astype(np.int64) ^ -(bits & _ONE).astype(np.int64)
