"""Writes manifests and merges small ones. Knows entries and sizes, not the meaning of a commit.

Source: docs/spec/format.md sections 5.4 and 7 (Paimon `operation/ManifestFileMerger.java`).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.manifest import (
    ADD,
    DELETE,
    IndexEntry,
    ManifestEntry,
    ManifestFile,
    SimpleStats,
    keep_manifest,
    keep_manifest_list,
    read_manifest,
    write_index_manifest,
    write_manifest,
    write_manifest_list,
)
from paimon_nb.format.row import EMPTY_ROW, deserialize, serialize
from paimon_nb.options import table as opt
from paimon_nb.table.live_files import merge_entries
from paimon_nb.table.lsm.levels import key_order
from paimon_nb.table.store import TableStore

_FIRST_GUESS = 200
"""Assumed compressed bytes of one entry, until a manifest of the table gives a better estimate."""


@dataclass
class ManifestWriter:
    """Writes the metadata files of one commit attempt and records their paths, so that a lost attempt can be cleaned up."""

    store: TableStore
    written: list[str] = field(default_factory=list)
    """Paths in write order."""
    _id: str = field(default_factory=lambda: str(uuid.uuid4()))
    _counts: dict[str, int] = field(default_factory=dict)

    def entries(self, entries: Sequence[ManifestEntry], entry_bytes: float = _FIRST_GUESS) -> list[ManifestFile]:
        """Write entries to manifests of about `manifest.target-file-size`; [] for no entries."""
        target = self.store.options.get(opt.MANIFEST_TARGET_FILE_SIZE)
        per_file = max(1, int(target / max(entry_bytes, 1)))
        return [self._manifest(entries[i : i + per_file]) for i in range(0, len(entries), per_file)]

    def manifest_list(self, manifests: Sequence[ManifestFile]) -> tuple[str, int]:
        """Write a manifest list. Returns (name, bytes). An empty list is written as a file too."""
        name, path = self._name("manifest-list")
        size = write_manifest_list(self.store.fs, path, list(manifests), self._compression, self._format)
        keep_manifest_list(self.store.fs, path, manifests)
        return name, size

    def index(self, entries: Sequence[IndexEntry]) -> str | None:
        """Write the complete index manifest; None if there is nothing to list."""
        if not entries:
            return None
        name, path = self._name("index-manifest")
        write_index_manifest(self.store.fs, path, list(entries), self._compression, self._format)
        return name

    def discard(self) -> None:
        """Delete everything written. Only for an attempt that surely was not published."""
        for path in reversed(self.written):
            self.store.fs.delete(path)
        self.written.clear()

    @property
    def _compression(self) -> str:
        return str(self.store.options.get(opt.MANIFEST_COMPRESSION))

    @property
    def _format(self) -> str:
        return manifest_format(self.store)

    def _name(self, kind: str) -> tuple[str, str]:
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        name = f"{kind}-{self._id}-{number}"
        path = self.store.manifest_path(name)
        self.written.append(path)  # before the write, so that a partial file is cleaned up too
        return name, path

    def _manifest(self, entries: Sequence[ManifestEntry]) -> ManifestFile:
        if self.store.options.get(opt.MANIFEST_DELETE_FILE_DROP_STATS):
            entries = [_without_stats(e) if e.kind == DELETE else e for e in entries]
        name, path = self._name("manifest")
        size = write_manifest(self.store.fs, path, list(entries), self._compression, self._format)
        keep_manifest(self.store.fs, path, entries)
        return describe(self.store, name, size, entries)


def manifest_format(store: TableStore) -> str:
    """avro or orc; readers use the option, not the file extension. Raises `UnsupportedFormat` for any other."""
    name = store.schema.options.get("manifest.format", "avro").lower()
    if name not in ("avro", "orc"):
        raise UnsupportedFormat(
            f"{store.name}: unsupported manifest format {name}",
            hint="use avro or orc",
            feature=f"manifest.format={name}",
        )
    return name


def describe(store: TableStore, name: str, size: int, entries: Sequence[ManifestEntry]) -> ManifestFile:
    """The manifest list's entry for a manifest that holds `entries`."""
    added = sum(e.kind == ADD for e in entries)
    return ManifestFile(
        file_name=name,
        file_size=size,
        num_added=added,
        num_deleted=len(entries) - added,
        partition_stats=partition_stats(store, {e.partition for e in entries}, entries),
        schema_id=max(e.file.schema_id for e in entries),
        min_bucket=min(e.bucket for e in entries),
        max_bucket=max(e.bucket for e in entries),
        min_level=min(e.file.level for e in entries),
        max_level=max(e.file.level for e in entries),
        min_row_id=None,
        max_row_id=None,
    )


