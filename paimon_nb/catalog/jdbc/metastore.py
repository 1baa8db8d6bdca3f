"""Names in two tables of a SQL database, with the columns of Java's JDBC catalog.

Source: Paimon 1.3 `JdbcUtils.java`, `JdbcCatalog.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import AlreadyExists, StoreError, TableNotFound
from paimon_nb.base.override import override
from paimon_nb.catalog.metastore import Metastore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.jdbc.database import Database
    from paimon_nb.format.schema import TableSchema

TABLES = "paimon_tables"
PROPERTIES = "paimon_database_properties"
VIEWS = "paimon_views"
_CREATE = {
    TABLES: (
        "CREATE TABLE paimon_tables(catalog_key VARCHAR(255) NOT NULL,database_name VARCHAR(255) NOT NULL,"
        "table_name VARCHAR(255) NOT NULL, PRIMARY KEY (catalog_key, database_name, table_name))"
    ),
    PROPERTIES: (
        "CREATE TABLE paimon_database_properties(catalog_key VARCHAR(255) NOT NULL,"
        "database_name VARCHAR(255) NOT NULL,property_key VARCHAR(255),property_value VARCHAR(1000),"
        "PRIMARY KEY (catalog_key, database_name, property_key))"
    ),
    VIEWS: (
        "CREATE TABLE paimon_views(catalog_key VARCHAR(255) NOT NULL,database_name VARCHAR(255) NOT NULL,"
        "view_name VARCHAR(255) NOT NULL,view_schema TEXT NOT NULL, PRIMARY KEY (catalog_key, database_name, view_name))"
    ),
}
_TABLE = "catalog_key = :key AND database_name = :database AND table_name = :table"
_VIEW = "catalog_key = :key AND database_name = :database AND view_name = :view"
_EXISTS = "exists"
"""A property of every database, so that an empty one has a row."""


class JdbcMetastore(Metastore):
    """The rows of one `catalog-key`; several catalogs may share a database.

    MySQL ignores case in comparisons, so query results are compared again.
    """

    def __init__(self, database: Database, key: str, warehouse: str) -> None:
        super().__init__(warehouse)
        self._database, self._key = database, key
        for name, statement in _CREATE.items():
            create_table_if_missing(database, name, statement)

    def databases(self) -> list[str]:
        found = {
            row[0]
            for table in _CREATE
            for row in self._query(f"SELECT DISTINCT database_name FROM {table} WHERE catalog_key = :key")
        }
        return sorted(found)

    @override
    def add_database(self, name: str, properties: Mapping[str, str] | None = None) -> bool:
        from sqlalchemy import text
        from sqlalchemy.exc import IntegrityError

        if name in self.databases():
            return False
        try:
            with self._database.transaction() as connection:
                for key, value in ((_EXISTS, "true"), ("location", self.database_path(name))):
                    connection.execute(
                        text(f"INSERT INTO {PROPERTIES} VALUES (:key, :database, :name, :value)"),
                        {"key": self._key, "database": name, "name": key, "value": value},
                    )
        except IntegrityError:
            if name in self.databases():
                return False
            raise _name_conflict("database", name) from None
        return True

    def remove_database(self, name: str) -> None:
        for table in _CREATE:
            self._execute(f"DELETE FROM {table} WHERE catalog_key = :key AND database_name = :database", database=name)

    def tables(self, database: str) -> list[str]:
        rows = self._query(
            f"SELECT database_name, table_name FROM {TABLES} WHERE catalog_key = :key AND database_name = :database",
            database=database,
        )
        return sorted(row[1] for row in rows if row[0] == database)

    def has_table(self, name: Identifier) -> bool:
        rows = self._query(
            f"SELECT database_name, table_name FROM {TABLES} WHERE {_TABLE}", database=name.database, table=name.table
        )
        return any(tuple(row) == (name.database, name.table) for row in rows)

    @override
    def add_table(self, name: Identifier, schema: TableSchema) -> bool:
        from sqlalchemy.exc import IntegrityError

        try:
            self._execute(
                f"INSERT INTO {TABLES} VALUES (:key, :database, :table)", database=name.database, table=name.table
            )
        except IntegrityError:
            if self.has_table(name):
                return False
            raise _name_conflict("table", str(name)) from None
        return True

    def remove_table(self, name: Identifier) -> bool:
        if not self.has_table(name):
            return False
        return self._execute(f"DELETE FROM {TABLES} WHERE {_TABLE}", database=name.database, table=name.table) == 1

    def rename_table(self, source: Identifier, target: Identifier) -> bool:
        from sqlalchemy.exc import IntegrityError

        statement = f"UPDATE {TABLES} SET database_name = :to_database, table_name = :to_table WHERE {_TABLE}"
        try:
            moved = self._execute(
                statement,
                database=source.database,
                table=source.table,
                to_database=target.database,
                to_table=target.table,
            )
        except IntegrityError:
            return False
        if moved == 0:
            raise TableNotFound(
                f"table {source} is gone", hint="another session dropped or renamed it", name=str(source)
            )
        return True

    # -- views

    def views(self, database: str) -> list[str]:
        """Names of the views of a database, sorted."""
        rows = self._query(
            f"SELECT database_name, view_name FROM {VIEWS} WHERE catalog_key = :key AND database_name = :database",
            database=database,
        )
        return sorted(row[1] for row in rows if row[0] == database)

    def view(self, name: Identifier) -> str | None:
        """The definition of a view as JSON; None: there is none of this name."""
        rows = self._query(
            f"SELECT database_name, view_name, view_schema FROM {VIEWS} WHERE {_VIEW}",
            database=name.database,
            view=name.table,
        )
        return next((row[2] for row in rows if row[:2] == (name.database, name.table)), None)

    def add_view(self, name: Identifier, definition: str) -> bool:
        """Store a view. Returns False: a view has this name."""
        from sqlalchemy.exc import IntegrityError

        try:
            self._execute(
                f"INSERT INTO {VIEWS} VALUES (:key, :database, :view, :definition)",
                database=name.database,
                view=name.table,
                definition=definition,
            )
        except IntegrityError:
            return False
        return True

    def replace_view(self, name: Identifier, definition: str) -> bool:
        """Change the definition of a view. Returns False: there is none of this name."""
        statement = f"UPDATE {VIEWS} SET view_schema = :definition WHERE {_VIEW}"
        return self._execute(statement, database=name.database, view=name.table, definition=definition) == 1

    def remove_view(self, name: Identifier) -> bool:
        """Returns False: there is none of this name."""
        return self._execute(f"DELETE FROM {VIEWS} WHERE {_VIEW}", database=name.database, view=name.table) == 1

    def _query(self, statement: str, **values: str) -> list[tuple[Any, ...]]:
        return self._database.query(statement, key=self._key, **values)

    def _execute(self, statement: str, **values: str) -> int:
        return self._database.execute(statement, key=self._key, **values)


def create_table_if_missing(database: Database, name: str, statement: str) -> None:
    """Run a CREATE TABLE unless the table exists; safe for concurrent sessions."""
    if _has_table(database, name):
        return
    try:
        database.execute(statement)
    except StoreError:
        if not _has_table(database, name):
            raise


def _has_table(database: Database, name: str) -> bool:
    from sqlalchemy import inspect

    with database.transaction() as connection:
        return bool(inspect(connection).has_table(name))


def _name_conflict(what: str, name: str) -> AlreadyExists:
    return AlreadyExists(
        f"{what} {name!r} conflicts with another name in the catalog's database",
        hint="the database ignores case or accents; choose a more different name",
        name=name,
    )
