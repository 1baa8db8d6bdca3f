"""Opens a JDBC catalog from its options. Source: Paimon `JdbcCatalog.java`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import AlreadyExists, BadOptionValue, UnknownName, UnsupportedOperation
from paimon_nb.catalog.api import DEFAULT_DATABASE, Catalog
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.catalog.jdbc.lock import JdbcLock, create_lock_table
from paimon_nb.catalog.jdbc.metastore import VIEWS, JdbcMetastore
from paimon_nb.catalog.locks import lock_wait_of
from paimon_nb.catalog.stored_views import view_as_json, view_of_json
from paimon_nb.catalog.warehouse import WarehouseCatalog
from paimon_nb.format.metadata_json import JsonObject
from paimon_nb.fs import Lock, RootedFileIO, external_roots, open_fs, surely
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.api import StoredView
    from paimon_nb.format.schema import TableSchema


class JdbcCatalog(WarehouseCatalog):
    """A catalog whose names and views are in a SQL database."""

    stores_views = True
    metastore: JdbcMetastore

    def _refuse_view(self, name: Identifier) -> None:
        """Raises AlreadyExists: a view has this name."""
        if self.metastore.view(name) is not None:
            raise AlreadyExists(f"{name} is a view already", hint="choose another name", name=str(name))

    def views(self, database: str) -> list[str]:
        if not self.metastore.has_database(database):
            raise self._no_database(database)
        return self.metastore.views(database)

    def view(self, name: Identifier) -> StoredView | None:
        text = self.metastore.view(name)
        if text is None:
            return None
        location = f"table {VIEWS} of the catalog {self.name!r}"
        return view_of_json(name, JsonObject(text, location), location)

    def create_view(self, name: Identifier, view: StoredView) -> None:
        if not self.metastore.has_database(name.database):
            raise self._no_database(name.database)
        has_table, definition = self.metastore.has_table(name), json.dumps(view_as_json(view))
        if has_table or not self._stored(lambda: self.metastore.add_view(name, definition), name, definition):
            kind = "a table" if has_table else "a view"
            raise AlreadyExists(f"{name} is {kind} already", hint="choose another name", name=str(name))

    def replace_view(self, name: Identifier, view: StoredView) -> None:
        definition = json.dumps(view_as_json(view))
        if not self._stored(lambda: self.metastore.replace_view(name, definition), name, definition):
            self.create_view(name, view)

    def _stored(self, store: Callable[[], bool], name: Identifier, definition: str | None) -> bool:
        """Change a view. After an error it is looked whether the database has the definition: its reply may be lost."""
        return surely(store, lambda: self.metastore.view(name) == definition, True)

    def create_table(self, name: Identifier, schema: TableSchema, *, if_not_exists: bool = False) -> bool:
        self._refuse_view(name)
        return super().create_table(name, schema, if_not_exists=if_not_exists)

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        self._refuse_view(target)
        super().rename_table(source, target)

    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        views = self.metastore.views(name)
        if views and not cascade:
            raise UnsupportedOperation(
                f"database {name!r} has {len(views)} view(s)", hint="drop them first, or add CASCADE", name=name
            )
        return super().drop_database(name, if_exists=if_exists, cascade=cascade)

    def drop_view(self, name: Identifier) -> bool:
        return self._stored(lambda: self.metastore.remove_view(name), name, None)

    def alter_view_dialect(self, name: Identifier, action: str, dialect: str, query: str | None) -> None:
        view = self.view(name)
        if view is None:
            raise UnknownName(f"there is no view {name}", hint="SHOW VIEWS lists them", name=str(name))
        dialects = dict(view.dialects)
        if (action == "add") == (dialect in dialects):
            state = "has a query" if action == "add" else "has no query"
            raise UnknownName(
                f"view {name} {state} in the dialect {dialect!r}", hint="use 'add', 'update' or 'drop'", name=dialect
            )
        if query is None:
            del dialects[dialect]
        else:
            dialects[dialect] = query
        definition = json.dumps(view_as_json(replace(view, dialects=dialects)))
        self._stored(lambda: self.metastore.replace_view(name, definition), name, definition)


def open_jdbc_catalog(name: str, options: Mapping[str, str]) -> Catalog:
    """The catalog for `'metastore' = 'jdbc'`; creates its tables in the database if needed.

    Raises: BadOptionValue: no `uri` or `warehouse`. StoreError: the database does not answer.
    """
    uri, warehouse = options.get("uri", ""), options.get("warehouse", "")
    for key, value in (("uri", uri), ("warehouse", warehouse)):
        if not value:
            raise BadOptionValue(
                f"catalog {name!r} of metastore 'jdbc' needs {key!r}",
                hint="WITH ('metastore' = 'jdbc', 'uri' = 'jdbc:sqlite:/path/c.db', 'warehouse' = '/path/to/tables')",
                option=key,
            )
    database = Database.of(uri, options)
    fs = RootedFileIO(open_fs(warehouse, options), warehouse, external_roots(options))
    key = TableOptions(options).get(opt.CATALOG_KEY)
    metastore = JdbcMetastore(database, key, fs.root)
    # Java's engines create it when they open a catalog.
    metastore.add_database(DEFAULT_DATABASE)
    return JdbcCatalog(name, options, fs, metastore, _table_lock_factory(database, key, options, fs))


def _table_lock_factory(
    database: Database, key: str, options: Mapping[str, str], fs: RootedFileIO
) -> Callable[[Identifier], Lock] | None:
    lock_wait = lock_wait_of(options, fs, "jdbc")
    if lock_wait is None:
        return None
    max_length = TableOptions(options).get(opt.LOCK_KEY_MAX_LENGTH)
    create_lock_table(database, max_length)

    def lock_of_table(name: Identifier) -> Lock:
        lock_id = f"{key}.{name.database}.{name.of_table().object}"
        if len(lock_id) > max_length:
            raise BadOptionValue(
                f"lock name {lock_id!r} is longer than {max_length} characters",
                hint="use a shorter table name, or raise 'lock-key-max-length' before the catalog is first opened",
                option="lock-key-max-length",
            )
        return JdbcLock(database, lock_id, lock_wait)

    return lock_of_table
