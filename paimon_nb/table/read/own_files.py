"""Which files outside its directory a table may have: those below a declared root that are not inside another table.

A manifest contains the paths of external files, and everybody who can write the table's directory can write a manifest.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, OutsideWarehouse
from paimon_nb.format.schema import schema_directory
from paimon_nb.fs import without_scheme
from paimon_nb.fs.api import DB_SUFFIX, TRASH
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from paimon_nb.fs import FileIO

_PART_OF_TABLE = re.compile(r"[^/]*=[^/]*|bucket-[^/]*|[01]{4}|[01]{8}")
"""Directories of partitions, of buckets, and of hashes of file names: not tables, except directly in a database."""


def is_below(path: str, root: str) -> bool:
    """Whether a path is a directory or inside it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def plain_path(path: str) -> str:
    """A path as it is compared: without the scheme of local files and without a slash at the end."""
    return without_scheme(path).rstrip("/")


def _roots_of(fs: FileIO) -> tuple[str, ...]:
    return tuple(getattr(fs, "roots", ()))


def enclosing_table(fs: FileIO, path: str, known: dict[str, bool] | None = None) -> str | None:
    """The directory of the table that a directory is in, or is itself; None if there is none below the root of `fs`.

    Args:
        fs: the file system.
        path: a directory.
        known: whether a directory is that of a table, for directories that were asked for before.
    """
    known = {} if known is None else known
    for folder in _folders_between(fs, plain_path(path)):
        if folder not in known:
            known[folder] = bool(schema_directory(fs, folder).ids())
        if known[folder]:
            return folder
    return None


def _folders_between(fs: FileIO, path: str) -> Iterator[str]:
    """The directories from the root of `fs` down to `path`, without those that can only be parts of a table."""
    roots = [plain_path(r) for r in _roots_of(fs)]
    root = min((r for r in roots if is_below(path, r)), key=len, default="")
    if roots and not root:
        return
    if roots and root != roots[0]:
        yield root
    folder = root
    for name in filter(None, path[len(root) :].split("/")):
        parent, folder = folder, f"{folder}/{name}"
        if not _PART_OF_TABLE.fullmatch(name) or parent.endswith(DB_SUFFIX):
            yield folder


def check_location(fs: FileIO, path: str, what: str, own: str | None = None) -> None:
    """Raise BadOptionValue if a directory that a table is to use is inside another table, or has other tables inside.

    Args:
        fs: the file system of the catalog.
        path: the directory.
        what: its name in the message.
        own: the table's own directory.
    """
    location = plain_path(path)
    other = enclosing_table(fs, location)
    if other is not None and other == (own and plain_path(own)):
        return
    if other is None:
        warehouse = next(iter(_roots_of(fs)), "")
        trash = f"{plain_path(warehouse)}/{TRASH}"
        inside = warehouse and is_below(plain_path(warehouse), location)
        if (
            inside
            or location.endswith(DB_SUFFIX)
            or is_below(location, trash)
            or (other := _table_inside(fs, location, own))
        ):
            raise BadOptionValue(
                f"{what} {path!r} has {'other tables' if other is None else f'the table {other}'} inside",
                hint="choose a directory of its own",
                path=path,
            )
        return
    raise BadOptionValue(
        f"{what} {path!r} is inside the table {other}", hint="choose a directory of its own", path=path
    )


def _table_inside(fs: FileIO, location: str, own: str | None) -> str | None:
    """A directory in a directory that is another table's or a database's; None if there is none."""
    for child in fs.list(location):
        if not child.is_dir or _PART_OF_TABLE.fullmatch(child.name) or child.path == (own and plain_path(own)):
            continue
        if child.name.endswith(DB_SUFFIX) or schema_directory(fs, child.path).ids():
            return child.path
    return None


class ExternalFiles:
    """The files outside a table's directory that it may have.

    Args:
        fs: the table's file system.
        root: the table's directory.
        name: the table's name, for messages.
        declared: options 'data-file.external-paths' of the table's schemas, asked for when the first file needs them.
    """

    def __init__(self, fs: FileIO, root: str, name: str, declared: Callable[[], Iterable[str]]) -> None:
        self._fs, self._root, self._name, self._declared = fs, plain_path(root), name, declared
        self._roots: list[str] | None = None
        self._known: dict[str, bool] = {}
        self._allowed: set[str] = set()

    def checked(self, path: str) -> str:
        """The path of an external file.

        Raises:
            OutsideWarehouse: the table may not have this file.
        """
        folder = posixpath.dirname(plain_path(path))
        if folder not in self._allowed:
            self._check_folder(path, folder)
            self._allowed.add(folder)
        return path

    def _check_folder(self, path: str, folder: str) -> None:
        if ".." in folder.split("/"):
            raise self._refused(path, "is not a plain path")
        roots = _roots_of(self._fs)
        if is_below(folder, self._root) or (roots and not any(is_below(folder, plain_path(r)) for r in roots)):
            return  # the file system refuses what is outside its roots
        if not any(is_below(folder, root) for root in self._declared_roots()):
            raise self._refused(path, f"is not below a root of {opt.DATA_FILE_EXTERNAL_PATHS.key!r}")
        other = enclosing_table(self._fs, folder, self._known)
        if other is not None and other != self._root:
            raise self._refused(path, f"is inside the table {other}")

    def _declared_roots(self) -> list[str]:
        """The roots of the table's options, and those that the catalog or a statement of the session allows."""
        if self._roots is None:
            self._roots = [plain_path(root) for root in self._declared()]
        allowed = _roots_of(self._fs)[1:]
        return [*self._roots, *map(plain_path, allowed)]

    def _refused(self, path: str, why: str) -> OutsideWarehouse:
        return OutsideWarehouse(
            f"{self._name}: its metadata names the file {path!r}, which {why}; it is not read, moved or deleted",
            hint="do not trust this table: its metadata may have been changed to reach files of other tables",
            path=path,
            root=self._root,
        )
