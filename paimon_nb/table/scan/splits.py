"""Splits: the pieces of a scan that can be read apart, and how a bucket's files are packed into them. Reads nothing.

Source: format reference, section 14.1 (Paimon `MergeTreeSplitGenerator`, `AppendOnlySplitGenerator`, `BinPacking`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from paimon_nb.format.manifest import DataFile
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.keys import key_decoder
from paimon_nb.table.lsm.sections import sections
from paimon_nb.table.scan.evolution import evolves, same_rows
from paimon_nb.table.store import TableStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DvRef:
    """Where a data file's deletion vector lies."""

    path: str
    """The index file."""
    offset: int
    length: int
    cardinality: int | None


@dataclass(frozen=True, slots=True)
class Split:
    """Files of one bucket that are read together. Plain data: goes pickled to Spark tasks."""

    snapshot_id: int
    partition: bytes
    bucket: int
    total_buckets: int
    files: tuple[DataFile, ...]
    deletion_vectors: Mapping[str, DvRef] | None
    """By data file name; None when no row is deleted."""
    raw: bool
    """Every row stored (and not deleted by a vector) is a row of the result: nothing to merge, no kinds to look at."""
    changes: bool = False
    """The rows are changes of a primary-key table, each with its kind: they are told one by one, never merged."""
    before: tuple[DataFile, ...] = ()
    """For a difference of two states: the files of the earlier one."""
    before_vectors: Mapping[str, DvRef] | None = None
    diff: bool = False
    """Tell how the merged rows of `files` differ from those of `before`."""
    branch: str | None = None
    """Another branch than the plan's that the files belong to, with its schemas and options (`scan.fallback-branch`)."""

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(f.file_size for f in (*self.before, *self.files))

    @property
    def row_count(self) -> int:
        """Rows stored, before merging."""
        return sum(f.row_count for f in self.files)


def pack(items: Iterable[T], weight: Callable[[T], int], target: int) -> list[list[T]]:
    """Bins in order: one is closed when the next item would lift it over `target`."""
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


def pack_bucket(store: TableStore, files: Sequence[DataFile], independent: bool) -> list[tuple[list[DataFile], bool]]:
    """The files of one bucket as (files of a split, raw).

    Args:
        independent: no two files hold versions of one row: append tables, deletion vectors, first-row.
    """
    target = store.options.get(opt.SOURCE_SPLIT_TARGET_SIZE)
    cost = store.options.get(opt.SOURCE_SPLIT_OPEN_FILE_COST)
    assert target is not None
    assert cost is not None

    def weight(group: Sequence[DataFile]) -> int:
        return max(sum(f.file_size for f in group), cost)

    def alone(file: DataFile) -> int:
        return max(file.file_size, cost)

    if evolves(store):
        bins = pack(same_rows(files), weight, target)
        return [([f for group in part for f in group], all(len(group) == 1 for group in part)) for part in bins]
    if not store.has_keys:
        return [(group, True) for group in pack(files, alone, target)]
    levels = {f.level for f in files}
    if 0 not in levels and all(map(_all_adds, files)) and (independent or len(levels) == 1):
        return [(group, all(map(_no_deletes, group))) for group in pack(files, alone, target)]
    key = key_decoder([f.type for f in store.schema.key_fields])
    cut = [([f for run in s for f in run.files], len(s) == 1) for s in sections(files, key)]
    out = []
    for chosen in pack(cut, lambda s: weight(s[0]), target):
        group = [f for part, _ in chosen for f in part]
        out.append((group, all(single for _, single in chosen) and all(map(_no_deletes, group))))
    return out


def _all_adds(file: DataFile) -> bool:
    return not file.delete_row_count


def _no_deletes(file: DataFile) -> bool:
    """Surely no -U or -D inside; files of old releases do not say."""
    return file.delete_row_count == 0
