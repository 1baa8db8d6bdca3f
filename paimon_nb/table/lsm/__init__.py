"""The LSM tree of one bucket: levels, sections and compaction picks. Pure: touches no file."""

from paimon_nb.table.lsm.levels import LevelRun, Levels, SortedRun
from paimon_nb.table.lsm.sections import sections

__all__ = ["LevelRun", "Levels", "SortedRun", "sections"]
