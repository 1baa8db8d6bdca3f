"""One attempt to publish one snapshot: write manifests, publish, report the outcome. Never loops, never guesses.

Source: docs/spec/format.md sections 3 and 5.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.cancellation import active_token
from paimon_nb.base.errors import (
    AccessDenied,
    Cancelled,
    CommitError,
    CommitRemoved,
    PaimonError,
    StoreError,
    TableReplaced,
    UnsupportedFormat,
    UnsupportedOperation,
)
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.format.manifest import (
    ADD,
    DELETE,
    IndexEntry,
    ManifestEntry,
    ManifestFile,
    SimpleStats,
    cache_index_manifest,
    cache_manifest,
    cache_manifest_list,
    read_manifest,
    write_index_manifest,
    write_manifest,
    write_manifest_list,
)
from paimon_nb.format.row import EMPTY_ROW, deserialize, serialize
from paimon_nb.format.snapshot import Published, Snapshot
from paimon_nb.format.snapshot.directory import commit_uuid
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.levels import key_order
from paimon_nb.table.read.data_evolution import is_dedicated
from paimon_nb.table.read.live_files import index_entries, live_entries, merge_entries, snapshot_manifests
from paimon_nb.table.read.side_by_side import in_threads_on_object_store
from paimon_nb.table.write.publish.changes import HASH, Change, current_operation
from paimon_nb.table.write.publish.conflict_check import check_conflicts
from paimon_nb.table.write.publish.head import check_not_fast_forwarded, was_overtaken
from paimon_nb.table.write.publish.partition_changes import partition_changes

if TYPE_CHECKING:
    from uuid import UUID

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.publish.head import TableHead

log = logging.getLogger(__name__)
_FIRST_GUESS = 200
"""Assumed compressed bytes of one entry, until a manifest of the table gives a better estimate."""


class CollectedFiles:
    """Encoded files that are not written yet."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        """Content by path."""

    def write(self, path: str, data: bytes) -> None:
        self.files[path] = data


@dataclass
class ManifestWriter:
    """Writes the metadata files of one commit attempt and records their paths, so that a lost attempt can be cleaned up.

    The files are encoded one after the other and written together, by `flush`.
    """

    store: TableStore
    base: Snapshot | None = None
    """What the commit is built on; it is part of the names of the files, see `commit_uuid`."""
    written: list[str] = field(default_factory=list)
    """Paths in write order."""
    _unwritten: CollectedFiles = field(default_factory=lambda: CollectedFiles())
    _cache_written: list[Callable[[], None]] = field(default_factory=list)
    """Calls that cache what the files hold. After the write: a cached value belongs to the file of its time."""
    _counts: dict[str, int] = field(default_factory=dict)
    _id: UUID = field(init=False)

    def __post_init__(self) -> None:
        self._id = commit_uuid(self.store.branch, self.base)

    def write_manifests(
        self, entries: Sequence[ManifestEntry], entry_bytes: float = _FIRST_GUESS
    ) -> list[ManifestFile]:
        """Write entries to manifests of about `manifest.target-file-size`; [] for no entries."""
        target = self.store.options.get(opt.MANIFEST_TARGET_FILE_SIZE)
        per_file = max(1, int(target / max(entry_bytes, 1)))
        return [self._write_manifest(entries[i : i + per_file]) for i in range(0, len(entries), per_file)]

    def write_list(self, manifests: Sequence[ManifestFile]) -> tuple[str, int]:
        """Write a manifest list. Returns (name, bytes). An empty list is written as a file too."""
        name, path = self._new_name("manifest-list")
        size = write_manifest_list(self._unwritten, path, list(manifests), self._compression, self._format)
        self._cache_written.append(partial(cache_manifest_list, self.store.fs, path, list(manifests)))
        return name, size

    def write_index(self, entries: Sequence[IndexEntry]) -> str | None:
        """Write the complete index manifest; None if there is nothing to list."""
        if not entries:
            return None
        name, path = self._new_name("index-manifest")
        write_index_manifest(self._unwritten, path, list(entries), self._compression, self._format)
        self._cache_written.append(partial(cache_index_manifest, self.store.fs, path, list(entries)))
        return name

    def flush(self, *others: ManifestWriter) -> None:
        """Write the files, and those of other writers with them. Before the snapshots that reference them are published."""
        writers = (self, *others)
        self.store.fs.write_each({p: data for w in writers for p, data in w._unwritten.files.items()})
        for writer in writers:
            writer._unwritten.files.clear()
            writer._cache_values()

    def make_readable(self) -> None:
        """Let this process read the files: those of an object store from memory, before they are written."""
        if not self.store.fs.is_object_store:
            self.flush()
            return
        self.store.fs.keep_in_memory(self._unwritten.files)
        self._cache_values()

    def _cache_values(self) -> None:
        for cache in self._cache_written:
            cache()
        self._cache_written.clear()

    def delete_written(self) -> None:
        """Delete everything written. Only for an attempt that surely was not published."""
        self._unwritten.files.clear()
        self._cache_written.clear()
        self.store.fs.delete_each(reversed(self.written))
        self.written.clear()

    @property
    def _compression(self) -> str:
        return str(self.store.options.get(opt.MANIFEST_COMPRESSION))

    @property
    def _format(self) -> str:
        return manifest_format(self.store)

    def _new_name(self, kind: str) -> tuple[str, str]:
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        name = f"{kind}-{self._id}-{number}"
        path = self.store.manifest_path(name)
        self.written.append(path)  # before the write, so that a partial file is cleaned up too
        return name, path

    def _write_manifest(self, entries: Sequence[ManifestEntry]) -> ManifestFile:
        if self.store.options.get(opt.MANIFEST_DELETE_FILE_DROP_STATS):
            entries = [_without_stats(e) if e.kind == DELETE else e for e in entries]
        name, path = self._new_name("manifest")
        size = write_manifest(self._unwritten, path, list(entries), self._compression, self._format)
        self._cache_written.append(partial(cache_manifest, self.store.fs, path, list(entries)))
        return manifest_metadata(self.store, name, size, entries)


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


def manifest_metadata(store: TableStore, name: str, size: int, entries: Sequence[ManifestEntry]) -> ManifestFile:
    """The manifest list's entry for a manifest that holds `entries`."""
    added = sum(e.kind == ADD for e in entries)
    ranges = [(e.file.first_row_id, e.file.row_count) for e in entries if e.file.first_row_id is not None]
    tracked = len(ranges) == len(entries)
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
        min_row_id=min(first for first, _ in ranges) if tracked else None,
        max_row_id=max(first + count - 1 for first, count in ranges) if tracked else None,
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
    merged = _full_manifest_compaction(store, manifests, writer)
    return merged if merged is not None else _merge_small_manifests(store, manifests, writer)


