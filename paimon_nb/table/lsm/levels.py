"""A bucket's files arranged in levels, sorted runs and sections of overlapping key ranges. Never reads a file.

Source: docs/spec/merge-semantics.md section 4 (Paimon `mergetree/Levels.java`, `SortedRun.java`,
`compact/IntervalPartition.java`).
"""

from __future__ import annotations

import math
import struct
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.row import RowReader, check_arity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataType


def run_count(files: Iterable[DataFile]) -> int:
    """Sorted runs of a bucket: each file of level 0, and each deeper level that holds files."""
    levels = [f.level for f in files]
    return levels.count(0) + len(set(levels) - {0})


@dataclass(frozen=True, slots=True)
class SortedRun:
    """Files in key order whose key ranges do not overlap."""

    files: tuple[DataFile, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(f.file_size for f in self.files)


@dataclass(frozen=True, slots=True)
class LevelRun:
    """A sorted run and its level."""

    level: int
    run: SortedRun


@dataclass(frozen=True)
class Levels:
    """Level 0: every file its own run, newest first. Level 1 and up: one run each."""

    num_levels: int
    """Number of levels; the max level is one less. Grows if files are on deeper levels than the option says."""
    level0: tuple[DataFile, ...]
    upper: tuple[SortedRun, ...]
    """Runs of level 1, 2, ...; empty runs included."""

    @classmethod
    def of(cls, files: Iterable[DataFile], num_levels: int, key: Callable[[bytes], Any]) -> Levels:
        """Arrange a bucket's live files. `key` decodes a file's min key (see `keys.key_decoder`)."""
        files = list(files)
        deepest = max((f.level for f in files), default=0)
        num_levels = max(num_levels, deepest + 1)
        level0 = sorted((f for f in files if f.level == 0), key=newest_first)
        upper = [
            SortedRun(tuple(sorted((f for f in files if f.level == level), key=lambda f: key(f.min_key))))
            for level in range(1, num_levels)
        ]
        return cls(num_levels, tuple(level0), tuple(upper))

    @property
    def max_level(self) -> int:
        return self.num_levels - 1

    @cached_property
    def runs(self) -> tuple[LevelRun, ...]:
        """All non-empty runs, newest data first."""
        zero = [LevelRun(0, SortedRun((f,))) for f in self.level0]
        return tuple(zero + [LevelRun(i, run) for i, run in enumerate(self.upper, 1) if run.files])

    @property
    def highest_used(self) -> int:
        """The deepest level with files; -1 if the bucket is empty."""
        return max((r.level for r in self.runs), default=-1)

    @property
    def files(self) -> tuple[DataFile, ...]:
        return tuple(f for r in self.runs for f in r.run.files)


def newest_first(file: DataFile) -> tuple[int, int, int, str]:
    """Sort key of level 0. Two jobs may write equal sequence numbers, so time and name break ties."""
    return (-file.max_sequence, file.min_sequence, file.creation_time_ms or 0, file.file_name)


Key = tuple[Any, ...]


def key_decoder(types: Sequence[DataType]) -> Callable[[bytes], Key]:
    """A function from a serialized key to a comparable tuple.

    Nulls first, numbers by value, text and bytes bytewise (code points sort as UTF-8 does), false before true.
    """
    width, read = len(types), RowReader(types).read

    @lru_cache(maxsize=65536)
    def decode(data: bytes) -> Key:
        check_arity(data, width)
        return tuple(map(key_order, read(memoryview(data)[4:])))

    return decode


def key_order(value: Any) -> tuple[bool, Any]:
    """A value in the in-row Python form as an object with Paimon's order; null is smallest."""
    if value is None:
        return (False, 0)
    if isinstance(value, float):
        # Java compares keys by < and >: -0.0 equals 0.0. Its NaN then equals everything; here it sorts last.
        one = math.nan if value != value else value + 0.0
        bits = struct.unpack("<q", struct.pack("<d", one))[0]
        return (True, bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF) - 1)
    return (True, value)


Section = tuple[SortedRun, ...]
T = TypeVar("T")


def sections(files: Iterable[DataFile], key: Callable[[bytes], Any]) -> list[Section]:
    """Sections in key order. All rows of a key are in one section; a section with one run needs no merge."""
    bounded = [(key(f.min_key), key(f.max_key), f) for f in files]
    return [tuple(SortedRun(tuple(run)) for run in section) for section in split_into_sections(bounded)]


def split_into_sections(bounded: list[tuple[Any, Any, T]]) -> list[list[list[T]]]:
    """`sections` of anything, as lists of runs. `bounded`: (smallest key, largest key, thing); sorted here."""
    bounded.sort(key=lambda b: (b[0], b[1]))
    out: list[list[list[T]]] = []
    current: list[tuple[Any, Any, T]] = []
    bound: Any = None
    for item in bounded:
        if current and item[0] > bound:
            out.append(_partition_into_runs(current))
            current = []
        bound = item[1] if not current else max(bound, item[1])
        current.append(item)
    if current:
        out.append(_partition_into_runs(current))
    return out


def _partition_into_runs(section: list[tuple[Any, Any, T]]) -> list[list[T]]:
    """Greedy: each file is added to the run that ends first, if that run ends before the file begins.

    A merge does not depend on the order of the runs, but changes are read file by file: so the order is that of Java's
    queue.
    """
    queue: list[tuple[Any, list[T]]] = []  # (max key of the run's last file, run), a heap by the keys
    for low, high, file in section:
        if not queue:
            _heap_add(queue, (high, [file]))
            continue
        end, run = _heap_poll(queue)
        if end < low:
            run.append(file)
            _heap_add(queue, (high, run))
        else:
            _heap_add(queue, (high, [file]))
            _heap_add(queue, (end, run))
    return [run for _, run in queue]


def _heap_add(heap: list[tuple[Any, list[T]]], item: tuple[Any, list[T]]) -> None:
    """`java.util.PriorityQueue.add`."""
    at = len(heap)
    heap.append(item)
    while at and item[0] < heap[(at - 1) // 2][0]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = item


def _heap_poll(heap: list[tuple[Any, list[T]]]) -> tuple[Any, list[T]]:
    """`java.util.PriorityQueue.poll`."""
    first, item = heap[0], heap.pop()
    if not heap:
        return first
    at = 0
    while (child := 2 * at + 1) < len(heap):
        if child + 1 < len(heap) and heap[child + 1][0] < heap[child][0]:
            child += 1
        if not heap[child][0] < item[0]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = item
    return first


class HasFiles(Protocol):
    """Something made of files."""

    @property
    def files(self) -> Sequence[DataFile]:
        """Its files."""


R = TypeVar("R", bound=HasFiles)


def oldest_first(runs: Sequence[R]) -> list[R] | None:
    """The runs in the order of their age; None if sequence numbers of two runs overlap and must be compared row by row."""
    spans = sorted(
        ((min(f.min_sequence for f in r.files), max(f.max_sequence for f in r.files), r) for r in runs),
        key=lambda span: span[0],
    )
    overlap = any(older[1] >= newer[0] for older, newer in pairwise(spans))
    return None if overlap else [run for _, _, run in spans]
