"""Tags: create, replace, rename, delete, expire. A tag can always be deleted, whatever is missing or broken.

Source: docs/spec/format.md section 15; docs/spec/merge-semantics.md section 7."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import AlreadyExists, FormatError, InvalidName, SnapshotNotFound
from paimon_nb.base.identifier import check_name
from paimon_nb.format.metadata_json import java_json
from paimon_nb.options import table as opt
from paimon_nb.options.support import Access
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.iceberg import publish_iceberg
from paimon_nb.table.write.maintenance.atomic import raise_if_replaced, undone_on_error
from paimon_nb.table.write.maintenance.deletion_candidates import DeletionCandidates, delete_paths
from paimon_nb.table.write.maintenance.reachable import reachable_from_all_branches, without_changelog

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.format.snapshot import Snapshot, Tag
    from paimon_nb.table.read.store import TableStore


log = logging.getLogger(__name__)


@raise_if_replaced
def create_tag(
    store: TableStore,
    name: str,
    snapshot_id: int | None = None,
    *,
    retained_ms: int | None = None,
    ignore_if_exists: bool = False,
) -> Snapshot | None:
    """Create a tag for a snapshot (default: the latest). Returns the snapshot, or None if the tag is ignored.

    Args:
        retained_ms: retention time of the tag; None: `tag.default-time-retained`, else unlimited.

    Raises: AlreadyExists, SnapshotNotFound, InvalidName.
    """
    check_tag_name(name)
    store.check_supported(Access.TAG)
    if name in store.tags.names():
        if ignore_if_exists:
            return None
        raise AlreadyExists(f"tag {name!r} already exists", hint="delete it first, or CALL sys.replace_tag", name=name)
    snapshot = pick_snapshot(store, snapshot_id)
    with undone_on_error(store) as changing:
        _write_tag(changing, name, snapshot, retained_ms)
        if not _is_still_retained(changing, name, snapshot):
            raise _removed_meanwhile(store, snapshot)
    return snapshot


@raise_if_replaced
def replace_tag(
    store: TableStore, name: str, snapshot_id: int | None = None, *, retained_ms: int | None = None
) -> Snapshot:
    """Move an existing tag to another snapshot; deletes the files that only the old one used."""
    old = store.tags.get(name)
    snapshot = pick_snapshot(store, snapshot_id) if snapshot_id is not None else old.snapshot
    # Not by id: after a fast-forward or a rollback two histories may use the same ids.
    same = snapshot.delta_manifest_list == old.snapshot.delta_manifest_list
    with undone_on_error(store) as changing:
        _write_tag(changing, name, snapshot, retained_ms, replace=True)  # one step: the tag always exists
        if not same:
            if not _is_still_retained(changing, name, snapshot):
                raise _removed_meanwhile(store, snapshot)
            _delete_files_of(changing, old)
    return snapshot


@raise_if_replaced
def delete_tag(store: TableStore, name: str, *, if_exists: bool = False) -> bool:
    """Delete a tag and the files that nothing else uses. Raises TagNotFound.

    The tag goes first. Its files stay, and a warning says so, if a missing or broken file keeps it from knowing which ones are unused.
    """
    if if_exists and name not in store.tags.names():
        return False
    try:
        tag = store.tags.get(name)
    except FormatError as error:
        log.warning("tag %r of %s is deleted, its files stay: %s", name, store.name, error)
        tag = None
    with undone_on_error(store) as changing:
        changing.tags.delete(name)
        publish_iceberg(store)
        if tag is not None:
            _delete_files_of(changing, tag)
    return True


@raise_if_replaced
def delete_tags(store: TableStore, names: Iterable[str]) -> None:
    """Delete several tags, or none. Raises TagNotFound."""
    with undone_on_error(store) as changing:
        for name in names:
            delete_tag(changing, name)


def _delete_files_of(store: TableStore, tag: Tag) -> None:
    """Delete the files that only a removed tag used."""
    try:
        candidates = _files_of_tag(store, tag)
        paths = candidates.unused(reachable_from_all_branches(store))
    except FormatError as error:
        log.warning("files of tag %r of %s stay, remove_orphan_files can delete them: %s", tag.name, store.name, error)
        return
    delete_paths(store, paths)


def _is_still_retained(store: TableStore, name: str, snapshot: Snapshot) -> bool:
    """Whether a snapshot, or another tag of it, is still there after tag `name` was written.

    An expiry or a rollback at the same time removes the snapshot first and looks for new tags then (`with_new_roots`): one of the
    two sees the other.
    """
    if store.versions is not None or store.snapshots.is_same_commit(snapshot):
        return True
    others = (t for t in store.tags.readable() if t.name != name)
    return any(t.snapshot.delta_manifest_list == snapshot.delta_manifest_list for t in others)


def _removed_meanwhile(store: TableStore, snapshot: Snapshot) -> SnapshotNotFound:
    return SnapshotNotFound(
        f"{store.name}: snapshot {snapshot.id} was removed while it was tagged; no tag was created",
        hint="an expiry or a rollback ran at the same time; tag a newer snapshot",
        snapshot=snapshot.id,
    )


@raise_if_replaced
def rename_tag(store: TableStore, name: str, to: str) -> None:
    """Rename a tag. Raises TagNotFound, AlreadyExists."""
    store.tags.get(name)
    check_tag_name(to)
    if to in store.tags.names():
        raise AlreadyExists(f"tag {to!r} already exists", hint="choose another name", name=to)
    with undone_on_error(store) as changing:
        changing.tags.rename(name, to)
        publish_iceberg(store)


@raise_if_replaced
def expire_tags(store: TableStore, older_than_ms: int | None = None) -> list[str]:
    """Delete expired tags (or those created before `older_than_ms`). Returns their names."""
    now = clock.now_ms()
    expired: list[str] = []
    for tag in store.tags.readable():
        name, created = tag.name, _created_ms(tag)
        late = tag.retained_ms is not None and created is not None and created + tag.retained_ms < now
        old = older_than_ms is not None and created is not None and created < older_than_ms
        if late or old:
            expired.append(name)
    delete_tags(store, expired)
    return expired


def pick_snapshot(store: TableStore, snapshot_id: int | None) -> Snapshot:
    """A snapshot by id, also one that only a tag retains; the latest for None. Raises SnapshotNotFound."""
    if snapshot_id is None:
        newest = store.latest()
        if newest is None:
            raise SnapshotNotFound(f"{store.name} has no snapshot yet", hint="write some rows first")
        return newest
    if snapshot_id in store.snapshots.ids():
        return store.snapshots.get(snapshot_id)
    for tag in store.tags.readable():
        if tag.snapshot.id == snapshot_id:
            return tag.snapshot
    ids = store.snapshots.ids()
    span = f"available: snapshots {ids[0]} to {ids[-1]}" if ids else "the table has no snapshot yet"
    raise SnapshotNotFound(f"{store.name} has no snapshot {snapshot_id}", hint=span, snapshot=snapshot_id)


def check_tag_name(name: str) -> str:
    """A tag name that is a valid file name and not blank."""
    check_name(name, "tag")
    if name != name.strip():
        raise InvalidName(f"tag name {name!r} begins or ends with a blank", hint="remove the blanks", name=name)
    return name


def _write_tag(
    store: TableStore, name: str, snapshot: Snapshot, retained_ms: int | None, *, replace: bool = False
) -> None:
    if retained_ms is None:
        retained_ms = store.options.get(opt.TAG_DEFAULT_TIME_RETAINED)
    created = datetime.fromtimestamp(clock.now_ms() / 1000) if retained_ms is not None else None
    store.tags.create(name, snapshot, created, retained_ms, replace=replace)
    if store.options.get(opt.TAG_CREATE_SUCCESS_FILE):
        now = clock.now_ms()
        content = java_json({"creationTime": now, "modificationTime": now})
        store.fs.overwrite(f"{store.branch_root}/tag/tag-success-file/{name}_SUCCESS", content)
    publish_iceberg(store)


def _files_of_tag(store: TableStore, tag: Tag) -> DeletionCandidates:
    candidates = DeletionCandidates(store)
    candidates.add_entries(live_entries(store, tag.snapshot))
    candidates.add_metadata(without_changelog(tag.snapshot))
    return candidates


def _created_ms(tag: Tag) -> int | None:
    """Creation time in epoch ms; the file stores local wall time. Tags without one use their snapshot's time."""
    if tag.create_time is None:
        return tag.snapshot.time_ms
    return int(tag.create_time.timestamp() * 1000)
