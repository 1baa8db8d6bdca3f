"""Compaction picks: which runs to compact, from sizes and levels alone."""

from paimon_nb.table.lsm.pick.early_full import early_full
from paimon_nb.table.lsm.pick.force_l0 import force_level0
from paimon_nb.table.lsm.pick.full import pick_full
from paimon_nb.table.lsm.pick.types import PickLimits, Unit
from paimon_nb.table.lsm.pick.universal import pick_universal

__all__ = ["PickLimits", "Unit", "early_full", "force_level0", "pick", "pick_full", "pick_universal"]

from paimon_nb.table.lsm.levels import Levels


def pick(levels: Levels, limits: PickLimits) -> Unit | None:
    """The table's strategy: universal, then (lookup tables) all of level 0. None: nothing to do."""
    unit = pick_universal(levels, limits)
    if unit is None and limits.force_level0:
        unit = force_level0(levels, limits)
    if unit is None or not unit.files or (len(unit.files) == 1 and unit.files[0].level == unit.output_level):
        return None
    return unit
