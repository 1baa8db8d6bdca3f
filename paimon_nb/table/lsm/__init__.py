"""The LSM tree of one bucket: levels, sections and compaction picks. Pure: touches no file."""

from paimon_nb.table.lsm.levels import LevelRun, Levels, SortedRun, sections

__all__ = ["LevelRun", "Levels", "SortedRun", "sections"]
