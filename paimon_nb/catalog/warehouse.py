"""A catalog whose tables lie in a warehouse of files: what is done with a table's files and its name, in the safe order.

Where the names are kept is the register's business (`register.py`). Source: Paimon `AbstractCatalog.java`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import (
    AlreadyExists,
    CommitGaveUp,
    DatabaseNotFound,
    InvalidName,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier, check_name
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.api import Catalog
from paimon_nb.catalog.metastore import DB_SUFFIX, Metastore
from paimon_nb.catalog.schema_validation import check_fallback, check_schema
from paimon_nb.format.schema import SchemaDirectory, TableSchema
from paimon_nb.fs import FileIO, Lock, LockedFileIO, RootedFileIO
from paimon_nb.options import TableOptions
from paimon_nb.options.catalog import DISABLE_CREATE_TABLE_IN_DEFAULT_DB
from paimon_nb.table.external_paths import roots_outside
from paimon_nb.table.store import TableStore
from paimon_nb.table.table import Table

if TYPE_CHECKING:
    from paimon_nb.plan.ddl import Change

TRASH = ".trash"
_ALTER_TRIES = 10


class WarehouseCatalog(Catalog):
    """Tables below `warehouse`, found by a register of names.

    Args:
        name: as users write it. options: the catalog's own. fs: where the files are, seen from the warehouse.
        register: where names are kept. lock_of: the lock that guards a table's commits; None where the store decides alone.
    """

    def __init__(
        self,
        name: str,
        options: Mapping[str, str],
        fs: RootedFileIO,
        register: Metastore,
        lock_of: Callable[[Identifier], Lock] | None = None,
    ) -> None:
        self.name = check_name(name, "catalog")
        self.fs, self.warehouse = fs, fs.root
        self.options = dict(options)
        self.register = register
        self._lock_of = lock_of
        self._forbids_default = bool(DISABLE_CREATE_TABLE_IN_DEFAULT_DB.read(options))
        self._default_options = {
            k.removeprefix("table-default."): v for k, v in options.items() if k.startswith("table-default.")
        }

    # -- databases

    def databases(self) -> list[str]:
        return self.register.databases()

    def create_database(
        self, name: str, *, if_not_exists: bool = False, properties: Mapping[str, str] | None = None
    ) -> bool:
        check_name(name, "database")
        if self.register.add_database(name, properties):
            return True
        if if_not_exists:
            return False
        raise AlreadyExists(f"database {name!r} exists already", hint="add IF NOT EXISTS", name=name)

    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        if not self.register.has_database(name):
            if if_exists:
                return False
            raise self._no_database(name)
        tables = self.tables(name)
        if tables and not cascade:
            raise UnsupportedOperation(
                f"database {name!r} holds {len(tables)} table(s)", hint="drop them first, or add CASCADE", name=name
            )
        for table in tables:
            self.drop_table(Identifier(name, table), if_exists=True)
        self.register.remove_database(name)
        return True

    # -- tables

    def tables(self, database: str) -> list[str]:
        if not self.register.has_database(database):
            raise self._no_database(database)
        return self.register.tables(database)

    def table(self, name: Identifier, options: Mapping[str, str] | None = None) -> Table:
        path = self.register.found_table(name)
        if path is None:
            raise self._no_table(name)
        try:
            store = TableStore.open(self._fs_of(name, path), path, branch=name.branch, dynamic=options)
        except TableNotFound:
            raise self._no_table(name) from None
        return Table(replace(store, watcher=self.register.watcher(name, store.schema)), name=name.of_table())

    def create_table(self, name: Identifier, schema: TableSchema, *, if_not_exists: bool = False) -> bool:
        if self._made(name, self._checked(name, schema)):
            return True
        if if_not_exists:
            return False
        raise AlreadyExists(f"table {name} exists already", hint="add IF NOT EXISTS, or drop it first", name=str(name))

    def replace_table(self, name: Identifier, schema: TableSchema, *, create: bool = True) -> bool:
        schema = self._checked(name, schema)  # before the old one goes
        replaced = self.drop_table(name, if_exists=create)
        if not self._made(name, schema):
            raise AlreadyExists(
                f"table {name} was made by another session meanwhile", hint="look at it", name=str(name)
            )
        return replaced

    def _checked(self, name: Identifier, schema: TableSchema) -> TableSchema:
        """What a new table's schema will be. Raises what makes it impossible."""
        if name.system or name.branch != "main":
            raise InvalidName(f"{name} names a system table or branch", hint="CREATE TABLE takes a plain name")
        if name.database == self.default_database and self._forbids_default:
            raise UnsupportedOperation(
                f"catalog {self.name} forbids tables in its default database {name.database!r}",
                hint="CREATE DATABASE another, and name it before the table; or leave disable-create-table-in-default-db out",
            )
        if not self.register.has_database(name.database):
            raise self._no_database(name.database)
        missing = {k: v for k, v in self._default_options.items() if k not in schema.options}
        if missing:
            schema = schema.with_options({**schema.options, **missing})
        check_schema(schema)
        for root in roots_outside(TableOptions(schema.options)):
            self.fs.exists(root)  # raises where the catalog does not allow the place
        return schema

    def _made(self, name: Identifier, schema: TableSchema) -> bool:
        """First the schema file, which one session writes, then the name: a crash between leaves files that `repair` finds."""
        if self.register.has_table(name):
            return False
        path = self.register.new_table_path(name, schema.options)
        made = SchemaDirectory(self._fs_of(name, path), path).create(schema)
        if not made:
            if not self.register.makes_external(schema.options):
                return False
            schema = self._adopted(path, schema)
        try:
            known = self.register.add_table(name, schema)
        except BaseException:
            if made:
                self._files(path).delete_tree(path)
            raise
        if not known and made:
            self._files(path).delete_tree(path)
        return known

    def _adopted(self, path: str, schema: TableSchema) -> TableSchema:
        """The schema of the table that lies at an external table's place already. Raises AlreadyExists: another one."""
        found = SchemaDirectory(self._files(path), path).latest()
        if found is None:
            raise TableNotFound(f"the table at {path} vanished", hint="try again", path=path)
        wanted = [(f.name, str(f.type)) for f in schema.fields]
        same = not wanted or (wanted, schema.partition_keys, schema.primary_keys) == (
            [(f.name, str(f.type)) for f in found.fields],
            found.partition_keys,
            found.primary_keys,
        )
        other = {k for k, v in schema.options.items() if k not in ("path", "owner") and found.options.get(k) != v}
        if not same or other:
            raise AlreadyExists(
                f"at {path} lies a table with other {'options: ' + ', '.join(sorted(other)) if same else 'columns or keys'}",
                hint="say what it says, or choose another 'path'",
                path=path,
            )
        return found

    def drop_table(self, name: Identifier, *, if_exists: bool = False, purge: bool = False) -> bool:
        path, ours = self.table_path(name), self.register.owns_files(name)
        if not self.register.remove_table(name):
            if if_exists:
                return False
            raise self._no_table(name)
        fs = self._files(path)
        if not ours:
            return True
        if purge:
            fs.delete_tree(path)
        elif fs.exists(path):
            # Moved, not deleted: a dropped table can be brought back for a day (UNDROP TABLE).
            fs.make_dirs(self._trash(name.database))
            kept = self.register.kept_name(name).table
            fs.move(path, posixpath.join(self._trash(name.database), f"{kept}@{clock.now_ms()}"))
        return True

    def undrop_table(self, name: Identifier) -> None:
        kept = self.register.kept_name(name).table
        dropped = [
            s
            for s in self.fs.list(self._trash(name.database))
            if s.is_dir and s.name.rpartition("@")[0] == kept and s.name.rpartition("@")[2].isdecimal()
        ]
        if not dropped:
            raise TableNotFound(f"no dropped table {name} is in the trash", hint="it may have been purged", name=name)
        if self.register.has_table(name):
            raise AlreadyExists(f"table {name} exists already", hint="rename it first", name=str(name))
        newest = max(dropped, key=lambda s: int(s.name.rpartition("@")[2]))
        self.register.add_database(name.database)
        path = self.table_path(name)
        fs = self._files(posixpath.dirname(path))
        fs.make_dirs(posixpath.dirname(path))
        if not SchemaDirectory(fs, path).ids():
            _remove_empty_dirs(fs, path)  # what a writer leaves that came after the drop and found no table
        try:
            fs.move(newest.path, path)
        except FileExistsError:
            raise AlreadyExists(
                f"files lie at {path} where table {name} was",
                hint="move them away, then UNDROP TABLE again",
                name=str(name),
            ) from None
        schema = SchemaDirectory(fs, path).latest()
        if schema is None or not self.register.add_table(name, schema):
            fs.move(path, newest.path)
            raise AlreadyExists(f"table {name} exists already", hint="rename it first", name=str(name))

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        if not self.register.has_database(target.database):
            raise self._no_database(target.database)
        if not self.register.has_table(source):
            raise self._no_table(source)
        old, ours = self.table_path(source), self.register.owns_files(source)
        new = self.register.new_table_path(target, {})
        taken = AlreadyExists(f"table {target} exists already", hint="choose another name", name=str(target))
        if not self.register.rename_table(source, target):
            raise taken
        if not ours:
            return
        fs = self._files(old, posixpath.dirname(new))
        if not SchemaDirectory(fs, old).ids() and SchemaDirectory(fs, new).ids():
            return  # Hive 4 moves the files itself
        try:
            fs.delete_empty_dir(new)
            fs.make_dirs(posixpath.dirname(new))
            fs.move(old, new)
        except BaseException as error:
            self.register.rename_table(target, source)
            if isinstance(error, FileExistsError):
                raise taken from None
            raise

    def alter_table(self, name: Identifier, changes: Sequence[Change]) -> TableSchema:
        from paimon_nb.catalog.alter import apply_changes
        from paimon_nb.catalog.deletion_vector_toggle import check_vectors

        for _ in range(_ALTER_TRIES):
            table = self.table(name)
            latest = table.store.schemas.latest()
            if latest is None:
                raise self._no_table(name)
            has_data = table.store.snapshots.latest_id() is not None
            changed = apply_changes(latest, changes, has_data=has_data, now_ms=clock.now_ms())
            check_fallback(changed, table.store.branches)
            check_vectors(latest, changed, table.store)
            if changed is latest:
                return changed
            if table.store.schemas.create(changed):
                if name.branch == "main":
                    self.register.alter_table(name, table.store.schemas)
                return changed
        raise CommitGaveUp(f"table {name}: other writers changed the schema {_ALTER_TRIES} times", hint="try again")

    def repair(self, database: str | None = None, table: str | None = None) -> list[Identifier]:
        if self.register.in_files:
            return super().repair(database, table)
        if database is None:
            found = (s for s in self.fs.list(self.warehouse) if s.is_dir and s.name.endswith(DB_SUFFIX))
            names = [s.name.removesuffix(DB_SUFFIX) for s in found]
            return [t for name in names if name for t in self.repair(name)]
        if table is not None:
            name = Identifier(database, table)
            if not self.register.has_database(database):
                raise self._no_database(database)
            return [name] if self._repaired(name) else []
        self.register.add_database(database)
        path = self.register.database_path(database)
        tables = [s.name for s in self._files(path).list(path) if s.is_dir and not s.name.startswith(".")]
        return [
            Identifier(database, t)
            for t in tables
            if self._has_files(Identifier(database, t)) and self._repaired(Identifier(database, t))
        ]

    def _has_files(self, name: Identifier) -> bool:
        path = self.table_path(name)
        return bool(SchemaDirectory(self._files(path), path).ids())

    def _repaired(self, name: Identifier) -> bool:
        """Whether the register had to learn anything: the table, its columns; partitions are told again in any case."""
        from paimon_nb.table.commit.live_files import live_entries

        path = self.table_path(name)
        schema = SchemaDirectory(self._files(path), path).latest()
        if schema is None:
            raise self._no_table(name)
        changed = (
            self.register.repeat(name, schema)
            if self.register.has_table(name)
            else self.register.add_table(name, schema)
        )
        store = self.table(name).store
        if store.watcher is not None:
            store.watcher.added(store, {e.partition for e in live_entries(store, store.latest())})
        return changed

    # -- paths and errors

    def table_path(self, name: Identifier) -> str:
        """The table's directory."""
        return self.register.table_path(name)

    def _files(self, *paths: str) -> RootedFileIO:
        """The files, these paths among them."""
        return self.fs

    def _fs_of(self, name: Identifier, path: str) -> FileIO:
        """The files as this table's writers see them: under the catalog's lock where there is one."""
        fs = self._files(path)
        return fs if self._lock_of is None else LockedFileIO(fs, self._lock_of(name))

    def _trash(self, database: str) -> str:
        kept = self.register.kept_name(Identifier(check_name(database, "database"), "t")).database
        return posixpath.join(self.warehouse, TRASH, kept + DB_SUFFIX)

    def _no_database(self, name: str) -> DatabaseNotFound:
        known = self.databases()
        return DatabaseNotFound(
            f"no database {name!r} in catalog {self.name!r}",
            hint=did_you_mean(name, known) or f"CREATE DATABASE {name}; known: {', '.join(known[:10])}",
            name=name,
        )

    def _no_table(self, name: Identifier) -> TableNotFound | DatabaseNotFound:
        if not self.register.has_database(name.database):
            return self._no_database(name.database)
        known = self.tables(name.database)
        if name.table in known:
            return TableNotFound(
                f"catalog {self.name!r} knows table {name.of_table()}, but at {self.table_path(name)} is none",
                hint="bring its files back, or DROP TABLE to forget it",
                name=str(name),
            )
        return TableNotFound(
            f"no table {name.of_table()} in catalog {self.name!r}",
            hint=did_you_mean(name.table, known)
            or (f"known: {', '.join(known[:10])}" if known else f"database {name.database} has no tables"),
            name=str(name),
        )


def _remove_empty_dirs(fs: FileIO, path: str) -> None:
    """Remove the directories below a path that hold no files, and then itself; quiet about the others."""
    for found in fs.list(path):
        if found.is_dir:
            _remove_empty_dirs(fs, found.path)
    fs.delete_empty_dir(path)
