"""Which data and index files are live in a snapshot: the only module of `table` that reads manifests of a snapshot.

Base and delta manifests are merged: a file is live if it was added and not deleted. The answer has four forms:

- `read_live`: all entries as columns, without manifests that cannot match. For scans.
- `live_entries`: a list of entries. For commits, compaction and maintenance.
- `live_file_names`: the names alone, with one manifest in memory at a time. For maintenance.
- `LIVE_FILES.at`: files by bucket, cached from commit to commit. For writers.

Knows no predicate and reads no rows. Source: docs/spec/format.md section 5.4.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.base.errors import CorruptFile, MissingFile
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import (
    ADD,
    DataFile,
    Entries,
    EntryList,
    IndexEntry,
    LazyFiles,
    ManifestEntry,
    ManifestFile,
    as_entries,
    concat_entries,
    read_entries,
    read_manifest,
    read_manifest_list,
)
from paimon_nb.format.snapshot.directory import same_commit
from paimon_nb.format.types.arrow_builders import to_numpy, unique_inverse
from paimon_nb.table.read.side_by_side import map_in_threads
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot

_THREADS = 4
_THREADS_OF_OBJECT_STORE = 32
"""They wait for replies most of the time."""
Identity = tuple[object, ...]
BucketKey = tuple[bytes, int]
"""(partition, bucket)."""


# -- manifests


def snapshot_manifests(store: TableStore, snapshot: Snapshot, *, changelog: bool = False) -> list[ManifestFile]:
    """The manifests of the snapshot's whole state: base, then delta, in order; with `changelog`, those of its changelog too."""
    lists = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
    if changelog and snapshot.changelog_manifest_list is not None:
        lists.append(snapshot.changelog_manifest_list)
    if store.fs.is_object_store:
        index = [snapshot.index_manifest] if snapshot.index_manifest else []
        store.fs.prefetch((store.manifest_path(name), 0) for name in (*lists, *index))
    return [m for name in lists for m in _read_list(store, name)]


def _read_list(store: TableStore, list_name: str) -> list[ManifestFile]:
    return read_manifest_list(store.fs, store.manifest_path(list_name))


def index_entries(store: TableStore, snapshot: Snapshot | None) -> list[IndexEntry]:
    """The live index files of a snapshot; [] if it has none."""
    if snapshot is None or not snapshot.index_manifest:
        return []
    from paimon_nb.format.manifest import read_index_manifest

    return list(read_index_manifest(store.fs, store.manifest_path(snapshot.index_manifest)))


# -- entries as columns, for scans


@dataclass(frozen=True, slots=True)
class ManifestRead:
    """Entries that were read, and counts of what was skipped."""

    entries: Entries
    manifests: int
    manifests_skipped: int
    files_skipped: int
    """ADD entries in skipped manifests."""


KeepManifests = Callable[[Sequence[ManifestFile]], Sequence[bool]]


def read_live(store: TableStore, snapshot: Snapshot, keep: KeepManifests | None = None) -> ManifestRead:
    """Entries of the snapshot's live files. Raises `CorruptFile`, `MissingFile`.

    With `keep`, only entries of the selected partitions are valid: for others, a DELETE may be in a skipped manifest.
    The caller drops those, then calls `check_unique`.
    """
    read = _read_manifests(store, snapshot_manifests(store, snapshot), keep)
    entries = drop_deleted(read.entries)
    if keep is None:
        check_unique(entries)
    return ManifestRead(entries, read.manifests, read.manifests_skipped, read.files_skipped)


def read_changes(store: TableStore, list_name: str | None, keep: KeepManifests | None = None) -> ManifestRead:
    """The entries of one delta or changelog manifest list, ADD and DELETE, in order."""
    return (
        ManifestRead(as_entries(()), 0, 0, 0)
        if list_name is None
        else _read_manifests(store, _read_list(store, list_name), keep)
    )


