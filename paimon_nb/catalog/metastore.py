"""Metastores: the databases and tables of a catalog, and their directories. Knows no schema rules."""

from __future__ import annotations

import posixpath
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import Identifier, check_name
from paimon_nb.base.override import override
from paimon_nb.catalog.api import DEFAULT_DATABASE
from paimon_nb.format.schema import TableSchema, schema_directory
from paimon_nb.fs import delete_tree_surely, make_dirs_surely, surely
from paimon_nb.fs.api import DB_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.schema import SchemaDirectory
    from paimon_nb.fs import FileIO
    from paimon_nb.table.read.watchers import CommitWatcher


class Metastore(ABC):
    """Stores names only; the catalog handles the tables' files.

    `add_table` and `rename_table` are atomic: of concurrent sessions exactly one succeeds.
    """

    schema_is_entry = False
    """Whether a table's first schema file is its metastore entry, so no other lookup is needed."""

    has_format_tables = True
    """Whether its tables can be format tables."""

    def __init__(self, warehouse: str) -> None:
        self.warehouse = warehouse

    def database_path(self, name: str) -> str:
        """The database's directory."""
        return posixpath.join(self.warehouse, check_name(name, "database") + DB_SUFFIX)

    def table_path(self, name: Identifier) -> str:
        """The table's directory."""
        return posixpath.join(self.database_path(name.database), name.table)

    def table_location(self, name: Identifier) -> str | None:
        """The directory of a table; None if the metastore does not have the table."""
        return self.table_path(name) if self.schema_is_entry or self.has_table(name) else None

    @abstractmethod
    def databases(self) -> list[str]:
        """Sorted names."""

    def has_database(self, name: str) -> bool:
        """Whether the database exists."""
        return name in self.databases()

    def stored_name(self, name: Identifier) -> Identifier:
        """The name as the metastore stores it, for example in lower case."""
        return name

    @abstractmethod
    def add_database(self, name: str, properties: Mapping[str, str] | None = None) -> bool:
        """Returns False if it exists. `properties`: comment, location and others, if the metastore stores them."""

    @abstractmethod
    def remove_database(self, name: str) -> None:
        """Remove an empty database."""

    @abstractmethod
    def tables(self, database: str) -> list[str]:
        """Sorted names; [] for an unknown database."""

    @abstractmethod
    def has_table(self, name: Identifier) -> bool:
        """Whether the table exists."""

    @abstractmethod
    def add_table(self, name: Identifier, schema: TableSchema) -> bool:
        """Add a table whose first schema file exists. Returns False if the name exists."""

    @abstractmethod
    def remove_table(self, name: Identifier) -> bool:
        """Remove a table before its files are deleted. Returns False if it does not exist."""

    @abstractmethod
    def rename_table(self, source: Identifier, target: Identifier) -> bool:
        """Rename a table before its files are moved. Returns False if the new name exists."""

    def new_table_path(self, name: Identifier, options: Mapping[str, str]) -> str:
        """The directory of a new table with these options."""
        return self.table_path(name)

    def makes_external(self, options: Mapping[str, str]) -> bool:
        """Whether a new table with these options is external."""
        return False

    def owns_files(self, name: Identifier) -> bool:
        """Whether dropping the table deletes its files; False for external tables."""
        return True

    def watcher(self, name: Identifier, schema: TableSchema) -> CommitWatcher | None:
        """The listener for a table's commits; None if there is none."""
        return None

    def sync_entry(self, name: Identifier, schema: TableSchema) -> bool:
        """Update a table's entry from its schema. Returns False if it was up to date."""
        return False

    def alter_table(self, name: Identifier, schemas: SchemaDirectory) -> None:  # noqa: B027  most metastores store no schema
        """Called after a new schema was written, for metastores that store columns."""


class SureChanges:
    """The changes of a metastore's entries. After an error it is looked whether the change has had its effect: its reply may be lost."""

    def __init__(self, metastore: Metastore) -> None:
        self._of = metastore

    def add_database(self, name: str, properties: Mapping[str, str] | None = None) -> bool:
        return surely(lambda: self._of.add_database(name, properties), lambda: name in self._of.databases(), True)

    def remove_database(self, name: str) -> None:
        surely(lambda: self._of.remove_database(name), lambda: name not in self._of.databases(), None)

    def add_table(self, name: Identifier, schema: TableSchema) -> bool:
        if self._of.schema_is_entry:
            return self._of.add_table(name, schema)  # see `put_surely`
        return surely(lambda: self._of.add_table(name, schema), lambda: self._of.has_table(name), True)

    def remove_table(self, name: Identifier) -> bool:
        return surely(lambda: self._of.remove_table(name), lambda: not self._of.has_table(name), True)

    def rename_table(self, source: Identifier, target: Identifier) -> bool:
        def moved() -> bool:
            return self._of.has_table(target) and not self._of.has_table(source)

        return surely(lambda: self._of.rename_table(source, target), moved, True)


class DirectoryMetastore(Metastore):
    """Directories as the metastore, as in Java's FileSystemCatalog: `<warehouse>/<name>.db/<table>/schema/`."""

    schema_is_entry = True

    def __init__(self, fs: FileIO, warehouse: str) -> None:
        super().__init__(warehouse)
        self._fs = fs

    def databases(self) -> list[str]:
        found = {
            s.name.removesuffix(DB_SUFFIX)
            for s in self._fs.list(self.warehouse)
            if s.is_dir and s.name.endswith(DB_SUFFIX) and s.name != DB_SUFFIX
        }
        return sorted(found | {DEFAULT_DATABASE})  # `default` always exists, as in Java

    def add_database(self, name: str, properties: Mapping[str, str] | None = None) -> bool:
        if "location" in (properties or {}):
            raise UnsupportedOperation(
                f"database {name!r} cannot have a location of its own: in a filesystem catalog its folder is in the warehouse",
                hint="leave LOCATION out, or CREATE CATALOG on that path",
            )
        path = self.database_path(name)
        if self._fs.exists(path):
            return False
        make_dirs_surely(self._fs, path)
        return True

    def remove_database(self, name: str) -> None:
        delete_tree_surely(self._fs, self.database_path(name))

    def tables(self, database: str) -> list[str]:
        return [
            s.name
            for s in self._fs.list(self.database_path(database))
            if s.is_dir and not s.name.startswith(".") and self._is_table(s.path)
        ]

    def has_table(self, name: Identifier) -> bool:
        return self._is_table(self.table_path(name))

    def _is_table(self, path: str) -> bool:
        """Whether a directory is that of a table, also while it is moved from there to another place."""
        if not self._fs.is_object_store:
            return bool(schema_directory(self._fs, path).ids())
        if 0 in schema_directory(self._fs, path).ids():
            return True
        move = self._fs.settle_move(path)
        if move is None:
            return False
        if move.outcome in ("under way", "decided"):
            return move.source == path and move.outcome == "under way"
        return 0 in schema_directory(self._fs, path).ids()

    @override
    def add_table(self, name: Identifier, schema: TableSchema) -> bool:
        return True  # the first schema file is the entry; only one writer can create it

    def remove_table(self, name: Identifier) -> bool:
        return self.has_table(name)

    @override
    def rename_table(self, source: Identifier, target: Identifier) -> bool:
        # The following move fails if the target was created concurrently.
        return not self._fs.exists(self.table_path(target))
