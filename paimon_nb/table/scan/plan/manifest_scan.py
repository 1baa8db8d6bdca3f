"""The live entries of a snapshot: base and delta manifests added up, manifests that cannot matter left out.

Source: format reference, section 5.4.
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
from paimon_nb.format.unique import groups
from paimon_nb.table.scan.read.parallel import side_by_side
from paimon_nb.table.store import TableStore

_THREADS = 4


@dataclass(frozen=True, slots=True)
class Read:
    """Entries read, and what was not read."""

    entries: Entries
    manifests: int
    manifests_skipped: int
    files_skipped: int
    """Entries of kind ADD in the manifests that were skipped."""


KeepManifests = Callable[[Sequence[ManifestFile]], Sequence[bool]]


def live(store: TableStore, snapshot: Snapshot, keep: KeepManifests | None = None) -> Read:
    """Entries of the files that the snapshot holds. Raises `CorruptFile`, `MissingFile`.

    With `keep`, only the entries of partitions that it asks for mean anything: of others, a file's removal may lie in a
    manifest that was skipped. So the caller drops those, then calls `refuse_doubles`.
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
    """All manifests that a snapshot names: base, delta, changelog."""
    lists = (snapshot.base_manifest_list, snapshot.delta_manifest_list, snapshot.changelog_manifest_list)
    return [m for name in lists if name is not None for m in manifests(store, name)]


def manifests(store: TableStore, list_name: str) -> list[ManifestFile]:
    """The manifests that a list names, in order."""
    path = store.manifest_path(list_name)
    return read_manifest_list(store.fs, path)


def index_entries(store: TableStore, snapshot: Snapshot | None) -> list[IndexEntry]:
    """The live index files of a snapshot."""
    if snapshot is None or snapshot.index_manifest is None:
        return []
    path = store.manifest_path(snapshot.index_manifest)
    return read_index_manifest(store.fs, path)


def merge_entries(entries: Iterable[ManifestEntry]) -> Entries:
    """Entries of kind ADD that no DELETE takes back, in order."""
    entries = as_entries(entries)
    added = entries.column("kind") == ADD
    if added.all():
        return entries
    gone = {e.identity for e in entries.choose(~added)}
    # Names are hardly ever used twice: an entry is looked at only if its name is among those taken away.
    near = added.copy()
    if not isinstance(entries, Listed):
        import pyarrow.compute as pc

        taken = entries.choose(~added).column("file_name")
        near &= to_numpy(pc.is_in(entries.column("file_name"), value_set=taken))
    for at, entry in zip(np.flatnonzero(near).tolist(), entries.choose(near), strict=True):
        added[at] = entry.identity not in gone
    return entries.choose(added)


def check_unique(entries: Entries) -> None:
    """Raise `CorruptFile` when live entries name a file twice."""
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


def bucket_places(entries: Entries) -> tuple[np.ndarray, np.ndarray]:
    """(for each entry the place of its bucket, the first entry of each bucket); buckets of all partitions, in order of first sight."""
    address = (entries.partitions[0].astype(np.int64) << 32) + (entries.column("bucket") & 0xFFFFFFFF)
    firsts, found = groups(address)
    order = np.argsort(firsts)
    return np.argsort(order)[found], firsts[order]


def _read(store: TableStore, files: Sequence[ManifestFile], keep: KeepManifests | None) -> Read:
    kept = list(files) if keep is None else [m for m, wanted in zip(files, keep(files), strict=True) if wanted]
    size = sum(m.file_size for m in kept)
    parts = side_by_side(store.fs, lambda m: _entries(store, m), kept, size, _THREADS)
    skipped = len(files) - len(kept)
    files_skipped = sum(m.num_added for m in files) - sum(m.num_added for m in kept)
    return Read(joined(parts), len(files), skipped, files_skipped)


def _entries(store: TableStore, manifest: ManifestFile) -> Entries:
    path = store.manifest_path(manifest.file_name)
    found = read_entries(store.fs, path)
    if len(found) != manifest.num_added + manifest.num_deleted:
        raise CorruptFile(
            path, f"its list promises {manifest.num_added + manifest.num_deleted} entries, it holds {len(found)}"
        )
    return found
