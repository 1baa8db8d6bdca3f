"""Tags: create, replace, rename, delete, expire. Source: docs/spec/format.md section 15; docs/spec/merge-semantics.md section 7."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import AlreadyExists, InvalidName, SnapshotNotFound
from paimon_nb.base.identifier import check_name
from paimon_nb.format.metadata_json import java_json
from paimon_nb.options import table as opt
from paimon_nb.options.support import Access
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.iceberg import publish_iceberg
from paimon_nb.table.write.maintenance.deletion_candidates import DeletionCandidates, delete_paths
from paimon_nb.table.write.maintenance.reachable import reachable_from_all_branches, without_changelog

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot, Tag
    from paimon_nb.table.read.store import TableStore


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
    _write_tag(store, name, snapshot, retained_ms)
    return snapshot


def replace_tag(
    store: TableStore, name: str, snapshot_id: int | None = None, *, retained_ms: int | None = None
) -> Snapshot:
    """Move an existing tag to another snapshot; deletes the files that only the old one used."""
    old = store.tags.get(name)
    snapshot = pick_snapshot(store, snapshot_id) if snapshot_id is not None else old.snapshot
    # Not by id: after a fast-forward or a rollback two histories may use the same ids.
    same = snapshot.delta_manifest_list == old.snapshot.delta_manifest_list
    candidates = DeletionCandidates(store) if same else _files_of_tag(store, old)
    _write_tag(store, name, snapshot, retained_ms, replace=True)  # one step: the tag always exists
    delete_paths(store, candidates.unused(reachable_from_all_branches(store)) if not same else [])
    return snapshot


def delete_tag(store: TableStore, name: str, *, if_exists: bool = False) -> bool:
    """Delete a tag and the files that nothing else uses. Raises TagNotFound."""
    if if_exists and name not in store.tags.names():
        return False
    tag = store.tags.get(name)
    paths = _only_needed_by(store, name, tag)
    store.tags.delete(name)
    publish_iceberg(store)
    delete_paths(store, paths)
    return True


def rename_tag(store: TableStore, name: str, to: str) -> None:
    """Rename a tag. Raises TagNotFound, AlreadyExists."""
    store.tags.get(name)
    check_tag_name(to)
    if to in store.tags.names():
        raise AlreadyExists(f"tag {to!r} already exists", hint="choose another name", name=to)
    store.tags.rename(name, to)
    publish_iceberg(store)


def expire_tags(store: TableStore, older_than_ms: int | None = None) -> list[str]:
    """Delete expired tags (or those created before `older_than_ms`). Returns their names."""
    now = clock.now_ms()
    expired = []
    for name in store.tags.names():
        tag = store.tags.get(name)
        created = _created_ms(tag)
        late = tag.retained_ms is not None and created is not None and created + tag.retained_ms < now
        old = older_than_ms is not None and created is not None and created < older_than_ms
        if late or old:
            delete_tag(store, name)
            expired.append(name)
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
    for name in store.tags.names():
        held = store.tags.get(name).snapshot
        if held.id == snapshot_id:
            return held
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


def _only_needed_by(store: TableStore, name: str, tag: Tag) -> list[str]:
    """Paths that are unreachable once this tag is deleted."""
    return _files_of_tag(store, tag).unused(reachable_from_all_branches(store, without_tags=[name]))


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
