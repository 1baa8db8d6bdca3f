"""The live entries of a snapshot: base and delta manifests merged; manifests that cannot match are skipped.

Source: docs/spec/format.md section 5.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.manifest import (
    ADD,
    Entries,
    IndexEntry,
    Listed,
    ManifestEntry,
    ManifestFile,
    as_entries,
    joined,
    read_entries,
    read_index_manifest,
    read_manifest_list,
)
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.format.types.arrow_builders import to_numpy
from paimon_nb.format.unique import unique_inverse
from paimon_nb.table.scan.read.parallel import side_by_side
from paimon_nb.table.store import TableStore

_THREADS = 4


@dataclass(frozen=True, slots=True)
class Read:
    """Entries that were read, and counts of what was skipped."""

    entries: Entries
    manifests: int
    manifests_skipped: int
    files_skipped: int
    """ADD entries in skipped manifests."""


KeepManifests = Callable[[Sequence[ManifestFile]], Sequence[bool]]


def live(store: TableStore, snapshot: Snapshot, keep: KeepManifests | None = None) -> Read:
    """Entries of the snapshot's live files. Raises `CorruptFile`, `MissingFile`.

    With `keep`, only entries of the selected partitions are valid: for others, a DELETE may be in a skipped manifest.
    The caller drops those, then calls `check_unique`.
    """
    names = (snapshot.base_manifest_list, snapshot.delta_manifest_list)
    read = _read(store, [m for name in names for m in manifests(store, name)], keep)
    entries = merge_entries(read.entries)
    if keep is None:
        check_unique(entries)
    return Read(entries, read.manifests, read.manifests_skipped, read.files_skipped)


def changes(store: TableStore, list_name: str | None, keep: KeepManifests | None = None) -> Read:
    """The entries of one delta or changelog manifest list, ADD and DELETE, in order."""
    return Read(as_entries(()), 0, 0, 0) if list_name is None else _read(store, manifests(store, list_name), keep)


def snapshot_manifests(store: TableStore, snapshot: Snapshot) -> list[ManifestFile]:
    """All manifests of a snapshot: base, delta, changelog."""
    lists = (snapshot.base_manifest_list, snapshot.delta_manifest_list, snapshot.changelog_manifest_list)
    return [m for name in lists if name is not None for m in manifests(store, name)]


def manifests(store: TableStore, list_name: str) -> list[ManifestFile]:
    """The manifests of a manifest list, in order."""
    path = store.manifest_path(list_name)
    return read_manifest_list(store.fs, path)


def index_entries(store: TableStore, snapshot: Snapshot | None) -> list[IndexEntry]:
    """The live index files of a snapshot."""
    if snapshot is None or snapshot.index_manifest is None:
        return []
    path = store.manifest_path(snapshot.index_manifest)
    return read_index_manifest(store.fs, path)


def merge_entries(entries: Iterable[ManifestEntry]) -> Entries:
    """ADD entries that no DELETE cancels, in order."""
    entries = as_entries(entries)
    added = entries.column("kind") == ADD
    if added.all():
        return entries
    deleted = {e.identity for e in entries.choose(~added)}
    # File names are almost unique: compare the whole identity only where a deleted name matches.
    near = added.copy()
    if not isinstance(entries, Listed):
        import pyarrow.compute as pc

        taken = entries.choose(~added).column("file_name")
        near &= to_numpy(pc.is_in(entries.column("file_name"), value_set=taken))
    for at, entry in zip(np.flatnonzero(near).tolist(), entries.choose(near), strict=True):
        added[at] = entry.identity not in deleted
    return entries.choose(added)


def check_unique(entries: Entries) -> None:
    """Raise `CorruptFile` if live entries contain a file twice."""
    if isinstance(entries, Listed):
        names = len({e.file.file_name for e in entries})
    else:
        import pyarrow.compute as pc

        names = pc.count_distinct(entries.column("file_name")).as_py()
    if names == len(entries):
        return
    seen = set()
    for e in entries:
        address = (e.partition, e.bucket, e.file.file_name)
        if address in seen:
            raise CorruptFile(e.file.file_name, "the manifests add it twice")
        seen.add(address)


def bucket_numbers(entries: Entries) -> tuple[np.ndarray, np.ndarray]:
    """(bucket number of each entry, first entry of each bucket); buckets of all partitions, in order of first occurrence."""
    address = (entries.partitions[0].astype(np.int64) << 32) + (entries.column("bucket") & 0xFFFFFFFF)
    firsts, found = unique_inverse(address)
    order = np.argsort(firsts)
    return np.argsort(order)[found], firsts[order]


def _read(store: TableStore, files: Sequence[ManifestFile], keep: KeepManifests | None) -> Read:
    selected = list(files) if keep is None else [m for m, keep_it in zip(files, keep(files), strict=True) if keep_it]
    size = sum(m.file_size for m in selected)
    parts = side_by_side(store.fs, lambda m: _entries(store, m), selected, size, _THREADS)
    skipped = len(files) - len(selected)
    files_skipped = sum(m.num_added for m in files) - sum(m.num_added for m in selected)
    return Read(joined(parts), len(files), skipped, files_skipped)


def _entries(store: TableStore, manifest: ManifestFile) -> Entries:
    path = store.manifest_path(manifest.file_name)
    found = read_entries(store.fs, path)
    if len(found) != manifest.num_added + manifest.num_deleted:
        raise CorruptFile(
            path,
            f"the manifest list declares {manifest.num_added + manifest.num_deleted} entries, the manifest has {len(found)}",
        )
    return found
