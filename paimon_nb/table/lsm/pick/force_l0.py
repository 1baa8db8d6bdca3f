"""Bring all of level 0 up, so that a lookup table's readers see it. Source: behaviour reference, section 4."""

from __future__ import annotations

from paimon_nb.table.lsm.levels import Levels
from paimon_nb.table.lsm.pick.types import PickLimits, Unit
from paimon_nb.table.lsm.pick.universal import grow


def force_level0(levels: Levels, limits: PickLimits) -> Unit | None:
    """All level-0 runs, and the runs behind them by the size ratio; None when level 0 is empty."""
    count = len(levels.level0)
    return grow(levels, limits, count, forced=True) if count else None
