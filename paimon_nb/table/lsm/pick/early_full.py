"""Early full compaction: after an interval or for small data. Source: behaviour reference, section 4, step 0."""

from __future__ import annotations

from paimon_nb.table.lsm.levels import Levels
from paimon_nb.table.lsm.pick.types import PickLimits, Unit


def early_full(levels: Levels, limits: PickLimits) -> Unit | None:
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
