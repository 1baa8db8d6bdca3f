"""Plans a scan: from options and a condition to splits. Reads metadata only, never rows.

With `scan.fallback-branch`, partitions that the branch lacks are read from another branch; with `scan.primary-branch`, those that
the other branch has. Partitions that a chain table lacks are those of its chain (`chain.py`). Whether a branch has a partition
is decided on all its files, before pruning, so a condition never exposes rows of the fallback branch. (Java 1.3 decides after
pruning.)
Source: docs/spec/format.md sections 5.4 and 14.1; docs/spec/merge-semantics.md section 8 (Paimon `SnapshotReaderImpl`,
`DataTableBatchScan`, `FallbackReadFileStoreTable`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import read_live
from paimon_nb.table.read.plan.chain import ChainState, chain_splits, starting_splits
from paimon_nb.table.read.plan.scan_report import ScanReport, Stage
from paimon_nb.table.read.plan.snapshot_scan import LevelFilter, ScanPlan, bind_to_store, plan_snapshot
from paimon_nb.table.read.plan.time_travel import (
    AtSnapshot,
    AtTag,
    AtVersion,
    Latest,
    LatestDelta,
    TimeTravel,
    created_since,
    parse_incremental,
    parse_travel,
    reads_own_schema,
    resolve_time_travel,
    time_travel_of_version,
    translate_missing_files,
)

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore


def plan_scan(
    store: TableStore,
    predicate: Predicate | None = None,
    travel: TimeTravel | None = None,
    *,
    where: str | None = None,
    levels: LevelFilter | None = None,
    optimized: bool = False,
) -> ScanPlan:
    """The splits that may hold matching rows.

    Args:
        where: the condition as SQL text, with the names of the schema that is read.
        travel: the time travel; None takes it, or an incremental read, from the store's options.
        levels: which levels to read; None: as the table requires (batch reads of tables with deletion vectors and of
            first-row tables skip level 0).
        optimized: only fully compacted files, on either branch that has keys (`$ro`).

    Raises:
        TimeTravelError, SnapshotExpired, TagNotFound: the version does not exist. BadOptionValue: contradicting
        options.
        ColumnNotFound, SqlAnalysisError: the predicate does not fit the schema. CorruptFile, MissingFile.
    """
    if travel is None:
        increment = parse_incremental(store.options)
        if increment is not None:
            store.check_has_snapshots("changes between versions")
            from paimon_nb.table.read.plan.incremental import plan_incremental

            return plan_incremental(store, increment, _parse_condition(store, predicate, where))
        travel = parse_travel(store.options)
    if store.is_format_table:
        from paimon_nb.table.read.plan.format_table_scan import plan_format_table

        return plan_format_table(store, bind_to_store(store, _parse_condition(store, predicate, where)), travel)
    if store.starts_chain:
        return _plan_start_of_chain(store, _parse_condition(store, predicate, where))
    snapshot = resolve_time_travel(store, travel)
    fallback = store.options.get(opt.SCAN_FALLBACK_BRANCH)  # today's options, with any schema
    primary, chain = store.options.get(opt.SCAN_PRIMARY_BRANCH), store.chain_branches
    if snapshot is not None and reads_own_schema(store.options) and snapshot.schema_id != store.schema.id:
        store = store.at_schema(store.schemas.get(snapshot.schema_id))
    predicate = _parse_condition(store, predicate, where)
    bound = bind_to_store(store, predicate)
    if isinstance(travel, LatestDelta) and snapshot is not None:
        from paimon_nb.table.read.plan.incremental import plan_changes_of_snapshots

        return plan_changes_of_snapshots(store, [snapshot], "delta", predicate)
    if snapshot is None:
        store.check_readable()  # a table of another kind has no snapshot, and its rows are elsewhere
        plan = ScanPlan(store, None, (), ScanReport(), bound)
    else:
        with translate_missing_files(store, snapshot.id):
            plan = plan_snapshot(
                store,
                snapshot,
                bound,
                levels=levels or _levels(store, optimized),
                since_ms=created_since(store, travel),
            )
    if chain is not None:
        return with_chain(plan, chain, travel, levels)
    if fallback and fallback != store.branch:
        return with_fallback(plan, str(fallback), travel, levels, optimized=optimized)
    if primary and primary != store.branch:
        return with_fallback(plan, str(primary), travel, levels, optimized=optimized, first=True)
    return plan


def _plan_start_of_chain(store: TableStore, predicate: Predicate | None) -> ScanPlan:
    """What a stream of a chain table begins with, now. `store`: its delta branch."""
    names = store.chain_names
    assert names is not None
    full, bound = store.on_branch(names[0]), bind_to_store(store, predicate)
    state = ChainState(full, full.latest(), store, store.latest())
    splits = tuple(starting_splits(state, bound))
    return ScanPlan(store, state.delta_snapshot or state.full_snapshot, splits, ScanReport(), bound)


def _parse_condition(store: TableStore, predicate: Predicate | None, where: str | None) -> Predicate | None:
    if where is None and predicate is None:
        return None
    from paimon_nb.table.read.predicate.parser import as_predicate

    return as_predicate(predicate if where is None else where, store.schema, store.sql)


def _levels(store: TableStore, optimized: bool) -> LevelFilter | None:
    top = store.options.num_levels - 1
    return (lambda level: level == top) if optimized and store.has_keys else None


def with_fallback(
    plan: ScanPlan,
    name: str,
    travel: TimeTravel,
    levels: LevelFilter | None = None,
    *,
    optimized: bool = False,
    first: bool = False,
) -> ScanPlan:
    """The plan with the splits of another branch added.

    Args:
        name: the other branch. travel: the time travel of the plan. levels, optimized: as in `plan_scan`.
        first: of a partition that both have, the other branch's rows are read (`scan.primary-branch`).
    Raises: BranchNotFound. UnsupportedOperation: the branches do not have the same columns or keys.
    """
    store = plan.store
    other, snapshot = fallback_state(store, name, travel, plan.snapshot, first=first)
    if snapshot is None:
        return plan
    there = plan_snapshot(other, snapshot, plan.predicate, levels=levels or _levels(other, optimized))
    splits, added = plan.splits, tuple(replace(s, branch=name) for s in there.splits)
    if first:
        hidden = _partitions(other, snapshot)
        splits = tuple(s for s in splits if s.partition not in hidden)
    else:
        hidden = _partitions(store, plan.snapshot)
        added = tuple(s for s in added if s.partition not in hidden)
    found, read = {s.partition for s in there.splits}, {s.partition for s in added}
    funnel = _with_stage(plan, Stage(f"partitions of branch {name}", len(found), len(read)))
    return replace(plan, snapshot=plan.snapshot or snapshot, splits=splits + added, skipped=funnel)


def with_chain(plan: ScanPlan, names: tuple[str, str], travel: TimeTravel, levels: LevelFilter | None) -> ScanPlan:
    """The plan of a chain table with the partitions that its snapshot and delta branch have.

    Raises: BranchNotFound. UnsupportedOperation: the branches do not have the same columns, keys or buckets.
    """
    state = chain_state(plan.store, names, travel, plan.snapshot)
    own = _partitions(plan.store, plan.snapshot)
    added = tuple(chain_splits(state, plan.predicate, without=own, levels=levels))
    there = {*state.partitions(of_delta=True), *state.partitions(of_delta=False)} - own
    funnel = _with_stage(plan, Stage("partitions of the chain", len(there), len({s.partition for s in added})))
    snapshot = plan.snapshot or state.full_snapshot or state.delta_snapshot
    return replace(plan, snapshot=snapshot, splits=plan.splits + added, skipped=funnel)


def chain_state(
    store: TableStore, names: tuple[str, str], travel: TimeTravel, found: Snapshot | None = None
) -> ChainState:
    """Both branches of a chain table at a time. Raises: as `with_chain`."""
    full, delta = (fallback_state(store, name, travel, found) for name in names)
    return ChainState(*full, *delta)


def _partitions(store: TableStore, snapshot: Snapshot | None) -> set[bytes]:
    return set(read_live(store, snapshot).entries.partitions[1]) if snapshot is not None else set()


def _with_stage(plan: ScanPlan, stage: Stage) -> ScanReport:
    return ScanReport((*plan.skipped.stages, stage), plan.skipped.left_out)


def fallback_state(
    store: TableStore, name: str, travel: TimeTravel, found: Snapshot | None, *, first: bool = False
) -> tuple[TableStore, Snapshot | None]:
    """The fallback branch, or the primary one (`first`), and its snapshot for a time travel, as in Java.

    A tag means the branch's own tag of that name; without one there is no snapshot. A numeric version means the
    branch's own snapshot, if it exists. Otherwise: the branch as of the commit time of `found`, the main branch's
    snapshot.

    Raises: BranchNotFound. UnsupportedOperation: the branches do not have the same columns or keys.
    """
    other = store.on_branch(name)
    _check_same_columns(*((other, store) if first else (store, other)))
    if found is None or isinstance(travel, Latest):
        return other, other.latest()
    if isinstance(travel, AtVersion):
        travel = time_travel_of_version(store, travel.text)
        if isinstance(travel, AtSnapshot) and travel.id in other.snapshots.ids():
            return other, other.snapshots.get(travel.id)
    if isinstance(travel, AtTag):
        return other, other.tags.get(travel.name).snapshot if travel.name in other.tags.names() else None
    return other, _snapshot_at_or_before(other, found.time_ms)


def _snapshot_at_or_before(store: TableStore, time_ms: int) -> Snapshot | None:
    """The branch's last snapshot at or before a time; its first one if all are later, as in Java."""
    found = None
    for snapshot in store.snapshots.all():
        if found is None or snapshot.time_ms <= time_ms:
            found = snapshot
    return found


def _check_same_columns(store: TableStore, other: TableStore) -> None:
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
        f"{store.name}: branch {other.branch!r} cannot be read with this one: its {different} differ",
        hint=f"ALTER TABLE so that the {different} are equal, or reset the option that names the branch",
        branch=other.branch,
    )
