"""Orphan files: not referenced by any snapshot, tag, branch or changelog, left by crashed writers.

Source: docs/spec/merge-semantics.md section 7 (Paimon `OrphanFilesClean`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.blob import MANAGED_SUFFIX
from paimon_nb.fs.store_clock import store_time_ms
from paimon_nb.table.write.maintenance.reachable import Reachable, reachable_from_all_branches
from paimon_nb.table.write.publish.head import withdraw_lost_snapshots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.fs import FileStatus
    from paimon_nb.table.read.store import TableStore

ORPHAN_AGE_MS = 24 * 3600 * 1000
"""How old a file is that counts as an orphan by default: a day."""
_SNAPSHOT_FILE = re.compile(r"^(snapshot-|changelog-).*|^(EARLIEST|LATEST)$")
"""Names in the snapshot and changelog directories that are not orphans."""
_TEMPORARY = re.compile(r"\.tmp$")


@dataclass(frozen=True, slots=True)
class Orphan:
    """An unreferenced file."""

    path: str
    size: int
    modified_ms: int


def find_orphans(store: TableStore, older_than_ms: int | None = None) -> list[Orphan]:
    """Unused files, modified before `older_than_ms` (epoch; default: a day ago). Younger ones may belong to a running write.

    The set of used files is read before and after the listing, so it includes what a concurrent commit or expiry
    changes. An unreadable file raises an error, and then nothing counts as unused.
    """
    if older_than_ms is None:  # by the clock that is behind
        older_than_ms = min(clock.now_ms(), store_time_ms(store.fs, f"{store.root}/manifest")) - ORPHAN_AGE_MS
    before = reachable_from_all_branches(store)
    listed = [s for s in _list_candidates(store) if s.modified_ms < older_than_ms]
    if not listed:
        return []
    after = reachable_from_all_branches(store)
    return [Orphan(s.path, s.size, s.modified_ms) for s in listed if not (_is_used(before, s) or _is_used(after, s))]


def remove_orphans(store: TableStore, older_than_ms: int | None = None, *, dry_run: bool = True) -> list[Orphan]:
    """Find unused files and, unless `dry_run`, delete them and the empty bucket and partition directories."""
    if not dry_run:
        withdraw_lost_snapshots(store)  # files of theirs are missing, which would stop the removal
    found = find_orphans(store, older_than_ms)
    if dry_run:
        return found
    for orphan in found:
        store.fs.delete(orphan.path)
    for folder in sorted({o.path.rsplit("/", 1)[0] for o in found if "/bucket-" in o.path}, reverse=True):
        while folder != store.root and store.fs.delete_empty_dir(folder):
            folder = folder.rsplit("/", 1)[0]
    return found


def _is_used(used: Reachable, file: FileStatus) -> bool:
    names = used.data, used.manifests, used.indexes, used.statistics
    return any(file.name in each for each in names)


def _list_candidates(store: TableStore) -> Iterator[FileStatus]:
    """Files in the directories that writers use. Schemas, tags, consumers are never candidates."""
    fs, root = store.fs, store.root
    for folder in ("manifest", "index", "statistics"):
        yield from (s for s in fs.list(f"{root}/{folder}") if not s.is_dir)
    branch_roots = [root, *(store.branches.root(b) for b in store.branches.names())]
    for branch_root in branch_roots:
        for folder in ("snapshot", "changelog"):
            for status in fs.list(f"{branch_root}/{folder}"):
                known = _SNAPSHOT_FILE.match(status.name) and not _TEMPORARY.search(status.name)
                if not status.is_dir and not known:
                    yield status
    yield from _data_file_candidates(store, store.data_root, len(store.schema.partition_keys))


def _data_file_candidates(store: TableStore, folder: str, partition_levels: int) -> Iterator[FileStatus]:
    for status in store.fs.list(folder):
        if not status.is_dir or status.name.startswith((".", "_")):
            continue
        if partition_levels and "=" in status.name:
            yield from _data_file_candidates(store, status.path, partition_levels - 1)
        elif not partition_levels and status.name.startswith("bucket-"):
            # Rows of any snapshot may refer to managed blobs, which no manifest lists. As in Java, they stay.
            yield from (s for s in store.fs.list(status.path) if not s.is_dir and not s.name.endswith(MANAGED_SUFFIX))
