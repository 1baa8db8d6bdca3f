"""Inputs and result of a pick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimon_nb.format.manifest import DataFile
from paimon_nb.table.lsm.levels import LevelRun

if TYPE_CHECKING:
    from paimon_nb.options import TableOptions


@dataclass(frozen=True, slots=True)
class PickLimits:
    """Options and times that control a pick. Sizes in bytes, ratios in percent."""

    trigger: int = 5
    """`num-sorted-run.compaction-trigger`"""
    max_size_amplification: int = 200
    """`compaction.max-size-amplification-percent`"""
    size_ratio: int = 1
    """`compaction.size-ratio`, off-peak addition included"""
    optimization_interval_ms: int | None = None
    last_full_ms: int | None = None
    """Time of the last full compaction; None: none by this writer."""
    now_ms: int = 0
    total_size_threshold: int | None = None
    incremental_size_threshold: int | None = None
    force_level0: bool = False
    """Lookup tables: also compact what universal compaction leaves on level 0."""

    @classmethod
    def of(cls, options: TableOptions, *, now_ms: int, hour: int, last_full_ms: int | None = None) -> PickLimits:
        """Limits from table options. `hour` (0-23, local) selects the off-peak ratio."""
        from paimon_nb.options import table as opt

        start, end = options.get(opt.COMPACTION_OFFPEAK_START_HOUR), options.get(opt.COMPACTION_OFFPEAK_END_HOUR)
        extra = options.get(opt.COMPACTION_OFFPEAK_RATIO) if is_off_peak(hour, start, end) else 0
        return cls(
            trigger=options.get(opt.NUM_SORTED_RUN_COMPACTION_TRIGGER),
            max_size_amplification=options.get(opt.COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT),
            size_ratio=options.get(opt.COMPACTION_SIZE_RATIO) + extra,
            optimization_interval_ms=options.get(opt.COMPACTION_OPTIMIZATION_INTERVAL),
            last_full_ms=last_full_ms,
            now_ms=now_ms,
            total_size_threshold=options.get(opt.COMPACTION_TOTAL_SIZE_THRESHOLD),
            incremental_size_threshold=options.get(opt.COMPACTION_INCREMENTAL_SIZE_THRESHOLD),
            force_level0=options.lifts_level_0,
        )


def is_off_peak(hour: int, start: int, end: int) -> bool:
    """True inside [start, end), which may wrap midnight; -1 disables it."""
    if start < 0 or end < 0 or start == end:
        return False
    return start <= hour < end if start < end else hour >= start or hour < end


@dataclass(frozen=True, slots=True)
class Unit:
    """Files to bring to `output_level` in one compaction."""

    output_level: int
    files: tuple[DataFile, ...]

    @classmethod
    def of_runs(cls, output_level: int, runs: Sequence[LevelRun]) -> Unit:
        return cls(output_level, tuple(f for r in runs for f in r.run.files))
