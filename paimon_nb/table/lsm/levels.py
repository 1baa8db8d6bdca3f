"""A bucket's files arranged in levels and sorted runs; knows sizes and sequence numbers, never contents.

Source: docs/spec/merge-semantics.md section 4 (Paimon `mergetree/Levels.java`, `SortedRun.java`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from paimon_nb.format.manifest import DataFile


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
