"""The filesystem catalog: databases are `<name>.db` directories, tables are directories with a `schema/` inside.

Source: format reference, section 1. Same layout as Java's FileSystemCatalog.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from paimon_nb.base import clock
from paimon_nb.base.errors import (
    AlreadyExists,
    CommitGaveUp,
    DatabaseNotFound,
    InvalidName,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.name import Name, check_name
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.alter import apply_changes, check_merge_rules
from paimon_nb.catalog.api import DEFAULT_DATABASE, Catalog
from paimon_nb.format.schema import SchemaDirectory, TableSchema
from paimon_nb.fs import FileIO, RootedFileIO
from paimon_nb.options import validate_table_options
from paimon_nb.plan.ddl import Change
from paimon_nb.table.store import TableStore
from paimon_nb.table.table import Table

DB_SUFFIX = ".db"
TRASH = ".trash"
_ALTER_TRIES = 10


class FilesystemCatalog(Catalog):
    """Tables found by listing directories below `warehouse`.

    Args:
        name: as users write it. warehouse: root path or URI. options: the catalog's own. fs: where the files are.
    """

    def __init__(self, name: str, warehouse: str, options: Mapping[str, str], fs: FileIO) -> None:
        self.name = check_name(name, "catalog")
        # The rooted view gives back normalised absolute paths, so every path below is comparable.
        self.fs = RootedFileIO(fs, warehouse)
        self.warehouse = self.fs.root
        self.options = dict(options)
        self._default_options = {
            k.removeprefix("table-default."): v for k, v in options.items() if k.startswith("table-default.")
        }

    # -- databases

    def databases(self) -> list[str]:
        found = {
            s.name.removesuffix(DB_SUFFIX)
            for s in self.fs.list(self.warehouse)
            if s.is_dir and s.name.endswith(DB_SUFFIX) and s.name != DB_SUFFIX
        }
        return sorted(found | {DEFAULT_DATABASE})  # `default` is always there, as in Java

    def create_database(self, name: str, *, if_not_exists: bool = False) -> bool:
        path = self._database_path(name)
        if name in self.databases() and self.fs.exists(path):
            if if_not_exists:
                return False
            raise AlreadyExists(f"database {name!r} exists already", hint="add IF NOT EXISTS", name=name)
        self.fs.make_dirs(path)
        return True

    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        if name not in self.databases():
            if if_exists:
                return False
            raise self._no_database(name)
        tables = self.tables(name)
        if tables and not cascade:
            raise UnsupportedOperation(
                f"database {name!r} holds {len(tables)} table(s)", hint="drop them first, or add CASCADE", name=name
            )
        for table in tables:
            self.drop_table(Name(name, table))
        self.fs.delete_tree(self._database_path(name))
        return True

    # -- tables

    def tables(self, database: str) -> list[str]:
        if database not in self.databases():
            raise self._no_database(database)
        return [
            s.name
            for s in self.fs.list(self._database_path(database))
            if s.is_dir and not s.name.startswith(".") and SchemaDirectory(self.fs, s.path).ids()
        ]

    def table(self, name: Name, options: Mapping[str, str] | None = None) -> Table:
        try:
            store = TableStore.open(self.fs, self.table_path(name), branch=name.branch, dynamic=options)
        except TableNotFound:
            raise self._no_table(name) from None
        return Table(store, name=name.of_table())

    def create_table(self, name: Name, schema: TableSchema, *, if_not_exists: bool = False) -> bool:
        if name.system or name.branch != "main":
            raise InvalidName(f"{name} names a system table or branch", hint="CREATE TABLE takes a plain name")
        if name.database not in self.databases():
            raise self._no_database(name.database)
        missing = {k: v for k, v in self._default_options.items() if k not in schema.options}
        if missing:
            schema = schema.with_options({**schema.options, **missing})
        validate_table_options(schema.options)
        check_merge_rules(schema)
        path = self.table_path(name)
        if SchemaDirectory(self.fs, path).create(schema):
            return True
        if if_not_exists:
            return False
        raise AlreadyExists(f"table {name} exists already", hint="add IF NOT EXISTS, or drop it first", name=str(name))

    def drop_table(self, name: Name, *, if_exists: bool = False, purge: bool = False) -> bool:
        path = self.table_path(name)
        if not SchemaDirectory(self.fs, path).ids():
            if if_exists:
                return False
            raise self._no_table(name)
        if purge:
            self.fs.delete_tree(path)
        else:
            # Moved, not deleted: a dropped table can be brought back for a day (UNDROP TABLE).
            self.fs.make_dirs(self._trash(name.database))
            self.fs.move(path, posixpath.join(self._trash(name.database), f"{name.table}@{clock.now_ms()}"))
        return True

    def undrop_table(self, name: Name) -> None:
        dropped = [
            s
            for s in self.fs.list(self._trash(name.database))
            if s.is_dir and s.name.rpartition("@")[0] == name.table and s.name.rpartition("@")[2].isdecimal()
        ]
        if not dropped:
            raise TableNotFound(f"no dropped table {name} is in the trash", hint="it may have been purged", name=name)
        path = self.table_path(name)
        if SchemaDirectory(self.fs, path).ids():
            raise AlreadyExists(f"table {name} exists already", hint="rename it first", name=str(name))
        newest = max(dropped, key=lambda s: int(s.name.rpartition("@")[2]))
        self.fs.make_dirs(self._database_path(name.database))
        self.fs.move(newest.path, path)

    def rename_table(self, source: Name, target: Name) -> None:
        if target.database not in self.databases():
            raise self._no_database(target.database)
        if not SchemaDirectory(self.fs, self.table_path(source)).ids():
            raise self._no_table(source)
        if self.fs.exists(self.table_path(target)):
            raise AlreadyExists(f"table {target} exists already", hint="choose another name", name=str(target))
        self.fs.make_dirs(self._database_path(target.database))
        self.fs.move(self.table_path(source), self.table_path(target))

    def alter_table(self, name: Name, changes: Sequence[Change]) -> TableSchema:
        for _ in range(_ALTER_TRIES):
            table = self.table(name)
            latest = table.store.schemas.latest()
            if latest is None:
                raise self._no_table(name)
            has_data = table.store.snapshots.latest_id() is not None
            changed = apply_changes(latest, changes, has_data=has_data, now_ms=clock.now_ms())
            if changed is latest or table.store.schemas.create(changed):
                return changed
        raise CommitGaveUp(f"table {name}: other writers changed the schema {_ALTER_TRIES} times", hint="try again")

    # -- paths and errors

    def table_path(self, name: Name) -> str:
        """The table's directory."""
        return posixpath.join(self._database_path(name.database), name.table)

    def _database_path(self, name: str) -> str:
        return posixpath.join(self.warehouse, check_name(name, "database") + DB_SUFFIX)

    def _trash(self, database: str) -> str:
        return posixpath.join(self.warehouse, TRASH, check_name(database, "database") + DB_SUFFIX)

    def _no_database(self, name: str) -> DatabaseNotFound:
        known = self.databases()
        return DatabaseNotFound(
            f"no database {name!r} in catalog {self.name!r}",
            hint=did_you_mean(name, known) or f"CREATE DATABASE {name}; known: {', '.join(known[:10])}",
            name=name,
        )

    def _no_table(self, name: Name) -> TableNotFound | DatabaseNotFound:
        if name.database not in self.databases():
            return self._no_database(name.database)
        known = self.tables(name.database)
        return TableNotFound(
            f"no table {name.of_table()} in catalog {self.name!r}",
            hint=did_you_mean(name.table, known)
            or (f"known: {', '.join(known[:10])}" if known else "it has no tables"),
            name=str(name),
        )
