"""Deletes the data files of a purged table that are outside its directory (`data-file.external-paths`)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from paimon_nb.base.errors import OutsideWarehouse
from paimon_nb.format.schema import schema_directory
from paimon_nb.options import TableOptions
from paimon_nb.table.read.external_paths import external_path_roots
from paimon_nb.table.read.own_files import enclosing_table
from paimon_nb.table.write.maintenance.reachable import reachable_from_all_branches

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from paimon_nb.fs import FileIO
    from paimon_nb.table.read.store import TableStore


def delete_external_files_of_purged_table(store: TableStore) -> None:
    """Delete the files of all branches below the table's external paths, and the directories that are empty then.

    Only files that the table's manifests name: other tables may have the same paths. Paths that the catalog does not allow
    are left alone.
    """
    if store.is_format_table:  # it has neither manifests nor external paths
        return
    branches = [store, *(store.on_branch(name) for name in store.branches.names())]
    options = [TableOptions(schema.options) for branch in branches for schema in branch.schemas.all()]
    roots = {root for each in options for root in external_path_roots(each)}
    if not roots:
        return
    used = reachable_from_all_branches(store)
    for root in roots:
        with suppress(OutsideWarehouse):
            if enclosing_table(store.fs, root) in (None, store.root):
                _delete_named(store.fs, root, used.data | used.indexes)


def _delete_named(fs: FileIO, folder: str, names: AbstractSet[str]) -> None:
    for status in fs.list(folder):
        if status.is_dir and schema_directory(fs, status.path).ids():
            continue  # another table
        if status.is_dir:
            _delete_named(fs, status.path, names)
        elif status.name in names:
            fs.delete(status.path)
    fs.delete_empty_dir(folder)
