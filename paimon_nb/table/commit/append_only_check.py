"""Tables that only grow: what their branches have in common can be told by the names of files. Source: Paimon `branch-merge.enabled`."""

from __future__ import annotations

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.manifest import DELETE
from paimon_nb.options import table as opt
from paimon_nb.table.commit.snapshot_change import Change
from paimon_nb.table.store import TableStore


def check_only_adds(store: TableStore, change: Change) -> None:
    """Raise UnsupportedOperation when the change takes files away from a table whose branches are to be merged."""
    if not store.options.get(opt.BRANCH_MERGE_ENABLED):
        return
    if change.kind == "OVERWRITE" or any(e.kind == DELETE for e in change.entries):
        raise UnsupportedOperation(
            f"{store.name}: rows can be added only, because its branches are to be merged",
            hint="a table without 'branch-merge.enabled' can be compacted, overwritten and changed",
            path=store.root,
        )
