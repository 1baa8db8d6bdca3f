"""Compaction picks: which runs to compact, from sizes and levels alone.

Universal compaction checks size amplification, then size ratio, then number of runs.
Source: docs/spec/merge-semantics.md section 4 (Paimon `mergetree/compact/UniversalCompaction.java`, `CompactStrategy.java`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.options import TableOptions
    from paimon_nb.table.lsm.levels import LevelRun, Levels


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
            force_level0=options.forces_level0_compaction,
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


# -- strategies


def pick_compaction(levels: Levels, limits: PickLimits) -> Unit | None:
    """The table's strategy: universal, then (lookup tables) all of level 0. None: nothing to do."""
    unit = pick_universal(levels, limits)
    if unit is None and limits.force_level0:
        unit = pick_level0(levels, limits)
    if unit is None or not unit.files or (len(unit.files) == 1 and unit.files[0].level == unit.output_level):
        return None
    return unit


def pick_full(levels: Levels, must_rewrite: Callable[[DataFile], bool]) -> Unit | None:
    """Everything to the max level. If all files are there already, only those that `must_rewrite` selects."""
    runs = levels.runs
    if not runs:
        return None
    if len(runs) == 1 and runs[0].level == levels.max_level:
        files = tuple(f for f in runs[0].run.files if must_rewrite(f))
        return Unit(levels.max_level, files) if files else None
    return Unit.of_runs(levels.max_level, runs)


def pick_universal(levels: Levels, limits: PickLimits) -> Unit | None:
    """The unit to compact, or None."""
    return (
        pick_early_full(levels, limits)
        or pick_by_size_amplification(levels, limits)
        or pick_by_size_ratio(levels, limits)
        or pick_by_run_count(levels, limits)
    )


def pick_by_size_amplification(levels: Levels, limits: PickLimits) -> Unit | None:
    runs = levels.runs
    if not runs or len(runs) < limits.trigger:
        return None
    newer = sum(r.run.size for r in runs[:-1])
    if newer * 100 > limits.max_size_amplification * runs[-1].run.size:
        return Unit.of_runs(levels.max_level, runs)
    return None


def pick_by_size_ratio(levels: Levels, limits: PickLimits) -> Unit | None:
    if len(levels.runs) < limits.trigger:
        return None
    return extend_by_size_ratio(levels, limits, 1, forced=False)


def pick_by_run_count(levels: Levels, limits: PickLimits) -> Unit | None:
    excess = len(levels.runs) - limits.trigger
    return extend_by_size_ratio(levels, limits, excess + 1, forced=False) if excess > 0 else None


def extend_by_size_ratio(levels: Levels, limits: PickLimits, count: int, *, forced: bool) -> Unit | None:
    """Pick the first `count` runs and continue while the next one is not much larger than the picked ones.

    `forced`: also if that is a single run. A run of level 1 is always taken with those above it, so that level 1 does not grow by
    small steps and a compaction never ends on level 0. Source: Paimon 2.1 `UniversalCompaction.pickForSizeRatio`.
    """
    runs = levels.runs
    if not runs:
        return None
    taken, triggered = sum(r.run.size for r in runs[:count]), forced or count > 1
    for following in runs[count:]:
        is_larger = taken * (100.0 + limits.size_ratio) / 100.0 < following.run.size
        if is_larger and (not triggered or following.level > 1):
            break
        taken += following.run.size
        count, triggered = count + 1, True
    return unit_of_first_runs(levels, count) if triggered else None


def unit_of_first_runs(levels: Levels, count: int) -> Unit:
    """The first `count` runs and their output level: just below the level of the next run, but never level 0."""
    runs = levels.runs
    output = levels.max_level if count == len(runs) else max(0, runs[count].level - 1)
    if output == 0:
        for following in runs[count:]:
            count += 1
            if following.level != 0:
                output = following.level
                break
    if count == len(runs):
        output = levels.max_level
    return Unit.of_runs(output, runs[:count])


def pick_early_full(levels: Levels, limits: PickLimits) -> Unit | None:
    """All runs to the max level if an interval, total-size or incremental-size rule applies."""
    runs = levels.runs
    if len(runs) <= 1:
        return None
    interval = limits.optimization_interval_ms
    due = interval is not None and (limits.last_full_ms is None or limits.now_ms - limits.last_full_ms > interval)
    if not due and limits.total_size_threshold is not None:
        due = sum(r.run.size for r in runs) < limits.total_size_threshold
    if not due and limits.incremental_size_threshold is not None:
        above = sum(r.run.size for r in runs if r.level != levels.max_level)
        due = above > limits.incremental_size_threshold
    return Unit.of_runs(levels.max_level, runs) if due else None


def pick_level0(levels: Levels, limits: PickLimits) -> Unit | None:
    """All level-0 runs, and following runs by the size ratio; None if level 0 is empty."""
    count = len(levels.level0)
    return extend_by_size_ratio(levels, limits, count, forced=True) if count else None
