"""Table inspection: row history, compaction preview, health checks, comparison. Read-only."""

from paimon_nb.table.inspect.amplification import Amplification, Sample, amplification
from paimon_nb.table.inspect.compaction_preview import Due, Rule, due_compactions
from paimon_nb.table.inspect.compare import Compared, FileChange, compare
from paimon_nb.table.inspect.health import Finding, health
from paimon_nb.table.inspect.row_history import RowHistory, RowVersion, why

__all__ = [
    "Amplification", "Compared", "Due", "FileChange", "Finding", "Sample", "Rule", "RowVersion", "RowHistory", "amplification", "compare",
    "due_compactions", "health", "why",
]  # fmt: skip
