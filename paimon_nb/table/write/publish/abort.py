"""Deletes the files of work that was never committed. Touches only files of its own writer, and none that a snapshot
holds.

Source: docs/spec/format.md section 3 (Abort).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import MissingFile, PaimonError, SnapshotNotFound
from paimon_nb.format.manifest import ADD, DataFile, read_manifest_list
from paimon_nb.table.read.live_files import entries_of, index_entries, snapshot_manifests
from paimon_nb.table.write.publish.changes import CommitMessage, mark_consumed, oldest_base

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paimon_nb.table.read.store import TableStore


def abort_messages(store: TableStore, messages: Iterable[CommitMessage], *, compaction_only: bool = False) -> None:
    """Delete new data, changelog and index files. A file that was only upgraded belongs to the table and stays.

    A message of which the table already holds a file is left alone: it was committed before (by a restarted job, or by
    a second call).
    """
    going = [(m, m.written_by_compaction if compaction_only else m.written) for m in messages if not m.is_empty]
    held = _names_committed_since(
        store, oldest_base(m for m, _ in going), {name for _, names in going for name in names}
    )
    for message, names in going:
        if held.isdisjoint(names):
            for path in _paths_of_message(store, message, compaction_only):
                store.fs.delete(path)
            mark_consumed(store, names, "discarded")


def _names_committed_since(store: TableStore, base: int | None, names: set[str]) -> set[str]:
    """The names that snapshots after `base` added to the table; all of them when this cannot be determined."""
    store.snapshots.invalidate_cache()
    latest, earliest = store.snapshots.latest_id(), store.snapshots.earliest_id()
    if not names or latest is None or earliest is None:
        return set()
    found: set[str] = set()
    for snapshot_id in range(max((base or 0) + 1, earliest), latest + 1):
        try:
            snapshot = store.snapshots.get(snapshot_id)
            # The oldest remaining snapshot counts with its whole state: earlier deltas are expired.
            whole = snapshot_id == earliest
            manifests = (
                snapshot_manifests(store, snapshot) if whole
                else read_manifest_list(store.fs, store.manifest_path(snapshot.delta_manifest_list))
            )  # fmt: skip
            found |= {e.file.file_name for e in entries_of(store, manifests) if e.kind == ADD} & names
            found |= {i.file_name for i in index_entries(store, snapshot)} & names
        except (SnapshotNotFound, MissingFile):
            continue  # expired in the meantime
        except (PaimonError, OSError):
            return names  # when in doubt a file stays; orphan-file removal can decide later
    return found


def _paths_of_message(store: TableStore, m: CommitMessage, compaction_only: bool) -> Iterator[str]:
    def paths_of_files(files: Iterable[DataFile]) -> Iterator[str]:
        for file in files:
            yield from store.paths_of(m.partition, m.bucket, file)

    own = {f.file_name for f in m.new_files}
    upgraded = {f.file_name: f for f in m.compact_before}
    yield from paths_of_files(f for f in m.compact_after if f.file_name not in upgraded)
    for file in m.compact_after:  # a file that stays may have received a new index file
        if file.file_name in upgraded:
            had = store.extra_paths(m.partition, m.bucket, upgraded[file.file_name])
            yield from (p for p in store.extra_paths(m.partition, m.bucket, file) if p not in had)
    yield from paths_of_files(m.compact_changelog)
    for entry in m.compact_new_index:
        yield store.index_path(entry)
    if compaction_only:
        return
    yield from paths_of_files(m.new_files)
    yield from paths_of_files(m.changelog_files)
    for entry in m.new_index:
        yield store.index_path(entry)
    # Files that the same message wrote and compacted away are its own, unless they existed before.
    yield from paths_of_files(f for f in m.compact_before if f.file_name in own)
