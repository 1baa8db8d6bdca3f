"""Manifest maintenance: merge on demand, and remove entries of files that were deleted outside of Paimon.

Source: docs/spec/merge-semantics.md section 7 (Paimon `CompactManifestProcedure`, `RemoveUnexistingFilesAction`).
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.errors import CommitConflict, TableReplaced
from paimon_nb.format.manifest import ADD, ManifestEntry
from paimon_nb.format.snapshot import Published, Snapshot
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.levels import key_order
from paimon_nb.table.read.live_files import entries_of, live_entries, merge_entries, snapshot_manifests
from paimon_nb.table.write.maintenance.post_commit import run_post_commit
from paimon_nb.table.write.publish.attempt import CommitMeta, ManifestWriter
from paimon_nb.table.write.publish.changes import BATCH_IDENTIFIER, Change, CommitMessage
from paimon_nb.table.write.publish.head import newest_to_build_on, was_overtaken
from paimon_nb.table.write.publish.publisher import SnapshotPublisher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import ManifestFile
    from paimon_nb.table.read.store import TableStore


def compact_manifests(store: TableStore) -> int | None:
    """Write the same entries into as few manifests as possible. Returns the COMPACT snapshot's id; None: nothing to gain."""
    return SnapshotPublisher(store).publish(
        lambda latest: Change("COMPACT", joins_manifests=_has_several_small_manifests(store, latest))
    )


def describe_manifests(store: TableStore) -> str:
    """What a compaction of the latest snapshot's manifests would find, in the words of Java's dry run.

    Source: Paimon 2.1 `ManifestCompactDryRun`. Its levels are runs of manifests that do not overlap, the largest in level 4; a
    compaction here sorts all manifests that it joins.
    """
    latest = store.latest()
    sorts = store.options.get(opt.MANIFEST_SORT_ENABLED)
    manifests = snapshot_manifests(store, latest) if latest is not None else []
    if not manifests:
        found = "0 manifest files" if latest is not None else "no snapshot exists"
        return f"Dry run: {found}." + (_level_text([0] * 5) if sorts else "")
    target = store.options.get(opt.MANIFEST_TARGET_FILE_SIZE)
    deleted = [m.num_deleted for m in manifests if m.num_deleted > 0]
    text = (
        f"Dry run: {len(manifests)} manifest files ({_size_text(sum(m.file_size for m in manifests))}), {sum(deleted)} deleted "
        f"entries in {len(deleted)} files, {sum(m.file_size < target for m in manifests)} undersized files (< {_size_text(target)})."
    )
    if not sorts:
        return text
    ranges = _sort_ranges(store, [m for m in manifests if m.file_size >= target])
    return text + (
        " Manifest sort level files: unavailable (no sortable field)." if ranges is None else _levels(ranges)
    )


def _sort_ranges(store: TableStore, manifests: Sequence[ManifestFile]) -> list[tuple[Any, Any, int]] | None:
    """(smallest, greatest, size) of the values that manifests are sorted by; None: no column to sort by."""
    if store.evolves_data and all(m.min_row_id is not None for m in manifests):
        return [(m.min_row_id, m.max_row_id, m.file_size) for m in manifests]
    keys = store.schema.partition_keys
    if not keys:
        return None
    name = store.options.get(opt.MANIFEST_SORT_PARTITION_FIELD)
    at = keys.index(name) if name in keys else 0

    def value(row: bytes) -> Any:
        return key_order(store.partition_values(row)[at])

    return [(value(m.partition_stats.min_values), value(m.partition_stats.max_values), m.file_size) for m in manifests]


def _levels(ranges: Sequence[tuple[Any, Any, int]]) -> str:
    runs: list[list[tuple[Any, Any, int]]] = []
    for found in sorted(ranges, key=lambda r: r[:2]):
        run = min(runs, key=lambda r: r[-1][1], default=None)
        if run is not None and found[0] >= run[-1][1]:
            run.append(found)
        else:
            runs.append([found])
    runs.sort(key=lambda r: sum(size for *_, size in r))
    top = [len(run) for run in runs[-4:]]
    return _level_text([sum(map(len, runs[:-4])), *[0] * (4 - len(top)), *top])


def _level_text(counts: Sequence[int]) -> str:
    return " Manifest sort level files: " + ", ".join(f"L{level}={n}" for level, n in enumerate(counts)) + "."


def _size_text(size: int) -> str:
    """A size in its largest unit without a rest, as Java's MemorySize writes it."""
    units = ("bytes", "kb", "mb", "gb", "tb")
    unit = 0
    while size and size % 1024 == 0 and unit < len(units) - 1:
        size, unit = size // 1024, unit + 1
    return f"{size} {units[unit]}"


