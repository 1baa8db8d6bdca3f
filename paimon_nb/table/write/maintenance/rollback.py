"""Rollback: deletes everything after a snapshot or tag. Source: docs/spec/format.md section 15 (Rollback)."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from paimon_nb.base.errors import FormatError, SnapshotNotFound, TagNotFound
from paimon_nb.format.manifest import ADD
from paimon_nb.format.snapshot.directory import continues
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.iceberg import publish_iceberg
from paimon_nb.table.write.maintenance.atomic import (
    check_is_there,
    check_tag_is_there,
    raise_if_replaced,
    undone_on_error,
)
from paimon_nb.table.write.maintenance.deletion_candidates import DeletionCandidates, delete_paths
from paimon_nb.table.write.maintenance.reachable import (
    changelog_entries,
    delta_entries,
    is_direct_successor,
    reachable_from_all_branches,
    with_new_roots,
    without_changelog,
)
from paimon_nb.table.write.publish.changes import forget_last_commit
from paimon_nb.table.write.publish.head import withdraw_lost_snapshots_afterwards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.managed_versions import VersionService
    from paimon_nb.table.read.store import TableStore


log = logging.getLogger(__name__)


@raise_if_replaced
def rollback_to_snapshot(store: TableStore, snapshot_id: int) -> Snapshot:
    """Make `snapshot_id` the latest again; deletes newer snapshots, their tags and files. Raises SnapshotNotFound."""
    ids = store.snapshots.ids()
    if snapshot_id not in ids:
        span = f"available: snapshots {ids[0]} to {ids[-1]}" if ids else "the table has no snapshot yet"
        held = [t.name for t in store.tags.readable() if t.snapshot.id == snapshot_id]
        raise SnapshotNotFound(
            f"{store.name} has no snapshot {snapshot_id}",
            hint=f"tag {held[0]!r} retains it: roll back to the tag" if held else span,
            snapshot=snapshot_id,
        )
    target = store.snapshots.get(snapshot_id)
    if store.versions is not None:
        _roll_back_by_server(store, store.versions, snapshot_id)
    else:
        with undone_on_error(store) as changing:
            _delete_newer_than(changing, target)
        _withdraw_lost(store)
    return target


@raise_if_replaced
def rollback_to_tag(store: TableStore, name: str) -> Snapshot:
    """Make the tag's snapshot the latest again; re-creates its snapshot file if it has expired.

    Raises: TagNotFound: also if the tag is deleted or replaced meanwhile. Nothing is changed then.
    """
    target = store.tags.get(name).snapshot
    if store.versions is not None:
        _roll_back_by_server(store, store.versions, name)
        return target
    with undone_on_error(store) as changing:
        if target.id not in store.snapshots.ids():
            # The snapshot file comes first: from here on its files are reachable.
            changing.snapshots.put(without_changelog(target))
            changing.snapshots.write_earliest_hint(target.id)
        _delete_newer_than(changing, target)
        check_tag_is_there(changing, name, target)
    _withdraw_lost(store)
    return target


def _withdraw_lost(store: TableStore) -> None:
    """Delete what was published meanwhile on top of removed snapshots, also by this process, which must not expect it any more."""
    withdraw_lost_snapshots_afterwards(store)
    forget_last_commit(store)


def _roll_back_by_server(store: TableStore, versions: VersionService, target: int | str) -> None:
    """The server deletes what comes after the snapshot or tag."""
    newest = store.latest()
    versions.rollback(target, newest.id if newest else None)
    forget_last_commit(store)
    store.snapshots.invalidate_cache()
    publish_iceberg(store)


def _delete_newer_than(store: TableStore, target: Snapshot) -> None:
    """Delete newer snapshots, newest first, then newer changelogs and tags, then unused files.

    After a fast-forward or a rollback two histories may use the same ids: a different snapshot with the target's id is
    replaced.
    """
    stays = store.snapshots.is_same_commit(target)
    newer = [i for i in store.snapshots.ids() if i > target.id or (i == target.id and not stays)]
    newer_logs = [i for i in store.changelogs.ids() if i > target.id]
    newer_tags = [t.name for t in store.tags.readable() if t.snapshot.id > target.id]
    candidates = DeletionCandidates(store)
    previous = None
    for snapshot_id in newer:
        snapshot = store.snapshots.get(snapshot_id)
        with suppress(FormatError):  # of a snapshot that cannot be read, the rest of the files stays
            candidates.add_metadata(snapshot)
            candidates.add_entries(changelog_entries(store, snapshot))
            if previous is not None and is_direct_successor(store, previous, snapshot):
                candidates.add_entries(e for e in delta_entries(store, snapshot) if e.kind == ADD)
            else:
                # It may retain files of other snapshots that expired between it and the target.
                candidates.add_entries(live_entries(store, snapshot))
        previous = snapshot
    for name in newer_tags:
        with suppress(FormatError, TagNotFound):  # of a tag whose files are missing, none is deleted
            snapshot = store.tags.get(name).snapshot
            candidates.add_entries(live_entries(store, snapshot))
            candidates.add_metadata(without_changelog(snapshot))
    try:
        used = reachable_from_all_branches(
            store, without_snapshots=newer, without_tags=newer_tags, without_changelogs=newer_logs
        )
    except FormatError as error:
        log.warning("files of the removed snapshots of %s stay: %s", store.name, error)
        used = None
    forget_last_commit(store)
    for snapshot_id in reversed(newer):
        if snapshot_id == target.id:
            store.snapshots.replace(without_changelog(target))
        else:
            if stays:
                check_is_there(store, target)
            store.snapshots.delete(snapshot_id)
    # Snapshots published on top of them since the listing are unreadable now; they count as rolled back, too.
    for snapshot_id in reversed(_built_on_removed(store, target, newer)):
        store.snapshots.delete(snapshot_id)
    check_is_there(store, target)
    store.snapshots.write_latest_hint(target.id)
    for changelog_id in reversed(newer_logs):
        store.changelogs.delete(changelog_id)
    # Tags of removed snapshots, also those that were created since the first look.
    for tag in store.tags.readable():
        if tag.snapshot.id > target.id:
            with suppress(TagNotFound):
                store.tags.delete(tag.name)
    publish_iceberg(store)
    if used is not None:
        delete_paths(store, candidates.unused(with_new_roots(used, store)))


def _built_on_removed(store: TableStore, target: Snapshot, removed: Sequence[int]) -> list[int]:
    """The snapshots that were published above the removed ones, but not those that were built on the target since."""
    above = [i for i in store.snapshots.ids() if removed and i > target.id]
    newest = target
    while above and above[0] == newest.id + 1 and (found := store.snapshots.get_again(above[0])) is not None:
        follows = continues(store.branch, found, newest)
        if follows is False or (follows is None and found.id > removed[-1]):
            break
        newest = found
        above.pop(0)
    return above
