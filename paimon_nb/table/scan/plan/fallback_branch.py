"""`scan.fallback-branch`: partitions that a branch does not have are answered by another one. Reads metadata only.

Whether a branch has a partition is decided on all its files, not on those a predicate leaves: so a condition never
brings rows of the other branch to light. (Java 1.3 decides after pruning.)
Source: Paimon `FallbackReadFileStoreTable`.
"""

from __future__ import annotations

from dataclasses import replace

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.table.scan.plan.manifest_scan import live
from paimon_nb.table.scan.plan.planner import ScanPlan, WantedLevel, plan_snapshot
from paimon_nb.table.scan.plan.scan_report import ScanReport, Stage
from paimon_nb.table.scan.plan.time_travel import AtSnapshot, AtTag, AtVersion, Latest, TimeTravel, version_of
from paimon_nb.table.store import TableStore


def with_fallback(plan: ScanPlan, name: str, travel: TimeTravel, levels: WantedLevel | None = None) -> ScanPlan:
    """The plan with the splits of the fallback branch added.

    Args:
        name: of the branch. travel: the moment that the plan's snapshot was found by. levels: which ones to read, as in `plan_scan`.
    Raises: BranchNotFound. UnsupportedOperation: the branches do not have the same columns or keys.
    """
    store = plan.store
    other, snapshot = fallback_state(store, name, travel, plan.snapshot)
    if snapshot is None:
        return plan
    mine = set(live(store, plan.snapshot).entries.partitions[1]) if plan.snapshot is not None else set()
    there = plan_snapshot(other, snapshot, plan.predicate, levels=levels)
    added = tuple(replace(s, branch=name) for s in there.splits if s.partition not in mine)
    found = {s.partition for s in there.splits}
    stage = Stage(f"partitions of branch {name}", len(found), len(found - mine))
    funnel = ScanReport((*plan.skipped.stages, stage), plan.skipped.left_out)
    return replace(plan, snapshot=plan.snapshot or snapshot, splits=plan.splits + added, skipped=funnel)


def fallback_state(
    store: TableStore, name: str, travel: TimeTravel, found: Snapshot | None
) -> tuple[TableStore, Snapshot | None]:
    """The fallback branch, and its state at a moment, as Java has it.

    A tag is the branch's own tag of that name, and nothing where it has none. A version that is a number is the branch's
    own snapshot where it has one. Any other moment: the branch as it was when `found`, the main branch's snapshot, was made.

    Raises: BranchNotFound. UnsupportedOperation: the branches do not have the same columns or keys.
    """
    other = store.on_branch(name)
    _check_alike(store, other)
    if found is None or isinstance(travel, Latest):
        return other, other.latest()
    if isinstance(travel, AtVersion):
        travel = version_of(store, travel.text)
        if isinstance(travel, AtSnapshot) and travel.id in other.snapshots.ids():
            return other, other.snapshots.get(travel.id)
    if isinstance(travel, AtTag):
        return other, other.tags.get(travel.name).snapshot if travel.name in other.tags.names() else None
    return other, _as_of(other, found.time_ms)


def _as_of(store: TableStore, time_ms: int) -> Snapshot | None:
    """The branch's last snapshot not after a time; its first one when all are later, as in Java."""
    found = None
    for snapshot in store.snapshots.all():
        if found is None or snapshot.time_ms <= time_ms:
            found = snapshot
    return found


def _check_alike(store: TableStore, other: TableStore) -> None:
    mine, theirs = store.schema, other.schema
    if [(f.name, f.type.with_nullable(True)) for f in mine.fields] != [
        (f.name, f.type.with_nullable(True)) for f in theirs.fields
    ]:
        different = "columns"
    elif mine.partition_keys != theirs.partition_keys:
        different = "partition keys"
    elif mine.primary_keys and mine.primary_keys != theirs.primary_keys:
        different = "primary keys"
    else:
        return
    raise UnsupportedOperation(
        f"{store.name}: branch {other.branch!r} cannot answer for missing partitions: its {different} are not the same",
        hint=f"ALTER TABLE so that the {different} agree, or reset scan.fallback-branch",
        branch=other.branch,
    )
