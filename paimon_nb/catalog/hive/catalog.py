"""Opens a Hive catalog from its options. Source: Paimon 1.3 `HiveCatalog.java`, `HiveCatalogFactory.java`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    BranchNotFound,
    DatabaseNotFound,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import MAIN_BRANCH, Identifier
from paimon_nb.catalog.hive.client import HiveMetastoreClient
from paimon_nb.catalog.hive.hive_conf import WAREHOUSE, hive_settings
from paimon_nb.catalog.hive.hms_table import Layout
from paimon_nb.catalog.hive.lock import HiveLock
from paimon_nb.catalog.hive.metastore import HiveMetastore
from paimon_nb.catalog.locks import lock_wait_of
from paimon_nb.catalog.warehouse import WarehouseCatalog
from paimon_nb.format.schema import FORMAT_TABLE, hidden_schema_directory
from paimon_nb.fs import Lock, RootedFileIO, external_roots, open_fs, surely
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt
from paimon_nb.table.read.format_table import find_partitions, partition_bytes_of
from paimon_nb.table.read.store import TableStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.catalog.api import Catalog, StoredView
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.statements.ddl import Change


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
        format_tables=catalog_options.get(opt.FORMAT_TABLE_ENABLED),
    )  # fmt: skip
    metastore.databases()  # fails early on a wrong address
    return HiveCatalog(name, options, fs, metastore, _table_lock_factory(metastore, options, fs))


def _table_lock_factory(
    metastore: HiveMetastore, options: Mapping[str, str], fs: RootedFileIO
) -> Callable[[Identifier], Lock] | None:
    lock_wait = lock_wait_of(options, fs, "hive")
    if lock_wait is None:
        return None

    def lock_of_table(name: Identifier) -> Lock:
        stored_name = metastore.stored_name(name.of_table())
        return HiveLock(metastore.client, stored_name.database, stored_name.object, lock_wait)

    return lock_of_table


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

    # -- format tables, whose only schema is the metastore's

    def _open_store(self, name: Identifier) -> TableStore:
        path, schema = self.metastore.location_and_format_schema(name)
        if schema is None or path is None:
            return self._open_store_at(name, path)
        if name.branch != MAIN_BRANCH:
            raise BranchNotFound(
                f"{name.of_table()} is a format table, without branches", hint="name the table", branch=name.branch
            )
        return TableStore(self._fs_of(name, path), path, MAIN_BRANCH, schema)

    def _is_current(self, name: Identifier, store: TableStore) -> bool:
        if not store.is_format_table:
            return super()._is_current(name, store)
        location, now = self.metastore.location_and_format_schema(name)
        return (
            now is not None
            and location == store.root
            and (now.fields, now.partition_keys, now.options) == (store.schema.fields, store.schema.partition_keys, store.schema.options)
        )  # fmt: skip

    def _create_files_and_entry(self, name: Identifier, schema: TableSchema) -> bool:
        if schema.options.get("type") != FORMAT_TABLE:
            return super()._create_files_and_entry(name, schema)
        return not self.metastore.has_table(name) and self.metastore.add_table(name, schema)

    def alter_table(self, name: Identifier, changes: Sequence[Change]) -> TableSchema:
        if self.metastore.format_schema(name) is not None:
            raise UnsupportedOperation(
                f"{name} is a format table: Paimon does not change its entry in the Hive metastore",
                hint="ALTER TABLE in Hive, or CREATE OR REPLACE TABLE",
            )
        return super().alter_table(name, changes)

    def drop_table(self, name: Identifier, *, if_exists: bool = False, purge: bool = False) -> bool:
        schema = self.metastore.format_schema(name)
        if schema is not None and not purge and self.metastore.owns_files(name):
            path = self.table_path(name)
            hidden_schema_directory(self._fs_for_paths(path), path).create(schema)  # for UNDROP TABLE
        return super().drop_table(name, if_exists=if_exists, purge=purge)

    def undrop_table(self, name: Identifier) -> None:
        super().undrop_table(name)
        if self.metastore.format_schema(name) is not None:
            path = self.table_path(name)
            hidden_schema_directory(self._fs_for_paths(path), path).delete(0)  # the entry is newer from now on
            self._add_partition_entries(name)

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        store = self._open_store(source) if self.metastore.format_schema(source) is not None else None
        watcher = None if store is None else self.metastore.watcher(source, store.schema)
        if store is None or watcher is None:
            super().rename_table(source, target)
            return
        watcher.dropped(store, _partitions_of(store))  # their entries name the old place
        try:
            super().rename_table(source, target)
        except BaseException:
            self._add_partition_entries(source)
            raise
        self._add_partition_entries(target)

    def _repair_entry(self, name: Identifier) -> bool:
        if self.metastore.format_schema(name) is None:
            return super()._repair_entry(name)
        self._add_partition_entries(name)
        return False

    def _add_partition_entries(self, name: Identifier) -> None:
        """Add an entry for each partition directory of a format table that has none."""
        store = self._open_store(name)
        watcher = self.metastore.watcher(name, store.schema)
        if watcher is not None:
            watcher.added(store, _partitions_of(store))

    # -- databases and views

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
        if not surely(lambda: self.metastore.add_view(name, view), lambda: self.metastore.view(name) == view, True):
            kind = self.metastore.kind(name) or "a table"
            raise AlreadyExists(f"{name} is {kind} already", hint="choose another name", name=str(name))

    def drop_view(self, name: Identifier) -> bool:
        return surely(lambda: self.metastore.remove_view(name), lambda: self.metastore.view(name) is None, True)

    def _no_table(self, name: Identifier) -> TableNotFound | DatabaseNotFound:
        if self.metastore.has_database(name.database) and (kind := self.metastore.kind(name)) is not None:
            return TableNotFound(
                f"{name.of_table()} is {kind}, not a Paimon table",
                hint=f"CALL sys.migrate_table('hive', '{name.of_table()}') converts a Hive table in place",
                name=str(name),
            )
        return super()._no_table(name)


def _partitions_of(store: TableStore) -> set[bytes]:
    """The partitions of a format table."""
    return {partition_bytes_of(store, p.values) for p in find_partitions(store)}
