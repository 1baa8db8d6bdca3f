"""The interface of catalogs. Implementations are registered in `open.METASTORES`."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError, UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.replacement import Replacement
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataField, DataType
    from paimon_nb.statements.ddl import Change
    from paimon_nb.table.read.watchers import IcebergCatalog
    from paimon_nb.table.tables.table import Table

log = logging.getLogger(__name__)
DEFAULT_DATABASE = "default"
SYSTEM_DATABASE = "sys"
"""Procedures and the tables about the whole catalog; no database of the warehouse."""


@dataclass(frozen=True, slots=True)
class StoredView:
    """A view that a catalog stores."""

    query: str
    """The text of its query. Names without a database are those of the view's database."""
    fields: tuple[DataField, ...]
    """Its columns."""
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    """Its TBLPROPERTIES."""
    dialects: Mapping[str, str] = field(default_factory=dict)
    """The query in the dialects of "spark", "flink" and other engines, if the catalog keeps several."""

    def query_in(self, dialect: str) -> str:
        """The query in a dialect; if the view lacks it, in another one that can be read here, else `query`.

        Args:
            dialect: "spark" or "flink".

        Returns:
            SQL text.
        """
        return next((self.dialects[d] for d in (dialect, "spark", "flink") if d in self.dialects), self.query)


@dataclass(frozen=True, slots=True)
class StoredFunction:
    """A SQL function that a catalog stores: an expression of its parameters."""

    parameters: tuple[DataField, ...]
    """Names and types; a default value makes a parameter optional."""
    returns: DataType
    body: str
    """The text of the expression, in Spark's dialect."""
    comment: str | None = None
    is_deterministic: bool = True
    options: Mapping[str, str] = field(default_factory=dict)


def _no_iceberg_catalog(_name: Identifier, _schema: TableSchema) -> None:
    """Tables of a catalog that was not opened by `open_catalog` are registered nowhere."""


