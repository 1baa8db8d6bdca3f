"""Compact all of level 0, so that readers of a lookup table see it. Source: behaviour reference, section 4."""

from __future__ import annotations

from paimon_nb.table.lsm.levels import Levels
from paimon_nb.table.lsm.pick.types import PickLimits, Unit
from paimon_nb.table.lsm.pick.universal import grow


def force_level0(levels: Levels, limits: PickLimits) -> Unit | None:
    """All level-0 runs, and following runs by the size ratio; None if level 0 is empty."""
    count = len(levels.level0)
    return grow(levels, limits, count, forced=True) if count else None
