"""`scan.fallback-branch`: partitions that the branch lacks are read from a fallback branch. Reads metadata only.

Whether a branch has a partition is decided on all its files, before pruning. So a condition never exposes rows of the
fallback branch. (Java 1.3 decides after pruning.)
Source: Paimon `FallbackReadFileStoreTable`.
"""

from __future__ import annotations

from dataclasses import replace

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.table.scan.plan.manifest_scan import live
from paimon_nb.table.scan.plan.planner import LevelFilter, ScanPlan, plan_snapshot
from paimon_nb.table.scan.plan.scan_report import ScanReport, Stage
from paimon_nb.table.scan.plan.time_travel import AtSnapshot, AtTag, AtVersion, Latest, TimeTravel, version_of
from paimon_nb.table.store import TableStore


def with_fallback(plan: ScanPlan, name: str, travel: TimeTravel, levels: LevelFilter | None = None) -> ScanPlan:
    """The plan with the splits of the fallback branch added.

    Args:
        name: the fallback branch. travel: the time travel of the plan. levels: as in `plan_scan`.
    Raises: BranchNotFound. UnsupportedOperation: the branches do not have the same columns or keys.
    """
    store = plan.store
    other, snapshot = fallback_state(store, name, travel, plan.snapshot)
    if snapshot is None:
        return plan
    own_partitions = set(live(store, plan.snapshot).entries.partitions[1]) if plan.snapshot is not None else set()
    there = plan_snapshot(other, snapshot, plan.predicate, levels=levels)
    added = tuple(replace(s, branch=name) for s in there.splits if s.partition not in own_partitions)
    found = {s.partition for s in there.splits}
    stage = Stage(f"partitions of branch {name}", len(found), len(found - own_partitions))
    funnel = ScanReport((*plan.skipped.stages, stage), plan.skipped.left_out)
    return replace(plan, snapshot=plan.snapshot or snapshot, splits=plan.splits + added, skipped=funnel)


def fallback_state(
    store: TableStore, name: str, travel: TimeTravel, found: Snapshot | None
) -> tuple[TableStore, Snapshot | None]:
    """The fallback branch and its snapshot for a time travel, as in Java.

    A tag means the branch's own tag of that name; without one there is no snapshot. A numeric version means the
    branch's own snapshot, if it exists. Otherwise: the branch as of the commit time of `found`, the main branch's
    snapshot.

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
    """The branch's last snapshot at or before a time; its first one if all are later, as in Java."""
    found = None
    for snapshot in store.snapshots.all():
        if found is None or snapshot.time_ms <= time_ms:
            found = snapshot
    return found


def _check_alike(store: TableStore, other: TableStore) -> None:
    main_schema, branch_schema = store.schema, other.schema
    if [(f.name, f.type.with_nullable(True)) for f in main_schema.fields] != [
        (f.name, f.type.with_nullable(True)) for f in branch_schema.fields
    ]:
        different = "columns"
    elif main_schema.partition_keys != branch_schema.partition_keys:
        different = "partition keys"
    elif main_schema.primary_keys and main_schema.primary_keys != branch_schema.primary_keys:
        different = "primary keys"
    else:
        return
    raise UnsupportedOperation(
        f"{store.name}: branch {other.branch!r} cannot be a fallback branch: its {different} differ",
        hint=f"ALTER TABLE so that the {different} are equal, or reset scan.fallback-branch",
        branch=other.branch,
    )