class Catalog(ABC):
    """Databases and tables, by name.

    Attributes:
        name: the name that users write: `catalog.database.table`.
        warehouse: root path of the databases.
        options: the catalog's options, secrets included; redact them before you show them.
    """

    name: str
    """The name users write: `catalog.database.table`."""
    warehouse: str
    """Root path of the databases."""
    options: Mapping[str, str]
    """The user's options; redact them before display."""
    has_created = False
    """Whether a database or a table was created through this object."""
    stores_views = False
    stores_functions = False
    """Whether `create_view` stores views."""
    has_external_tables = False
    """Whether CREATE EXTERNAL TABLE makes a table whose files DROP TABLE keeps."""
    keeps_dropped_tables = True
    """Whether `undrop_table` can restore a dropped table."""
    iceberg_catalog_of: Callable[[Identifier, TableSchema], IcebergCatalog | None] = staticmethod(_no_iceberg_catalog)
    """The catalog of Iceberg in which a table is registered; `open_catalog` sets it."""

    @property
    def default_database(self) -> str:
        """The database of a session after USE CATALOG: the option `default-database` (Spark: `defaultDatabase`)."""
        return self.options.get("default-database") or self.options.get("defaultDatabase") or DEFAULT_DATABASE

    def allow_data_files(self, roots: Sequence[str]) -> list[str]:
        """Allow data files below places outside the warehouse, because a statement of this session names them.

        A table's stored options are not trusted for this: they can come from someone else.

        Args:
            roots: paths or URIs.

        Returns:
            The roots that were not allowed before.
        """
        del roots
        return []

    def unwrapped(self) -> Catalog:
        """The catalog without access control. Needs ADMIN where privileges are in force.

        Returns:
            The catalog without access control.

        Raises:
            AccessDenied: the user is not an administrator.
        """
        return self

    def has_database(self, name: str) -> bool:
        """Whether a database exists. A catalog that ignores case finds it by any spelling.

        Args:
            name: its name.

        Returns:
            True if it exists.

        Examples:
            >>> wb.session.catalog.has_database("default")
            True
        """
        return name in self.databases()

    @abstractmethod
    def databases(self) -> list[str]:
        """The databases.

        Returns:
            Their names, sorted.

        Examples:
            >>> wb.session.catalog.databases()
            ['default']
        """

    @abstractmethod
    def create_database(
        self, name: str, *, if_not_exists: bool = False, properties: Mapping[str, str] | None = None
    ) -> bool:
        """Create an empty database.

        Args:
            name: its name.
            if_not_exists: do nothing if it exists.
            properties: `comment`, `location`, `owner` and others; a catalog without a place for them ignores them.

        Returns:
            True if it was created now.

        Raises:
            AlreadyExists: it exists, and not `if_not_exists`.
            InvalidName: the name is not allowed.
            NotWritable: the warehouse cannot be written.

        Examples:
            >>> wb.session.catalog.create_database("sales")
            True
        """

    def alter_database(self, name: str, properties: Mapping[str, str]) -> None:
        """Set properties of a database.

        Args:
            name: its name.
            properties: the properties to set.

        Raises:
            UnsupportedOperation: the catalog does not store properties.
            DatabaseNotFound: it does not exist.
        """
        self.tables(name)  # raises for an unknown database
        raise UnsupportedOperation(
            f"catalog {self.name!r} does not store properties of database {name!r}", hint="set options on its tables"
        )

    def database_properties(self, name: str) -> dict[str, str]:
        """The properties of a database, such as `comment`, `location` and `owner`.

        Args:
            name: its name.

        Returns:
            The properties; none if the catalog does not store them.

        Raises:
            DatabaseNotFound: it does not exist.
        """
        return {}

    @abstractmethod
    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        """Drop a database.

        Args:
            name: its name.
            if_exists: do nothing if it does not exist.
            cascade: drop its tables, too.

        Returns:
            True if it was dropped now.

        Raises:
            DatabaseNotFound: it does not exist, and not `if_exists`.
            UnsupportedOperation: it has tables, and not `cascade`.
        """

    @abstractmethod
    def tables(self, database: str) -> list[str]:
        """The tables of a database.

        Args:
            database: its name.

        Returns:
            Their names, sorted.

        Raises:
            DatabaseNotFound: the database does not exist.

        Examples:
            >>> wb.session.catalog.tables("default")
            ['orders']
        """

    def views(self, database: str) -> list[str]:
        """The views that the catalog stores in a database.

        Args:
            database: its name.

        Returns:
            Their names, sorted; none if the catalog stores no views.

        Raises:
            DatabaseNotFound: the database does not exist.
        """
        return []

    def view(self, name: Identifier) -> StoredView | None:
        """A view that the catalog stores.

        Args:
            name: its identifier.

        Returns:
            The view; None if the catalog has none of this name.
        """
        return None

    def create_view(self, name: Identifier, view: StoredView) -> None:
        """Store a view.

        Args:
            name: its identifier.
            view: its query and columns.

        Raises:
            UnsupportedOperation: the catalog stores no views.
            AlreadyExists: it has a view of this name.
        """
        raise UnsupportedOperation(
            f"catalog {self.name!r} cannot store views",
            hint=f"CREATE TEMPORARY VIEW {name.table} AS ... exists until the session ends",
        )

    def replace_view(self, name: Identifier, view: StoredView) -> None:
        """Store a view in place of the one of this name, if there is one. If that fails, the old view is stored again.

        Args:
            name: its identifier.
            view: its query and columns.

        Raises:
            UnsupportedOperation: the catalog stores no views.
            AlreadyExists: a table has this name.
        """
        old = self.view(name)
        if old is not None:
            self.drop_view(name)
        try:
            self.create_view(name, view)
        except BaseException as error:
            if old is not None:
                undo_after(error, f"the old view {name} could not be restored", lambda: self.create_view(name, old))
            raise

    def drop_view(self, name: Identifier) -> bool:
        """Drop a view that the catalog stores.

        Args:
            name: its identifier.

        Returns:
            False if there is none of this name.
        """
        return False

    def alter_view_dialect(self, name: Identifier, action: str, dialect: str, query: str | None) -> None:
        """Change the query of a stored view in one dialect.

        Args:
            name: its identifier.
            action: 'add', 'update' or 'drop'.
            dialect: 'spark', 'flink' or another engine's name.
            query: the new query; None for 'drop'.

        Raises:
            UnsupportedOperation: the catalog stores one query for a view, or no views.
            UnknownName: it has no such view, or for 'update' and 'drop' no query in this dialect.
            AlreadyExists: for 'add', it has a query in this dialect.
        """
        raise UnsupportedOperation(
            f"catalog {self.name!r} does not store queries of several dialects for a view",
            hint="CREATE OR REPLACE VIEW",
        )

    def functions(self, database: str) -> list[str]:
        """The functions that the catalog stores in a database.

        Args:
            database: its name.

        Returns:
            Their names, sorted; none if the catalog stores no functions.

        Raises:
            DatabaseNotFound: the database does not exist.
        """
        return []

    def function(self, name: Identifier) -> StoredFunction | None:
        """A SQL function that the catalog stores.

        Args:
            name: its identifier.

        Returns:
            The function; None if the catalog has none of this name.

        Raises:
            UnsupportedOperation: it is Java code.
        """
        return None

    def create_function(self, name: Identifier, function: StoredFunction) -> None:
        """Store a SQL function.

        Args:
            name: its identifier.
            function: its parameters and expression.

        Raises:
            UnsupportedOperation: the catalog stores no functions.
            AlreadyExists: it has a function of this name.
        """
        raise UnsupportedOperation(
            f"catalog {self.name!r} cannot store functions",
            hint=f"CREATE TEMPORARY FUNCTION {name.table} ... exists until the session ends",
        )

    def drop_function(self, name: Identifier) -> bool:
        """Drop a function that the catalog stores.

        Args:
            name: its identifier.

        Returns:
            False if there is none of this name.
        """
        return False

    @abstractmethod
    def table(self, name: Identifier, options: Mapping[str, str] | None = None) -> Table:
        """A table.

        Args:
            name: its identifier; a system table in it is ignored.
            options: dynamic table options.

        Returns:
            The handle.

        Raises:
            TableNotFound: the table does not exist.
        """

    @abstractmethod
    def create_table(self, name: Identifier, schema: TableSchema, *, if_not_exists: bool = False) -> bool:
        """Create a table: write its first schema.

        Args:
            name: its identifier.
            schema: columns, keys and options.
            if_not_exists: do nothing if it exists.

        Returns:
            True if it was created now.

        Raises:
            AlreadyExists: it exists, and not `if_not_exists`.
            DatabaseNotFound: the database does not exist.
            BadOptionValue: an option's value is not allowed.
        """

    @contextmanager
    def creating_table(self, name: Identifier, schema: TableSchema, *, if_not_exists: bool = False) -> Iterator[bool]:
        """Create a table for a block that writes its rows. If the block fails, the table is removed.

        Args:
            name: as for `create_table`.
            schema: as for `create_table`.
            if_not_exists: as for `create_table`.

        Yields:
            True if it was created now.

        Raises:
            PaimonError: as `create_table`.
        """
        created = self.create_table(name, schema, if_not_exists=if_not_exists)
        try:
            yield created
        except BaseException as error:
            if created:
                undo_after(error, f"table {name} was created and could not be removed", lambda: self._remove_new(name))
            raise

    def _remove_new(self, name: Identifier) -> None:
        """Remove a table that could not be filled. With a snapshot, which may be another writer's, it can be restored."""
        table = self.table(name)
        purge = table.store.is_format_table or table.latest_snapshot() is None
        self.drop_table(name, if_exists=True, purge=purge)

    def replace_table(self, name: Identifier, schema: TableSchema, *, create: bool = True) -> bool:
        """Create a table in place of another one.

        Its snapshots, tags and branches stay readable; with other partition columns it goes to the trash, from which
        `undrop_table` restores it.

        Args:
            name: its identifier.
            schema: columns, keys and options.
            create: create it if there is none.

        Returns:
            True if a table was replaced.

        Raises:
            TableNotFound: there is none, and not `create`.
            PaimonError: as `create_table`; the old table stays then.
        """
        with self.replacing_table(name, schema, create=create) as new:
            return new.replaced

    @contextmanager
    def replacing_table(self, name: Identifier, schema: TableSchema, *, create: bool = True) -> Iterator[Replacement]:
        """Replace a table for a block that writes the rows of the new one. If the block fails, the old table is as before.

        Args:
            name: as for `replace_table`.
            schema: as for `replace_table`.
            create: as for `replace_table`.

        Yields:
            Where and how to write the rows.

        Raises:
            TableNotFound: there is none, and not `create`.
            PaimonError: as `create_table`.
        """
        new = self._replacement(name, schema, create=create)
        try:
            yield new
            new.finish()
        except BaseException as error:
            undo_after(error, f"the old table {name} could not be restored", new.undo)
            raise

    @abstractmethod
    def _replacement(self, name: Identifier, schema: TableSchema, *, create: bool) -> Replacement:
        """Begin to replace a table; see `replacing_table`."""

    def keeps_directory(self, name: Identifier, schema: TableSchema) -> bool:
        """Whether `replace_table` keeps the table's directory, with its snapshots.

        Args:
            name: the table's identifier.
            schema: the new schema.

        Returns:
            False if it drops the table, or there is none.
        """
        del name, schema
        return False

    @abstractmethod
    def drop_table(self, name: Identifier, *, if_exists: bool = False, purge: bool = False) -> bool:
        """Drop a table. `undrop_table` can restore it, unless it was purged.

        Args:
            name: its identifier.
            if_exists: do nothing if it does not exist.
            purge: delete its files now and for good.

        Returns:
            True if it was dropped now.

        Raises:
            TableNotFound: it does not exist, and not `if_exists`.
        """

    @abstractmethod
    def undrop_table(self, name: Identifier) -> None:
        """Restore the table of this name that was dropped last.

        Args:
            name: its identifier.

        Raises:
            TableNotFound: no dropped table has this name.
            AlreadyExists: there is a table of this name.
        """

    @abstractmethod
    def rename_table(self, source: Identifier, target: Identifier) -> None:
        """Rename a table, or move it to another database.

        Args:
            source: its identifier.
            target: its new identifier.

        Raises:
            TableNotFound: the table does not exist.
            AlreadyExists: there is a table of the new name.
        """

    @abstractmethod
    def alter_table(self, name: Identifier, changes: Sequence[Change]) -> TableSchema:
        """Change columns, options or the comment of a table: write its next schema.

        Args:
            name: its identifier.
            changes: the changes, applied together or not at all.

        Returns:
            The new schema.

        Raises:
            SchemaChangeError: a change is not possible.
            FixedOption: an option that cannot change.
            ColumnNotFound: a column does not exist.
        """

    def repair(self, database: str | None = None, table: str | None = None) -> list[Identifier]:
        """Synchronize the metastore with the files: tables that it does not know, columns, partitions.

        Args:
            database: only this database; None is all.
            table: only this table of `database`; None is all.

        Returns:
            The tables that were changed in the metastore.

        Raises:
            UnsupportedOperation: the catalog has no metastore: its files are the catalog.
            DatabaseNotFound: the database does not exist.
            TableNotFound: the table does not exist.
        """
        raise UnsupportedOperation(
            f"catalog {self.name!r} has no metastore, so there is nothing to repair",
            hint="repair is for metastore 'hive' and 'jdbc'",
        )


def undo_after(error: BaseException, failure: str, undo: Callable[[], object]) -> None:
    """Undo a part of a statement that failed. If that fails, too, the error's hint says so.

    Args:
        error: why the statement failed.
        failure: what to say if undoing fails.
        undo: undoes the part.
    """
    try:
        undo()
    except Exception as second:
        log.warning("%s: %s", failure, second)
        if isinstance(error, PaimonError):
            error.hint = f"{error.hint}; {failure}: {second}" if error.hint else f"{failure}: {second}"
