# ruff: noqa: N802, N803  the names are Spark's
"""`spark.catalog` of a Paimon session: our catalogs, databases, tables and columns, and Spark's own."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Any

from pyspark.sql.catalog import Catalog, CatalogMetadata, Column, Database, Table

from paimon_nb.base.errors import CatalogNotFound, DatabaseNotFound, NameError_, UnsupportedOperation
from paimon_nb.base.identifier import quote, split_name
from paimon_nb.base.registry import did_you_mean
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.catalog.state_tables import visible_tables
from paimon_nb.spark.runtime.jvm_bridge import has_bridge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType
    from pyspark.storagelevel import StorageLevel

    from paimon_nb.catalog.api import Catalog as OurCatalog
    from paimon_nb.session.core.session import Session
    from paimon_nb.spark.api.base_session import ResolvingSession


class SparkCatalogApi(Catalog):
    """Passes names outside our catalogs to Spark."""

    def __init__(self, spark: ResolvingSession, session: Session) -> None:
        self._session, self._paimon_session = session, spark
        # Spark's methods call each other, so they need an instance of their own.
        self._spark_catalog = spark._plain.catalog
        if has_bridge(spark._plain):
            super().__init__(spark._plain)

    def __getattr__(self, name: str) -> Any:
        """Spark Connect: what Spark's own methods would call in the JVM."""
        raise UnsupportedOperation(
            f"spark.catalog: this method needs a JVM in this process (its {name})",
            hint="with Spark Connect, call it on the catalog of the session that connect() got",
        )

    # -- catalogs

    def currentCatalog(self) -> str:
        return self._session.current_catalog

    def setCurrentCatalog(self, catalogName: str) -> None:
        self._session.use_catalog(self._session.catalog_named(catalogName))

    def listCatalogs(self, pattern: str | None = None) -> list[CatalogMetadata]:
        return [
            CatalogMetadata(name, None) for name in sorted(self._session.catalogs) if _matches_pattern(name, pattern)
        ]

    # -- databases

    def currentDatabase(self) -> str:
        return self._session.current_database

    def setCurrentDatabase(self, dbName: str) -> None:
        catalog, database = self._database(dbName)
        self._session.current_catalog, self._session.current_database = catalog.name, database

    def listDatabases(self, pattern: str | None = None) -> list[Database]:
        catalog = self._session.catalog
        return [_database(catalog, name) for name in catalog.databases() if _matches_pattern(name, pattern)]

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
        catalog, name = self._session.find_database(split_name(text))
        known = catalog.databases()
        if name not in known:
            hint = did_you_mean(name, known) or f"known: {', '.join(known[:10])}"
            raise DatabaseNotFound(f"no database {name!r} in catalog {catalog.name!r}", hint=hint, name=name)
        return catalog, name

    # -- tables

    def listTables(self, dbName: str | None = None, pattern: str | None = None) -> list[Table]:
        """The tables of a database, the session's temporary ones, and Spark's temporary views."""
        catalog, database = self._database(dbName) if dbName else self._session.find_database(())
        stored = [
            Table(name, catalog.name, [database], self._session.table((catalog.name, database, name)).schema.comment, "MANAGED", False)
            for name in visible_tables(catalog, database)
            if _matches_pattern(name, pattern)
        ]  # fmt: skip
        temporary = sorted({*self._session.temporary, *self._session.views})
        views = [t for t in self._spark_catalog.listTables() if t.isTemporary and not t.name.startswith("__paimon_")]
        return [
            *stored,
            *(Table(name, None, [], None, "TEMPORARY", True) for name in temporary if _matches_pattern(name, pattern)),
            *(t for t in views if _matches_pattern(t.name, pattern)),
        ]

    def getTable(self, tableName: str) -> Table:
        parts = split_name(tableName)
        if not self._is_paimon(parts):
            return self._spark_catalog.getTable(tableName)
        if len(parts) == 1 and parts[0] in {*self._session.temporary, *self._session.views}:
            return Table(parts[0], None, [], None, "TEMPORARY", True)
        found, table = self._session.find(parts), self._session.table(parts)
        return Table(
            found.name.table, found.catalog.name, [found.name.database], table.schema.comment, "MANAGED", False
        )

    def tableExists(self, tableName: str, dbName: str | None = None) -> bool:
        parts = (*split_name(dbName), tableName) if dbName else split_name(tableName)
        return self._is_paimon(parts) or self._spark_catalog.tableExists(tableName, dbName)

    def listColumns(self, tableName: str, dbName: str | None = None) -> list[Column]:
        parts = (*split_name(dbName), tableName) if dbName else split_name(tableName)
        if not self._is_paimon(parts):
            return self._spark_catalog.listColumns(tableName, dbName)
        from paimon_nb.spark.types import spark_type

        table = self._session.table(parts)
        return [
            Column(
                f.name, f.description, spark_type(f.type).simpleString(), f.type.nullable,
                f.name in table.partition_keys, f.name in table.schema.bucket_keys, False,
            )
            for f in table.schema.fields
        ]  # fmt: skip

    def refreshTable(self, tableName: str) -> None:
        """Nothing to do: each query reads the latest snapshot."""
        if not self._is_paimon(split_name(tableName)):
            self._spark_catalog.refreshTable(tableName)

    def isCached(self, tableName: str) -> bool:
        return not self._is_paimon(split_name(tableName)) and self._spark_catalog.isCached(tableName)

    def cacheTable(self, tableName: str, storageLevel: StorageLevel | None = None) -> None:
        """Nothing to do: read files are cached automatically."""
        if not self._is_paimon(split_name(tableName)):
            self._spark_catalog.cacheTable(tableName, storageLevel)

    def uncacheTable(self, tableName: str) -> None:
        """See `cacheTable`."""
        if not self._is_paimon(split_name(tableName)):
            self._spark_catalog.uncacheTable(tableName)

    def createTable(
        self, tableName: str, path: str | None = None, source: str | None = None, schema: StructType | None = None,
        description: str | None = None, **options: str,
    ) -> DataFrame:  # fmt: skip
        """A Paimon table unless `source` is another format or `path` is set."""
        if path is not None or (source or "paimon").lower() != "paimon" or schema is None:
            return self._spark_catalog.createTable(tableName, path, source, schema, description, **options)
        writer = self._paimon_session.createDataFrame([], schema).writeTo(tableName)
        for key, value in options.items():
            writer = writer.tableProperty(key, value)
        writer.create()
        if description:
            self._paimon_session.sql(
                f"COMMENT ON TABLE {'.'.join(map(quote, split_name(tableName)))} IS {text_literal(description)}"
            )
        return self._paimon_session.table(tableName)

    def recoverPartitions(self, tableName: str) -> None:
        """Nothing to do: partitions are in the snapshot."""
        if not self._is_paimon(split_name(tableName)):
            self._spark_catalog.recoverPartitions(tableName)

    def dropTempView(self, viewName: str) -> bool:
        return self._session.views.pop(viewName, None) is not None or self._spark_catalog.dropTempView(viewName)

    def _is_paimon(self, parts: tuple[str, ...]) -> bool:
        try:
            return (
                len(parts) == 1 and parts[0] in {*self._session.temporary, *self._session.views}
            ) or self._session.exists(parts)
        except NameError_:
            return False


def _database(catalog: OurCatalog, name: str) -> Database:
    return Database(name, catalog.name, None, f"{catalog.warehouse.rstrip('/')}/{name}.db")


def _matches_pattern(name: str, pattern: str | None) -> bool:
    """Spark's name patterns: `*` matches any text, `|` separates alternatives, case is ignored."""
    return pattern is None or any(fnmatch.fnmatchcase(name.lower(), p.strip().lower()) for p in pattern.split("|"))
