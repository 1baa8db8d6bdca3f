"""A catalog of tables in a warehouse directory: changes a table's files and metastore entry in a crash-safe order.

Source: Paimon `AbstractCatalog.java`.
"""

from __future__ import annotations

import logging
import posixpath
import threading
from collections import OrderedDict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import (
    AlreadyExists,
    CommitGaveUp,
    DatabaseNotFound,
    InvalidName,
    MissingFile,
    PaimonError,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import MAIN_BRANCH, Identifier, check_name
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.override import override
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.api import Catalog, undo_after
from paimon_nb.catalog.entry_moves import EntryMove, EntryMoves
from paimon_nb.catalog.metastore import Metastore, SureChanges
from paimon_nb.catalog.moved_files import (
    PURGED,
    arrives_at,
    delete_empty_trash,
    files_below,
    has_no_schema,
    move_leftovers_to_trash,
    move_to_trash,
    remove_empty_dirs,
    undo_creation,
)
from paimon_nb.catalog.new_tables import NewTableRules, check_new_database
from paimon_nb.catalog.replacement import NextSchema, OtherTable
from paimon_nb.format.schema import (
    FORMAT_TABLE,
    TableSchema,
    new_schema_directory,
    schema_directory,
)
from paimon_nb.fs import FileIO, FoundMove, Lock, LockedFileIO, RootedFileIO, move_surely, settle_move, without_scheme
from paimon_nb.fs.api import DB_SUFFIX, TRASH
from paimon_nb.options import TableOptions
from paimon_nb.options.table import DATA_FILE_EXTERNAL_PATHS
from paimon_nb.table.read.external_paths import external_path_roots
from paimon_nb.table.read.own_files import check_location
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.catalog.replacement import Replacement
    from paimon_nb.statements.ddl import Change

log = logging.getLogger(__name__)
_MAX_ALTER_ATTEMPTS = 10
_MAX_OPENED = 64
"""Handles that a catalog keeps. The rest is opened again."""


@dataclass(frozen=True, slots=True)
class _Dropped:
    """Where a dropped table is."""

    path: str
    """Its directory before."""
    trashed: str | None
    """Its directory in the trash; None if the files stayed or were deleted."""
    schema: TableSchema | None
    """For its metastore entry; None if the files are the entry."""


class WarehouseCatalog(Catalog):
    """Tables below `warehouse`, found through a metastore.

    Args:
        name: the catalog's name in SQL.
        options: catalog options.
        fs: the file system, rooted at the warehouse.
        metastore: stores the names.
        lock_of: the lock for a table's commits; None if the file system has an atomic put-if-absent.
    """

    def __init__(
        self,
        name: str,
        options: Mapping[str, str],
        fs: RootedFileIO,
        metastore: Metastore,
        lock_of: Callable[[Identifier], Lock] | None = None,
    ) -> None:
        self.name = check_name(name, "catalog")
        self.fs, self.warehouse = fs, fs.root
        self.options = dict(options)
        self.metastore = metastore
        self._changes = SureChanges(metastore)
        self._entry_moves = EntryMoves(fs, metastore, self._fs_for_paths, self._trash_of)
        self._lock_of = lock_of
        self._new_table_rules = NewTableRules(self)
        self._opened: OrderedDict[tuple[Identifier, frozenset[tuple[str, str]]], tuple[TableStore, Table]] = (
            OrderedDict()
        )
        self._opened_lock = threading.Lock()

    def allow_data_files(self, roots: Sequence[str]) -> list[str]:
        return self.fs.allow(roots)

    # -- databases

    def databases(self) -> list[str]:
        return self.metastore.databases()

    def has_database(self, name: str) -> bool:
        return self.metastore.has_database(name)

    def create_database(
        self, name: str, *, if_not_exists: bool = False, properties: Mapping[str, str] | None = None
    ) -> bool:
        check_new_database(name)
        if self._changes.add_database(name, properties):
            self.has_created = True
            return True
        if if_not_exists:
            return False
        raise AlreadyExists(f"database {name!r} exists already", hint="add IF NOT EXISTS", name=name)

    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        if not self.metastore.has_database(name):
            if if_exists:
                return False
            raise self._no_database(name)
        tables = self.tables(name)
        if tables and not cascade:
            raise UnsupportedOperation(
                f"database {name!r} has {len(tables)} table(s)", hint="drop them first, or add CASCADE", name=name
            )
        dropped: list[tuple[Identifier, _Dropped]] = []
        try:
            for table in (Identifier(name, t) for t in tables):
                one = self._drop(table, if_exists=True)
                dropped += [] if one is None else [(table, one)]
            self._changes.remove_database(name)
        except BaseException as error:
            for table, one in reversed(dropped):
                undo_after(
                    error, f"table {table} was dropped and could not be restored", partial(self._restore, table, one)
                )
            raise
        return True

    # -- tables

    def tables(self, database: str) -> list[str]:
        if not self.metastore.has_database(database):
            raise self._no_database(database)
        return self.metastore.tables(database)

    def functions(self, database: str) -> list[str]:
        if not self.metastore.has_database(database):
            raise self._no_database(database)
        return []

    def table(self, name: Identifier, options: Mapping[str, str] | None = None) -> Table:
        """See `Catalog.table`. While nothing changes the schema, the same handle: it keeps what its lookups have indexed."""
        key = (name, frozenset((options or {}).items()))
        with self._opened_lock:
            opened = self._opened.pop(key, None)
            if opened is not None:
                self._opened[key] = opened  # the most recently used
        if opened is not None and self._is_current(name, opened[0]):
            opened[1].store.forget_snapshots()
            opened[1].store.schemas.begin_with(opened[0].schemas)
            return opened[1]
        store = self._open_store(name)
        table = self._table_handle(name, store, options or {})
        if table.store.branch == store.branch and self._lock_of is None:
            with self._opened_lock:
                self._opened[key] = store, table
                if len(self._opened) > _MAX_OPENED:
                    self._opened.popitem(last=False)
        return table

    def _table_handle(self, name: Identifier, store: TableStore, options: Mapping[str, str]) -> Table:
        store = store.open_for_catalog(options, on_stored_branch=name.branch == MAIN_BRANCH)
        named = replace(name.of_table(), branch=store.branch)
        watcher = self.metastore.watcher(named, store.schema)
        iceberg = self.iceberg_catalog_of(named, store.schema)
        return Table(store.with_known_newest(replace(store, watcher=watcher, iceberg_catalog=iceberg)), name=named)

    def _is_current(self, name: Identifier, store: TableStore) -> bool:
        """Whether a name still means the table of this store, with the same schema."""
        if not self.metastore.schema_is_entry:
            path = self.metastore.table_location(name)
            if path is None or path.rstrip("/") != store.root:
                return False
        return store.is_current()

    def _open_store(self, name: Identifier) -> TableStore:
        """The table or branch of this name, without regard to its option `branch`."""
        return self._open_store_at(name, self.metastore.table_location(name))

    def _open_store_at(self, name: Identifier, path: str | None) -> TableStore:
        """The table or branch at the location that the metastore has for it. `path`: None if the table does not exist."""
        if path is None:
            if self._entry_moves.settle(name):
                return self._open_store(name)
            raise self._no_table(name)
        try:
            return TableStore.open(self._fs_of(name, path), path, branch=name.branch)
        except TableNotFound as error:
            if (move := error.facts.get("move")) is not None:
                self._repair_entry_of(move)
            elif self._entry_moves.settle(name):
                return self._open_store(name)
            raise self._no_table(name) from None

    def _settle_move(self, path: str) -> None:
        """Complete or undo a move to or from a directory whose process has ended. Raises TableIsMoving: it has not."""
        move = settle_move(self._fs_for_paths(path), path)
        if move is not None:
            self._repair_entry_of(move)

    def _repair_entry_of(self, move: FoundMove) -> None:
        """Change the metastore's entry of a table so that it has the directory which the move left it in."""
        if self.metastore.schema_is_entry:
            return
        there, other = (move.target, move.source) if move.outcome == "finished" else (move.source, move.target)
        name, other_name = self._name_at(there), self._name_at(other)
        if name is None or self.metastore.has_table(name):
            return
        if other_name is not None and self.metastore.has_table(other_name):
            self._changes.rename_table(other_name, name)
        elif (schema := schema_directory(self._fs_for_paths(there), there).latest()) is not None:
            self._changes.add_table(name, schema)

    def _is_half_dropped(self, path: str) -> bool:
        """Whether a directory in the trash is not a whole table: a move to it or from it has not ended, or was undone."""
        if not self.fs.is_object_store:
            return False
        move = self.fs.settle_move(path)
        if move is None:
            return 0 not in schema_directory(self.fs, path).ids()
        if move.outcome in ("finished", "taken back"):
            self._repair_entry_of(move)
        return move.outcome != ("finished" if move.target == path else "taken back")

    def _name_at(self, path: str) -> Identifier | None:
        """The table whose directory is at a path; None for a directory that is not where the catalog puts tables."""
        database, table = path.split("/")[-2:]
        name = Identifier(database.removesuffix(DB_SUFFIX), table)
        known = self.metastore.has_database(name.database)
        return name if known and self.metastore.table_path(name) == path else None

    def create_table(self, name: Identifier, schema: TableSchema, *, if_not_exists: bool = False) -> bool:
        if self._create_files_and_entry(name, self._checked_new_schema(name, schema)):
            self.has_created = True
            return True
        if if_not_exists:
            return False
        if not self.metastore.has_table(name):
            raise AlreadyExists(
                f"the files of a table are at {self.metastore.new_table_path(name, schema.options)}, but the catalog has no table {name}",
                hint=f"CALL sys.repair('{name.database}.{name.table}') adds it, unless another session is creating or dropping it now",
                name=str(name),
            )
        raise AlreadyExists(f"table {name} exists already", hint="add IF NOT EXISTS, or drop it first", name=str(name))

    def _replacement(self, name: Identifier, schema: TableSchema, *, create: bool) -> Replacement:
        schema = self._checked_new_schema(name, schema)  # before the old table changes
        if self.metastore.has_table(name) and _may_keep_files(store := self._open_store(name), schema):
            return NextSchema(
                store,
                schema,
                lambda at_schema: self._table_handle(name, at_schema, {}),
                lambda: self.metastore.alter_table(name, store.schemas),
            )
        dropped = self._drop(name, if_exists=create)

        created = False

        def undo() -> None:
            if created:
                self._remove_new(name)
            if dropped is not None:
                self._restore(name, dropped)

        try:
            created = self._create_files_and_entry(name, schema)
            if not created:
                raise AlreadyExists(
                    f"table {name} was created by another session",
                    hint="check that table, then try again",
                    name=str(name),
                )
            self.has_created = True
            return OtherTable(self.table(name), replaced=dropped is not None, undo=undo)
        except BaseException as error:
            undo_after(error, f"the old table {name} could not be restored", undo)
            raise

    @override
    def keeps_directory(self, name: Identifier, schema: TableSchema) -> bool:
        return self.metastore.has_table(name) and _may_keep_files(self._open_store(name), schema)

    def _checked_new_schema(self, name: Identifier, schema: TableSchema) -> TableSchema:
        """The schema of a new table with catalog defaults. Raises if it is not allowed."""
        self._new_table_rules.check_name(name)
        if not self.metastore.has_database(name.database):
            raise self._no_database(name.database)
        schema = self._new_table_rules.checked_schema(schema)
        if schema.options.get("type") == FORMAT_TABLE and not self.metastore.has_format_tables:
            raise UnsupportedOperation(
                f"catalog {self.name!r} cannot create format tables here",
                hint="set the catalog option 'format-table.enabled' to 'true'",
            )
        path, own_path = schema.options.get("path"), self.metastore.new_table_path(name, schema.options)
        if path is not None and without_scheme(path).rstrip("/") != without_scheme(own_path):
            raise UnsupportedOperation(
                f"the catalog decides where its tables are: {name} would be at {own_path}",
                hint="leave 'path' out, or CREATE TEMPORARY TABLE with 'connector' = 'paimon' and 'path'", path=path,
            )  # fmt: skip
        if path is not None:
            check_location(self._fs_for_paths(own_path), own_path, "the path", own=own_path)
        self._check_external_paths(own_path, schema.options)
        return schema

    def _check_external_paths(self, own_path: str, options: Mapping[str, str]) -> None:
        """Raises OutsideWarehouse, BadOptionValue: the catalog does not allow a root, or another table is in its way."""
        for root in external_path_roots(TableOptions(options)):
            self.fs.exists(root)
            check_location(self.fs, root, f"{DATA_FILE_EXTERNAL_PATHS.key!r}:", own=own_path)

    def _create_files_and_entry(self, name: Identifier, schema: TableSchema) -> bool:
        """Write the schema file, which only one session can, then add the name. `repair` finds files after a crash in between."""
        if self.metastore.has_table(name):
            return False
        path = self.metastore.new_table_path(name, schema.options)
        self._settle_move(path)
        fs, external = self._fs_of(name, path), self.metastore.makes_external(schema.options)
        may_have_files = external or schema.options.get("type") == FORMAT_TABLE
        # Listed before the schema file exists: nothing of it can belong to the new table.
        leftovers = [] if may_have_files else files_below(fs, path)
        schemas = new_schema_directory(fs, path, schema)
        created = bool(schema.fields) and schemas.create(schema)
        if not created:
            if not external:
                return self._entry_moves.settle(name) and self._create_files_and_entry(name, schema)
            schema = self._existing_schema(path, schema)
        try:
            if created and fs.is_object_store and arrives_at(path, fs.settle_move(path)):
                raise AlreadyExists(
                    f"another session moves a table to the name {name}", hint="choose another name", name=str(name)
                )
            if created and leftovers:
                move_leftovers_to_trash(fs, path, leftovers, self._trash_of(name))
            added = self._changes.add_table(name, schema)
        except BaseException:
            if created:
                undo_creation(fs, path, schemas, schema)
            raise
        if not added and created:
            undo_creation(fs, path, schemas, schema)
        return added

    def _existing_schema(self, path: str, schema: TableSchema) -> TableSchema:
        """The schema of an existing table at an external table's path, with the path. Raises AlreadyExists if it differs."""
        found = schema_directory(self._fs_for_paths(path), path).latest()
        if found is None:
            raise TableNotFound(f"no table at {path}", hint="name the columns of a new table", path=path)
        columns = [(f.name, str(f.type)) for f in schema.fields]
        same = not columns or (columns, schema.partition_keys, schema.primary_keys) == (
            [(f.name, str(f.type)) for f in found.fields],
            found.partition_keys,
            found.primary_keys,
        )
        other = {k for k, v in schema.options.items() if k not in ("path", "owner") and found.options.get(k) != v}
        if not same or other:
            raise AlreadyExists(
                f"{path} has a table with other {'options: ' + ', '.join(sorted(other)) if same else 'columns or keys'}",
                hint="use the same definition, or choose another 'path'",
                path=path,
            )
        return found.with_options({**found.options, "path": path})

    def drop_table(self, name: Identifier, *, if_exists: bool = False, purge: bool = False) -> bool:
        return self._drop(name, if_exists=if_exists, purge=purge) is not None

    def _drop(self, name: Identifier, *, if_exists: bool, purge: bool = False) -> _Dropped | None:
        """Drop a table. Returns what `_restore` needs; None if it does not exist. A table that cannot be moved stays."""
        _check_whole_table(name, "dropped")
        self._entry_moves.settle(name)
        path, owns_files = self.table_path(name), self.metastore.owns_files(name)
        if not self.metastore.has_table(name):
            if if_exists:
                return None
            raise self._no_table(name)
        fs = self._fs_for_paths(path)
        schema = None if self.metastore.schema_is_entry else schema_directory(fs, path).latest()
        if purge and owns_files:
            self._delete_external_files(name, path)
        if not owns_files:
            if not self._changes.remove_table(name):
                if if_exists:
                    return None
                raise self._no_table(name)
            return _Dropped(path, None, schema)
        identity = self._entry_moves.first_schema(path)
        with self._entry_moves.recorded(EntryMove(path, self._trash_of(name), name, None, identity, purge)):
            return self._drop_entry_and_files(name, path, schema, if_exists=if_exists, purge=purge)

    def _drop_entry_and_files(
        self, name: Identifier, path: str, schema: TableSchema | None, *, if_exists: bool, purge: bool
    ) -> _Dropped | None:
        fs = self._fs_for_paths(path)
        if not self._changes.remove_table(name):
            if if_exists:
                return None
            raise self._no_table(name)
        dropped = _Dropped(path, None, schema)
        try:
            if purge and fs.is_object_store:
                fs.delete_tree(path)
            else:
                # Moved, not deleted, so that UNDROP TABLE can restore it.
                trashed = move_to_trash(fs, path, self._trash_of(name), PURGED if purge else "")
                dropped = _Dropped(path, trashed, schema)
        except MissingFile:
            if not self.metastore.schema_is_entry:
                return dropped
            if if_exists:  # another session dropped or renamed it in the meantime
                return None
            raise self._no_table(name) from None
        except BaseException as error:
            if purge and isinstance(error, OSError | PaimonError) and has_no_schema(fs, path):
                log.warning("%s: files remain in %s: %s", name, path, error)
                return dropped
            undo_after(error, f"table {name} is not in the catalog any more", lambda: self._restore(name, dropped))
            raise
        if purge and dropped.trashed is not None:
            try:
                fs.delete_tree(dropped.trashed)
                delete_empty_trash(fs, dropped.trashed)
            except (OSError, PaimonError) as error:  # the table is gone; only files remain
                log.warning("%s: files remain in %s: %s", name, dropped.trashed, error)
        return dropped

    def _restore(self, name: Identifier, dropped: _Dropped) -> None:
        """Undo `_drop`."""
        if dropped.trashed is not None:
            fs = self._fs_for_paths(dropped.path)
            fs.delete_empty_dir(dropped.path)
            move_surely(fs, dropped.trashed, dropped.path)
            delete_empty_trash(fs, dropped.trashed)
        if dropped.schema is not None:
            self._changes.add_table(name, dropped.schema)

    def _trash_of(self, name: Identifier) -> str:
        """Where the table goes when it is dropped, without the time."""
        return f"{self._trash_path(name.database)}/{self.metastore.stored_name(name).table}"

    def _delete_external_files(self, name: Identifier, path: str) -> None:
        from paimon_nb.table.write.maintenance.external_files import delete_external_files_of_purged_table

        try:
            delete_external_files_of_purged_table(TableStore.open(self._fs_for_paths(path), path))
        except PaimonError as error:  # a damaged table can be dropped, too
            log.warning("%s: files at external paths may remain: %s", name, error)

    def undrop_table(self, name: Identifier) -> None:
        self._entry_moves.settle(name)
        stored_name = self.metastore.stored_name(name).table
        dropped = [
            s
            for s in self.fs.list(self._trash_path(name.database))
            if s.is_dir and s.name.rpartition("@")[0] == stored_name and s.name.rpartition("@")[2].isdecimal()
            if not self._is_half_dropped(s.path)
        ]
        if not dropped:
            raise TableNotFound(f"no dropped table {name} is in the trash", hint="it may have been purged", name=name)
        if self.metastore.has_table(name):
            raise AlreadyExists(f"table {name} exists already", hint="rename it first", name=str(name))
        newest = max(dropped, key=lambda s: int(s.name.rpartition("@")[2]))
        self._changes.add_database(name.database)
        path = self.table_path(name)
        fs = self._fs_for_paths(posixpath.dirname(path))
        fs.make_dirs(posixpath.dirname(path))
        if not schema_directory(fs, path).ids():
            remove_empty_dirs(fs, path)  # left by a writer that came after the drop
        identity = self._entry_moves.first_schema(newest.path)
        with self._entry_moves.recorded(EntryMove(newest.path, path, None, name, identity)):
            try:
                move_surely(fs, newest.path, path)
            except FileExistsError:
                raise AlreadyExists(
                    f"{path}, the path of table {name}, is not empty",
                    hint="move them away, then UNDROP TABLE again",
                    name=str(name),
                ) from None
            try:
                schema = schema_directory(fs, path).latest()
                if schema is None or not self._changes.add_table(name, schema):
                    raise AlreadyExists(f"table {name} exists already", hint="rename it first", name=str(name))
            except BaseException as error:
                undo_after(error, f"{newest.path} is at {path}", lambda: move_surely(fs, path, newest.path))
                raise

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        _check_whole_table(source, "renamed")
        _check_whole_table(target, "a new name")
        if not self.metastore.has_database(target.database):
            raise self._no_database(target.database)
        self._entry_moves.settle(source, target)
        if not self.metastore.has_table(source):
            raise self._no_table(source)
        old, new = self.table_path(source), self.metastore.new_table_path(target, {})
        taken = AlreadyExists(f"table {target} exists already", hint="choose another name", name=str(target))
        if not self.metastore.owns_files(source):
            if not self._changes.rename_table(source, target):
                raise taken
            return
        self._settle_move(new)
        identity = self._entry_moves.first_schema(old)
        with self._entry_moves.recorded(EntryMove(old, new, source, target, identity)) as is_completed:
            if not self._changes.rename_table(source, target):
                raise taken
            try:
                self._entry_moves.move_table(old, new, identity)
            except BaseException as error:
                if (
                    isinstance(error, MissingFile | FileExistsError)
                    and not self._entry_moves.is_at(old, identity)
                    and (self._entry_moves.is_at(new, identity) or is_completed())
                ):
                    return  # Hive 4 moves the files itself; or another process has done it, while this one stood still
                self._changes.rename_table(target, source)
                if isinstance(error, FileExistsError):
                    raise taken from None
                if isinstance(error, MissingFile):  # another session dropped or renamed it in the meantime
                    raise self._no_table(source) from None
                raise

    def alter_table(self, name: Identifier, changes: Sequence[Change]) -> TableSchema:
        from paimon_nb.catalog.alter import apply_changes
        from paimon_nb.catalog.deletion_vector_toggle import check_deletion_vector_toggle
        from paimon_nb.catalog.schema_validation import check_other_branches

        for _ in range(_MAX_ALTER_ATTEMPTS):
            store = self._open_store(name)
            latest = store.schemas.latest()
            if latest is None:
                raise self._no_table(name)
            has_data = store.is_format_table or store.snapshots.latest_id() is not None
            new_schema = apply_changes(latest, changes, has_data=has_data, now_ms=clock.now_ms())
            if not store.is_format_table:
                check_other_branches(new_schema, store.branches)
            check_deletion_vector_toggle(latest, new_schema, store)
            if new_schema is latest:
                return new_schema
            if _external_paths(new_schema) != _external_paths(latest):
                self._check_external_paths(store.root, new_schema.options)
            if store.schemas.create(new_schema):
                if name.branch == MAIN_BRANCH:
                    self.metastore.alter_table(name, store.schemas)
                return new_schema
        raise CommitGaveUp(
            f"table {name}: other writers changed the schema {_MAX_ALTER_ATTEMPTS} times", hint="try again"
        )

    def repair(self, database: str | None = None, table: str | None = None) -> list[Identifier]:
        if self.metastore.schema_is_entry:
            return super().repair(database, table)
        self._entry_moves.settle()
        if database is None:
            found = (s for s in self.fs.list(self.warehouse) if s.is_dir and s.name.endswith(DB_SUFFIX))
            names = [s.name.removesuffix(DB_SUFFIX) for s in found]
            return [t for name in names if name for t in self.repair(name)]
        if table is not None:
            name = Identifier(database, table)
            if not self.metastore.has_database(database):
                raise self._no_database(database)
            return [name] if self._repair_entry(name) else []
        self._changes.add_database(database)
        path = self.metastore.database_path(database)
        tables = [s.name for s in self._fs_for_paths(path).list(path) if s.is_dir and not s.name.startswith(".")]
        for found_table in tables:
            self._settle_move(f"{path}/{found_table}")
        return [
            Identifier(database, t)
            for t in tables
            if self._has_schema(Identifier(database, t)) and self._repair_entry(Identifier(database, t))
        ]

    def _has_schema(self, name: Identifier) -> bool:
        path = self.table_path(name)
        return bool(schema_directory(self._fs_for_paths(path), path).ids())

    def _repair_entry(self, name: Identifier) -> bool:
        """Whether the metastore entry was added or changed. Always synchronises partitions."""
        from paimon_nb.table.read.live_files import live_entries

        path = self.table_path(name)
        schema = schema_directory(self._fs_for_paths(path), path).latest()
        if schema is None:
            raise self._no_table(name)
        changed = (
            self.metastore.sync_entry(name, schema)
            if self.metastore.has_table(name)
            else self._changes.add_table(name, schema)
        )
        store = self.table(name).store
        if store.watcher is not None and not store.is_format_table:
            store.watcher.added(store, {e.partition for e in live_entries(store, store.latest())})
        return changed

    # -- paths and errors

    def table_path(self, name: Identifier) -> str:
        """The table's directory."""
        return self.metastore.table_path(name)

    def _fs_for_paths(self, *_paths: str) -> RootedFileIO:
        """The file system, with access to these paths."""
        return self.fs

    def _fs_of(self, name: Identifier, path: str) -> FileIO:
        """The file system for a table's writers: with the catalog's lock if there is one."""
        fs = self._fs_for_paths(path)
        return fs if self._lock_of is None else LockedFileIO(fs, self._lock_of(name))

    def _trash_path(self, database: str) -> str:
        stored_name = self.metastore.stored_name(Identifier(check_name(database, "database"), "t")).database
        return posixpath.join(self.warehouse, TRASH, stored_name + DB_SUFFIX)

    def _no_database(self, name: str) -> DatabaseNotFound:
        known = self.databases()
        return DatabaseNotFound(
            f"no database {name!r} in catalog {self.name!r}",
            hint=did_you_mean(name, known) or f"CREATE DATABASE {name}; known: {', '.join(known[:10])}",
            name=name,
        )

    def _no_table(self, name: Identifier) -> TableNotFound | DatabaseNotFound:
        if not self.metastore.has_database(name.database):
            return self._no_database(name.database)
        known = self.tables(name.database)
        if name.table in known:
            return TableNotFound(
                f"table {name.of_table()} is registered in catalog {self.name!r}, but {self.table_path(name)} has no table",
                hint="restore its files, or DROP TABLE to remove the entry",
                name=str(name),
            )
        return TableNotFound(
            f"no table {name.of_table()} in catalog {self.name!r}",
            hint=did_you_mean(name.table, known)
            or (f"known: {', '.join(known[:10])}" if known else f"database {name.database} has no tables"),
            name=str(name),
        )


def _check_whole_table(name: Identifier, effect: str) -> None:
    """Raises InvalidName: `t$branch_b` and `t$files` would mean the whole table t."""
    if name.system is not None:
        raise InvalidName(f"{name} is a system table and cannot be {effect}", hint="name the table itself")
    if name.branch != MAIN_BRANCH:
        raise InvalidName(
            f"{name} is a branch and cannot be {effect}",
            hint=f"CALL sys.delete_branch('{name.database}.{name.table}', '{name.branch}') deletes it",
        )


def _external_paths(schema: TableSchema) -> str | None:
    return schema.options.get(DATA_FILE_EXTERNAL_PATHS.key)


def _may_keep_files(store: TableStore, schema: TableSchema) -> bool:
    """Whether the files of a table can belong to a table with another schema: partition columns of the same types, same path."""
    latest = store.schemas.latest()
    return (
        latest is not None
        and [(f.name, f.type.bare()) for f in latest.partition_fields]
        == [(f.name, f.type.bare()) for f in schema.partition_fields]
        and FORMAT_TABLE not in (latest.options.get("type"), schema.options.get("type"))
        and schema.options.get("path", store.root) == store.root
    )
