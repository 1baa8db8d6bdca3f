"""System tables: a table's metadata as tables, one file each."""

from paimon_nb.table.system.registry import SYSTEM_TABLES
from paimon_nb.table.system.shape import SystemTable

__all__ = ["SYSTEM_TABLES", "SystemTable"]
