"""Bring all of level 0 up, so that a lookup table's readers see it. Source: behaviour reference, section 4."""

from __future__ import annotations

from paimon_nb.table.lsm.levels import Levels
from paimon_nb.table.lsm.pick.choice import Unit
from paimon_nb.table.lsm.pick.universal import unit_of_first


def force_level0(levels: Levels) -> Unit | None:
    """All level-0 runs and, where needed, the first run below them; None when level 0 is empty."""
    count = len(levels.level0)
    return unit_of_first(levels, count) if count else None