def drop_deleted(entries: Iterable[ManifestEntry]) -> Entries:
    """ADD entries that no DELETE cancels, in order."""
    entries = as_entries(entries)
    added = entries.column("kind") == ADD
    if added.all():
        return entries
    deleted = {e.identity for e in entries.filter(~added)}
    # File names are almost unique: compare the whole identity only where a deleted name matches.
    near = added.copy()
    if entries.vectorized:
        import pyarrow.compute as pc

        taken = entries.filter(~added).column("file_name")
        near &= to_numpy(pc.is_in(entries.column("file_name"), value_set=taken))
    else:
        names = {identity[3] for identity in deleted}
        near &= np.array([name in names for name in _file_names(entries)])
    for at, entry in zip(np.flatnonzero(near).tolist(), entries.filter(near), strict=True):
        added[at] = entry.identity not in deleted
    return entries.filter(added)


def check_unique(entries: Entries) -> None:
    """Raise `CorruptFile` if live entries contain a file twice."""
    if entries.vectorized:
        import pyarrow.compute as pc

        names = pc.count_distinct(entries.column("file_name")).as_py()
    else:
        names = len(set(_file_names(entries)))
    if names == len(entries):
        return
    seen = set()
    for e in entries:
        address = (e.partition, e.bucket, e.file.file_name)
        if address in seen:
            raise CorruptFile(e.file.file_name, "the manifests add it twice")
        seen.add(address)


def _file_names(entries: Entries) -> list[str]:
    return entries.file_values("file_name", np.arange(len(entries)))


def bucket_numbers(entries: Entries) -> tuple[np.ndarray, np.ndarray]:
    """(bucket number of each entry, first entry of each bucket); buckets of all partitions, in order of first occurrence."""
    address = (entries.partitions[0].astype(np.int64) << 32) + (entries.column("bucket") & 0xFFFFFFFF)
    firsts, found = unique_inverse(address)
    order = np.argsort(firsts)
    return np.argsort(order)[found], firsts[order]


def group_by_bucket(entries: Iterable[ManifestEntry]) -> list[tuple[tuple[bytes, int, int], Sequence[DataFile]]]:
    """((partition, bucket, total buckets), files) in order of first occurrence."""
    entries = as_entries(entries)
    if not isinstance(entries, EntryList):
        return _group_columnar_entries(entries)
    groups: dict[tuple[bytes, int], tuple[int, list[DataFile]]] = {}
    for entry in entries:
        groups.setdefault((entry.partition, entry.bucket), (entry.total_buckets, []))[1].append(entry.file)
    return [((partition, bucket, total), files) for (partition, bucket), (total, files) in groups.items()]


def _group_columnar_entries(entries: Entries) -> list[tuple[tuple[bytes, int, int], Sequence[DataFile]]]:
    numbers, firsts = bucket_numbers(entries)
    ordered = entries
    if (numbers[1:] < numbers[:-1]).any():
        ordered = entries.take(np.argsort(numbers, kind="stable"))
    partition, partitions = entries.partitions
    cuts = [0, *np.cumsum(np.bincount(numbers)).tolist()]
    columns = (partition[firsts].tolist(), *(entries.column(n)[firsts].tolist() for n in ("bucket", "total_buckets")))
    return [
        ((partitions[at], bucket, total), LazyFiles(ordered, cuts[i], cuts[i + 1]))
        for i, (at, bucket, total) in enumerate(zip(*columns, strict=True))
    ]


def _read_manifests(store: TableStore, files: Sequence[ManifestFile], keep: KeepManifests | None) -> ManifestRead:
    selected = list(files) if keep is None else [m for m, keep_it in zip(files, keep(files), strict=True) if keep_it]
    size = sum(m.file_size for m in selected)
    threads = _THREADS_OF_OBJECT_STORE if store.fs.is_object_store else _THREADS
    parts = map_in_threads(store.fs, lambda m: _read_checked_entries(store, m), selected, size, threads)
    skipped = len(files) - len(selected)
    files_skipped = sum(m.num_added for m in files) - sum(m.num_added for m in selected)
    return ManifestRead(concat_entries(parts), len(files), skipped, files_skipped)


