"""System tables: a table's metadata as tables, one file each."""

from paimon_nb.table.tables.system.columns import SystemTable
from paimon_nb.table.tables.system.registry import SYSTEM_TABLES

__all__ = ["SYSTEM_TABLES", "SystemTable"]
