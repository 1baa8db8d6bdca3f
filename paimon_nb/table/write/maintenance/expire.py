"""Snapshot and changelog expiry. Source: docs/spec/merge-semantics.md section 7 (Paimon `ExpireSnapshotsImpl`)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from paimon_nb.base import clock
from paimon_nb.base.errors import BadOptionValue, FormatError, MissingFile, SnapshotExpired, SnapshotNotFound
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import ADD, DELETE
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.iceberg import publish_iceberg
from paimon_nb.table.write.maintenance.atomic import check_is_there, raise_if_replaced, undone_on_error
from paimon_nb.table.write.maintenance.deletion_candidates import DeletionCandidates, delete_paths
from paimon_nb.table.write.maintenance.reachable import (
    changelog_entries,
    delta_entries,
    is_direct_successor,
    prefetch_history,
    reachable_from_all_branches,
    reads_through_delta,
    with_new_roots,
)
from paimon_nb.table.write.publish.head import newest_to_build_on, withdraw_lost_snapshots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ExpireLimits:
    """What an expiry retains."""

    retain_min: int
    """At least this many of the newest snapshots are retained, at any age."""
    retain_max: int
    """At most this many are retained, at any age."""
    older_than_ms: int
    """Between the two: expired if committed before this time (epoch ms)."""
    max_deletes: int
    """Maximum number expired in one run."""

    @classmethod
    def of(
        cls, store: TableStore, *, changelogs: bool = False, retain_min: int | None = None, retain_max: int | None = None,
        older_than_ms: int | None = None, max_deletes: int | None = None,
    ) -> Self:  # fmt: skip
        """Limits from the table's options; arguments take precedence. `retain_max` alone also lowers the minimum to it.

        changelogs: of long-lived changelogs, by the options `changelog.*`; else of snapshots.
        """
        o = store.options
        defaults = (
            (o.changelog_num_retained_min, o.changelog_num_retained_max, o.changelog_time_retained_ms)
            if changelogs
            else (
                o.get(opt.SNAPSHOT_NUM_RETAINED_MIN),
                o.get(opt.SNAPSHOT_NUM_RETAINED_MAX),
                o.get(opt.SNAPSHOT_TIME_RETAINED),
            )
        )
        low = retain_min if retain_min is not None else defaults[0]
        high = retain_max if retain_max is not None else defaults[1]
        if retain_max is not None and retain_min is None:
            low = min(low, retain_max)
        if low < 1 or high < low:
            raise BadOptionValue(
                f"cannot retain at least {low} and at most {high}",
                hint="1 <= retain_min <= retain_max",
                retain_min=low,
                retain_max=high,
            )
        if older_than_ms is None:
            older_than_ms = clock.now_ms() - defaults[2]
        return cls(
            low, high, older_than_ms, max_deletes if max_deletes is not None else o.get(opt.SNAPSHOT_EXPIRE_LIMIT)
        )


@raise_if_replaced
def expire_snapshots(store: TableStore, limits: ExpireLimits | None = None) -> int:
    """Expire snapshots beyond the limits, and the files that only they use. Returns the number of expired snapshots.

    Tags, branches, consumers and long-lived changelogs protect what they use. Snapshot files are deleted first, oldest
    first, so a crash leaves unused files at worst, never a snapshot without its files.
    """
    limits = limits or ExpireLimits.of(store)
    store.snapshots.invalidate_cache()
    earliest, newest = store.snapshots.earliest_id(), newest_to_build_on(store)
    if earliest is None or newest is None:
        store.check_identity()  # a directory that is gone has no snapshots
        return 0
    end = _first_retained(store, limits, earliest, newest.id)
    if end <= earliest:
        return 0
    withdraw_lost_snapshots(store)  # files of theirs are missing, which would stop the expiry
    retained = _snapshot_or_none(store, end)
    if retained is None:  # a gap: of a fast-forward, or of a rollback that is under way
        there = store.snapshots.ids()
        end, retained = min(end, there[-limits.retain_min :][0] if there else end), newest
    if not (ids := list(range(earliest, end))):
        return 0
    prefetch_history(store, [*ids, end])
    expired = [s for s in (_snapshot_or_none(store, i) for i in ids) if s is not None]
    if expired and store.options.changelog_outlives_snapshots:
        # Also for snapshots without changes (compactions): a stream reads id by id, and a gap would end it.
        for snapshot in expired:
            store.changelogs.put(snapshot)
        store.changelogs.write_latest_hint(expired[-1].id)
    candidates = DeletionCandidates(store)
    for snapshot in expired:
        try:
            _add_files_of_expired(candidates, store, snapshot)
        except FormatError as error:
            # It cannot be read in any case, so it goes; of its files only what is known.
            log.warning("files of expired snapshot %d of %s may stay as orphans: %s", snapshot.id, store.name, error)
    used = reachable_from_all_branches(store, without_snapshots=ids)  # raises before anything is deleted
    try:
        with undone_on_error(store) as changing:
            for snapshot_id in ids:
                check_is_there(changing, retained)
                changing.snapshots.delete(snapshot_id)
            check_is_there(changing, retained)
            # Afterwards: the next expiry begins at the hint, and would leave what a killed one had not deleted below it.
            changing.snapshots.write_earliest_hint(end)
            paths = candidates.unused(with_new_roots(used, changing))
            delete_paths(changing, paths)
    except SnapshotExpired:
        log.info("%s: nothing was expired, since a rollback removes the snapshots that would stay", store.name)
        return 0
    _clean_empty_directories(store, paths)
    publish_iceberg(store)
    return len(expired)


def _add_files_of_expired(candidates: DeletionCandidates, store: TableStore, snapshot: Snapshot) -> None:
    candidates.add_metadata(snapshot)
    candidates.add_entries(changelog_entries(store, snapshot))
    following = _snapshot_or_none(store, snapshot.id + 1)
    if following is not None:
        candidates.add_entries(delta_entries(store, following, DELETE))
    if following is None or not is_direct_successor(store, snapshot, following):
        # A gap in the history (left by a fast-forward): no snapshot records what was deleted inside it.
        candidates.add_entries(live_entries(store, snapshot))


def _first_retained(store: TableStore, limits: ExpireLimits, earliest: int, latest: int) -> int:
    """The oldest retained snapshot id."""
    newest_allowed = max(latest - limits.retain_max + 1, earliest)
    end = min(latest - limits.retain_min + 1, earliest + limits.max_deletes)
    consumed = store.consumers.min_next_snapshot()
    if consumed is not None and not store.options.get(opt.CONSUMER_CHANGELOG_ONLY):
        end = min(end, consumed)
    for snapshot_id in range(newest_allowed, end):
        snapshot = _snapshot_or_none(store, snapshot_id)
        if snapshot is not None and snapshot.time_ms >= limits.older_than_ms:
            return snapshot_id
    return end


def _snapshot_or_none(store: TableStore, snapshot_id: int) -> Snapshot | None:
    try:
        return store.snapshots.get(snapshot_id)
    except (SnapshotNotFound, MissingFile):
        return None  # removed by another expiry in the meantime


def _clean_empty_directories(store: TableStore, paths: list[str]) -> None:
    if not store.options.get(opt.SNAPSHOT_CLEAN_EMPTY_DIRECTORIES):
        return
    for folder in {p.rsplit("/", 1)[0] for p in paths if "/bucket-" in p}:
        while folder != store.root and store.fs.delete_empty_dir(folder):
            folder = folder.rsplit("/", 1)[0]


# -- long-lived changelogs


@raise_if_replaced
def expire_changelogs(store: TableStore, limits: ExpireLimits | None = None) -> int:
    """Delete long-lived changelogs that are older than `changelog.*` allows. Returns their number.

    The newest one is retained, and so is what some consumer has not read yet. Source: Paimon `ExpireChangelogImpl`.
    """
    limits = limits or ExpireLimits.of(store, changelogs=True)
    ids, latest = store.changelogs.ids(), store.snapshots.latest_id() or 0
    consumed = store.consumers.min_next_snapshot()
    expired: list[int] = []
    for changelog_id in ids[:-1][: limits.max_deletes]:
        if consumed is not None and changelog_id >= consumed:
            break
        newer = latest - changelog_id
        old = store.changelogs.get(changelog_id)
        if newer >= limits.retain_max or (newer >= limits.retain_min and old.time_ms < limits.older_than_ms):
            expired.append(changelog_id)
        else:
            break  # the oldest first
    _remove_changelogs(store, expired)
    return len(expired)


@raise_if_replaced
def delete_changelogs(store: TableStore) -> int:
    """Delete all long-lived changelogs, read or not. Returns their number."""
    ids = store.changelogs.ids()
    _remove_changelogs(store, ids)
    store.changelogs.delete_hints()
    return len(ids)


def _remove_changelogs(store: TableStore, expired: Sequence[int]) -> None:
    """Delete the oldest changelogs."""
    candidates = DeletionCandidates(store)
    for changelog_id in expired:
        old = store.changelogs.get(changelog_id)
        candidates.add_entries(changelog_entries(store, old))
        candidates.add_metadata(old)
        if reads_through_delta(store, old):
            candidates.add_entries(delta_entries(store, old, ADD))
    paths = candidates.unused(reachable_from_all_branches(store, without_changelogs=expired))
    for changelog_id in expired:
        store.changelogs.delete(changelog_id)
    if expired and store.changelogs.ids():
        store.changelogs.write_earliest_hint(expired[-1] + 1)
    delete_paths(store, paths)
