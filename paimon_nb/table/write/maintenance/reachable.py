"""Which files a table still uses: the shared check of expiry, tag deletion, rollback and orphan removal.

Roots are the snapshots, tags and long-lived changelogs of every branch. An unreadable root raises an error: then
nothing may be deleted, because "unreadable" must never count as "uses no files".
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import FormatError, MissingFile, TagNotFound, error_of_kind
from paimon_nb.base.identifier import MAIN_BRANCH
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import (
    ADD,
    DataFile,
    IndexEntry,
    ManifestEntry,
    read_entries,
    read_index_manifest,
    read_manifest_list,
)
from paimon_nb.table.read.live_files import live_file_names
from paimon_nb.table.read.lost_base import snapshot_below_lost
from paimon_nb.table.read.plan.time_travel import retry_on_expiry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paimon_nb.base.errors import PaimonError
    from paimon_nb.format.snapshot import Snapshot, Tag
    from paimon_nb.table.read.store import TableStore


@dataclass
class Reachable:
    """Names of files in use. Names are unique (they contain a UUID), so no path is needed."""

    data: set[str] = field(default_factory=set)
    """Data and changelog files and their sidecars."""
    manifests: set[str] = field(default_factory=set)
    """Manifests, manifest lists and index manifests."""
    indexes: set[str] = field(default_factory=set)
    statistics: set[str] = field(default_factory=set)
    roots: set[tuple[str, str, str]] = field(default_factory=set)
    """What was looked at: (branch, tag, delta manifest list), (branch, '', delta manifest list) of a snapshot, (branch, '', '')."""

    def add_files(self, files: Iterable[DataFile]) -> None:
        for file in files:
            self.data.add(file.file_name)
            self.data.update(file.extra_files)

    def add_live_files(self, store: TableStore, snapshot: Snapshot) -> None:
        """The live files of a snapshot, with their sidecars."""
        self.data |= live_file_names(store, snapshot)

    def add_metadata(self, store: TableStore, snapshot: Snapshot) -> None:
        """The metadata files that a snapshot references, directly and through its lists."""
        for name in list_names(snapshot):
            self.manifests.add(name)
            self.manifests.update(m.file_name for m in read_manifest_list(store.fs, store.manifest_path(name)))
        for entry in index_files(store, snapshot):
            self.indexes.add(entry.file_name)
        if snapshot.index_manifest:
            self.manifests.add(snapshot.index_manifest)
        if snapshot.statistics:
            self.statistics.add(snapshot.statistics)


def reachable_from_all_branches(
    store: TableStore, *, without_snapshots: Iterable[int] = (), without_tags: Iterable[str] = (),
    without_changelogs: Iterable[int] = (),
) -> Reachable:  # fmt: skip
    """Everything in use by all branches if the listed roots of `store`'s own branch were removed.

    Raises: FormatError: a snapshot or tag cannot be read. TableReplaced.
    """
    snapshots, tags, changelogs = set(without_snapshots), set(without_tags), set(without_changelogs)

    def look() -> Reachable:
        used = Reachable()
        store.snapshots.invalidate_cache()
        store.changelogs.invalidate_cache()
        for branch in [MAIN_BRANCH, *store.branches.names()]:
            here = branch == store.branch
            one = store if here else store.on_branch(branch)
            _add_history(used, one, snapshots if here else set())
            _add_tags(used, one, tags if here else set())
            _add_changelogs(used, one, changelogs if here else set())
            used.roots.add((branch, "", ""))
        return used

    return retry_on_expiry(store, look)


def with_new_roots(used: Reachable, store: TableStore, *, without_tags: Iterable[str] = ()) -> Reachable:
    """`used`, and what tags and branches need that were created since it was read, or took snapshots of this one by a fast-forward.

    To be called after roots were removed and before their files are deleted: a tag or branch that is created at the same
    time is seen here, or does not find its snapshot when it looks again (`tags.create_tag`).
    """
    for branch in [MAIN_BRANCH, *store.branches.names()]:
        here = branch == store.branch
        one = store if here else store.on_branch(branch)
        if (branch, "", "") not in used.roots:
            _add_history(used, one, set())
            _add_changelogs(used, one, set())
        elif (
            not here
            and (newest := one.snapshots.latest())
            and (branch, "", newest.delta_manifest_list) not in used.roots
        ):
            _add_history(used, one, set())
        _add_tags(used, one, set(without_tags) if here else set())
    return used


def _add_history(used: Reachable, store: TableStore, removed_snapshots: set[int]) -> None:
    """Live files of the oldest retained snapshot, and all files that later ones added.

    Together that is the union of all retained states, without merging each state separately.
    """
    previous: Snapshot | None = None
    ids = [i for i in store.snapshots.ids() if i not in removed_snapshots]
    prefetch_history(store, ids)
    for snapshot_id in ids:
        snapshot = store.snapshots.get(snapshot_id)
        used.roots.add((store.branch, "", snapshot.delta_manifest_list))
        try:
            used.add_metadata(store, snapshot)
            if previous is not None and is_direct_successor(store, previous, snapshot):
                used.add_files(e.file for e in delta_entries(store, snapshot, ADD))
            else:
                used.add_live_files(store, snapshot)
            used.add_files(e.file for e in changelog_entries(store, snapshot))
        except MissingFile as error:
            raise _missing_file_of(store, snapshot, ids[-1], error) from error
        previous = snapshot


def _missing_file_of(store: TableStore, snapshot: Snapshot, newest: int, error: MissingFile) -> MissingFile:
    """The same error with the way out for a snapshot that is still there, and whose files cannot be deleted by expiry."""
    below = snapshot_below_lost(store, snapshot) if snapshot.id == newest else None
    if below is not None:
        return MissingFile(
            error.facts["path"],
            hint=f"a rollback removed what snapshot {snapshot.id} was built on, and its writer was stopped before it saw that; "
            f"the next commit deletes the snapshot, or CALL sys.rollback_to('{store.name}', {below.id})",
            snapshot=snapshot.id,
        )
    way = (
        f"CALL sys.expire_snapshots(`table` => '{store.name}', retain_max => {newest - snapshot.id}) removes it"
        if snapshot.id < newest
        else "CALL sys.remove_unexisting_files or a rollback to an earlier snapshot repairs the table"
    )
    return MissingFile(error.facts["path"], hint=f"snapshot {snapshot.id} needs it; {way}", snapshot=snapshot.id)


def prefetch_history(store: TableStore, ids: Iterable[int]) -> None:
    """Let an object store fetch side by side what `get`, `delta_entries` and `changelog_entries` read of these snapshots."""
    if not store.fs.is_object_store:
        return
    snapshots = store.snapshots.get_each(ids)
    names = [n for s in snapshots for n in (*list_names(s), s.index_manifest) if n]
    store.fs.prefetch((store.manifest_path(n), 0) for n in dict.fromkeys(names))
    manifests: dict[str, int] = {}
    for snapshot in snapshots:
        for name in filter(None, (snapshot.delta_manifest_list, snapshot.changelog_manifest_list)):
            with suppress(MissingFile):  # the reader that needs the file reports it
                listed = read_manifest_list(store.fs, store.manifest_path(name))
                manifests.update((m.file_name, m.file_size) for m in listed)
    store.fs.prefetch((store.manifest_path(name), size) for name, size in manifests.items())


def is_direct_successor(store: TableStore, before: Snapshot, after: Snapshot) -> bool:
    """True if `after` certainly is `before` plus its own delta: its base list contains exactly the manifests of `before`.

    False also after a manifest merge, which is rare. Ids are not enough: after a fast-forward, neighbouring ids may
    come from two histories.
    """
    if after.id != before.id + 1:
        return False
    state = [*_manifest_names(store, before.base_manifest_list), *_manifest_names(store, before.delta_manifest_list)]
    return state == _manifest_names(store, after.base_manifest_list)


def _manifest_names(store: TableStore, list_name: str) -> list[str]:
    return [m.file_name for m in read_manifest_list(store.fs, store.manifest_path(list_name))]


def _add_tags(used: Reachable, store: TableStore, removed_tags: set[str]) -> None:
    for tag in _all_tags(store, removed_tags):
        root = store.branch, tag.name, tag.snapshot.delta_manifest_list
        if tag.name in removed_tags or root in used.roots:
            continue
        try:
            used.add_metadata(store, without_changelog(tag.snapshot))
            used.add_live_files(store, tag.snapshot)
        except FormatError as error:
            raise _of_tag(store, tag.name, error) from error
        used.roots.add(root)


def _of_tag(store: TableStore, name: str, error: FormatError) -> PaimonError:
    """The same error with the tag (fact `tag`) that needs the file, and the way out."""
    return error_of_kind(
        type(error),
        f"tag {name!r} of {store.name} cannot be read: {error.message}",
        f"CALL sys.delete_tag('{store.name}', '{name}') removes the tag; until then no file of the table is deleted",
        {**error.facts, "tag": name},
    )


def _all_tags(store: TableStore, removed_tags: set[str]) -> Iterator[Tag]:
    """Tags that stay. Raises FormatError for a broken file."""
    for name in store.tags.names():
        if name in removed_tags:
            continue
        try:
            yield store.tags.get(name)
        except TagNotFound:
            continue  # deleted in the meantime
        except FormatError as error:
            raise _of_tag(store, name, error) from error


def unreadable_tags(store: TableStore) -> list[tuple[str, FormatError]]:
    """Tags of this branch whose files are missing or broken, with what is wrong."""
    found: list[tuple[str, FormatError]] = []
    for name in store.tags.names():
        try:
            snapshot = without_changelog(store.tags.get(name).snapshot)
            used = Reachable()
            used.add_metadata(store, snapshot)
            used.add_live_files(store, snapshot)
        except TagNotFound:
            continue
        except FormatError as error:
            found.append((name, error))
    return found


def _add_changelogs(used: Reachable, store: TableStore, removed_changelogs: set[int]) -> None:
    """A long-lived changelog uses its changelog files or, without any, the files that its commit appended."""
    for changelog_id in store.changelogs.ids():
        if changelog_id in removed_changelogs:
            continue
        old = store.changelogs.get(changelog_id)
        if old.changelog_manifest_list:
            used.manifests.add(old.changelog_manifest_list)
            manifests = read_manifest_list(store.fs, store.manifest_path(old.changelog_manifest_list))
            used.manifests.update(m.file_name for m in manifests)
            used.add_files(e.file for e in changelog_entries(store, old))
        elif reads_through_delta(store, old):
            used.manifests.add(old.delta_manifest_list)
            manifests = read_manifest_list(store.fs, store.manifest_path(old.delta_manifest_list))
            used.manifests.update(m.file_name for m in manifests)
            used.add_files(e.file for e in delta_entries(store, old) if e.kind == ADD)


def reads_through_delta(store: TableStore, changelog: Snapshot) -> bool:
    """True if a long-lived changelog has no changelog files but is readable through its delta."""
    if changelog.changelog_manifest_list:
        return False
    # The rows that an overwrite deleted expired with the previous snapshot; its new rows are only half of the change.
    return changelog.commit_kind == "APPEND" or (changelog.commit_kind == "OVERWRITE" and not store.has_keys)


# -- files of one snapshot


def list_names(snapshot: Snapshot) -> list[str]:
    """Names of the snapshot's manifest lists."""
    names = (snapshot.base_manifest_list, snapshot.delta_manifest_list, snapshot.changelog_manifest_list)
    return [n for n in names if n]


