"""Opens a table by its path, without a catalog. Imports neither SQL nor sessions, to keep scripts fast."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from paimon_nb.base.identifier import MAIN_BRANCH, Identifier
from paimon_nb.fs import RootedFileIO, external_roots, open_fs
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping


def open_table(path: str, *, branch: str = MAIN_BRANCH, options: Mapping[str, str] | None = None) -> Table:
    """The table at a path, without a catalog.

    Args:
        path: the table's directory, a path or URI.
        branch: the branch to read and write.
        options: dynamic table options, and options of the file system such as `s3.endpoint`.

    Returns:
        The handle.

    Raises:
        TableNotFound: the path contains no table.
        BranchNotFound: the table has no such branch.
        UnknownName: no file system for the scheme of the path.

    Examples:
        >>> paimon_nb.open_table("warehouse/default.db/orders").to_arrow().num_rows
        3
    """
    text = str(path)
    fs = open_fs(text, options or {})
    rooted = RootedFileIO(fs, text, external_roots(options or {}))
    store = TableStore.open(rooted, rooted.root, branch=branch, dynamic=options)
    directory, base = posixpath.split(rooted.root.rstrip("/"))
    database = posixpath.basename(directory).removesuffix(".db") or "default"
    return Table(store, name=Identifier(database, base, branch))
