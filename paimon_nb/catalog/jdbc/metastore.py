"""Names in two tables of a SQL database, column for column those of Java's JDBC catalog.

Source: Paimon 1.3 `JdbcUtils.java`, `JdbcCatalog.java`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paimon_nb.base.errors import AlreadyExists, StoreError, TableNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.catalog.metastore import Metastore
from paimon_nb.format.schema import TableSchema

TABLES = "paimon_tables"
PROPERTIES = "paimon_database_properties"
_MAKE = {
    TABLES: (
        "CREATE TABLE paimon_tables(catalog_key VARCHAR(255) NOT NULL,database_name VARCHAR(255) NOT NULL,"
        "table_name VARCHAR(255) NOT NULL, PRIMARY KEY (catalog_key, database_name, table_name))"
    ),
    PROPERTIES: (
        "CREATE TABLE paimon_database_properties(catalog_key VARCHAR(255) NOT NULL,"
        "database_name VARCHAR(255) NOT NULL,property_key VARCHAR(255),property_value VARCHAR(1000),"
        "PRIMARY KEY (catalog_key, database_name, property_key))"
    ),
}
_TABLE = "catalog_key = :key AND database_name = :database AND table_name = :table"
_EXISTS = "exists"
"""A property that every database has, so that an empty one has a row."""


class JdbcRegister(Metastore):
    """Rows of one `catalog-key`; several catalogs may share a database.

    MySQL compares names without regard to case, so what a query finds is compared once more: a name is only itself.
    """

    def __init__(self, database: Database, key: str, warehouse: str) -> None:
        super().__init__(warehouse)
        self._database, self._key = database, key
        for name, statement in _MAKE.items():
            make_table(database, name, statement)

    def databases(self) -> list[str]:
        found = {
            row[0]
            for table in (TABLES, PROPERTIES)
            for row in self._ask(f"SELECT DISTINCT database_name FROM {table} WHERE catalog_key = :key")
        }
        return sorted(found)

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
            raise _taken("database", name) from None
        return True

    def remove_database(self, name: str) -> None:
        for table in (TABLES, PROPERTIES):
            self._change(f"DELETE FROM {table} WHERE catalog_key = :key AND database_name = :database", database=name)

    def tables(self, database: str) -> list[str]:
        rows = self._ask(
            f"SELECT database_name, table_name FROM {TABLES} WHERE catalog_key = :key AND database_name = :database",
            database=database,
        )
        return sorted(row[1] for row in rows if row[0] == database)

    def has_table(self, name: Identifier) -> bool:
        rows = self._ask(
            f"SELECT database_name, table_name FROM {TABLES} WHERE {_TABLE}", database=name.database, table=name.table
        )
        return any(tuple(row) == (name.database, name.table) for row in rows)

    def add_table(self, name: Identifier, schema: TableSchema) -> bool:
        from sqlalchemy.exc import IntegrityError

        try:
            self._change(
                f"INSERT INTO {TABLES} VALUES (:key, :database, :table)", database=name.database, table=name.table
            )
        except IntegrityError:
            if self.has_table(name):
                return False
            raise _taken("table", str(name)) from None
        return True

    def remove_table(self, name: Identifier) -> bool:
        if not self.has_table(name):
            return False
        return self._change(f"DELETE FROM {TABLES} WHERE {_TABLE}", database=name.database, table=name.table) == 1

    def rename_table(self, source: Identifier, target: Identifier) -> bool:
        from sqlalchemy.exc import IntegrityError

        statement = f"UPDATE {TABLES} SET database_name = :to_database, table_name = :to_table WHERE {_TABLE}"
        try:
            moved = self._change(
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

    def _ask(self, statement: str, **values: str) -> list[tuple[Any, ...]]:
        return self._database.ask(statement, key=self._key, **values)

    def _change(self, statement: str, **values: str) -> int:
        return self._database.change(statement, key=self._key, **values)


def make_table(database: Database, name: str, statement: str) -> None:
    """Run a CREATE TABLE unless the table is there; two sessions may ask at once."""
    if _has(database, name):
        return
    try:
        database.change(statement)
    except StoreError:
        if not _has(database, name):
            raise


def _has(database: Database, name: str) -> bool:
    from sqlalchemy import inspect

    with database.transaction() as connection:
        return bool(inspect(connection).has_table(name))


def _taken(what: str, name: str) -> AlreadyExists:
    return AlreadyExists(
        f"{what} {name!r} cannot be told from another one by the catalog's database",
        hint="it ignores case or accents; choose a name that differs in more",
        name=name,
    )
