"""Branches: create, rename, delete, fast-forward. Source: docs/spec/format.md section 15.

Data, manifests and indexes are shared by all branches, so only small metadata files are copied here.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from paimon_nb.base.errors import (
    AlreadyExists,
    FormatError,
    InvalidName,
    MissingFile,
    SnapshotExpired,
    SnapshotNotFound,
    TagNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import MAIN_BRANCH
from paimon_nb.fs import move_surely
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.plan.time_travel import retry_on_expiry
from paimon_nb.table.write.iceberg import publish_iceberg
from paimon_nb.table.write.maintenance.atomic import (
    check_is_there,
    check_tag_is_there,
    raise_if_replaced,
    undone_on_error,
)
from paimon_nb.table.write.maintenance.deletion_candidates import DeletionCandidates, delete_paths
from paimon_nb.table.write.maintenance.reachable import (
    changelog_entries,
    reachable_from_all_branches,
    with_new_roots,
    without_changelog,
)
from paimon_nb.table.write.publish.changes import forget_last_commit
from paimon_nb.table.write.publish.head import withdraw_lost_snapshots_afterwards

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

OTHER_BRANCHES = (
    opt.SCAN_FALLBACK_BRANCH, opt.SCAN_PRIMARY_BRANCH, opt.SCAN_FALLBACK_SNAPSHOT_BRANCH, opt.SCAN_FALLBACK_DELTA_BRANCH
)  # fmt: skip
"""Options that name a branch whose partitions the table reads."""


@raise_if_replaced
def create_branch(store: TableStore, name: str, tag: str | None = None, *, if_not_exists: bool = False) -> bool:
    """A new branch: empty with the schemas of the branch that `store` is, or starting at the snapshot of a tag of it.

    The first schema is written last: without it the branch does not exist, so a crash leaves no partial branch.
    """
    store.branches.check_new(name)
    main = store if store.branch == MAIN_BRANCH else store.on_branch(MAIN_BRANCH)
    if name in main.branches.names():
        if if_not_exists:
            return False
        raise AlreadyExists(f"branch {name!r} already exists", hint="choose another name", name=name)
    if main.versions is not None:
        main.versions.create_branch(name, tag)
        return True
    root = main.branches.root(name)
    main.fs.delete_tree(root)  # remove the remains of an interrupted creation
    with undone_on_error(store) as changing:
        _write_branch(changing, root, tag)
    return True


def _write_branch(store: TableStore, root: str, tag: str | None) -> None:
    main, newest_schema = store, None
    if tag is not None:
        snapshot = store.tags.get(tag).snapshot
        newest_schema = snapshot.schema_id
        try:
            _copy_file(store, store.tags.path(tag), f"{root}/tag/tag-{tag}")
        except MissingFile:
            check_tag_is_there(store, tag, snapshot)  # it was deleted since it was read
            raise
        if not _retains_changelog(store, snapshot):
            snapshot = without_changelog(snapshot)
        main.fs.put_if_absent(f"{root}/snapshot/snapshot-{snapshot.id}", snapshot.to_json())
        main.fs.overwrite(f"{root}/snapshot/EARLIEST", str(snapshot.id).encode())
        main.fs.overwrite(f"{root}/snapshot/LATEST", str(snapshot.id).encode())
    for schema_id in reversed(store.schemas.ids()):
        if newest_schema is None or schema_id <= newest_schema:
            _copy_file(store, store.schemas.path(schema_id), f"{root}/schema/schema-{schema_id}")
    if tag is not None:
        check_tag_is_there(store, tag, snapshot)


def _retains_changelog(store: TableStore, tagged: Snapshot) -> bool:
    """A tag does not retain the changelog of its snapshot, also after a rollback to the tag restored the snapshot file."""
    if tagged.id not in store.snapshots.ids():
        return False
    return store.snapshots.get(tagged.id).changelog_manifest_list == tagged.changelog_manifest_list


@raise_if_replaced
def delete_branch(store: TableStore, name: str) -> None:
    """Delete a branch and the files that only it uses. Raises BranchNotFound; UnsupportedOperation: reads fall back on it."""
    _refuse_main(name)
    check_not_read(store, name)
    if store.versions is not None:
        store.versions.drop_branch(name)
        return
    branch = open_branch(store, name)
    candidates = DeletionCandidates(branch)
    for snapshot in _snapshots_and_tags(branch):
        candidates.add_entries(live_entries(branch, snapshot))
        candidates.add_entries(changelog_entries(branch, snapshot))
        candidates.add_metadata(snapshot)
    forget_last_commit(branch)
    with undone_on_error(branch) as changing:
        changing.fs.delete(branch.schemas.path(0))  # without it the branch does not exist
        changing.fs.delete_tree(branch.branch_root)
        # Afterwards: a fast-forward to the branch is seen here, or sees that the branch is gone.
        delete_paths(changing, candidates.unused(reachable_from_all_branches(changing.on_branch(MAIN_BRANCH))))


def check_not_read(store: TableStore, name: str) -> None:
    """Raise UnsupportedOperation when an option of the table names the branch: the table could not be read without it."""
    main = store if store.branch == MAIN_BRANCH else store.on_branch(MAIN_BRANCH)
    for option in OTHER_BRANCHES:
        if main.options.get(option) == name:
            raise UnsupportedOperation(
                f"branch {name!r} is the {option.key!r} of {main.name}",
                hint=f"ALTER TABLE ... RESET ('{option.key}') first",
                name=name,
            )


@raise_if_replaced
def rename_branch(store: TableStore, name: str, to: str) -> None:
    """Rename a branch. Raises BranchNotFound, AlreadyExists."""
    _refuse_main(name)
    check_not_read(store, name)
    branch = open_branch(store, name)
    store.branches.check_new(to)
    if to in store.branches.names():
        raise AlreadyExists(f"branch {to!r} already exists", hint="choose another name", name=to)
    if store.versions is not None:
        store.versions.rename_branch(name, to)
    else:
        move_surely(branch.fs, branch.branch_root, store.branches.root(to))
    forget_last_commit(branch)


@raise_if_replaced
def fast_forward(store: TableStore, name: str) -> None:
    """Fast-forward main to the branch: main's history from the branch's first snapshot on is replaced by the branch's.

    Raises: BranchNotFound: also if it is deleted meanwhile. UnsupportedOperation: the branch is empty, or the remaining history of main uses schemas
        that the branch lacks or has with other columns. Nothing is changed then.
    """
    if name in (MAIN_BRANCH, store.branch):
        raise UnsupportedOperation(
            f"branch {name!r} cannot be fast-forwarded to itself",
            hint="name another branch, and the table without '$branch_'",
            name=name,
        )
    main = store if store.branch == MAIN_BRANCH else store.on_branch(MAIN_BRANCH)
    branch = open_branch(main, name)
    if main.versions is not None:
        if branch.snapshots.earliest_id() is None:
            raise _has_no_snapshot(name)
        main.versions.fast_forward(name)
        forget_last_commit(main)
        main.snapshots.invalidate_cache()
        publish_iceberg(main.on_branch(MAIN_BRANCH))
        return

    def replace_history() -> None:
        try:
            first = branch.snapshots.earliest()
            if first is None:
                raise _has_no_snapshot(name)
            _replace_history(main, branch, first)
        except (FormatError, SnapshotExpired, SnapshotNotFound, UnsupportedOperation):
            main.branches.need(name)  # it was deleted meanwhile: that says more
            raise

    retry_on_expiry(branch, replace_history)


def _has_no_snapshot(branch: str) -> UnsupportedOperation:
    return UnsupportedOperation(f"branch {branch!r} has no snapshot", hint="write to the branch first", name=branch)


def _replace_history(main: TableStore, branch: TableStore, begin: Snapshot) -> None:
    """Replace main's history from the branch's first snapshot on, and delete the files that only it used."""
    first, first_schema = begin.id, begin.schema_id
    replaced = [i for i in main.snapshots.ids() if i >= first]
    branch_tags = branch.tags.names()
    replaced_tags = [n for n in main.tags.names() if n in branch_tags or main.tags.get(n).snapshot.id >= first]
    _check_schemas(main, branch, first_schema, set(replaced), set(replaced_tags))
    candidates = DeletionCandidates(main)
    for snapshot in [
        *map(main.snapshots.get, replaced),
        *(without_changelog(main.tags.get(n).snapshot) for n in replaced_tags),
    ]:
        candidates.add_entries(live_entries(main, snapshot))
        candidates.add_entries(changelog_entries(main, snapshot))
        candidates.add_metadata(snapshot)
    # The branch itself stays, so everything that main takes from it is reachable through it.
    used = reachable_from_all_branches(main, without_snapshots=replaced, without_tags=replaced_tags)
    forget_last_commit(main)
    with undone_on_error(main) as changing:
        _take_over(changing, branch, first, first_schema, replaced, replaced_tags)
        main.branches.need(branch.branch)  # it was deleted meanwhile, with files that main took from it
        check_is_there(branch, begin)  # or its old snapshots have expired
        forget_last_commit(main)  # one that another thread made meanwhile may be replaced, too
        delete_paths(changing, candidates.unused(with_new_roots(used, changing)))
    withdraw_lost_snapshots_afterwards(main)
    if main.has_iceberg_metadata or branch.has_iceberg_metadata:
        publish_iceberg(main.on_branch(MAIN_BRANCH))


def _take_over(
    main: TableStore,
    branch: TableStore,
    first: int,
    first_schema: int,
    replaced: Sequence[int],
    replaced_tags: Sequence[str],
) -> None:
    """Replace these snapshots and tags of main, and its schemas from the first one on, by those of the branch.

    The first snapshot is there all the time: a writer whose base is gone tells by an older one that it did not expire.
    """
    branch_tags = branch.tags.names()
    main.fs.overwrite(main.snapshots.path(first), main.fs.read(branch.snapshots.path(first)))
    for snapshot_id in reversed(replaced):
        if snapshot_id != first:
            main.snapshots.delete(snapshot_id)
    # Snapshots published on top of them since the listing are unreadable now; they count as replaced, too.
    for snapshot_id in [i for i in main.snapshots.ids() if i > first]:
        main.snapshots.delete(snapshot_id)
    main.snapshots.invalidate_cache()
    for tag in replaced_tags:
        with suppress(TagNotFound):
            main.tags.delete(tag)
    main.fs.delete(f"{main.branch_root}/snapshot/LATEST")
    taken = branch.schemas.ids()
    for schema_id in taken:
        # Replaced in one step each: the table always has a schema. The first one makes the table's directory: it is not written for nothing.
        schema, path = main.fs.read(branch.schemas.path(schema_id)), main.schemas.path(schema_id)
        if schema_id or main.fs.read(path) != schema:
            main.fs.overwrite(path, schema)
    for schema_id in main.schemas.ids():
        if schema_id >= first_schema and schema_id not in taken:
            main.fs.delete(main.schemas.path(schema_id))
    for tag in branch_tags:
        _copy_file(main, branch.tags.path(tag), main.tags.path(tag))
    # The newest first: writers build on it at once. What was published below it meanwhile counts as replaced, too.
    for snapshot_id in reversed(branch.snapshots.ids()):
        if snapshot_id != first:
            path = main.snapshots.path(snapshot_id)
            while not _copy_file(main, branch.snapshots.path(snapshot_id), path):
                main.fs.delete(path)
    newest = branch.snapshots.latest()
    if newest is not None:
        check_is_there(main, newest)
        main.snapshots.write_latest_hint(newest.id)
    if ids := main.snapshots.ids():  # else the table was moved meanwhile, and all this is undone
        main.snapshots.write_earliest_hint(ids[0])


def _check_schemas(
    main: TableStore, branch: TableStore, first: int, replaced: Collection[int], replaced_tags: Collection[str]
) -> None:
    """The branch's schemas from `first` on replace main's; remaining snapshots must not be read with them."""
    branch_tags = branch.schemas.ids()
    changed = [
        i
        for i in main.schemas.ids()
        if i >= first and (i not in branch_tags or main.schemas.get(i).fields != branch.schemas.get(i).fields)
    ]
    if not changed:
        return
    left = [(f"snapshot {i}", main.snapshots.get(i)) for i in main.snapshots.ids() if i not in replaced]
    left += [(f"tag {n!r}", main.tags.get(n).snapshot) for n in main.tags.names() if n not in replaced_tags]
    lost = [what for what, snapshot in left if snapshot.schema_id >= changed[0]]
    if lost:
        raise UnsupportedOperation(
            f"{', '.join(lost[:5])} of main {'need' if len(lost) > 1 else 'needs'} schema {changed[0]}, which branch "
            f"{branch.branch!r} lacks: {'they' if len(lost) > 1 else 'it'} would be unreadable after a fast-forward",
            hint="expire those snapshots and delete those tags first, or roll main back to before them",
            name=branch.branch,
        )


def open_branch(store: TableStore, name: str) -> TableStore:
    """The branch; raises BranchNotFound with the nearest name."""
    store.branches.need(name)
    return store.on_branch(name)


def _refuse_main(name: str) -> None:
    if name == MAIN_BRANCH:
        raise InvalidName("the main branch is the table itself", hint="DROP TABLE removes a table", name=name)


def _snapshots_and_tags(store: TableStore) -> list[Snapshot]:
    return [
        *(store.snapshots.get(i) for i in store.snapshots.ids()),
        *(without_changelog(store.tags.get(n).snapshot) for n in store.tags.names()),
    ]


def _copy_file(store: TableStore, source: str, target: str) -> bool:
    return store.fs.put_if_absent(target, store.fs.read(source))
