"""The interface of catalogs. Implementations are registered in `open.METASTORES`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.format.schema import TableSchema
from paimon_nb.table.table import Table

if TYPE_CHECKING:
    from paimon_nb.plan.ddl import Change

DEFAULT_DATABASE = "default"


class Catalog(ABC):
    """Databases and tables under one name."""

    name: str
    """The name users write: `catalog.database.table`."""
    warehouse: str
    """Root path of the databases."""
    options: Mapping[str, str]
    """The user's options; redact them before display."""

    @property
    def default_database(self) -> str:
        """The current database after USE CATALOG: option `default-database`, or Spark's `defaultDatabase`."""
        return self.options.get("default-database") or self.options.get("defaultDatabase") or DEFAULT_DATABASE

    def unwrapped(self) -> Catalog:
        """The catalog without access control. Raises AccessDenied without the privilege ADMIN."""
        return self

    @abstractmethod
    def databases(self) -> list[str]:
        """Sorted names."""

    @abstractmethod
    def create_database(
        self, name: str, *, if_not_exists: bool = False, properties: Mapping[str, str] | None = None
    ) -> bool:
        """Create an empty database. Returns whether it was created. Raises `AlreadyExists`, `InvalidName`, `NotWritable`.

        `properties`: `comment`, `location`, `owner` and others; a catalog without database properties ignores them.
        """

    @abstractmethod
    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        """Drop a database. Raises `DatabaseNotFound`; `UnsupportedOperation` if it has tables and not `cascade`."""

    @abstractmethod
    def tables(self, database: str) -> list[str]:
        """Sorted table names. Raises `DatabaseNotFound`."""

    @abstractmethod
    def table(self, name: Identifier, options: Mapping[str, str] | None = None) -> Table:
        """The table (system part of the name ignored), with `options` on top of its own. Raises `TableNotFound`."""

    @abstractmethod
    def create_table(self, name: Identifier, schema: TableSchema, *, if_not_exists: bool = False) -> bool:
        """Create a table by writing schema 0. Returns whether it was created. Raises `AlreadyExists`, `DatabaseNotFound`."""

    @abstractmethod
    def replace_table(self, name: Identifier, schema: TableSchema, *, create: bool = True) -> bool:
        """Replace a table; the old one goes to the trash. Returns whether there was one.

        Raises `TableNotFound` if there is none and not `create`, and as `create_table`; the old table then stays.
        """

    @abstractmethod
    def drop_table(self, name: Identifier, *, if_exists: bool = False, purge: bool = False) -> bool:
        """Drop a table: to the trash for `undrop_table`, or permanently with `purge`."""

    @abstractmethod
    def undrop_table(self, name: Identifier) -> None:
        """Restore the last dropped table of this name. Raises `TableNotFound`, `AlreadyExists`."""

    @abstractmethod
    def rename_table(self, source: Identifier, target: Identifier) -> None:
        """Rename a table, also to another database."""

    @abstractmethod
    def alter_table(self, name: Identifier, changes: Sequence[Change]) -> TableSchema:
        """Write the next schema. Raises `SchemaChangeError`, `FixedOption`, `ColumnNotFound`."""

    def repair(self, database: str | None = None, table: str | None = None) -> list[Identifier]:
        """Synchronise the metastore with the files: unknown tables, columns, partitions; all unless named.

        Returns the changed tables. Raises `UnsupportedOperation` if the catalog has no metastore; `DatabaseNotFound`,
        `TableNotFound`.
        """
        raise UnsupportedOperation(
            f"catalog {self.name!r} has no metastore, so there is nothing to repair",
            hint="repair is for metastore 'hive' and 'jdbc'",
        )