def partition_stats(store: TableStore, partitions: Iterable[bytes], entries: Sequence[ManifestEntry]) -> SimpleStats:
    """Min, max and null count of each partition column over the entries."""
    types = [f.type for f in store.schema.partition_fields]
    if not types:
        return SimpleStats(EMPTY_ROW, EMPTY_ROW, ())
    values = {p: deserialize(types, p) for p in partitions}
    low: list[object] = []
    high: list[object] = []
    nulls: list[int] = []
    for i in range(len(types)):
        present = [v[i] for v in values.values() if v[i] is not None]
        low.append(min(present, key=key_order) if present else None)
        high.append(max(present, key=key_order) if present else None)
        nulls.append(sum(values[e.partition][i] is None for e in entries))
    all_nullable = [t.with_nullable(True) for t in types]
    return SimpleStats(serialize(all_nullable, low), serialize(all_nullable, high), tuple(nulls))


def merge_manifests(store: TableStore, manifests: Sequence[ManifestFile], writer: ManifestWriter) -> list[ManifestFile]:
    """The same live set in fewer manifests, if the options' thresholds are met."""
    merged = _full(store, manifests, writer)
    return merged if merged is not None else _minor(store, manifests, writer)


def _minor(store: TableStore, manifests: Sequence[ManifestFile], writer: ManifestWriter) -> list[ManifestFile]:
    """Merge runs of small manifests up to the target size; a short tail waits for more."""
    target = store.options.get(opt.MANIFEST_TARGET_FILE_SIZE)
    out: list[ManifestFile] = []
    group: list[ManifestFile] = []
    for manifest in manifests:
        group.append(manifest)
        if sum(m.file_size for m in group) >= target:
            out += _join(store, group, writer)
            group = []
    if len(group) >= store.options.get(opt.MANIFEST_MERGE_MIN_COUNT):
        return out + _join(store, group, writer)
    return out + group


def _join(store: TableStore, group: Sequence[ManifestFile], writer: ManifestWriter) -> list[ManifestFile]:
    """Rewrite a group: pairs of ADD and DELETE cancel out, a DELETE of an older file stays."""
    if len(group) == 1:
        return list(group)
    merged = merge_entries(e for m in group for e in read_manifest(store.fs, store.manifest_path(m.file_name)))
    return writer.entries(list(merged.values()), _entry_bytes(group))


def _full(store: TableStore, manifests: Sequence[ManifestFile], writer: ManifestWriter) -> list[ManifestFile] | None:
    """Rewrite every manifest that is small or holds a DELETE, so that no DELETE remains; None below the threshold."""
    target = store.options.get(opt.MANIFEST_TARGET_FILE_SIZE)
    threshold = store.options.get(opt.MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE)
    change = [m for m in manifests if m.num_deleted > 0 or m.file_size < target]
    if sum(m.file_size for m in change) < threshold or len(change) < 2:
        return None
    changing = {m.file_name for m in change}
    merged = merge_entries(e for m in change for e in read_manifest(store.fs, store.manifest_path(m.file_name)))
    pending = {key for key, e in merged.items() if e.kind == DELETE}
    unchanged: list[ManifestFile] = []
    for manifest in manifests:
        if manifest.file_name in changing:
            continue
        entries = read_manifest(store.fs, store.manifest_path(manifest.file_name)) if pending else []
        if any(e.identity in pending for e in entries):
            change.append(manifest)
            merged = merge_entries((e for e in entries if e.identity not in pending), merged)
            for entry in entries:
                merged.pop(entry.identity, None) if entry.identity in pending else None
        else:
            unchanged.append(manifest)
    return unchanged + writer.entries([e for e in merged.values() if e.kind == ADD], _entry_bytes(change))


def _entry_bytes(manifests: Sequence[ManifestFile]) -> float:
    entries = sum(m.num_added + m.num_deleted for m in manifests)
    return sum(m.file_size for m in manifests) / entries if entries else _FIRST_GUESS


def _without_stats(entry: ManifestEntry) -> ManifestEntry:
    empty = SimpleStats(EMPTY_ROW, EMPTY_ROW, ())
    return replace(entry, file=replace(entry.file, value_stats=empty, value_stats_cols=()))