def _merge_small_manifests(
    store: TableStore, manifests: Sequence[ManifestFile], writer: ManifestWriter
) -> list[ManifestFile]:
    """Merge runs of small manifests up to the target size; a short tail waits for more."""
    target = store.options.get(opt.MANIFEST_TARGET_FILE_SIZE)
    out: list[ManifestFile] = []
    group: list[ManifestFile] = []
    for manifest in manifests:
        group.append(manifest)
        if sum(m.file_size for m in group) >= target:
            out += _merge_manifest_group(store, group, writer)
            group = []
    if len(group) >= store.options.get(opt.MANIFEST_MERGE_MIN_COUNT):
        return out + _merge_manifest_group(store, group, writer)
    return out + group


def _merge_manifest_group(
    store: TableStore, group: Sequence[ManifestFile], writer: ManifestWriter
) -> list[ManifestFile]:
    """Rewrite a group: pairs of ADD and DELETE cancel out, a DELETE of an older file stays."""
    if len(group) == 1:
        return list(group)
    merged = merge_entries(e for m in group for e in read_manifest(store.fs, store.manifest_path(m.file_name)))
    return writer.write_manifests(list(merged.values()), _entry_bytes(group))


def _full_manifest_compaction(
    store: TableStore, manifests: Sequence[ManifestFile], writer: ManifestWriter
) -> list[ManifestFile] | None:
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
    live = [e for e in merged.values() if e.kind == ADD]
    limit = store.options.get(opt.MANIFEST_SORT_MAX_REWRITE_SIZE)
    if store.options.get(opt.MANIFEST_SORT_ENABLED) and sum(m.file_size for m in change) <= limit:
        live = _sorted_entries(store, live)
    return unchanged + writer.write_manifests(live, _entry_bytes(change))


