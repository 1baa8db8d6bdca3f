"""Splits: independently readable parts of a scan, and how a bucket's files are packed into them. Reads nothing.

Source: docs/spec/format.md section 14.1 (Paimon `MergeTreeSplitGenerator`, `AppendOnlySplitGenerator`, `BinPacking`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import Any, TypeVar

from paimon_nb.format.manifest import FILE_NUMBERS, DataFile, Files
from paimon_nb.table.lsm.keys import key_decoder
from paimon_nb.table.lsm.sections import cut
from paimon_nb.table.scan.read.data_evolution import evolves, same_rows
from paimon_nb.table.store import TableStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DvRef:
    """Location of a data file's deletion vector."""

    path: str
    """The index file."""
    offset: int
    length: int
    cardinality: int | None


@dataclass(frozen=True, slots=True)
class Split:
    """Files of one bucket that are read together. Plain data: pickled for Spark tasks."""

    snapshot_id: int
    partition: bytes
    bucket: int
    total_buckets: int
    files: Sequence[DataFile]
    """A tuple, or an equal sequence."""
    deletion_vectors: Mapping[str, DvRef] | None
    """By data file name; None if no row is deleted."""
    raw: bool
    """Every stored row (that is not deleted by a vector) is a result row: no merging, no row kinds."""
    changes: bool = False
    """The rows are changes of a primary-key table with their row kinds: emitted one by one, never merged."""
    before: tuple[DataFile, ...] = ()
    """For a difference of two states: the files of the earlier one."""
    before_vectors: Mapping[str, DvRef] | None = None
    diff: bool = False
    """Emit the difference between the merged rows of `files` and those of `before`."""
    branch: str | None = None
    """Set if the files belong to another branch than the plan's, with its schemas and options (`scan.fallback-branch`)."""

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(f.file_size for f in (*self.before, *self.files))

    @property
    def row_count(self) -> int:
        """Stored rows, before merging."""
        return sum(f.row_count for f in self.files)


def pack(items: Iterable[T], weight: Callable[[T], int], target: int) -> list[list[T]]:
    """Bins in order: a bin is closed when the next item would exceed `target`."""
    bins: list[list[T]] = []
    load = 0
    for item in items:
        more = weight(item)
        if bins and load + more <= target:
            bins[-1].append(item)
            load += more
        else:
            bins.append([item])
            load = more
    return bins


def pack_bucket(
    store: TableStore, files: Sequence[DataFile], independent: bool
) -> list[tuple[Sequence[DataFile], bool]]:
    """The files of one bucket as (files of a split, raw).

    Args:
        independent: no two files hold versions of the same row: append tables, deletion vectors, first-row.
    """
    target, cost = store.options.split_target_size, store.options.split_open_file_cost
    if evolves(store):
        bins = pack(same_rows(files), lambda group: max(sum(f.file_size for f in group), cost), target)
        return [([f for group in part for f in group], all(len(group) == 1 for group in part)) for part in bins]
    if not store.has_keys:
        return [(files[a:b], True) for a, b in _cuts(_numbers(files, "file_size"), cost, target)]
    levels, deletes = set(_numbers(files, "level")), _numbers(files, "deletes")
    if 0 not in levels and max(deletes, default=0) <= 0 and (independent or len(levels) == 1):
        cuts = _cuts(_numbers(files, "file_size"), cost, target)
        return [(files[a:b], not any(deletes[a:b])) for a, b in cuts]
    sizes = _numbers(files, "file_size")
    parts = [([i for run in section for i in run], len(section) == 1) for section in cut(_bounded(store, files))]
    order: list[int] = []
    groups: list[tuple[int, int, bool]] = []
    for parts_of_split in pack(parts, lambda part: max(sum(sizes[i] for i in part[0]), cost), target):
        group = [i for part, _ in parts_of_split for i in part]
        raw = all(single for _, single in parts_of_split) and not any(deletes[i] for i in group)
        groups.append((len(order), len(order) + len(group), raw))
        order += group
    ordered = files.reorder(order) if isinstance(files, Files) else [files[i] for i in order]
    return [(ordered[a:b], raw) for a, b, raw in groups]


def _bounded(store: TableStore, files: Sequence[DataFile]) -> list[tuple[Any, Any, int]]:
    """(smallest key, largest key, index) of each file."""
    types = [f.type for f in store.schema.key_fields]
    if isinstance(files, Files):
        from paimon_nb.table.scan.plan.key_ranks import key_ranks

        ranks = key_ranks(types, files.column("min_key"), files.column("max_key"))
        if ranks is not None:
            return list(zip(ranks[0].tolist(), ranks[1].tolist(), range(len(files)), strict=True))
    key = key_decoder(types)
    return [(key(f.min_key), key(f.max_key), i) for i, f in enumerate(files)]


def _cuts(sizes: Sequence[int], cost: int, target: int) -> Iterator[tuple[int, int]]:
    """Bins of files as (first, end), as `pack` builds them from `max(size, cost)`."""
    loads = [0, *accumulate(map(max, sizes, repeat(cost)))]
    begin = 0
    while begin < len(sizes):
        end = max(bisect_right(loads, loads[begin] + target, begin) - 1, begin + 1)
        yield begin, end
        begin = end


def _numbers(files: Sequence[DataFile], name: str) -> list[int]:
    """A number of each file; lazy files stay lazy."""
    return files.numbers(name) if isinstance(files, Files) else list(map(FILE_NUMBERS[name], files))
