"""Looking into a table: the stored versions of a row, what a compaction would pick, what ails it. Reads only."""

from paimon_nb.table.inspect.due import Due, Rule, due_compactions
from paimon_nb.table.inspect.health import Finding, health
from paimon_nb.table.inspect.why import Version, Why, why

__all__ = ["Due", "Finding", "Rule", "Version", "Why", "due_compactions", "health", "why"]
