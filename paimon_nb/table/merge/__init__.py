"""Merge engines: how several versions of a key become one row."""

from paimon_nb.table.merge.groups import SortedChunks
from paimon_nb.table.merge.merge import MERGE_ENGINES, merge, merged_groups, winners
from paimon_nb.table.merge.spec import PICKS_ROWS, Aggregator, MergeSpec, SequenceGroup

__all__ = [
    "MERGE_ENGINES", "PICKS_ROWS", "Aggregator", "MergeSpec", "SequenceGroup", "SortedChunks", "merge", "merged_groups",
    "winners",
]  # fmt: skip
