"""The live files of a snapshot: base and delta manifests merged. Knows no predicate and reads no data.

Source: docs/spec/format.md section 5.4.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.manifest import ADD, ManifestEntry, ManifestFile, read_manifest, read_manifest_list
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.table.store import POSTPONE_BUCKET, TableStore

Identity = tuple[object, ...]
BucketKey = tuple[bytes, int]
"""(partition, bucket)."""


def snapshot_manifests(store: TableStore, snapshot: Snapshot) -> list[ManifestFile]:
    """The manifests of the snapshot's whole state: base, then delta, in order."""
    return [
        *read_manifest_list(store.fs, store.manifest_path(snapshot.base_manifest_list)),
        *read_manifest_list(store.fs, store.manifest_path(snapshot.delta_manifest_list)),
    ]


def entries_of(
    store: TableStore, manifests: Iterable[ManifestFile], keep: Callable[[ManifestEntry], bool] | None = None
) -> Iterable[ManifestEntry]:
    """Entries in list order; `keep` filters."""
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
            self.totals = _totals(self.buckets)
        for key, some in come.items():
            self.buckets[key] = self.buckets.get(key, BucketFiles()).more(some)
        self.totals |= _totals({key: self.buckets[key] for key in come})


def _totals(buckets: Mapping[BucketKey, BucketFiles]) -> dict[bytes, int]:
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

    def invalidate_cache(self) -> None:
        """Drop the cache, as in a new process."""
        with self._lock:
            self._tables.clear()


LIVE_FILES = LiveFiles()


def by_bucket(entries: Iterable[ManifestEntry]) -> dict[BucketKey, list[ManifestEntry]]:
    """Entries grouped by (partition, bucket), groups in order of first occurrence."""
    groups: dict[BucketKey, list[ManifestEntry]] = {}
    for entry in entries:
        groups.setdefault((entry.partition, entry.bucket), []).append(entry)
    return groups