def _sorted_entries(store: TableStore, entries: list[ManifestEntry]) -> list[ManifestEntry]:
    """The entries by partition, so that a condition on it skips manifests; with data evolution by row id.

    Source: Paimon 2.1 `ManifestFileSorter`.
    """
    if store.evolves_data and all(e.file.first_row_id is not None for e in entries):
        return sorted(entries, key=lambda e: e.file.first_row_id or 0)
    keys = store.schema.partition_keys
    if not keys:
        return entries
    name = store.options.get(opt.MANIFEST_SORT_PARTITION_FIELD)
    field = keys.index(name) if name in keys else 0
    order = {e.partition: key_order(store.partition_values(e.partition)[field]) for e in entries}
    return sorted(entries, key=lambda e: order[e.partition])


def _entry_bytes(manifests: Sequence[ManifestFile]) -> float:
    entries = sum(m.num_added + m.num_deleted for m in manifests)
    return sum(m.file_size for m in manifests) / entries if entries else _FIRST_GUESS


def _without_stats(entry: ManifestEntry) -> ManifestEntry:
    empty = SimpleStats(EMPTY_ROW, EMPTY_ROW, ())
    return replace(entry, file=replace(entry.file, value_stats=empty, value_stats_cols=()))


_MAX_CHECKS = 3

Plan = Callable[[Snapshot | None], Change]
"""Builds the change on top of the latest snapshot; called again for every attempt."""


@dataclass(frozen=True, slots=True)
class CommitMeta:
    """Identity and properties of a commit."""

    user: str
    identifier: int
    properties: Mapping[str, str] | None = None
    watermark: int | None = None


@dataclass(frozen=True, slots=True)
class CommitOutcome:
    """`snapshot` is the attempted snapshot; `published`: whether it is part of the table now."""

    published: Published
    snapshot: Snapshot
    next_snapshot: Snapshot | None = None
    """That of the next change, if it was published, too."""
    error: Exception | None = None
    """Why it is not known whether the next change was published."""


@dataclass(frozen=True, slots=True)
class PreparedSnapshot:
    """A snapshot that is encoded and not published."""

    base: Snapshot | None
    change: Change
    snapshot: Snapshot
    writer: ManifestWriter

    @classmethod
    def of(cls, store: TableStore, head: TableHead, change: Change, terms: CommitMeta) -> PreparedSnapshot:
        """The snapshot of `change` on top of `head`. Nothing is written. Raises: CommitConflict."""
        manifest_format(store)
        if change.can_conflict(head.snapshot):
            check_conflicts(store, head.snapshot, change)
        writer = ManifestWriter(store, head.snapshot)
        return cls(head.snapshot, change, _prepare_snapshot(store, head, change, terms, writer), writer)

    def publish(self, store: TableStore) -> Published:
        """Publish it, if the id is free. The metadata files of a snapshot that is surely not published are deleted.

        When in doubt (an error while publishing) they stay and the error is raised: a visible snapshot may need them.

        Raises:
            Cancelled: cancellation was requested before publishing.
            CommitGaveUp: the catalog's lock was not free.
            AccessDenied, TableReplaced, UnsupportedOperation: the catalog's server refused.
        """
        try:
            token = active_token.get()
            with token.defer_cancel_while_publishing() if token is not None else nullcontext():
                published = _publish_with_retry(store, self.base, self.snapshot, self.change, self.writer)
        except NOT_PUBLISHED:
            self.writer.delete_written()
            raise
        if published is Published.LOST:
            self.writer.delete_written()
        return published


NOT_PUBLISHED = (Cancelled, AccessDenied, CommitError, UnsupportedOperation)
"""Errors after which no snapshot needs the files: cancelled before, without the catalog's lock, or refused by its server."""


