"""Incremental reads between two snapshots: as deltas, as changelog, or as a diff of both states.

Source: docs/spec/merge-semantics.md section 9 (Paimon `IncrementalDeltaStartingScanner`, `IncrementalDiffStartingScanner`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, BucketsChanged, SnapshotNotFound, TagNotFound, TimeTravelError
from paimon_nb.format.manifest import ADD, Entries, as_entries, concat_entries
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import group_by_bucket, read_changes
from paimon_nb.table.read.plan.prune import Pruner
from paimon_nb.table.read.plan.scan_report import ScanReport
from paimon_nb.table.read.plan.snapshot_scan import (
    ScanPlan,
    Split,
    bind_to_store,
    conjuncts_on_key,
    deletion_vectors_of,
    deletion_vectors_of_files,
    pack_bucket_into_splits,
    plan_snapshot,
    prune_by_statistics,
    prune_live_files,
    visible_levels,
)
from paimon_nb.table.read.plan.time_travel import (
    Between,
    BetweenTimes,
    Increment,
    ToAutoTag,
    last_snapshot_not_after,
    snapshot_by_id,
)
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.read.tag_period import Period

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.snapshot import Snapshot, Tag
    from paimon_nb.table.read.predicate.model import Predicate


def plan_incremental(store: TableStore, increment: Increment, predicate: Predicate | None = None) -> ScanPlan:
    """The splits of the changes.

    Raises: TimeTravelError, SnapshotExpired: the range is outside the history. TagNotFound. BadOptionValue: end before
        start.
    """
    match increment:
        case Between():
            return _plan_between(store, increment, predicate)
        case BetweenTimes(mode, start_ms, end_ms):
            return _plan_between_times(store, mode, start_ms, end_ms, predicate)
        case ToAutoTag(_, tag):
            return _plan_since_previous_auto_tag(store, tag, predicate)
    raise TypeError(f"unknown increment {increment!r}")


def _plan_between(store: TableStore, between: Between, predicate: Predicate | None) -> ScanPlan:
    names = set(store.tags.names())
    if between.start in names and between.end in names:
        start, end = store.tags.get(between.start), store.tags.get(between.end)
        if between.tags_as_snapshots:
            return _plan_between_ids(store, between.mode, start.snapshot.id, end.snapshot.id, predicate)
        return _plan_state_diff(store, start.snapshot, end.snapshot, predicate, what="tag")
    if between.start.isdecimal() and between.end.isdecimal():
        return _plan_between_ids(store, between.mode, int(between.start), int(between.end), predicate)
    missing = next(n for n in (between.start, between.end) if n not in names)
    if between.start in names or between.end in names or not (between.start.isdecimal() or between.end.isdecimal()):
        store.tags.get(missing)
    raise TagNotFound(
        f"{between.start!r} and {between.end!r} are neither two tags nor two snapshot ids",
        hint=f"tags: {', '.join(sorted(names)[:10]) or 'none'}",
        name=missing,
    )


def _plan_between_ids(store: TableStore, mode: str, start: int, end: int, predicate: Predicate | None) -> ScanPlan:
    if end < start:
        raise BadOptionValue(
            f"the increment's end {end} is before its start {start}", hint="write start,end", start=start
        )
    store.snapshots.invalidate_cache()
    earliest, latest = store.snapshots.earliest_id(), store.snapshots.latest_id()
    if earliest is None or latest is None:
        return _empty_plan(store, None, predicate)  # as in Java; ids outside the history are an error
    if start < earliest - 1 or end > latest:
        raise TimeTravelError(
            f"{store.name}: no changes from snapshot {start} to {end}. Available: snapshots {earliest} to {latest}",
            hint="create a tag to keep a snapshot; the start may be one less than the earliest snapshot",
            wanted=(start, end),
            earliest=earliest,
            latest=latest,
        )
    if start == end:
        return _empty_plan(store, snapshot_by_id(store, end) if end >= earliest else None, predicate)
    if mode == "diff":
        return _plan_state_diff(store, snapshot_by_id(store, start), snapshot_by_id(store, end), predicate)
    mode = effective_mode(store, mode)
    return plan_changes_of_snapshots(
        store, [_changelog_or_snapshot(store, i, mode) for i in range(start + 1, end + 1)], mode, predicate
    )


def effective_mode(store: TableStore, mode: str) -> str:
    """The mode that `auto` selects: changelog if the table has a producer, else delta."""
    if mode != "auto":
        return mode
    return "delta" if store.options.changelog_producer == "none" else "changelog"


def _changelog_or_snapshot(store: TableStore, snapshot_id: int, mode: str) -> Snapshot:
    if mode == "changelog":
        try:
            return store.changelogs.get(snapshot_id)
        except SnapshotNotFound:
            pass
    return snapshot_by_id(store, snapshot_id)


def _plan_between_times(
    store: TableStore, mode: str, start_ms: int, end_ms: int, predicate: Predicate | None
) -> ScanPlan:
    if end_ms < start_ms:
        raise BadOptionValue(
            f"the increment's end {end_ms} is before its start {start_ms}", hint="write start,end", start=start_ms
        )
    newest = store.latest()
    earliest_id = store.snapshots.earliest_id()
    if newest is None or earliest_id is None:
        return _empty_plan(store, None, predicate)
    earliest = snapshot_by_id(store, earliest_id)
    if start_ms == end_ms or start_ms > newest.time_ms or end_ms < earliest.time_ms:
        return _empty_plan(store, newest, predicate)  # no commit in that time: an empty result
    start, end = last_snapshot_not_after(store, start_ms), last_snapshot_not_after(store, end_ms) or newest
    if mode == "diff":
        if start is None and earliest.id == 1:  # before the first commit the table was empty
            return plan_snapshot(store, end, bind_to_store(store, predicate))
        return _plan_state_diff(store, start or earliest, end, predicate)
    first = earliest.id - 1 if start is None else start.id
    mode = effective_mode(store, mode)
    return plan_changes_of_snapshots(
        store, [_changelog_or_snapshot(store, i, mode) for i in range(first + 1, end.id + 1)], mode, predicate
    )


def _plan_since_previous_auto_tag(store: TableStore, name: str, predicate: Predicate | None) -> ScanPlan:
    period = Period.of(store)
    end_time = period.start(name)
    if end_time is None:
        raise BadOptionValue(
            f"tag {name!r} is not an automatic tag of this table",
            hint="set tag.automatic-creation, tag.creation-period and tag.period-formatter to the values with which the tag was created",
            option=opt.INCREMENTAL_TO_AUTO_TAG.key,
        )
    if name not in store.tags.names():
        return _empty_plan(store, store.latest(), predicate)
    end = store.tags.get(name)
    earlier = [(t, n) for n in store.tags.names() if (t := period.start(n)) and t < end_time]
    if not earlier:
        return _empty_plan(store, end.snapshot, predicate)
    start: Tag = store.tags.get(max(earlier)[1])
    return _plan_state_diff(store, start.snapshot, end.snapshot, predicate, what="tag")


def _empty_plan(store: TableStore, snapshot: Snapshot | None, predicate: Predicate | None) -> ScanPlan:
    bound = bind_to_store(store, predicate)
    return ScanPlan(store, snapshot, (), ScanReport(), bound)


# -- deltas and changelogs


def plan_changes_of_snapshots(
    store: TableStore, snapshots: Sequence[Snapshot], mode: str, predicate: Predicate | None = None
) -> ScanPlan:
    """The changes of some snapshots, each row as it was written.

    Args:
        mode: 'delta': rows of new files of APPEND snapshots. 'changelog': rows of changelog files, except those of
            OVERWRITEs.
    """
    bound = bind_to_store(store, predicate)
    # An update can be two rows of which only one matches: so only key conditions skip files.
    by_key = conjuncts_on_key(store, bound)
    pruner = Pruner(store, by_key, independent=not store.has_keys)
    found: list[Entries] = []
    for snapshot in snapshots:
        if mode == "delta" and snapshot.commit_kind != "APPEND":
            continue
        if mode == "changelog" and snapshot.commit_kind == "OVERWRITE":
            continue
        name = snapshot.delta_manifest_list if mode == "delta" else snapshot.changelog_manifest_list
        delta = read_changes(store, name, pruner.keep_manifests).entries
        found.append(delta.filter(delta.column("kind") == ADD))
    entries = pruner.prune_buckets(pruner.prune_partitions(concat_entries(found)))
    if store.bucket_option == POSTPONE_BUCKET:
        entries = entries.filter(entries.column("bucket") >= 0)  # postponed rows are not visible yet
    entries = prune_by_statistics(
        store, pruner, pruner.prune_levels(entries, visible_levels(store), "level 0 waits for compaction")
    )
    last = snapshots[-1] if snapshots else None
    splits = [
        # Files with other columns of the same rows give one row, with NULL in columns that no file of the range holds.
        Split(
            last.id if last else 0,
            partition,
            bucket,
            total,
            tuple(files),
            None,
            raw and not store.has_keys,
            store.has_keys,
        )
        for (partition, bucket, total), members in group_by_bucket(entries)
        for files, raw in pack_bucket_into_splits(store, members, not store.has_keys)
    ]
    return ScanPlan(store, last, tuple(splits), pruner.funnel(), bound)


# -- diff of two states


def _plan_state_diff(
    store: TableStore, start: Snapshot, end: Snapshot, predicate: Predicate | None, what: str = "snapshot"
) -> ScanPlan:
    if end.id < start.id:
        raise BadOptionValue(
            f"the increment's end, {what} of snapshot {end.id}, is before its start {start.id}", hint="write start,end"
        )
    bound = bind_to_store(store, predicate)
    if start.id == end.id:
        return ScanPlan(store, end, (), ScanReport(), bound)
    by_key = conjuncts_on_key(store, bound)
    pruner = Pruner(store, by_key, independent=False)
    after = prune_live_files(store, end, pruner, visible_levels(store))
    before = prune_live_files(store, start, Pruner(store, by_key, independent=False), visible_levels(store))
    if store.options.get(opt.BUCKET) != -1:
        _check_same_bucket_count(store, (start, before), (end, after))
    common = {e.identity for e in after} & {e.identity for e in before}
    # Files of both states cannot differ (Java skips them too).
    after = as_entries(e for e in after if e.identity not in common)
    before = as_entries(e for e in before if e.identity not in common)
    vectors, old_vectors = deletion_vectors_of(store, end), deletion_vectors_of(store, start)
    news = {(p, b): (t, files) for (p, b, t), files in group_by_bucket(after)}
    olds = {(p, b): (t, files) for (p, b, t), files in group_by_bucket(before)}
    splits = []
    for partition, bucket in dict.fromkeys([*news, *olds]):
        total, files = news.get((partition, bucket)) or (olds[(partition, bucket)][0], [])
        old = olds.get((partition, bucket), (0, []))[1]
        if store.has_keys:
            splits.append(
                Split(
                    end.id, partition, bucket, total, tuple(files), deletion_vectors_of_files(vectors, partition, files), False,
                    before=tuple(old), before_vectors=deletion_vectors_of_files(old_vectors, partition, old), diff=True,
                )
            )  # fmt: skip
        elif files:
            splits.append(
                Split(
                    end.id,
                    partition,
                    bucket,
                    total,
                    tuple(files),
                    deletion_vectors_of_files(vectors, partition, files),
                    not store.evolves_data,
                )
            )
    return ScanPlan(store, end, tuple(splits), pruner.funnel(), bound)


def _check_same_bucket_count(store: TableStore, start: tuple[Snapshot, Entries], end: tuple[Snapshot, Entries]) -> None:
    """Files of a key are in the same bucket only if its partition has as many buckets in both states. As Java from 2.1.

    Postponed rows have no bucket yet, and their files are not counted.
    """
    old, new = (
        {partition: total for (partition, _, total), _ in group_by_bucket(entries) if total > 0}
        for _, entries in (start, end)
    )
    changed = [(old[p], new[p]) for p in old.keys() & new.keys() if old[p] != new[p]]
    if changed:
        before, after = changed[0]
        raise BucketsChanged(
            f"{store.name}: the number of buckets changed from {before} to {after} between the two states",
            hint="use SELECT * FROM paimon_incremental_query(...), which compares the rows of the two states",
            start=start[0].id,
            end=end[0].id,
        )
