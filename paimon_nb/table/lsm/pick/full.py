"""Full compaction on demand. Source: behaviour reference, section 4 (Paimon `CompactStrategy.pickFullCompaction`)."""

from __future__ import annotations

from collections.abc import Callable

from paimon_nb.format.manifest import DataFile
from paimon_nb.table.lsm.levels import Levels
from paimon_nb.table.lsm.pick.types import Unit


def pick_full(levels: Levels, must_rewrite: Callable[[DataFile], bool]) -> Unit | None:
    """Everything to the max level. If all files are there already, only those that `must_rewrite` selects."""
    runs = levels.runs
    if not runs:
        return None
    if len(runs) == 1 and runs[0].level == levels.max_level:
        files = tuple(f for f in runs[0].run.files if must_rewrite(f))
        return Unit(levels.max_level, files) if files else None
    return Unit.of_runs(levels.max_level, runs)
