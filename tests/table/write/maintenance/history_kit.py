"""Tables whose data files are small dummies: what may be deleted is a question of names, not of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from commit_kit import added, compacted, data_file

from paimon_nb.base import clock
from paimon_nb.format.manifest import DataFile, read_manifest_list
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.maintenance.reachable import changelog_entries, list_names

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

NOW = 1_700_000_000_000


class Ticking:
    """A clock that tests move by hand."""

    def __init__(self, monkeypatch) -> None:
        self.ms = NOW
        monkeypatch.setattr(clock, "now_ms", lambda: self.ms)

    def hours(self, count: float) -> None:
        self.ms += int(count * 3_600_000)


def real(store: TableStore, message: CommitMessage) -> CommitMessage:
    """Give every file of the message some bytes on disk."""
    for file in (*message.new_files, *message.compact_after, *message.changelog_files):
        path = store.data_path(message.partition, message.bucket, file)
        if not store.fs.exists(path):
            store.fs.write(path, b"rows")
    return message


def append(store: TableStore, name: str, low: int = 1, high: int = 9, **more) -> int:
    message = added(data_file(name, low, high), **{k: v for k, v in more.items() if k == "dt"})
    if "changelog" in more:
        message = replace(message, changelog_files=(data_file(more["changelog"]),))
    return TableCommit(store).commit([real(store, message)], run_maintenance=False)[-1]


def squash(store: TableStore, name: str) -> int:
    """Compact everything into one file."""
    snapshot = store.latest()
    files: list[DataFile] = [e.file for e in live_entries(store, snapshot)]
    message = compacted(files, [data_file(name, 1, 9, level=5)], base=snapshot.id)
    return TableCommit(store).commit([real(store, message)], run_maintenance=False)[-1]


def upgrade(store: TableStore, name: str) -> int:
    """Move one file to level 4: same name, other level."""
    snapshot = store.latest()
    [entry] = [e for e in live_entries(store, snapshot) if e.file.file_name == name]
    return TableCommit(store).commit(
        [compacted([entry.file], [replace(entry.file, level=4)], base=snapshot.id)], run_maintenance=False
    )[-1]


def on_disk(store: TableStore) -> set[str]:
    """Names of data files that are there."""
    return {s.name for s in store.fs.list(f"{store.root}/bucket-0")}


def missing(store: TableStore) -> list[str]:
    """Files that some snapshot, tag or branch names and that are not there."""
    gone = []
    for branch in ["main", *store.branches.names()]:
        one = store if branch == store.branch else store.on_branch(branch)
        one.snapshots.invalidate_cache()
        states = [one.snapshots.get(i) for i in one.snapshots.ids()]
        states += [replace(one.tags.get(n).snapshot, changelog_manifest_list=None) for n in one.tags.names()]
        for state in states:
            names = [*list_names(state)]
            for name in list(names):
                names += [m.file_name for m in read_manifest_list(one.fs, one.manifest_path(name))]
            gone += [n for n in names if not one.fs.exists(one.manifest_path(n))]
            for entry in [*live_entries(one, state), *changelog_entries(one, state)]:
                path = one.data_path(entry.partition, entry.bucket, entry.file)
                gone += [] if one.fs.exists(path) else [path]
    return gone
