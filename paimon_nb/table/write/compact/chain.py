"""Merges partitions of a chain table into its snapshot branch, so that reads no longer merge them.

Source: Paimon 2.1 `CompactChainTableAction`, `CompactChainTableProcedure`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.options import table as opt
from paimon_nb.options.support import Access
from paimon_nb.table.read.plan.chain import chain_splits
from paimon_nb.table.read.plan.planner import chain_state
from paimon_nb.table.read.plan.time_travel import Latest
from paimon_nb.table.read.split.split_reader import iter_split
from paimon_nb.table.write.publish.overwrite import Overwrite, partition_matcher
from paimon_nb.table.write.table_write import TableWrite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.publish.changes import CommitMessage


def merge_chain(
    store: TableStore, spec: Mapping[str, Any], *, overwrite: bool = False
) -> tuple[TableStore, list[CommitMessage], Overwrite | None] | None:
    """The merged rows of partitions, written for the snapshot branch. Commit the messages with the overwrite.

    Args:
        spec: values of partition columns, in the in-row form. overwrite: merge again what the snapshot branch has already.
    Returns: the snapshot branch, the messages, what they replace; None: it has the partition already, or there is nothing to merge.
    Raises: UnsupportedOperation: the table is no chain table with both branches.
    """
    names = store.chain_branches
    if names is None:
        raise UnsupportedOperation(
            f"{store.name} is not a chain table" if not store.options.get(opt.CHAIN_TABLE_ENABLED)
            else f"{store.name} is a chain table without branches, or one of its branches",
            hint="it needs 'chain-table.enabled' = 'true', 'scan.fallback-snapshot-branch' and 'scan.fallback-delta-branch'; "
            "name the table itself, not a branch",
        )  # fmt: skip
    state = chain_state(store, names, Latest())
    state.full.check_supported(Access.COMPACT)
    matches = partition_matcher(store, spec)
    exists = any(map(matches, state.partitions(of_delta=False)))
    if exists and not overwrite:
        return None
    selected = [p for p in state.partitions(of_delta=True) if matches(p)]
    splits = list(chain_splits(state, None, selected=selected, without_full=True))
    if not splits:
        return None
    # Level 0 of a table with deletion vectors is not read: its rows are compacted at once.
    with TableWrite(state.full, overwrite=exists, compact=state.full.options.wait_for_compaction) as writing:
        for split in splits:
            for rows in iter_split(state.delta, split):
                writing.write(rows)
        messages = writing.prepare_commit()
    if not exists:
        return state.full, messages, None
    read = state.full_snapshot.id if state.full_snapshot else None
    return state.full, [replace(m, base_snapshot=read) for m in messages], Overwrite(dynamic=True)
