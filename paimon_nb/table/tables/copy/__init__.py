"""Copies a table: its rows written again (clone), or its files unchanged (copy). Knows no catalog."""

from paimon_nb.table.tables.copy.clone import check_target, clone_rows, clone_schema
from paimon_nb.table.tables.copy.copy import check_same_layout, copied_schemas, copy_live_files, refuse_tracked
from paimon_nb.table.tables.copy.snapshot_copy import copy_snapshot

__all__ = [
    "check_same_layout",
    "check_target",
    "clone_rows",
    "clone_schema",
    "copied_schemas",
    "copy_live_files",
    "copy_snapshot",
    "refuse_tracked",
]
