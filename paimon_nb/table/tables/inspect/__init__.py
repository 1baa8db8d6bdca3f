"""Table inspection: row history, compaction preview, health checks, comparison. Read-only."""

from paimon_nb.table.tables.inspect.amplification import Amplification, Sample, amplification
from paimon_nb.table.tables.inspect.compaction_preview import CompactionPreview, Rule, due_compactions
from paimon_nb.table.tables.inspect.compare import FileChange, SnapshotComparison, compare
from paimon_nb.table.tables.inspect.health import Finding, health
from paimon_nb.table.tables.inspect.row_history import RowHistory, RowVersion, row_history

__all__ = [
    "Amplification", "SnapshotComparison", "CompactionPreview", "FileChange", "Finding", "Sample", "Rule", "RowVersion", "RowHistory", "amplification", "compare",
    "due_compactions", "health", "row_history",
]  # fmt: skip