def _read_checked_entries(store: TableStore, manifest: ManifestFile) -> Entries:
    path = store.manifest_path(manifest.file_name)
    found = read_entries(store.fs, path)
    if len(found) != manifest.num_added + manifest.num_deleted:
        raise CorruptFile(
            path,
            f"the manifest list declares {manifest.num_added + manifest.num_deleted} entries, the manifest has {len(found)}",
        )
    return found


# -- entries as objects, for commits and maintenance


def entries_of(
    store: TableStore, manifests: Iterable[ManifestFile], keep: Callable[[ManifestEntry], bool] | None = None
) -> Iterable[ManifestEntry]:
    """Entries in list order; `keep` filters."""
    if store.fs.is_object_store:
        manifests = list(manifests)
        store.fs.prefetch((store.manifest_path(m.file_name), m.file_size) for m in manifests)
    for manifest in manifests:
        entries = read_manifest(store.fs, store.manifest_path(manifest.file_name))
        yield from entries if keep is None else filter(keep, entries)


def merge_entries(
    entries: Iterable[ManifestEntry], into: dict[Identity, ManifestEntry] | None = None
) -> dict[Identity, ManifestEntry]:
    """Merge ADD and DELETE entries. A DELETE without its ADD stays as a pending DELETE."""
    live: dict[Identity, ManifestEntry] = {} if into is None else into
    for entry in entries:
        key = entry.identity
        present = live.get(key)
        if entry.kind == ADD:
            if present is not None and present.kind == ADD:
                raise CorruptFile(entry.file.file_name, "the manifests add it twice")
            live[key] = entry
        elif present is not None:
            del live[key]
        else:
            live[key] = entry
    return live


def live_entries(
    store: TableStore, snapshot: Snapshot | None, partitions: Collection[bytes] | None = None
) -> list[ManifestEntry]:
    """The live entries of a snapshot, restricted to `partitions` if set; [] for None."""
    if snapshot is None or (partitions is not None and not partitions):
        return []
    keep = None if partitions is None else lambda entry: entry.partition in partitions
    merged = merge_entries(entries_of(store, snapshot_manifests(store, snapshot), keep))
    return [entry for entry in merged.values() if entry.kind == ADD]


