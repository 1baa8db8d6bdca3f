"""Compaction: the same rows in fewer and larger files. Plans are data; each bucket's work is independent."""

from paimon_nb.table.write.bucket_compact.cluster import uses_clustering
from paimon_nb.table.write.compact.chain import merge_chain
from paimon_nb.table.write.compact.compact import CompactTask, compact, idle_partitions, plan_compaction, run_task
from paimon_nb.table.write.compact.materialize import materialize_deletion_vectors
from paimon_nb.table.write.compact.rewrite_index import rewrite_file_indexes
from paimon_nb.table.write.compact.sort import SortTask, plan_sort, run_sort, sort_overwrite

__all__ = [
    "CompactTask", "SortTask", "uses_clustering", "compact", "idle_partitions", "materialize_deletion_vectors", "merge_chain", "plan_compaction", "plan_sort", "rewrite_file_indexes", "run_sort", "run_task",
    "sort_overwrite",
]  # fmt: skip
