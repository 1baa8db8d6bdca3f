"""Whether a change contradicts the table: reads the files and indexes that a commit builds on, and applies the rules of `conflict`.

Source: docs/spec/format.md section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitConflict, MissingFile, SnapshotNotFound
from paimon_nb.table.lsm.levels import key_decoder
from paimon_nb.table.read.live_files import index_entries, live_entries
from paimon_nb.table.write.publish.conflict import (
    Conflict,
    bucket_count_conflict,
    file_conflict,
    index_conflict,
    level_conflict,
    lost_deletes_conflict,
    missing_target_conflict,
    row_loss_conflict,
    row_range_conflict,
)

if TYPE_CHECKING:
    from paimon_nb.format.manifest import IndexEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.publish.changes import Change


def check_conflicts(store: TableStore, latest: Snapshot | None, change: Change) -> None:
    """Raise CommitConflict if `change` contradicts the table as of `latest`."""
    conflict = _find_conflict(store, latest, change)
    if conflict is None:
        return
    raise CommitConflict(
        f"{store.name}: {conflict.why}",
        hint="another commit changed the same files; run the statement again on the new state",
        snapshot=latest.id if latest else None,
        user=latest.commit_user if latest else None,
        where={"partition": store.partition_values(conflict.partition), "bucket": conflict.bucket},
        file=conflict.file_name,
        path=store.root,
    )


def _find_conflict(store: TableStore, latest: Snapshot | None, change: Change) -> Conflict | None:
    moving = store.bucket_option == -1 and store.schema.is_cross_partition
    if (
        moving
        and change.entries
        and change.kind == "APPEND"
        and (other := _first_write_since(store, latest, change.base_snapshot))
    ):
        why = f"snapshot {other} may have moved the same keys to other partitions"
        return Conflict(why, change.entries[0].partition, change.entries[0].bucket)
    overwritten = _was_overwritten_since(store, latest, change.base_snapshot)
    if not change.must_check and not overwritten:
        return None
    touched = {e.partition for e in change.entries} | {i.partition for i in change.new_index}
    base = live_entries(store, latest, touched)
    if not change.replaces_buckets and (found := bucket_count_conflict(base, change.entries)):
        return found
    if found := file_conflict(base, change.entries):
        return found
    if store.evolves_data and (found := row_range_conflict(base, change.entries)):
        return found
    if store.evolves_data and change.kind == "COMPACT" and (found := row_loss_conflict(base, change.entries)):
        return found
    if store.has_keys:
        decode = key_decoder([f.type for f in store.schema.key_fields])
        if found := level_conflict(base, change.entries, decode):
            return found
    if found := missing_target_conflict(base, change.entries, change.new_index):
        return found
    current = index_entries(store, latest)
    if not current and not change.deleted_index:
        return None
    planned = _index_entries_of_base_snapshot(store, change.base_snapshot)
    return lost_deletes_conflict(planned, current, change.entries, change.deleted_index) or index_conflict(
        planned, current, change.new_index, change.deleted_index
    )


def _index_entries_of_base_snapshot(store: TableStore, base_snapshot: int | None) -> list[IndexEntry]:
    """Index files of the snapshot that a change was planned from. An expired snapshot counts as empty, which makes the
    check strict.
    """
    try:
        return index_entries(store, store.snapshots.get(base_snapshot)) if base_snapshot else []
    except (SnapshotNotFound, MissingFile):
        return []


def _first_write_since(store: TableStore, latest: Snapshot | None, base: int | None) -> int | None:
    """The first snapshot after `base` that added rows; None if there is none."""
    if latest is None:
        return None
    first = max((base or 0) + 1, store.snapshots.earliest_id() or 1)
    later = (store.snapshots.get(i) for i in range(first, latest.id + 1))
    return next((s.id for s in later if s.commit_kind != "COMPACT"), None)


def _was_overwritten_since(store: TableStore, latest: Snapshot | None, base: int | None) -> bool:
    """Whether an OVERWRITE came after the writer read the table: it may have changed the bucket count."""
    if latest is None or base is None or base >= latest.id:
        return False
    if latest.commit_kind == "OVERWRITE":
        return True
    if base + 1 == latest.id:
        return False
    first = max(base + 1, store.snapshots.earliest_id() or 1)
    return any(store.snapshots.get(i).commit_kind == "OVERWRITE" for i in range(first, latest.id))
