"""Renames, drops and restores of tables whose names are in a metastore: the entry changes, and then the directory, or the reverse.

A process can be killed between the two. It writes a record before, an object in `<warehouse>/.moves`, and deletes it
afterwards. Who meets an older record of the same names completes what is half done. See docs/decisions/0012.
"""

from __future__ import annotations

import json
import logging
import posixpath
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import MissingFile, PaimonError
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.metastore import SureChanges
from paimon_nb.catalog.moved_files import PURGED, move_to_trash
from paimon_nb.format.schema import SchemaDirectory, hidden_schema_directory, schema_directory
from paimon_nb.fs import FoundMove, move_surely, put_surely
from paimon_nb.fs.api import MOVE_LEASE_S, moving_error
from paimon_nb.fs.store_clock import store_time_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paimon_nb.catalog.metastore import Metastore
    from paimon_nb.fs import RootedFileIO

log = logging.getLogger(__name__)
_DIRECTORY = ".moves"


@dataclass(frozen=True)
class EntryMove:
    """What a record says."""

    source: str
    """The table's directory before."""
    target: str
    """Its directory afterwards; of a drop, without the time that the trash adds."""
    old: Identifier | None
    """Its name before; None: it is in the trash."""
    new: Identifier | None
    """Its name afterwards; None: it goes to the trash."""
    first_schema: str | None = None
    """Identifies the table: the text of its first schema; None for a format table without one."""
    purge: bool = False
    """Whether a drop deletes the files."""

    def to_json(self, warehouse: str) -> bytes:
        """Paths in the warehouse are relative to it: copies of a warehouse are independent of each other."""

        def relative(path: str) -> str:
            return path.removeprefix(f"{warehouse}/")

        names = {k: [n.database, n.table] if n else None for k, n in (("old", self.old), ("new", self.new))}
        paths = {"source": relative(self.source), "target": relative(self.target)}
        return json.dumps({**paths, **names, "first_schema": self.first_schema, "purge": self.purge}).encode()

    @classmethod
    def from_json(cls, data: bytes, warehouse: str) -> EntryMove | None:
        """None if it is something else."""

        def absolute(path: str) -> str:
            return path if path.startswith("/") or ":/" in path else f"{warehouse}/{path}"

        try:
            found: dict[str, Any] = json.loads(data)
            old, new = (Identifier(*found[k]) if found[k] is not None else None for k in ("old", "new"))
            source, target = absolute(found["source"]), absolute(found["target"])
            return cls(source, target, old, new, found["first_schema"], bool(found["purge"]))
        except (ValueError, TypeError, KeyError, AttributeError, PaimonError):
            return None


