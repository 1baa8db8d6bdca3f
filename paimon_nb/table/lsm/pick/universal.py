"""Universal compaction: size amplification, then size ratio, then number of runs.

Source: behaviour reference, section 4 (Paimon `mergetree/compact/UniversalCompaction.java`).
"""

from __future__ import annotations

from paimon_nb.table.lsm.levels import Levels
from paimon_nb.table.lsm.pick.early_full import early_full
from paimon_nb.table.lsm.pick.types import PickLimits, Unit


def pick_universal(levels: Levels, limits: PickLimits) -> Unit | None:
    """The unit to compact, or None."""
    return (
        early_full(levels, limits)
        or size_amplification(levels, limits)
        or size_ratio(levels, limits)
        or run_count(levels, limits)
    )


def size_amplification(levels: Levels, limits: PickLimits) -> Unit | None:
    runs = levels.runs
    if not runs or len(runs) < limits.trigger:
        return None
    newer = sum(r.run.size for r in runs[:-1])
    if newer * 100 > limits.max_size_amplification * runs[-1].run.size:
        return Unit.of_runs(levels.max_level, runs)
    return None


def size_ratio(levels: Levels, limits: PickLimits) -> Unit | None:
    if len(levels.runs) < limits.trigger:
        return None
    return grow(levels, limits, 1, forced=False)


def run_count(levels: Levels, limits: PickLimits) -> Unit | None:
    excess = len(levels.runs) - limits.trigger
    return grow(levels, limits, excess + 1, forced=False) if excess > 0 else None


def grow(levels: Levels, limits: PickLimits, count: int, *, forced: bool) -> Unit | None:
    """Pick the first `count` runs and continue while the next one is not much larger than the picked ones.

    `forced`: also if that is a single run. As in Paimon 1.3; later versions may include a large run of level 1.
    """
    runs = levels.runs
    if not runs:
        return None
    taken = sum(r.run.size for r in runs[:count])
    for following in runs[count:]:
        if taken * (100.0 + limits.size_ratio) / 100.0 < following.run.size:
            break
        taken += following.run.size
        count += 1
    return unit_of_first(levels, count) if forced or count > 1 else None


def unit_of_first(levels: Levels, count: int) -> Unit:
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