def try_commit(
    store: TableStore, head: TableHead, change: Change, terms: CommitMeta, next_change: Change | None = None
) -> CommitOutcome:
    """Publish `change` on top of the latest snapshot, `head.snapshot`.

    Metadata files of an attempt that surely lost are deleted. When in doubt (an error while publishing) they stay and
    the error is raised: a visible snapshot may need them.

    Args:
        next_change: published as the next snapshot, right after this one: the metadata files of both are written together. If
            it is not published, because of a conflict or another writer, the caller can publish it on its own.

    Raises: CommitConflict. Cancelled: cancellation was requested before publishing.
    """
    first = PreparedSnapshot.of(store, head, change, terms)
    second = None
    try:
        if next_change is not None:
            second = _prepare_next(store, head, first, next_change, terms)
        first.writer.flush(*([second.writer] if second is not None else []))
        store.fs.finish_background_writes()
    except Exception:
        _discard(second)  # nothing was published yet, so the outcome is certain
        first.writer.delete_written()
        raise
    try:
        published = first.publish(store)
    except Exception:
        _discard(second)
        raise
    if published is Published.LOST:
        _discard(second)
        return CommitOutcome(published, first.snapshot)
    newest, error = first, None
    # Before the second one is there: others may have built on the first one, and expired it, when that is published.
    is_lost = second is not None and was_overtaken(store, first.base, first.snapshot)
    if is_lost:
        _discard(second)
        second = None
    if second is not None:
        try:
            if second.publish(store) is not Published.LOST:
                newest = second
        except NOT_PUBLISHED:
            pass  # the caller's own attempt raises it again
        except Exception as unclear:
            error = unclear

    def overtaken() -> bool:
        return is_lost or (second is None and was_overtaken(store, first.base, first.snapshot))

    def write_hint() -> None:
        store.snapshots.write_latest_hint(newest.snapshot.id)

    def cut_in_two() -> bool:
        return newest is second and was_overtaken(store, newest.base, newest.snapshot)

    if store.fs.is_object_store:
        moved, altered, lost, cut, _ = in_threads_on_object_store(
            store.fs,
            lambda: _replaced_error(store, store.fs.check_after_put),
            lambda: _replaced_error(store, lambda: _check_schema(store)),
            overtaken,
            cut_in_two,
            write_hint,
        )
        replaced = moved or altered
    else:
        replaced = _replaced_error(store, store.fs.check_after_put) or _replaced_error(
            store, lambda: _check_schema(store)
        )
        lost, cut = overtaken(), cut_in_two()
        # The hint of a snapshot that does not belong there would lead readers to it.
        if replaced is None and not lost and not cut:
            write_hint()
    if replaced is not None or lost:
        _take_back(store, second)
        withdrawn = store.snapshots.withdraw(first.snapshot)
        if store.fs.is_object_store:
            store.snapshots.delete_hints()
        first.writer.delete_written()
        if replaced is not None:
            raise replaced
        if not withdrawn:
            raise CommitRemoved(
                f"{store.name}: a rollback removed the commit while it was published, and deletes its files; nothing was committed",
                hint="write the rows again", path=store.root, snapshot=first.snapshot.id,
            )  # fmt: skip
        return CommitOutcome(Published.LOST, first.snapshot)
    if cut:  # the first one was committed; others rolled it back, or built on it and expired it
        _take_back(store, second)
        if store.fs.is_object_store:
            store.snapshots.delete_hints()
        return CommitOutcome(published, first.snapshot, None, error)
    newest.snapshot.remember_sound()
    return CommitOutcome(published, first.snapshot, second.snapshot if newest is second is not None else None, error)


def _replaced_error(store: TableStore, look: Callable[[], None]) -> TableReplaced | None:
    """The error if the table was moved, dropped or fast-forwarded while a snapshot of it was published. See docs/decisions/0012."""
    if store.versions is not None:
        return None  # the server decides
    try:
        look()
    except TableReplaced as error:
        return error
    return None


def _check_schema(store: TableStore) -> None:
    with suppress(OSError, StoreError):  # a failed look must not look like a failed commit
        check_not_fast_forwarded(store)


def _prepare_next(
    store: TableStore, head: TableHead, first: PreparedSnapshot, change: Change, terms: CommitMeta
) -> PreparedSnapshot | None:
    """The snapshot of `change` on top of `first`, which is not published yet; None if it cannot be prepared."""
    first.writer.make_readable()
    try:
        return PreparedSnapshot.of(store, replace(head, snapshot=first.snapshot), change, terms)
    except (PaimonError, OSError):
        return None  # a conflict above all: it must not keep the first one from being published


