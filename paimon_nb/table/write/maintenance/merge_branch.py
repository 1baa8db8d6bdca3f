"""Adds a branch's new files to another branch; both branches stay. Only for append-only tables.

Source: Paimon issue 7863 and its `merge_branch` procedure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SchemaMismatch, UnsupportedOperation
from paimon_nb.base.identifier import MAIN_BRANCH
from paimon_nb.format.manifest import ADD
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.maintenance.branches import open_branch
from paimon_nb.table.write.publish.changes import Change
from paimon_nb.table.write.publish.publisher import SnapshotPublisher

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore


def merge_branch(store: TableStore, source: str, target: str = MAIN_BRANCH) -> int | None:
    """Add the files that only `source` has to `target`. Returns the snapshot's id; None if `target` has them all.

    Raises:
        BranchNotFound. UnsupportedOperation: the table is not append-only, or both are the same branch. SchemaMismatch:
        a schema of the source differs from the target's.
    """
    if source == target:
        raise UnsupportedOperation(f"{source!r} cannot be merged into itself", hint="name two branches", branch=source)
    source_store, target_store = _main_or_branch(store, source), _main_or_branch(store, target)
    for branch in (source_store, target_store):
        if not branch.options.get(opt.BRANCH_MERGE_ENABLED):
            raise UnsupportedOperation(
                f"branches of {store.name} cannot be merged: it is not append-only",
                hint="CREATE TABLE ... WITH ('branch-merge.enabled' = 'true'); fast_forward replaces main by a branch",
            )
    if source_store.options.get(opt.ROW_TRACKING_ENABLED) != target_store.options.get(opt.ROW_TRACKING_ENABLED):
        raise UnsupportedOperation(
            f"of {source!r} and {target!r} only one has row tracking",
            hint=f"set {opt.ROW_TRACKING_ENABLED.key!r} alike",
        )
    entries = live_entries(source_store, source_store.latest())
    _check_same_schemas(source_store, target_store, {e.file.schema_id for e in entries})

    def append_missing_files(latest: Snapshot | None) -> Change:
        has = {e.identity for e in live_entries(target_store, latest)}
        # Rows get new ids from the target: the source's ids may belong to other rows there.
        new = [replace(e, kind=ADD, file=replace(e.file, first_row_id=None)) for e in entries if e.identity not in has]
        return Change("APPEND", tuple(new))

    return SnapshotPublisher(target_store).publish(append_missing_files)


def _main_or_branch(store: TableStore, name: str) -> TableStore:
    return store.on_branch(MAIN_BRANCH) if name == MAIN_BRANCH else open_branch(store, name)


def _check_same_schemas(source_store: TableStore, target_store: TableStore, used: set[int]) -> None:
    """A file refers to its schema by id: the id must mean the same in both branches."""
    known = set(target_store.schemas.ids())
    for schema_id in sorted(used | (known & set(source_store.schemas.ids()))):
        if (
            schema_id in known
            and source_store.schemas.get(schema_id).fields == target_store.schemas.get(schema_id).fields
        ):
            continue
        raise SchemaMismatch(
            f"schema {schema_id} of branch {source_store.branch!r} differs from that of {target_store.branch!r}",
            hint=f"apply the same ALTER statements to {target_store.branch!r} as to {source_store.branch!r}, in the same order"
            if schema_id not in known
            else "both branches changed their columns; copy the rows with INSERT INTO ... SELECT",
            schema=schema_id,
        )
