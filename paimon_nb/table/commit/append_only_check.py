"""Append-only check for tables with `branch-merge.enabled`: branches are compared by file names. Source: Paimon
`branch-merge.enabled`.
"""

from __future__ import annotations

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.manifest import DELETE
from paimon_nb.options import table as opt
from paimon_nb.table.commit.snapshot_change import Change
from paimon_nb.table.store import TableStore


def check_only_adds(store: TableStore, change: Change) -> None:
    """Raise UnsupportedOperation if the change deletes files of a table whose branches will be merged."""
    if not store.options.get(opt.BRANCH_MERGE_ENABLED):
        return
    if change.kind == "OVERWRITE" or any(e.kind == DELETE for e in change.entries):
        raise UnsupportedOperation(
            f"{store.name}: only appends are allowed, because 'branch-merge.enabled' is set",
            hint="unset 'branch-merge.enabled' to compact, overwrite or change the table",
            path=store.root,
        )