def _discard(prepared: PreparedSnapshot | None) -> None:
    """Delete the metadata files of a snapshot that was not published. What cannot be deleted is an orphan."""
    if prepared is not None:
        with suppress(OSError, StoreError):
            prepared.writer.delete_written()


def _take_back(store: TableStore, prepared: PreparedSnapshot | None) -> None:
    """Delete a snapshot whose base is gone, if it is published."""
    if prepared is not None and store.snapshots.withdraw(prepared.snapshot):
        _discard(prepared)


def _paths_new_in_snapshot(store: TableStore, change: Change, writer: ManifestWriter) -> Iterator[str]:
    """Paths of all files that the snapshot references and earlier ones do not."""
    yield from writer.written
    for entry in (*change.entries, *change.changelog):
        if entry.kind == ADD:
            yield from store.paths_of(entry.partition, entry.bucket, entry.file)
    yield from map(store.index_path, change.new_index)
    if change.statistics:
        yield store.statistics_path(change.statistics)


def _publish_with_retry(
    store: TableStore, latest: Snapshot | None, snapshot: Snapshot, change: Change, writer: ManifestWriter
) -> Published:
    """Publish. After an error, retry with the same bytes: this can only win, find itself, or surely lose."""
    named = list(_paths_new_in_snapshot(store, change, writer))
    statistics = partition_changes(store, change.entries) if store.versions is not None else []
    for _ in range(_MAX_CHECKS):
        try:
            return store.snapshots.publish(snapshot, named, base=latest, statistics=statistics)
        except (OSError, StoreError):
            continue
    return store.snapshots.publish(snapshot, named, base=latest, statistics=statistics)


def _prepare_snapshot(
    store: TableStore, head: TableHead, change: Change, terms: CommitMeta, writer: ManifestWriter
) -> Snapshot:
    """Encode every metadata file of the new snapshot."""
    latest = head.snapshot
    new_id = latest.id + 1 if latest else 1
    # The newest that is known: the schema may have changed between the two reads of the head, or since the table was opened.
    schema_id = max(store.schema.id, head.newest_schema or 0, latest.schema_id if latest is not None else 0)
    entries, next_row_id = _assign_row_ids(store, latest, change.entries, new_id)
    merging = store.copy({opt.MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE.key: "0 b"}) if change.joins_manifests else store
    base = merge_manifests(merging, snapshot_manifests(store, latest), writer) if latest else []
    base_name, base_size = writer.write_list(base)
    delta_name, delta_size = writer.write_list(writer.write_manifests(entries))
    log_name, log_size = (
        writer.write_list(writer.write_manifests(change.changelog)) if change.changelog else (None, None)
    )
    delta_rows = _count_rows(entries, ADD) - _count_rows(entries, DELETE)
    return Snapshot(
        id=new_id,
        schema_id=schema_id,
        base_manifest_list=base_name,
        base_manifest_list_size=base_size,
        delta_manifest_list=delta_name,
        delta_manifest_list_size=delta_size,
        changelog_manifest_list=log_name,
        changelog_manifest_list_size=log_size,
        index_manifest=_write_index_manifest(store, latest, change, writer),
        commit_user=terms.user,
        commit_identifier=terms.identifier,
        commit_kind=change.kind,
        time_ms=_commit_time_ms(store, latest),
        total_record_count=_total_record_count(store, latest) + delta_rows,
        delta_record_count=delta_rows,
        changelog_record_count=_count_rows(change.changelog, ADD),
        watermark=_newest_watermark(latest, terms.watermark),
        statistics=change.statistics or _inherited_statistics(latest, schema_id),
        properties=dict(terms.properties) if terms.properties else None,
        next_row_id=next_row_id,
        uuid=store.new_snapshot_uuid(),
        operation=current_operation(),
    )


_CLOCK_SKEW_MS = 60_000
"""From here on a difference between the clocks of two writers is worth a warning."""


