"""Opens a JDBC catalog from its options. Source: Paimon `JdbcCatalog.java`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.catalog.api import DEFAULT_DATABASE, Catalog
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.catalog.jdbc.lock import JdbcLock, create_lock_table
from paimon_nb.catalog.jdbc.metastore import JdbcMetastore
from paimon_nb.catalog.locks import lock_wait_of
from paimon_nb.catalog.warehouse import WarehouseCatalog
from paimon_nb.fs import Lock, RootedFileIO, external_roots, open_fs
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.base.identifier import Identifier


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
    return WarehouseCatalog(name, options, fs, metastore, _table_lock_factory(database, key, options, fs))


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