def _has_several_small_manifests(store: TableStore, latest: Snapshot | None) -> bool:
    if latest is None:
        return False
    target = store.options.get(opt.MANIFEST_TARGET_FILE_SIZE)
    small = [m for m in snapshot_manifests(store, latest) if m.num_deleted > 0 or m.file_size < target]
    return len(small) > 1


def missing_files(store: TableStore) -> list[ManifestEntry]:
    """Live entries whose data file is missing."""
    entries = live_entries(store, store.latest())
    return [e for e in entries if not store.fs.exists(store.data_path(e.partition, e.bucket, e.file))]


def remove_missing_files(store: TableStore, *, dry_run: bool = False) -> list[str]:
    """Remove missing files from the latest state, so that the rest is readable again. Returns their paths.

    Their rows are already lost. Older snapshots still reference the files.
    """
    snapshot = store.latest()
    missing = missing_files(store)
    if missing and not dry_run and snapshot is not None:
        messages = [
            CommitMessage(e.partition, e.bucket, e.total_buckets, deleted_files=(e.file,), base_snapshot=snapshot.id)
            for e in missing
        ]
        publisher = SnapshotPublisher(store)
        if publisher.publish_messages(
            publisher.checked_messages(messages), CommitMeta(publisher.user, BATCH_IDENTIFIER)
        ).ids:
            run_post_commit(store)
    return [store.data_path(e.partition, e.bucket, e.file) for e in missing]


def remove_missing_manifests(store: TableStore) -> tuple[list[str], int | None]:
    """Publish a state without missing manifests, so that the files of the other manifests are readable again.

    Files added by the lost manifests are lost; files deleted by them come back.
    Source: Paimon `RemoveUnexistingManifestsAction`.

    Returns: the paths of the missing manifests, and the new snapshot; None if none is missing.
    Raises: CommitConflict: another commit came first.
    """
    latest = newest_to_build_on(store)
    if latest is None:
        return [], None
    manifests = snapshot_manifests(store, latest)
    there = [m for m in manifests if store.fs.exists(store.manifest_path(m.file_name))]
    missing = [store.manifest_path(m.file_name) for m in manifests if m not in there]
    if not missing:
        return [], None
    rows = sum(e.file.row_count for e in merge_entries(entries_of(store, there)).values() if e.kind == ADD)
    made = publish_manifests(
        store, latest, ManifestWriter(store, latest), there, "Repair-table", total_record_count=rows
    )
    if made is None:
        raise CommitConflict(
            f"{store.name}: another commit was published during the check of its manifests", hint="run it again",
            snapshot=latest.id + 1, path=store.root,
        )  # fmt: skip
    return missing, made


def publish_manifests(
    store: TableStore,
    latest: Snapshot,
    writer: ManifestWriter,
    manifests: Sequence[ManifestFile],
    user_prefix: str,
    **changes: Any,
) -> int | None:
    """Publish a snapshot with these manifests instead of those of `latest`, and without changed rows.

    Args:
        writer: with `latest` as its base; has written what is new of the manifests and of the index manifest.
        changes: other fields of the snapshot that differ from those of `latest`.

    Returns: its id; None: another commit came first, and what was written is deleted.
    """
    base, base_size = writer.write_list(manifests)
    delta, delta_size = writer.write_list([])
    changed = replace(
        latest,
        id=latest.id + 1,
        base_manifest_list=base,
        base_manifest_list_size=base_size,
        delta_manifest_list=delta,
        delta_manifest_list_size=delta_size,
        changelog_manifest_list=None,
        changelog_manifest_list_size=None,
        changelog_record_count=None,
        commit_user=f"{user_prefix}-{uuid.uuid4()}",
        commit_identifier=BATCH_IDENTIFIER,
        commit_kind="OVERWRITE",
        time_ms=clock.now_ms(),
        delta_record_count=0,
        uuid=store.new_snapshot_uuid(),
        **changes,
    )
    writer.flush()
    if store.snapshots.publish(changed, writer.written, base=latest) is Published.LOST:
        writer.delete_written()
        return None
    if was_overtaken(store, latest, changed):
        store.snapshots.withdraw(changed)
        writer.delete_written()
        return None
    try:
        store.fs.check_after_put()
    except TableReplaced:
        store.snapshots.withdraw(changed)
        writer.delete_written()
        raise
    store.snapshots.write_latest_hint(changed.id)
    return changed.id
