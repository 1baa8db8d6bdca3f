"""Opens a Hive catalog from its options. Source: Paimon 1.3 `HiveCatalog.java`, `HiveCatalogFactory.java`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import AlreadyExists, BadOptionValue, DatabaseNotFound, TableNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.hive.client import HiveMetastoreClient
from paimon_nb.catalog.hive.hive_conf import WAREHOUSE, hive_settings
from paimon_nb.catalog.hive.hms_table import Layout
from paimon_nb.catalog.hive.lock import HiveLock
from paimon_nb.catalog.hive.metastore import HiveMetastore
from paimon_nb.catalog.locks import lock_wait_of
from paimon_nb.catalog.warehouse import WarehouseCatalog
from paimon_nb.fs import Lock, RootedFileIO, external_roots, open_fs
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.catalog.api import Catalog, StoredView
    from paimon_nb.format.schema import TableSchema


def open_hive_catalog(name: str, options: Mapping[str, str]) -> Catalog:
    """The catalog for `'metastore' = 'hive'`.

    Raises:
        BadOptionValue: no metastore address or no warehouse.
        SourceUnavailable: the metastore does not answer.
    """
    catalog_options, settings = TableOptions(options), hive_settings(options)
    warehouse = catalog_options.get(opt.WAREHOUSE) or settings.get(WAREHOUSE)
    client = HiveMetastoreClient.of(settings, catalog_options.get(opt.CLIENT_POOL_SIZE))
    if not warehouse:
        raise BadOptionValue(
            f"catalog {name!r} of metastore 'hive' needs 'warehouse'",
            hint="WITH ('metastore' = 'hive', 'uri' = 'thrift://host:9083', 'warehouse' = '/path/to/tables')",
            option="warehouse",
        )
    fs = RootedFileIO(open_fs(warehouse, options), warehouse, external_roots(options))
    layout = Layout(catalog_options.get(opt.SYNC_ALL_PROPERTIES), catalog_options.get(opt.LOCATION_IN_PROPERTIES))
    metastore = HiveMetastore(
        client, fs.root, layout,
        external=catalog_options.get(opt.TABLE_TYPE) == "external", update_stats=not catalog_options.get(opt.HIVE_SKIP_UPDATE_STATS),
    )  # fmt: skip
    metastore.databases()  # fails early on a wrong address
    return HiveCatalog(name, options, fs, metastore, _lock_of(metastore, options, fs))


def _lock_of(
    metastore: HiveMetastore, options: Mapping[str, str], fs: RootedFileIO
) -> Callable[[Identifier], Lock] | None:
    lock_wait = lock_wait_of(options, fs, "hive")
    if lock_wait is None:
        return None

    def lock_of(name: Identifier) -> Lock:
        stored_name = metastore.stored_name(name.of_table())
        return HiveLock(metastore.client, stored_name.database, stored_name.object, lock_wait)

    return lock_of


class HiveCatalog(WarehouseCatalog):
    """Tables at the locations in the metastore, also outside the warehouse: the metastore is trusted."""

    metastore: HiveMetastore
    stores_views = True
    has_external_tables = True

    def _fs_for_paths(self, *paths: str) -> RootedFileIO:
        roots = self.fs.roots
        outside = [p for p in paths if not any(p == r or p.startswith(r.rstrip("/") + "/") for r in roots)]
        if not outside:
            return self.fs
        scheme = outside[0].partition(":")[0] if "://" in outside[0] else ""
        if scheme == (self.warehouse.partition(":")[0] if "://" in self.warehouse else ""):
            return RootedFileIO(self.fs, self.fs.root, (*self.fs.roots[1:], *outside))
        return RootedFileIO(open_fs(outside[0], self.options), outside[0], paths)

    def create_table(self, name: Identifier, schema: TableSchema, *, if_not_exists: bool = False) -> bool:
        if (kind := self.metastore.kind(name)) is not None:
            raise AlreadyExists(f"{name} is {kind} already", hint="choose another name", name=str(name))
        return super().create_table(name, schema, if_not_exists=if_not_exists)

    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        if cascade and self.metastore.has_database(name) and not self.metastore.has_other_tables(name):
            for view in self.metastore.views(name):
                self.metastore.remove_view(Identifier(name, view))
        return super().drop_database(name, if_exists=if_exists, cascade=cascade)

    def database_properties(self, name: str) -> dict[str, str]:
        properties = self.metastore.database_properties(name)
        if properties is None:
            raise self._no_database(name)
        return properties

    def alter_database(self, name: str, properties: Mapping[str, str]) -> None:
        if not self.metastore.alter_database(name, properties):
            raise self._no_database(name)

    def views(self, database: str) -> list[str]:
        if not self.metastore.has_database(database):
            raise self._no_database(database)
        return self.metastore.views(database)

    def view(self, name: Identifier) -> StoredView | None:
        return self.metastore.view(name)

    def create_view(self, name: Identifier, view: StoredView) -> None:
        if not self.metastore.has_database(name.database):
            raise self._no_database(name.database)
        if not self.metastore.add_view(name, view):
            kind = self.metastore.kind(name) or "a table"
            raise AlreadyExists(f"{name} is {kind} already", hint="choose another name", name=str(name))

    def drop_view(self, name: Identifier) -> bool:
        return self.metastore.remove_view(name)

    def _no_table(self, name: Identifier) -> TableNotFound | DatabaseNotFound:
        if self.metastore.has_database(name.database) and (kind := self.metastore.kind(name)) is not None:
            return TableNotFound(
                f"{name.of_table()} is {kind}, not a Paimon table",
                hint=f"CALL sys.migrate_table('hive', '{name.of_table()}') converts a Hive table in place",
                name=str(name),
            )
        return super()._no_table(name)
