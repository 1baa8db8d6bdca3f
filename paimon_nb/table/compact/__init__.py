"""Compaction: the same rows in fewer, better placed files. Plans are data; each bucket's work is independent."""

from paimon_nb.table.compact.compact import CompactTask, compact, plan_compaction, run_task
from paimon_nb.table.compact.rewrite_index import rewrite_file_indexes

__all__ = ["CompactTask", "compact", "plan_compaction", "rewrite_file_indexes", "run_task"]