class EntryMoves:
    """The records of a catalog. A catalog whose files are its entries has none: there one step changes both."""

    def __init__(
        self,
        fs: RootedFileIO,
        metastore: Metastore,
        fs_for_paths: Callable[..., RootedFileIO],
        trash_of: Callable[[Identifier], str],
    ) -> None:
        """`fs`: rooted at the warehouse. `fs_for_paths`: with access to these paths. `trash_of`: where a dropped table goes."""
        self._fs, self._warehouse, self._metastore = fs, fs.root, metastore
        self._fs_for_paths, self._trash_of = fs_for_paths, trash_of
        self._directory = f"{fs.root}/{_DIRECTORY}"
        self._is_needed = not metastore.schema_is_entry

    @contextmanager
    def recorded(self, move: EntryMove) -> Iterator[Callable[[], bool]]:
        """Inside the block, entry and directory change. After an error, the record stays if only one of them has changed.

        Yields: whether another process has completed the move: this one stood still.
        """
        if not self._is_needed or (move.new is None and move.first_schema is None):  # an entry without files
            yield lambda: False
            return
        path = f"{self._directory}/{uuid.uuid4()}"
        put_surely(self._fs, path, move.to_json(self._warehouse))
        try:
            yield lambda: not self._fs.exists(path)
        except BaseException:
            with suppress(OSError, PaimonError):
                if not self._is_half_done(move):
                    self._fs.delete(path)
            raise
        try:
            self._fs.delete(path)
        except (OSError, PaimonError) as error:  # who finds it sees that nothing is left to do
            log.warning("%s remains: %s", path, error)

    def first_schema(self, directory: str) -> str | None:
        """What identifies the table at a directory; None where it is not needed, and for a format table without one."""
        return next(iter(self._first_schemas(directory)), None) if self._is_needed else None

    def is_at(self, directory: str, first_schema: str | None) -> bool:
        """Whether a table is at a directory. True where that is not known."""
        return first_schema is None or first_schema in self._first_schemas(directory)

    def move_table(self, old: str, new: str, first_schema: str | None) -> None:
        """Move a table's directory. Raises MissingFile: it is not there, or that of another table. Raises FileExistsError."""
        fs = self._fs_for_paths(old, posixpath.dirname(new))
        if not fs.exists(old) and fs.exists(new):
            return  # Hive 4 moves the files itself
        fs.delete_empty_dir(new)
        fs.make_dirs(posixpath.dirname(new))
        if not self.is_at(old, first_schema):
            raise MissingFile(old)
        move_surely(fs, old, new)

    def settle(self, *names: Identifier) -> bool:
        """Complete what other processes have left half done: of these tables, or of all.

        Returns:
            Whether there was a record of a process that has ended.

        Raises:
            TableIsMoving: a process that moves one of these tables may not have ended.
        """
        if not self._is_needed:
            return False
        concerned = {self._key(name) for name in names}
        found = [(s, move) for s in self._fs.list(self._directory) if (move := self._read(s.path)) is not None]
        found = [(s, m) for s, m in found if not names or concerned & {self._key(n) for n in (m.old, m.new) if n}]
        if not found:
            return False
        now_ms, settled = store_time_ms(self._fs, self._directory), False
        for status, move in found:
            is_half_done = self._is_half_done(move) and self._is_allowed(move)
            if now_ms - status.modified_ms < MOVE_LEASE_S * 1000:
                if names and is_half_done:
                    raise moving_error(FoundMove(move.source, move.target, "under way"))
                continue
            if is_half_done:
                self._complete(move)
            self._fs.delete(status.path)
            settled = True
        return settled

    def _key(self, name: Identifier) -> tuple[str, str]:
        stored = self._metastore.stored_name(name.of_table())
        return stored.database, stored.table

    def _read(self, path: str) -> EntryMove | None:
        (data,) = self._fs.read_each([path])
        return None if data is None else EntryMove.from_json(data, self._warehouse)

    def _first_schemas(self, directory: str) -> list[str]:
        fs = self._fs_for_paths(directory)
        paths = [s.path(0) for s in (SchemaDirectory(fs, directory), hidden_schema_directory(fs, directory))]
        return [data.decode(errors="replace") for data in fs.read_each(paths) if data is not None]

    def _has(self, name: Identifier) -> bool:
        return self._metastore.has_table(name)

    def _is_half_done(self, move: EntryMove) -> bool:
        """Whether the entry has changed and the directory has not; of a restore, the reverse."""
        there = move.source if move.old is not None else move.target
        fs = self._fs_for_paths(move.source, move.target)
        if move.first_schema is None and (not fs.exists(move.source) or fs.exists(move.target)):
            return False
        if not self.is_at(there, move.first_schema):
            return False
        if move.old is None:
            return move.new is not None and not self._has(move.new)
        return not self._has(move.old) and (move.new is None or self._has(move.new))

    def _is_allowed(self, move: EntryMove) -> bool:
        """Whether the directories are those of the names: a record that another writer left there moves nothing elsewhere."""
        if move.new is not None:
            return move.target == self._metastore.table_path(move.new)
        return move.old is not None and move.target == self._trash_of(move.old)

    def _complete(self, move: EntryMove) -> None:
        if move.old is None:
            fs = self._fs_for_paths(move.target)
            schema = schema_directory(fs, move.target).latest()
            if move.new is not None and schema is not None:
                SureChanges(self._metastore).add_table(move.new, schema)
        elif move.new is not None:
            self.move_table(move.source, move.target, move.first_schema)
        else:
            fs = self._fs_for_paths(move.source)
            trashed = move_to_trash(fs, move.source, move.target, PURGED if move.purge else "")
            if move.purge:
                fs.delete_tree(trashed)
