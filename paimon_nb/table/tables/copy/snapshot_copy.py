"""Copies the newest snapshot of a table with every file that it needs, with the same names and the same id.

Source: Paimon 1.3 `CopyMetaFilesFunction`, `CopyManifestFileOperator`, `CopyDataFileOperator`, `SnapshotHintOperator`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import AlreadyExists, UnsupportedOperation
from paimon_nb.format.manifest import (
    ADD,
    read_index_manifest,
    read_manifest,
    read_manifest_list,
    write_index_manifest,
    write_manifest,
)
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.plan.time_travel import retry_on_expiry
from paimon_nb.table.read.split.inline_blobs import managed_path
from paimon_nb.table.tables.copy.copy import MAX_READS, copy_file
from paimon_nb.table.write.maintenance.reachable import changelog_entries, index_files, list_names
from paimon_nb.table.write.managed_blobs import REFERENCE_SUFFIX, read_references
from paimon_nb.table.write.publish.attempt import manifest_format
from paimon_nb.table.write.publish.publisher import notify_partitions_added

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paimon_nb.format.manifest import ManifestEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

Pair = tuple[str, str]
"""A path in the source, and in the target."""


def copy_snapshot(source: TableStore, target: TableStore) -> tuple[int, Snapshot | None]:
    """Copy the newest snapshot into a table without snapshots; its schemas must exist.

    The snapshot file is copied last: nothing is visible before it. Files that an earlier attempt copied are not copied
    again.

    Files that are outside the source's directory (`data-file.external-paths`) are copied into the target's; the manifests that
    name them are written again.

    Returns: the number of copied files, and the snapshot; None if the source has none.
    Raises: AlreadyExists: the target has another snapshot. UnsupportedOperation: a catalog server publishes the snapshots.
    """
    if target.versions is not None:
        raise UnsupportedOperation(
            f"{target.name}: the snapshots of this table are published by its catalog server, not copied",
            hint="CALL sys.copy copies the rows' files, or INSERT INTO ... SELECT",
            path=target.root,
        )
    return retry_on_expiry(source, lambda: _copy_snapshot_files(source, target), attempts=MAX_READS)


def _copy_snapshot_files(source: TableStore, target: TableStore) -> tuple[int, Snapshot | None]:
    snapshot = source.latest()
    if snapshot is None:
        return 0, None
    have = target.latest()
    if have is not None and have != snapshot:
        raise AlreadyExists(
            f"{target.name} already has a snapshot", hint="copy under another name, or drop it first",
            name=target.name, snapshot=have.id,
        )  # fmt: skip
    copied, named = 0, []
    for old, new in _files_of_snapshot(source, target, snapshot):
        copied += _copy_if_missing(source, target, old, new)
        named.append(new)
    for name in _manifest_names(source, snapshot):
        copied += _copy_manifest(source, target, name)
        named.append(target.manifest_path(name))
    if snapshot.index_manifest:
        copied += _copy_index_manifest(source, target, snapshot.index_manifest)
        named.append(target.manifest_path(snapshot.index_manifest))
    bytes_ = source.fs.read(source.snapshots.path(snapshot.id))
    target.fs.sync_and_put_if_absent(named, target.snapshots.path(snapshot.id), bytes_)
    target.fs.check_after_put()
    target.snapshots.write_earliest_hint(snapshot.id)
    target.snapshots.write_latest_hint(snapshot.id)
    notify_partitions_added(target, {e.partition for e in live_entries(target, snapshot)})
    return copied, snapshot


def _copy_if_missing(source: TableStore, target: TableStore, old: str, new: str) -> bool:
    if target.fs.exists(new):
        if target.fs.size(new) == source.fs.size(old):
            return False
        target.fs.delete(new)  # truncated by a crashed writer
    copy_file(source.fs, old, target.fs, new)
    return True


def _copy_manifest(source: TableStore, target: TableStore, name: str) -> bool:
    """Copy a manifest; one that names files outside the table is written again, with the places of their copies."""
    old, new = source.manifest_path(name), target.manifest_path(name)
    entries = read_manifest(source.fs, old)
    if not any(e.file.external_path for e in entries):
        return _copy_if_missing(source, target, old, new)
    target.fs.delete(new)
    inside = [replace(e, file=replace(e.file, external_path=None)) for e in entries]
    write_manifest(target.fs, new, inside, *_manifest_form(target))
    return True


def _copy_index_manifest(source: TableStore, target: TableStore, name: str) -> bool:
    """The same for an index manifest."""
    old, new = source.manifest_path(name), target.manifest_path(name)
    entries = read_index_manifest(source.fs, old)
    if not any(e.external_path for e in entries):
        return _copy_if_missing(source, target, old, new)
    target.fs.delete(new)
    write_index_manifest(target.fs, new, [replace(e, external_path=None) for e in entries], *_manifest_form(target))
    return True


def _manifest_form(store: TableStore) -> tuple[str, str]:
    return str(store.options.get(opt.MANIFEST_COMPRESSION)), manifest_format(store)


def _files_of_snapshot(source: TableStore, target: TableStore, snapshot: Snapshot) -> Iterator[Pair]:
    """All files of the snapshot, referenced directly or through its lists, without manifests and index manifests."""
    entries = [*live_entries(source, snapshot), *(e for e in changelog_entries(source, snapshot) if e.kind == ADD)]
    for entry in entries:
        yield from zip(
            source.paths_of(entry.partition, entry.bucket, entry.file),
            target.paths_of(entry.partition, entry.bucket, replace(entry.file, external_path=None)),
            strict=True,
        )
    yield from _managed_blob_files(source, target, entries)
    for index in index_files(source, snapshot):
        yield source.index_path(index), target.index_path(replace(index, external_path=None))
    if snapshot.statistics:
        yield source.statistics_path(snapshot.statistics), target.statistics_path(snapshot.statistics)
    for name in list_names(snapshot):
        yield source.manifest_path(name), target.manifest_path(name)


def _managed_blob_files(source: TableStore, target: TableStore, entries: Iterable[ManifestEntry]) -> set[Pair]:
    """The `.managed.blob` files that the rows of these files refer to."""
    found: set[Pair] = set()
    if source.managed_blobs:
        for entry in entries:
            for extra in source.extra_paths(entry.partition, entry.bucket, entry.file):
                if extra.endswith(REFERENCE_SUFFIX):
                    paths = read_references(source.fs, extra)
                    found |= {(managed_path(source, path), managed_path(target, path)) for path in paths}
    return found


def _manifest_names(source: TableStore, snapshot: Snapshot) -> list[str]:
    lists = (read_manifest_list(source.fs, source.manifest_path(name)) for name in list_names(snapshot))
    return list(dict.fromkeys(m.file_name for manifests in lists for m in manifests))