def _commit_time_ms(store: TableStore, latest: Snapshot | None) -> int:
    """Now, or the time of the latest snapshot if this machine's clock is behind: `scan.timestamp` needs times in order."""
    now = clock.now_ms()
    if latest is None or now >= latest.time_ms:
        return now
    if latest.time_ms - now > _CLOCK_SKEW_MS:
        log.warning(
            "%s: snapshot %d was committed %d s after this machine's time; the new one gets its time, check the clocks",
            store.name, latest.id, (latest.time_ms - now) // 1000,
        )  # fmt: skip
    return latest.time_ms


def _count_rows(entries: tuple[ManifestEntry, ...], kind: int) -> int:
    return sum(e.file.row_count for e in entries if e.kind == kind)


def _total_record_count(store: TableStore, latest: Snapshot | None) -> int:
    if latest is None:
        return 0
    if latest.total_record_count is not None:
        return latest.total_record_count
    return sum(e.file.row_count for e in live_entries(store, latest))  # snapshots of old format versions have no count


def _newest_watermark(latest: Snapshot | None, own: int | None) -> int | None:
    marks = [w for w in (own, latest.watermark if latest else None) if w is not None]
    return max(marks, default=None)


def _inherited_statistics(latest: Snapshot | None, schema_id: int) -> str | None:
    return latest.statistics if latest and latest.schema_id == schema_id else None


def _assign_row_ids(
    store: TableStore, latest: Snapshot | None, entries: tuple[ManifestEntry, ...], new_id: int
) -> tuple[tuple[ManifestEntry, ...], int]:
    """Row tracking: new files get their first row id, and the snapshot's id as sequence number, or a larger one that they have (docs/spec/format.md section 8.2)."""
    next_id = (latest.next_row_id if latest else None) or 0
    if not store.options.get(opt.ROW_TRACKING_ENABLED):
        return entries, next_id
    out = []
    dedicated: dict[tuple[str, ...] | None, int] = {}  # by columns: the first row id of the next file
    begin = next_id
    for entry in entries:
        if entry.kind != ADD:
            out.append(entry)
            continue
        if entry.file.file_source == 1 and entry.file.first_row_id is not None:
            out.append(entry)  # a compaction of data evolution: values are as new as they were
            continue
        number = new_id if entry.file.first_row_id is None else max(new_id, entry.file.max_sequence)
        low, high = (entry.file.min_sequence, entry.file.max_sequence) if _is_tracked(entry.file) else (0, 0)
        # Rows that moved keep their numbers, the changed ones of a file get that of the commit.
        file = replace(entry.file, min_sequence=low or number, max_sequence=(high or number) if low else number)
        has_ids = file.file_source == 1 or _is_tracked(file)
        if file.first_row_id is None and not has_ids:
            if is_dedicated(file):  # it follows the file that it belongs to
                file = replace(file, first_row_id=dedicated.get(file.write_cols, begin))
                dedicated[file.write_cols] = (file.first_row_id or 0) + file.row_count
            else:
                begin, dedicated = next_id, {}
                file = replace(file, first_row_id=next_id)
                next_id += file.row_count
        out.append(replace(entry, file=file))
    return tuple(out), next_id


def _is_tracked(file: DataFile) -> bool:
    """Whether the rows of a file have their ids and sequence numbers in columns."""
    return ROW_ID_FIELD.name in (file.write_cols or ())


# -- indexes


def _write_index_manifest(
    store: TableStore, latest: Snapshot | None, change: Change, writer: ManifestWriter
) -> str | None:
    """The complete list after the change; the previous file's name if nothing changes."""
    drops_none = change.drops_index_of is not None and not change.drops_index_of
    if drops_none and not change.new_index and not change.deleted_index:
        return latest.index_manifest if latest else None
    deleted = {i.file_name for i in change.deleted_index}
    replaced = {(i.partition, i.bucket) for i in change.new_index if i.index_type == HASH}
    remaining = [
        i
        for i in index_entries(store, latest)
        if i.file_name not in deleted
        and not (i.index_type == HASH and (i.partition, i.bucket) in replaced)
        and not (change.drops_index_of is None or i.partition in change.drops_index_of)
    ]
    return writer.write_index([*remaining, *change.new_index])
