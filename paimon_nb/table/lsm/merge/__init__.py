"""Merge engines: how several versions of a key become one row."""

from paimon_nb.table.lsm.merge.groups import PICKS_ROWS, Aggregator, MergeSpec, SequenceGroup, SortedChunks
from paimon_nb.table.lsm.merge.merge import MERGE_ENGINES, lone_rows, merge, merge_sorted_groups, remaining_rows

__all__ = [
    "MERGE_ENGINES", "PICKS_ROWS", "Aggregator", "MergeSpec", "SequenceGroup", "SortedChunks", "lone_rows", "merge",
    "merge_sorted_groups", "remaining_rows",
]  # fmt: skip