def live_file_names(store: TableStore, snapshot: Snapshot) -> set[str]:
    """Names of the live files of a snapshot and of their sidecars.

    The columns of one manifest are in memory at a time. Objects are created only of DELETE entries, of entries with
    the name of one, and of those with sidecars.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    manifests = snapshot_manifests(store, snapshot)
    if store.fs.is_object_store:
        store.fs.prefetch((store.manifest_path(m.file_name), m.file_size) for m in manifests)
    deleted: set[Identity] = set()
    for manifest in manifests:
        if manifest.num_deleted:
            entries = _read_checked_entries(store, manifest)
            deleted.update(e.identity for e in entries.filter(entries.column("kind") != ADD))
    deleted_names = pa.array([str(identity[3]) for identity in deleted], pa.large_string())
    live: set[str] = set()
    for manifest in manifests:
        entries = _read_checked_entries(store, manifest)
        added = entries.filter(entries.column("kind") == ADD)
        names = added.column("file_name").cast(pa.large_string())
        near = to_numpy(pc.is_in(names, value_set=deleted_names)).astype(bool)
        live.update(names.filter(pa.array(~near)).to_pylist())
        for entry in added.filter(near | (added.column("beside") != 0)):
            if entry.identity not in deleted:
                live.update((entry.file.file_name, *entry.file.extra_files))
    return live


def by_bucket(entries: Iterable[ManifestEntry]) -> dict[BucketKey, list[ManifestEntry]]:
    """Entries grouped by (partition, bucket), groups in order of first occurrence."""
    groups: dict[BucketKey, list[ManifestEntry]] = {}
    for entry in entries:
        groups.setdefault((entry.partition, entry.bucket), []).append(entry)
    return groups


# -- files by bucket, cached, for writers


@dataclass(frozen=True, slots=True)
class BucketFiles:
    """The live files of one bucket."""

    entries: tuple[ManifestEntry, ...] = ()
    max_sequence: int = -1

    def more(self, entries: Sequence[ManifestEntry]) -> BucketFiles:
        newest = max((e.file.max_sequence for e in entries), default=-1)
        return BucketFiles((*self.entries, *entries), max(self.max_sequence, newest))


@dataclass
class LiveBuckets:
    """Merged manifests, by bucket."""

    manifests: tuple[str, ...] = ()
    live: dict[Identity, ManifestEntry] = field(default_factory=dict)
    buckets: dict[BucketKey, BucketFiles] = field(default_factory=dict)
    totals: dict[bytes, int] = field(default_factory=dict)
    """Number of buckets per partition, without postponed rows."""

    def add(self, entries: Iterable[ManifestEntry]) -> None:
        """Costs as much as the entries, not as the table, unless some of them delete files."""
        entries = list(entries)
        merge_entries(entries, self.live)
        shrunk = {(e.partition, e.bucket) for e in entries if e.kind != ADD}
        come = by_bucket(e for e in entries if (e.partition, e.bucket) not in shrunk)
        if shrunk:
            for key in shrunk:
                self.buckets.pop(key, None)
            left = (e for e in self.live.values() if e.kind == ADD)
            come |= by_bucket(e for e in left if (e.partition, e.bucket) in shrunk)
            self.totals = _buckets_per_partition(self.buckets)
        for key, some in come.items():
            self.buckets[key] = self.buckets.get(key, BucketFiles()).more(some)
        self.totals |= _buckets_per_partition({key: self.buckets[key] for key in come})


def _buckets_per_partition(buckets: Mapping[BucketKey, BucketFiles]) -> dict[bytes, int]:
    return {partition: of.entries[-1].total_buckets for (partition, n), of in buckets.items() if n != POSTPONE_BUCKET}


class LiveFiles:
    """Live files of tables that are written repeatedly: the merged state of unchanged manifests is cached.

    For writers: they need the files, and do not need to check that each manifest is still readable.
    """

    TABLES = 4

    def __init__(self) -> None:
        self._tables: OrderedDict[str, LiveBuckets] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, store: TableStore, snapshot: Snapshot | None) -> tuple[dict[BucketKey, BucketFiles], dict[bytes, int]]:
        """(files by bucket, number of buckets by partition)."""
        if snapshot is None:
            return {}, {}
        manifests = snapshot_manifests(store, snapshot)
        names = tuple(m.file_name for m in manifests)
        with self._lock:
            known = self._tables.pop(store.branch_root, LiveBuckets())
        if names[: len(known.manifests)] != known.manifests:
            known = LiveBuckets()
        known.add(entries_of(store, manifests[len(known.manifests) :]))
        known.manifests = names
        result = dict(known.buckets), dict(known.totals)
        with self._lock:
            self._tables[store.branch_root] = known
            while len(self._tables) > self.TABLES:
                self._tables.popitem(last=False)
        return result

    def at_newest(
        self, store: TableStore, newest: Snapshot | None
    ) -> tuple[Snapshot | None, dict[BucketKey, BucketFiles], dict[bytes, int]]:
        """(newest snapshot, files by bucket, number of buckets by partition).

        If `newest` expires while it is read, its successor is read.
        """
        while True:
            try:
                return newest, *self.at(store, newest)
            except MissingFile:
                before, newest = newest, store.latest()
                if before is None or newest is None or same_commit(before, newest):
                    store.check_identity()  # it was dropped or moved: that says more
                    raise

    def invalidate_cache(self) -> None:
        """Drop the cache, as in a new process."""
        with self._lock:
            self._tables.clear()


LIVE_FILES = LiveFiles()