def without_changelog(snapshot: Snapshot) -> Snapshot:
    """A tag retains a state, not the changelog of its snapshot."""
    return replace(snapshot, changelog_manifest_list=None)


def delta_entries(store: TableStore, snapshot: Snapshot, kind: int | None = None) -> Iterator[ManifestEntry]:
    """Entries of the snapshot's own commit: all, or those of one kind (ADD, DELETE)."""
    yield from _entries_of_list(store, snapshot.delta_manifest_list, kind)


def changelog_entries(store: TableStore, snapshot: Snapshot) -> Iterator[ManifestEntry]:
    """Entries of the snapshot's changelog."""
    if snapshot.changelog_manifest_list:
        yield from _entries_of_list(store, snapshot.changelog_manifest_list)


def index_files(store: TableStore, snapshot: Snapshot) -> list[IndexEntry]:
    """Live index files of the snapshot."""
    if not snapshot.index_manifest:
        return []
    return list(read_index_manifest(store.fs, store.manifest_path(snapshot.index_manifest)))


def _entries_of_list(store: TableStore, list_name: str, kind: int | None = None) -> Iterator[ManifestEntry]:
    for manifest in read_manifest_list(store.fs, store.manifest_path(list_name)):
        entries = read_entries(store.fs, store.manifest_path(manifest.file_name))
        yield from entries if kind is None else entries.filter(entries.column("kind") == kind)
