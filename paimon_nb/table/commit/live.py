"""The live files of a snapshot: base and delta manifests added up. Knows no predicate and reads no data.

Source: format reference, section 5.4.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable

from paimon_nb.base.errors import CorruptFile
from paimon_nb.format.manifest import ADD, ManifestEntry, ManifestFile, read_manifest, read_manifest_list
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.table.store import TableStore

Identity = tuple[object, ...]


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
    """Add up ADD and DELETE entries. A DELETE without its ADD stays, as a pending DELETE."""
    live: dict[Identity, ManifestEntry] = {} if into is None else into
    for entry in entries:
        key = entry.identity
        present = live.get(key)
        if entry.kind == ADD:
            if present is not None and present.kind == ADD:
                raise CorruptFile(entry.file.file_name, "added twice by the manifests")
            live[key] = entry
        elif present is not None:
            del live[key]
        else:
            live[key] = entry
    return live


def live_entries(
    store: TableStore, snapshot: Snapshot | None, partitions: Collection[bytes] | None = None
) -> list[ManifestEntry]:
    """The live entries of a snapshot, of `partitions` only where given; [] for None."""
    if snapshot is None or (partitions is not None and not partitions):
        return []
    keep = None if partitions is None else lambda entry: entry.partition in partitions
    merged = merge_entries(entries_of(store, snapshot_manifests(store, snapshot), keep))
    return [entry for entry in merged.values() if entry.kind == ADD]


class LiveFiles:
    """Live entries of tables that are written to again and again: what the same manifests gave the last time stays added up.

    For writers, who need to know the files and not that each manifest can still be read.
    """

    TABLES = 4

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[tuple[str, ...], dict[Identity, ManifestEntry]]] = OrderedDict()
        self._lock = threading.Lock()

    def at(self, store: TableStore, snapshot: Snapshot | None) -> list[ManifestEntry]:
        """As `live_entries`, of all partitions."""
        if snapshot is None:
            return []
        manifests = snapshot_manifests(store, snapshot)
        names = tuple(m.file_name for m in manifests)
        with self._lock:
            known, live = self._kept.pop(store.branch_root, ((), {}))
        if names[: len(known)] != known:
            known, live = (), {}
        merge_entries(entries_of(store, manifests[len(known) :]), live)
        with self._lock:
            self._kept[store.branch_root] = (names, live)
            while len(self._kept) > self.TABLES:
                self._kept.popitem(last=False)
        return [entry for entry in live.values() if entry.kind == ADD]

    def forget(self) -> None:
        """Begin anew, as a new process does."""
        with self._lock:
            self._kept.clear()


LIVE_FILES = LiveFiles()


def by_bucket(entries: Iterable[ManifestEntry]) -> dict[tuple[bytes, int], list[ManifestEntry]]:
    """Entries grouped by (partition, bucket), groups in the order of first sight."""
    groups: dict[tuple[bytes, int], list[ManifestEntry]] = {}
    for entry in entries:
        groups.setdefault((entry.partition, entry.bucket), []).append(entry)
    return groups
