"""What every catalog can do. Backends: one file each beside this one, named in `open.METASTORES`."""

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
    """As given by the user; redact before showing."""

    @property
    def default_database(self) -> str:
        """The database that a session is in after USE CATALOG: `default-database`, in Spark's words `defaultDatabase`."""
        return self.options.get("default-database") or self.options.get("defaultDatabase") or DEFAULT_DATABASE

    def opened(self) -> Catalog:
        """The catalog itself, for work on its inside; where privileges guard it, that asks for ADMIN. Raises AccessDenied."""
        return self

    @abstractmethod
    def databases(self) -> list[str]:
        """Names in order."""

    @abstractmethod
    def create_database(
        self, name: str, *, if_not_exists: bool = False, properties: Mapping[str, str] | None = None
    ) -> bool:
        """Make an empty database. True if made now. Raises `AlreadyExists`, `InvalidName`, `NotWritable`.

        `properties`: `comment`, `location`, `owner` and others; a catalog that keeps none leaves them out.
        """

    @abstractmethod
    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        """Remove a database. Raises `DatabaseNotFound`; `UnsupportedOperation` if it holds tables and not `cascade`."""

    @abstractmethod
    def tables(self, database: str) -> list[str]:
        """Table names in order. Raises `DatabaseNotFound`."""

    @abstractmethod
    def table(self, name: Identifier, options: Mapping[str, str] | None = None) -> Table:
        """The table (system part of the name ignored), with `options` on top of its own. Raises `TableNotFound`."""

    @abstractmethod
    def create_table(self, name: Identifier, schema: TableSchema, *, if_not_exists: bool = False) -> bool:
        """Write schema 0. True if made now. Raises `AlreadyExists`, `DatabaseNotFound`."""

    @abstractmethod
    def replace_table(self, name: Identifier, schema: TableSchema, *, create: bool = True) -> bool:
        """Put a table in the place of another, which goes to the trash. Whether there was one.

        Raises `TableNotFound` when there is none and not `create`; what `create_table` raises: then the old one stays.
        """

    @abstractmethod
    def drop_table(self, name: Identifier, *, if_exists: bool = False, purge: bool = False) -> bool:
        """Take the table away: into the trash for `undrop_table`, or for good with `purge`."""

    @abstractmethod
    def undrop_table(self, name: Identifier) -> None:
        """Bring the last dropped table of this name back. Raises `TableNotFound`, `AlreadyExists`."""

    @abstractmethod
    def rename_table(self, source: Identifier, target: Identifier) -> None:
        """Move a table, also between databases."""

    @abstractmethod
    def alter_table(self, name: Identifier, changes: Sequence[Change]) -> TableSchema:
        """Write the next schema. Raises `SchemaChangeError`, `FixedOption`, `ColumnNotFound`."""

    def repair(self, database: str | None = None, table: str | None = None) -> list[Identifier]:
        """Make the catalog know what its files say: tables it never heard of, columns, partitions. All unless named.

        Returns the tables that it learnt something about. Raises `UnsupportedOperation` where the files are the catalog;
        `DatabaseNotFound`, `TableNotFound`.
        """
        raise UnsupportedOperation(
            f"catalog {self.name!r} keeps nothing beside its files, so nothing can be out of step",
            hint="repair is for metastore 'hive' and 'jdbc'",
        )
