"""Where a catalog keeps its names: which databases and tables there are, and in which directory each lies. Knows no schema rule."""

from __future__ import annotations

import posixpath
from abc import ABC, abstractmethod
from collections.abc import Mapping

from paimon_nb.base.identifier import Identifier, check_name
from paimon_nb.catalog.api import DEFAULT_DATABASE
from paimon_nb.format.schema import SchemaDirectory, TableSchema
from paimon_nb.fs import FileIO
from paimon_nb.table.store import CommitWatcher

DB_SUFFIX = ".db"


class Metastore(ABC):
    """Names only: the files of tables are the catalog's business.

    `add_table` and `rename_table` have exactly one winner, however many sessions ask at once.
    """

    in_files = False
    """Whether a table's first schema file is its entry: then nothing else has to be asked."""

    def __init__(self, warehouse: str) -> None:
        self.warehouse = warehouse

    def database_path(self, name: str) -> str:
        """The database's directory."""
        return posixpath.join(self.warehouse, check_name(name, "database") + DB_SUFFIX)

    def table_path(self, name: Identifier) -> str:
        """The table's directory."""
        return posixpath.join(self.database_path(name.database), name.table)

    def found_table(self, name: Identifier) -> str | None:
        """The directory of a table that is known, or may be where files are the entries; None: the name is not known."""
        return self.table_path(name) if self.in_files or self.has_table(name) else None

    @abstractmethod
    def databases(self) -> list[str]:
        """In order."""

    def has_database(self, name: str) -> bool:
        """Whether a database of this name is known."""
        return name in self.databases()

    def kept_name(self, name: Identifier) -> Identifier:
        """The name as this register keeps it; another one where case does not count."""
        return name

    @abstractmethod
    def add_database(self, name: str, properties: Mapping[str, str] | None = None) -> bool:
        """False when it is there already. `properties`: comment, location and others, where a register keeps such."""

    @abstractmethod
    def remove_database(self, name: str) -> None:
        """Forget a database whose tables were removed before."""

    @abstractmethod
    def tables(self, database: str) -> list[str]:
        """In order; [] for an unknown database."""

    @abstractmethod
    def has_table(self, name: Identifier) -> bool:
        """Whether this very name is known."""

    @abstractmethod
    def add_table(self, name: Identifier, schema: TableSchema) -> bool:
        """Know a table whose first schema is on disk. False when the name is taken."""

    @abstractmethod
    def remove_table(self, name: Identifier) -> bool:
        """Forget a table, before its files go. False when it was not known."""

    @abstractmethod
    def rename_table(self, source: Identifier, target: Identifier) -> bool:
        """Know a table by another name, before its files move. False when the new name is taken."""

    def new_table_path(self, name: Identifier, options: Mapping[str, str]) -> str:
        """The directory of a table that is about to be made with these options."""
        return self.table_path(name)

    def makes_external(self, options: Mapping[str, str]) -> bool:
        """Whether a new table's files would belong to somebody else."""
        return False

    def owns_files(self, name: Identifier) -> bool:
        """Whether a table's files go when the table goes; those of external tables stay."""
        return True

    def watcher(self, name: Identifier, schema: TableSchema) -> CommitWatcher | None:
        """Who is told of a table's commits; None: nobody needs to."""
        return None

    def repeat(self, name: Identifier, schema: TableSchema) -> bool:
        """Make what is kept of a known table say what its schema says. False when it did."""
        return False

    def alter_table(self, name: Identifier, schemas: SchemaDirectory) -> None:  # noqa: B027  most keep no schema
        """A table's newest schema is on disk now: for registers that repeat columns to other engines."""


class DirectoryRegister(Metastore):
    """The directories are the register, as in Java's FileSystemCatalog: `<warehouse>/<name>.db/<table>/schema/`."""

    in_files = True

    def __init__(self, fs: FileIO, warehouse: str) -> None:
        super().__init__(warehouse)
        self._fs = fs

    def databases(self) -> list[str]:
        found = {
            s.name.removesuffix(DB_SUFFIX)
            for s in self._fs.list(self.warehouse)
            if s.is_dir and s.name.endswith(DB_SUFFIX) and s.name != DB_SUFFIX
        }
        return sorted(found | {DEFAULT_DATABASE})  # `default` is always there, as in Java

    def add_database(self, name: str, properties: Mapping[str, str] | None = None) -> bool:
        path = self.database_path(name)
        if self._fs.exists(path):
            return False
        self._fs.make_dirs(path)
        return True

    def remove_database(self, name: str) -> None:
        self._fs.delete_tree(self.database_path(name))

    def tables(self, database: str) -> list[str]:
        return [
            s.name
            for s in self._fs.list(self.database_path(database))
            if s.is_dir and not s.name.startswith(".") and SchemaDirectory(self._fs, s.path).ids()
        ]

    def has_table(self, name: Identifier) -> bool:
        return bool(SchemaDirectory(self._fs, self.table_path(name)).ids())

    def add_table(self, name: Identifier, schema: TableSchema) -> bool:
        return True  # its first schema file is the entry, and made by one only

    def remove_table(self, name: Identifier) -> bool:
        return self.has_table(name)

    def rename_table(self, source: Identifier, target: Identifier) -> bool:
        # The move that follows is the entry; it fails when the target came meanwhile.
        return not self._fs.exists(self.table_path(target))
