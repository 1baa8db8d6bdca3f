"""Procedures of catalogs: metastore repair, and migration from Hive and Iceberg."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import EnvironmentError_, PaimonError, SqlAnalysisError, UnsupportedOperation
from paimon_nb.base.identifier import Identifier, split_name
from paimon_nb.procedures.procedure import Argument, Context, Procedure, one_row, parse_options, success

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.catalog.hive import HiveCatalog


def _repair_metastore(context: Context, database_or_table: str | None) -> pa.Table:
    repaired = []
    for text in (database_or_table or "").split(","):
        parts = split_name(text)
        if len(parts) > 2:
            raise SqlAnalysisError(f"repair: invalid name {text!r}", hint="use 'database' or 'database.table'")
        repaired += context.catalog.repair(*parts)
    context.notes.append(f"repaired {', '.join(map(str, repaired))}" if repaired else "nothing to repair")
    return success()


def _hive_catalog(context: Context, connector: str) -> HiveCatalog:
    from paimon_nb.catalog.hive import HiveCatalog

    if connector.lower() != "hive":
        raise UnsupportedOperation(f"tables of {connector!r} cannot be migrated", hint="use connector 'hive'")
    catalog = context.catalog.unwrapped()
    if not isinstance(catalog, HiveCatalog):
        raise UnsupportedOperation(
            f"catalog {context.catalog.name!r} has no Hive metastore with tables to migrate",
            hint="USE CATALOG with 'metastore' = 'hive'",
        )
    return catalog


def _migrate_table(
    context: Context, connector: str, source_table: str, target_table: str | None, options: str | None,
    parallelism: int | None, delete_origin: bool | None,
) -> pa.Table:  # fmt: skip
    from paimon_nb.catalog.hive.migrate import migrate_table

    catalog = _hive_catalog(context, connector)
    target = _qualified_name(context, target_table) if target_table else None
    files = migrate_table(
        catalog,
        _qualified_name(context, source_table),
        target,
        parse_options(options),
        delete_origin=delete_origin is not False,
    )
    context.notes.append(f"{files} files were moved, none was rewritten")
    return success()


def _migrate_database(
    context: Context, connector: str, source_database: str, options: str | None, parallelism: int | None
) -> pa.Table:
    from paimon_nb.catalog.hive.hms_table import is_paimon
    from paimon_nb.catalog.hive.migrate import migrate_table

    catalog = _hive_catalog(context, connector)
    catalog.tables(source_database)  # raises for an unknown database
    done, failed = 0, 0
    for entry in catalog.metastore.entries(source_database):
        if is_paimon(entry):
            continue
        try:
            migrate_table(catalog, Identifier(source_database, entry.tableName), None, parse_options(options))
            done += 1
        except PaimonError as error:
            failed += 1
            context.notes.append(f"{entry.tableName} was not migrated: {error.one_line}")
    return one_row(result=f"migrate database is finished, success cnt: {done} , failed cnt: {failed}")


def _migrate_iceberg_table(
    context: Context, source_table: str, iceberg_options: Any, options: str | None, parallelism: int | None
) -> pa.Table:
    try:
        from paimon_nb.catalog.iceberg import migrate_table
    except ImportError:
        raise EnvironmentError_(
            "reading Iceberg metadata needs pyiceberg, which is not installed",
            hint="pip install 'paimon-nb[iceberg]'",
        ) from None
    from paimon_nb.catalog.warehouse import WarehouseCatalog

    catalog = context.catalog.unwrapped()
    if not isinstance(catalog, WarehouseCatalog):
        raise UnsupportedOperation(f"catalog {catalog.name!r} has no warehouse", hint="use a catalog with a warehouse")
    files = migrate_table(
        catalog, _qualified_name(context, source_table), parse_options(iceberg_options), parse_options(options)
    )
    context.notes.append(f"{files} files were moved, none was rewritten")
    return success()


def _qualified_name(context: Context, text: str) -> Identifier:
    parts = split_name(text)
    return Identifier(*parts) if len(parts) == 2 else Identifier(context.current_database, *parts)


_CONNECTOR = Argument("connector", required=True, doc="`hive`", also=("source_type",))
_OPTIONS = Argument("options", doc="of the new table, `k=v,k2=v2`", also=("options_map",))
_PARALLELISM = Argument("parallelism", "int", doc="accepted, without effect here")
MIGRATE_TABLE = Procedure(
    "migrate_table",
    "Migrate a Hive table of Parquet, ORC or Avro files in place: its files are moved, not rewritten.",
    (
        _CONNECTOR,
        Argument("source_table", required=True, doc="[database.]table in Hive", also=("table",)),
        Argument("target_table", doc="the new table; the old one's name if absent"),
        _OPTIONS,
        _PARALLELISM,
        Argument("delete_origin", "bool", doc="false: the old table stays in the metastore, without files (true)"),
    ),
    _migrate_table,
)
MIGRATE_DATABASE = Procedure(
    "migrate_database",
    "Migrate all tables of a Hive database. Tables that cannot be migrated stay unchanged and are counted.",
    (_CONNECTOR, Argument("source_database", required=True, doc="in Hive", also=("database",)), _OPTIONS, _PARALLELISM),
    _migrate_database,
)
MIGRATE_ICEBERG_TABLE = Procedure(
    "migrate_iceberg_table",
    "Migrate an Iceberg table of a Hadoop catalog in place: its files are moved, its metadata is deleted.",
    (
        Argument("source_table", required=True, doc="database.table in Iceberg and in this catalog", also=("table",)),
        Argument(
            "iceberg_options",
            required=True,
            doc="`metadata.iceberg.storage=hadoop-catalog,iceberg_warehouse=/path`",
        ),
        _OPTIONS,
        _PARALLELISM,
    ),
    _migrate_iceberg_table,
)
REPAIR = Procedure(
    "repair",
    "Synchronise the metastore with the files: missing tables, columns, partitions. For metastore 'hive' and 'jdbc'.",
    (
        Argument(
            "database_or_table", doc="`database` or `database.table`, several with `,`; everything if absent",
            also=("table",),
        ),
    ),
    _repair_metastore,
    positional_in_spark=True,
)  # fmt: skip
