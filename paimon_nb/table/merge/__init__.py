"""Merge engines: how several versions of a key become one row."""

from paimon_nb.table.merge.engines import MERGE_ENGINES
from paimon_nb.table.merge.merge import merge, winners
from paimon_nb.table.merge.order import sort_rows
from paimon_nb.table.merge.spec import PICKS_ROWS, Aggregator, MergeSpec, SequenceGroup

__all__ = ["MERGE_ENGINES", "PICKS_ROWS", "Aggregator", "MergeSpec", "SequenceGroup", "merge", "sort_rows", "winners"]
