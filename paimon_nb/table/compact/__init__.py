"""Compaction: the same rows in fewer, better placed files. Plans are data; each bucket's work is independent."""

from paimon_nb.table.compact.compact import CompactTask, compact, plan_compaction, run_task

__all__ = ["CompactTask", "compact", "plan_compaction", "run_task"]
