"""copy (Spark) and copy_files (Flink): tables whose files are copied as they are."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import pyarrow as pa

from paimon_nb.base.errors import AlreadyExists, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.api import Catalog
from paimon_nb.format.schema import TableSchema
from paimon_nb.procedures.clone import Made, chosen_pairs, given_catalog, known_tables
from paimon_nb.procedures.procedure import Argument, Context, Procedure, one_row, parse_options, success
from paimon_nb.table.copy import (
    check_same_layout,
    copied_schemas,
    copy_live_files,
    copy_snapshot,
    refuse_tracked,
)
from paimon_nb.table.scan.predicate.partition_filter import partition_filter
from paimon_nb.table.table import Table


def _copy(context: Context, source_table: str, target_table: str, where: str | None) -> pa.Table:
    source = context.table(source_table)
    refuse_tracked(source.store)
    chosen = partition_filter(source.store, where) if where else None
    catalog, place = context.place(target_table)
    _refuse_itself(catalog, place, source)
    schemas = copied_schemas(source.store)
    with Made(catalog, place, schemas[0]):
        target = _with_schemas(catalog, place, schemas)
        check_same_layout(source.store, target.store)
        files, rows, snapshots = copy_live_files(source.store, target.store, chosen)
    if catalog is context.catalog:
        context.snapshots += [(str(place), i) for i in snapshots]
    context.notes.append(f"{files} files with {rows} rows were copied into {place}")
    return success()


def _copy_files(
    context: Context, warehouse: str | None, database: str | None, table: str | None, catalog_conf: str | None,
    target_warehouse: str, target_database: str | None, target_table: str | None, target_catalog_conf: str | None,
    parallelism: int | None,
) -> pa.Table:  # fmt: skip
    source = given_catalog(context, _with_warehouse(catalog_conf, warehouse), "catalog_conf")
    target = given_catalog(context, _with_warehouse(target_catalog_conf, target_warehouse), "target_catalog_conf")
    pairs = chosen_pairs(source.tables, source.databases, (database, table), (target_database, target_table))
    for name, place in pairs:  # all are looked at before the first is made
        origin = source.table(name)
        _refuse_itself(target, place, origin)
        if place.table in known_tables(target, place.database):
            there = target.table(place).latest_snapshot()
            if there is not None and there != origin.latest_snapshot():
                raise AlreadyExists(
                    f"table {place} exists already", hint="copy under another name, or drop it first", name=str(place)
                )
    for name, place in pairs:
        origin = source.table(name)
        schemas = copied_schemas(origin.store)
        with Made(target, place, schemas[0]):
            files, snapshot = copy_snapshot(origin.store, _with_schemas(target, place, schemas).store)
        what = f"snapshot {snapshot.id}" if snapshot else "no snapshot"
        context.notes.append(f"{place} has {what} of {name}; {files} files were copied")
    return one_row(result="Success")  # Java's word


def _with_warehouse(conf: str | None, warehouse: str | None) -> dict[str, str]:
    return {**({"warehouse": warehouse} if warehouse else {}), **parse_options(conf)}


def _refuse_itself(catalog: Catalog, place: Identifier, source: Table) -> None:
    if place.table in known_tables(catalog, place.database) and catalog.table(place).path == source.path:
        raise AlreadyExists(f"{place} is the very table to be copied", hint="copy under another name", name=str(place))


def _with_schemas(catalog: Catalog, place: Identifier, schemas: Sequence[TableSchema]) -> Table:
    """The table that is copied into; an empty one gets the schemas that it lacks: it is new, or a copy that was cut short."""
    table = catalog.table(place)
    if table.latest_snapshot() is None and table.store.schemas.get(0).fields == schemas[0].fields:
        for schema in schemas[1:]:
            table.store.schemas.create(schema)
        with suppress(UnsupportedOperation):  # where the files are the catalog, nothing needs to be told
            catalog.repair(place.database, place.table)
        table = catalog.table(place)
    return table


COPY = Procedure(
    "copy",
    "Copy the live files of a table into another one, under new names, over what is there. Nothing is read or merged.",
    (
        Argument("source_table", required=True, doc="[[catalog.]database.]table"),
        Argument("target_table", required=True, doc="[[catalog.]database.]table; made if it is absent"),
        Argument("where", doc="condition on partition columns"),
    ),
    _copy,
)
COPY_FILES = Procedure(
    "copy_files",
    "Copy the newest snapshot of tables with all its files, names and its id. Deprecated in Flink: `clone` is its successor.",
    (
        Argument("warehouse", doc="of the source; the current catalog if absent"),
        Argument("database", doc="of the source; the whole catalog if absent"),
        Argument("table", doc="of the source; the whole database if absent"),
        Argument("catalog_conf", doc="options of the source's catalog, 'k=v,k2=v2'", many=True),
        Argument("target_warehouse", required=True, doc="where to"),
        Argument("target_database", doc="made if it is absent"),
        Argument("target_table", doc="its new name"),
        Argument("target_catalog_conf", doc="options of the target's catalog, 'k=v,k2=v2'", many=True),
        Argument("parallelism", "int", doc="accepted, without effect here"),
    ),
    _copy_files,
)
