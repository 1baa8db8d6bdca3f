# ruff: noqa: N802, N803  the names are Spark's
"""`spark.catalog` of a session of ours: catalogs, databases, tables and columns as SHOW gives them, and Spark's own beside."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

from pyspark.sql.catalog import Catalog, CatalogMetadata, Column, Database, Table

from paimon_nb.base.errors import CatalogNotFound, DatabaseNotFound, NameError_
from paimon_nb.base.identifier import quote, split_name
from paimon_nb.base.registry import did_you_mean
from paimon_nb.base.sql_quoting import text_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType
    from pyspark.storagelevel import StorageLevel

    from paimon_nb.catalog.api import Catalog as OurCatalog
    from paimon_nb.session.core.session import Session
    from paimon_nb.spark.api.paimon_session import PaimonSession


class SparkNames(Catalog):
    """What is not a name of ours is asked from Spark."""

    def __init__(self, spark: PaimonSession, session: Session) -> None:
        super().__init__(spark._plain)
        self._ours, self._paimon = session, spark
        self._sparks = Catalog(spark._plain)  # Spark's methods call each other: those of `self` would be ours

    # -- catalogs

    def currentCatalog(self) -> str:
        return self._ours.current_catalog

    def setCurrentCatalog(self, catalogName: str) -> None:
        self._ours.use_catalog(self._ours.catalog_named(catalogName))

    def listCatalogs(self, pattern: str | None = None) -> list[CatalogMetadata]:
        return [CatalogMetadata(name, None) for name in sorted(self._ours.catalogs) if _like(name, pattern)]

    # -- databases

    def currentDatabase(self) -> str:
        return self._ours.current_database

    def setCurrentDatabase(self, dbName: str) -> None:
        catalog, database = self._database(dbName)
        self._ours.current_catalog, self._ours.current_database = catalog.name, database

    def listDatabases(self, pattern: str | None = None) -> list[Database]:
        catalog = self._ours.catalog
        return [_database(catalog, name) for name in catalog.databases() if _like(name, pattern)]

    def getDatabase(self, dbName: str) -> Database:
        return _database(*self._database(dbName))

    def databaseExists(self, dbName: str) -> bool:
        try:
            self._database(dbName)
        except (DatabaseNotFound, CatalogNotFound):
            return False
        return True

    def _database(self, text: str) -> tuple[OurCatalog, str]:
        """Raises DatabaseNotFound, CatalogNotFound."""
        catalog, name = self._ours.find_database(split_name(text))
        known = catalog.databases()
        if name not in known:
            hint = did_you_mean(name, known) or f"known: {', '.join(known[:10])}"
            raise DatabaseNotFound(f"no database {name!r} in catalog {catalog.name!r}", hint=hint, name=name)
        return catalog, name

    # -- tables

    def listTables(self, dbName: str | None = None, pattern: str | None = None) -> list[Table]:
        """The tables of a database, the session's temporary ones, and Spark's temporary views."""
        catalog, database = self._database(dbName) if dbName else self._ours.find_database(())
        stored = [
            Table(name, catalog.name, [database], self._ours.table((catalog.name, database, name)).schema.comment, "MANAGED", False)
            for name in catalog.tables(database)
            if _like(name, pattern)
        ]  # fmt: skip
        loose = sorted({*self._ours.temporary, *self._ours.views})
        views = [t for t in self._sparks.listTables() if t.isTemporary and not t.name.startswith("__paimon_")]
        return [
            *stored,
            *(Table(name, None, [], None, "TEMPORARY", True) for name in loose if _like(name, pattern)),
            *(t for t in views if _like(t.name, pattern)),
        ]

    def getTable(self, tableName: str) -> Table:
        parts = split_name(tableName)
        if not self._is_ours(parts):
            return self._sparks.getTable(tableName)
        if len(parts) == 1 and parts[0] in {*self._ours.temporary, *self._ours.views}:
            return Table(parts[0], None, [], None, "TEMPORARY", True)
        found, table = self._ours.find(parts), self._ours.table(parts)
        return Table(
            found.name.table, found.catalog.name, [found.name.database], table.schema.comment, "MANAGED", False
        )

    def tableExists(self, tableName: str, dbName: str | None = None) -> bool:
        parts = (*split_name(dbName), tableName) if dbName else split_name(tableName)
        return self._is_ours(parts) or self._sparks.tableExists(tableName, dbName)

    def listColumns(self, tableName: str, dbName: str | None = None) -> list[Column]:
        parts = (*split_name(dbName), tableName) if dbName else split_name(tableName)
        if not self._is_ours(parts):
            return self._sparks.listColumns(tableName, dbName)
        from paimon_nb.spark.types import spark_type

        table = self._ours.table(parts)
        return [
            Column(
                f.name, f.description, spark_type(f.type).simpleString(), f.type.nullable,
                f.name in table.partition_keys, f.name in table.schema.bucket_keys, False,
            )
            for f in table.schema.fields
        ]  # fmt: skip

    def refreshTable(self, tableName: str) -> None:
        """Each query reads the latest snapshot by itself."""
        if not self._is_ours(split_name(tableName)):
            self._sparks.refreshTable(tableName)

    def isCached(self, tableName: str) -> bool:
        return not self._is_ours(split_name(tableName)) and self._sparks.isCached(tableName)

    def cacheTable(self, tableName: str, storageLevel: StorageLevel | None = None) -> None:
        """Files that were read are remembered by themselves."""
        if not self._is_ours(split_name(tableName)):
            self._sparks.cacheTable(tableName, storageLevel)

    def uncacheTable(self, tableName: str) -> None:
        """See `cacheTable`."""
        if not self._is_ours(split_name(tableName)):
            self._sparks.uncacheTable(tableName)

    def createTable(
        self, tableName: str, path: str | None = None, source: str | None = None, schema: StructType | None = None,
        description: str | None = None, **options: str,
    ) -> DataFrame:  # fmt: skip
        """A Paimon table unless `source` is another one or a path is told."""
        if path is not None or (source or "paimon").lower() != "paimon" or schema is None:
            return self._sparks.createTable(tableName, path, source, schema, description, **options)
        writer = self._paimon.createDataFrame([], schema).writeTo(tableName)
        for key, value in options.items():
            writer = writer.tableProperty(key, value)
        writer.create()
        if description:
            self._paimon.sql(
                f"COMMENT ON TABLE {'.'.join(map(quote, split_name(tableName)))} IS {text_literal(description)}"
            )
        return self._paimon.table(tableName)

    def recoverPartitions(self, tableName: str) -> None:
        """Partitions are known from the snapshot."""
        if not self._is_ours(split_name(tableName)):
            self._sparks.recoverPartitions(tableName)

    def dropTempView(self, viewName: str) -> bool:
        return self._ours.views.pop(viewName, None) is not None or self._sparks.dropTempView(viewName)

    def _is_ours(self, parts: tuple[str, ...]) -> bool:
        try:
            return (len(parts) == 1 and parts[0] in {*self._ours.temporary, *self._ours.views}) or self._ours.exists(
                parts
            )
        except NameError_:
            return False


def _database(catalog: OurCatalog, name: str) -> Database:
    return Database(name, catalog.name, None, f"{catalog.warehouse.rstrip('/')}/{name}.db")


def _like(name: str, pattern: str | None) -> bool:
    """Spark's patterns: `*` for any letters, `|` for or, in any case."""
    return pattern is None or any(fnmatch.fnmatchcase(name.lower(), p.strip().lower()) for p in pattern.split("|"))
