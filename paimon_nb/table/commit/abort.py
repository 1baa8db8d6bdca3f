"""Deleting the files of work that was never committed; touches only files its own writer made.

Source: format reference, section 3 (Abort).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paimon_nb.format.manifest import DataFile
from paimon_nb.table.commit.message import CommitMessage
from paimon_nb.table.store import TableStore


def abort_messages(store: TableStore, messages: Iterable[CommitMessage], *, compaction_only: bool = False) -> None:
    """Delete new data, changelog and index files. A file that was only upgraded belongs to the table and stays."""
    for message in messages:
        for path in _paths(store, message, compaction_only):
            store.fs.delete(path)


def _paths(store: TableStore, m: CommitMessage, compaction_only: bool) -> Iterator[str]:
    def of(files: Iterable[DataFile]) -> Iterator[str]:
        for file in files:
            yield from store.paths_of(m.partition, m.bucket, file)

    own = {f.file_name for f in m.new_files}
    upgraded = {f.file_name: f for f in m.compact_before}
    yield from of(f for f in m.compact_after if f.file_name not in upgraded)
    for file in m.compact_after:  # a file that stays may have got a new index beside it
        if file.file_name in upgraded:
            had = store.extra_paths(m.partition, m.bucket, upgraded[file.file_name])
            yield from (p for p in store.extra_paths(m.partition, m.bucket, file) if p not in had)
    yield from of(m.compact_changelog)
    for entry in m.compact_new_index:
        yield store.index_path(entry)
    if compaction_only:
        return
    yield from of(m.new_files)
    yield from of(m.changelog_files)
    for entry in m.new_index:
        yield store.index_path(entry)
    # What the same message compacted away again is its own too, unless it was there before.
    yield from of(f for f in m.compact_before if f.file_name in own)
