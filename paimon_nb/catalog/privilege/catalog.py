"""A catalog with privilege checks. Source: Paimon 1.3 `PrivilegedCatalog.java`, `PrivilegedFileStoreTable.java`.

Names, columns and options are public, as in Java. Reading rows needs SELECT, writing files needs INSERT.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.identifier import Identifier
from paimon_nb.base.override import override
from paimon_nb.catalog.api import Catalog
from paimon_nb.catalog.privilege.privilege import (
    Privilege,
    Rights,
    TableRights,
    check_level,
    identifier_of,
    parse_privilege,
)
from paimon_nb.catalog.privilege.privilege_store import PrivilegeStore
from paimon_nb.catalog.replacement import Replacement
from paimon_nb.catalog.warehouse import WarehouseCatalog
from paimon_nb.fs import GuardedFileIO, RootedFileIO
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.statements.ddl import Change


def with_access_control(catalog: Catalog) -> Catalog:
    """The catalog with access control if its warehouse has privileges.

    Raises: AccessDenied: the options' `user` is not known there, or the `password` is wrong.
    """
    if not isinstance(catalog, WarehouseCatalog):
        return catalog
    store = PrivilegeStore(catalog.fs, catalog.warehouse)
    return PrivilegedCatalog(catalog, store) if store.exists else catalog


class PrivilegedCatalog(Catalog):
    """A catalog for the user in the catalog option `user`. Reads the user's rights on each call, so changes apply at once."""

    def __init__(self, catalog: WarehouseCatalog, store: PrivilegeStore) -> None:
        self._open, self._store = catalog, store
        self.name, self.warehouse, self.options = catalog.name, catalog.warehouse, catalog.options
        catalog_options = TableOptions(catalog.options)
        self._user, self._password = str(catalog_options.get(opt.USER)), str(catalog_options.get(opt.PASSWORD))
        self.rights()  # fails early on a wrong password

    def allow_data_files(self, roots: Sequence[str]) -> list[str]:
        return self._open.allow_data_files(roots)

    def rights(self) -> Rights:
        """The user's current rights. Raises AccessDenied if the user was dropped."""
        return self._store.rights(self._user, self._password)

    def unwrapped(self) -> Catalog:
        """The catalog without access control. Needs ADMIN."""
        self.rights().require(Privilege.ADMIN)
        return self._open

    @property
    def has_created(self) -> bool:  # type: ignore[override]
        return self._open.has_created

    # -- databases

    def databases(self) -> list[str]:
        return self._open.databases()

    def has_database(self, name: str) -> bool:
        return self._open.has_database(name)

    def create_database(
        self, name: str, *, if_not_exists: bool = False, properties: Mapping[str, str] | None = None
    ) -> bool:
        self.rights().require(Privilege.CREATE_DATABASE)
        return self._open.create_database(name, if_not_exists=if_not_exists, properties=properties)

    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        self.rights().require(Privilege.DROP_DATABASE, name)
        dropped = self._open.drop_database(name, if_exists=if_exists, cascade=cascade)
        self._store.on_dropped(name)
        return dropped

    # -- tables

    def tables(self, database: str) -> list[str]:
        return self._open.tables(database)

    def table(self, name: Identifier, options: Mapping[str, str] | None = None) -> Table:
        return self._guarded(name, self._open.table(name, options))

    def _guarded(self, name: Identifier, table: Table) -> Table:
        """The table with the user's rights."""
        store = table.store
        table_rights = TableRights(self.rights(), _privilege_identifier(name), store.root, self.warehouse)
        assert isinstance(store.fs, RootedFileIO)
        return Table(replace(store, fs=GuardedFileIO(store.fs, table_rights), rights=table_rights), name=table.name)

    def create_table(self, name: Identifier, schema: TableSchema, *, if_not_exists: bool = False) -> bool:
        self.rights().require(Privilege.CREATE_TABLE, name.database)
        return self._open.create_table(name, schema, if_not_exists=if_not_exists)

    @override
    def _remove_new(self, name: Identifier) -> None:
        self._open._remove_new(name)

    def _replacement(self, name: Identifier, schema: TableSchema, *, create: bool) -> Replacement:
        self.rights().require(Privilege.CREATE_TABLE, name.database)
        self.rights().require(Privilege.DROP_TABLE, _privilege_identifier(name))
        return GuardedReplacement(
            self._open._replacement(name, schema, create=create),
            lambda table: self._guarded(name, table),
            lambda: self._store.on_dropped(_privilege_identifier(name)),
        )

    @override
    def keeps_directory(self, name: Identifier, schema: TableSchema) -> bool:
        return self._open.keeps_directory(name, schema)

    def drop_table(self, name: Identifier, *, if_exists: bool = False, purge: bool = False) -> bool:
        self.rights().require(Privilege.DROP_TABLE, _privilege_identifier(name))
        dropped = self._open.drop_table(name, if_exists=if_exists, purge=purge)
        self._store.on_dropped(_privilege_identifier(name))
        return dropped

    def undrop_table(self, name: Identifier) -> None:
        self.rights().require(Privilege.CREATE_TABLE, name.database)
        self._open.undrop_table(name)

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        self.rights().require(Privilege.ALTER_TABLE, _privilege_identifier(source))
        if target.database != source.database:
            self.rights().require(Privilege.CREATE_TABLE, target.database)
        self._open.rename_table(source, target)
        self._store.on_renamed(_privilege_identifier(source), _privilege_identifier(target))

    def alter_table(self, name: Identifier, changes: Sequence[Change]) -> TableSchema:
        self.rights().require(Privilege.ALTER_TABLE, _privilege_identifier(name))
        return self._open.alter_table(name, changes)

    def repair(self, database: str | None = None, table: str | None = None) -> list[Identifier]:
        return self.unwrapped().repair(database, table)

    # -- users

    def create_user(self, user: str, password: str) -> None:
        """Raises AccessDenied without ADMIN; AlreadyExists."""
        self.rights().require(Privilege.ADMIN)
        self._store.add_user(user, password)

    def drop_user(self, user: str) -> None:
        """Raises AccessDenied without ADMIN; UnknownName, UnsupportedOperation."""
        self.rights().require(Privilege.ADMIN)
        self._store.remove_user(user)

    def grant(self, user: str, privilege: str, database: str | None = None, table: str | None = None) -> None:
        """Raises AccessDenied without ADMIN; BadOptionValue, UnknownName; DatabaseNotFound, TableNotFound."""
        self.rights().require(Privilege.ADMIN)
        parsed, identifier = parse_privilege(privilege), identifier_of(database, table)
        check_level(parsed, database, table)
        if database and table:
            self._open.table(Identifier(database, table))
        elif database:
            self._open.tables(database)
        self._store.grant(user, parsed, identifier)

    def revoke(self, user: str, privilege: str, database: str | None = None, table: str | None = None) -> int:
        """Returns the number of revoked grants, including those on objects below. Raises as `grant`; UnknownName: none."""
        self.rights().require(Privilege.ADMIN)
        return self._store.revoke(user, parse_privilege(privilege), identifier_of(database, table))


def _privilege_identifier(name: Identifier) -> str:
    return identifier_of(name.database, name.table)


class GuardedReplacement(Replacement):
    """A replacement by a user with rights on the new table; the grants on the old one end with it."""

    def __init__(self, inner: Replacement, guarded: Callable[[Table], Table], drop_grants: Callable[[], None]) -> None:
        self._inner, self._guarded, self._drop_grants = inner, guarded, drop_grants
        self.replaced, self.overwrites = inner.replaced, inner.overwrites

    @property
    def table(self) -> Table:
        return self._guarded(self._inner.table)

    def before_commit(self) -> None:
        self._inner.before_commit()

    def finish(self) -> None:
        self._inner.finish()
        self._drop_grants()

    def undo(self) -> None:
        self._inner.undo()
