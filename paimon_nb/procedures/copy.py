"""copy (Spark) and copy_files (Flink): copy tables file by file."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from paimon_nb.base.errors import AlreadyExists, UnsupportedOperation
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.procedures.clone import catalog_from_conf, created_target, known_tables, table_pairs
from paimon_nb.procedures.procedure import Argument, Context, Procedure, one_row, parse_options, success
from paimon_nb.table.read.predicate.partition_filter import partition_filter
from paimon_nb.table.tables.copy import (
    check_same_layout,
    copied_schemas,
    copy_live_files,
    copy_snapshot,
    refuse_tracked,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.api import Catalog
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.tables.table import Table


def _copy_table(context: Context, source_table: str, target_table: str, where: str | None) -> pa.Table:
    source = context.table(source_table)
    refuse_tracked(source.store)
    selected = partition_filter(source.store, where) if where else None
    catalog, target_name = context.resolve(target_table)
    _check_not_source(catalog, target_name, source)
    schemas = copied_schemas(source.store)
    with created_target(catalog, target_name, schemas[0]):
        target = _with_schemas(catalog, target_name, schemas)
        check_same_layout(source.store, target.store)
        files, rows, snapshots = copy_live_files(source.store, target.store, selected)
    if catalog is context.catalog:
        context.snapshots += [(str(target_name), i) for i in snapshots]
    context.notes.append(f"{files} files with {rows} rows were copied to {target_name}")
    return success()


def _copy_files(
    context: Context, warehouse: str | None, database: str | None, table: str | None, catalog_conf: str | None,
    target_warehouse: str, target_database: str | None, target_table: str | None, target_catalog_conf: str | None,
    parallelism: int | None,
) -> pa.Table:  # fmt: skip
    source = catalog_from_conf(context, _with_warehouse(catalog_conf, warehouse), "catalog_conf")
    target = catalog_from_conf(context, _with_warehouse(target_catalog_conf, target_warehouse), "target_catalog_conf")
    pairs = table_pairs(source.tables, source.databases, (database, table), (target_database, target_table))
    for name, target_name in pairs:  # check all before the first one is created
        origin = source.table(name)
        _check_not_source(target, target_name, origin)
        if target_name.table in known_tables(target, target_name.database):
            existing = target.table(target_name).latest_snapshot()
            if existing is not None and existing != origin.latest_snapshot():
                raise AlreadyExists(
                    f"table {target_name} exists already",
                    hint="use another target name, or drop the table first",
                    name=str(target_name),
                )
    for name, target_name in pairs:
        origin = source.table(name)
        schemas = copied_schemas(origin.store)
        for schema in schemas:  # the source's catalog allows them: its files there are read
            target.allow_data_files(TableOptions(schema.options).names(opt.DATA_FILE_EXTERNAL_PATHS))
        with created_target(target, target_name, schemas[0]):
            files, snapshot = copy_snapshot(origin.store, _with_schemas(target, target_name, schemas).store)
        copied_snapshot = f"snapshot {snapshot.id}" if snapshot else "no snapshot"
        context.notes.append(f"{target_name} has {copied_snapshot} of {name}; {files} files were copied")
    return one_row(result="Success")  # Java's word


def _with_warehouse(conf: str | None, warehouse: str | None) -> dict[str, str]:
    return {**({"warehouse": warehouse} if warehouse else {}), **parse_options(conf)}


def _check_not_source(catalog: Catalog, target_name: Identifier, source: Table) -> None:
    if (
        target_name.table in known_tables(catalog, target_name.database)
        and catalog.table(target_name).path == source.path
    ):
        raise AlreadyExists(
            f"{target_name} is the source table itself", hint="use another target name", name=str(target_name)
        )


def _with_schemas(catalog: Catalog, target_name: Identifier, schemas: Sequence[TableSchema]) -> Table:
    """The target table; a new one, or one of an interrupted copy, gets the missing schemas."""
    table = catalog.table(target_name)
    if table.latest_snapshot() is None and table.store.schemas.get(0).fields == schemas[0].fields:
        for schema in schemas[1:]:
            table.store.schemas.create(schema)
        with suppress(UnsupportedOperation):  # a catalog without a metastore needs no repair
            catalog.repair(target_name.database, target_name.table)
        table = catalog.table(target_name)
    return table


COPY = Procedure(
    "copy",
    "Overwrite a table with copies of the live files of another table, without reading or merging rows.",
    (
        Argument("source_table", required=True, doc="[[catalog.]database.]table"),
        Argument("target_table", required=True, doc="[[catalog.]database.]table; created if it does not exist"),
        Argument("where", doc="condition on partition columns"),
    ),
    _copy_table,
)
COPY_FILES = Procedure(
    "copy_files",
    "Copy the latest snapshot of tables with its id, files and file names. Deprecated in Flink; use `clone`.",
    (
        Argument("warehouse", doc="of the source; the current catalog if absent"),
        Argument("database", doc="of the source; the whole catalog if absent"),
        Argument("table", doc="of the source; the whole database if absent"),
        Argument("catalog_conf", doc="options of the source's catalog, 'k=v,k2=v2'", many=True),
        Argument("target_warehouse", required=True, doc="the target warehouse"),
        Argument("target_database", doc="created if it does not exist"),
        Argument("target_table", doc="the new name"),
        Argument("target_catalog_conf", doc="options of the target's catalog, 'k=v,k2=v2'", many=True),
        Argument("parallelism", "int", doc="accepted, without effect here"),
    ),
    _copy_files,
)
