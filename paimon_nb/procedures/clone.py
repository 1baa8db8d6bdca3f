"""clone: a table, a database or a whole catalog written anew somewhere else, from Paimon or from Hive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pyarrow as pa

from paimon_nb.base.errors import AlreadyExists, BadOptionValue, PaimonError, SqlAnalysisError, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.api import Catalog
from paimon_nb.catalog.open import open_catalog
from paimon_nb.format.schema import TableSchema
from paimon_nb.options import table as opt
from paimon_nb.procedures.procedure import Argument, Context, Procedure, one_row, parse_options
from paimon_nb.spark.write.compact import compact
from paimon_nb.table.copy import check_target, clone_rows, clone_schema
from paimon_nb.table.scan.predicate.partition_filter import partition_filter
from paimon_nb.table.store import POSTPONE_BUCKET
from paimon_nb.table.table import Table

Pair = tuple[Identifier, Identifier]
"""What is cloned, and under which name."""
_FORMATS = ("parquet", "orc", "avro")


class Source(Protocol):
    """Where tables are cloned from."""

    catalog: Catalog

    def tables(self, database: str) -> list[str]:
        """What can be cloned, in order."""

    def schema(self, name: Identifier, options: Mapping[str, str], file_format: str | None) -> TableSchema:
        """Schema 0 of the clone."""

    def write(self, name: Identifier, target: Table, where: str | None) -> tuple[int, list[int]]:
        """Put the rows into the target. Returns how many, and the new snapshots."""


class PaimonSource:
    """Tables of a Paimon catalog: their rows are read and written."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def tables(self, database: str) -> list[str]:
        return self.catalog.tables(database)

    def schema(self, name: Identifier, options: Mapping[str, str], file_format: str | None) -> TableSchema:
        return clone_schema(self.catalog.table(name).schema, options, file_format)

    def write(self, name: Identifier, target: Table, where: str | None) -> tuple[int, list[int]]:
        source = self.catalog.table(name).store
        return clone_rows(source, target.store, partition_filter(source, where) if where else None)


class HiveSource:
    """Tables that a Hive metastore knows and that are no Paimon tables: their files are copied."""

    def __init__(self, catalog: Catalog) -> None:
        from paimon_nb.catalog.hive import HiveCatalog

        catalog = catalog.unwrapped()
        if not isinstance(catalog, HiveCatalog):
            raise UnsupportedOperation(
                f"clone_from 'hive' needs a catalog with a Hive metastore, and {catalog.warehouse} has none",
                hint="catalog_conf => 'metastore=hive,uri=thrift://...', or clone_from => 'paimon'",
            )
        self.catalog: Catalog = catalog
        self.hive = catalog

    def tables(self, database: str) -> list[str]:
        from paimon_nb.catalog.hive.clone import hive_tables

        return hive_tables(self.hive, database)

    def schema(self, name: Identifier, options: Mapping[str, str], file_format: str | None) -> TableSchema:
        from paimon_nb.catalog.hive.clone import hive_schema

        if options:
            raise UnsupportedOperation(
                "target_table_conf goes with clone_from 'paimon' only",
                hint="ALTER TABLE ... SET (...) afterwards", argument="target_table_conf",
            )  # fmt: skip
        made = hive_schema(self.hive, name)
        if file_format and file_format != made.options["file.format"]:
            raise UnsupportedOperation(
                f"the files of {name} are copied as they are: {made.options['file.format']}",
                hint="leave prefer_file_format out; it changes what is written later", argument="prefer_file_format",
            )  # fmt: skip
        return made

    def write(self, name: Identifier, target: Table, where: str | None) -> tuple[int, list[int]]:
        from paimon_nb.catalog.hive.clone import clone_files

        return clone_files(self.hive, name, target.store, partition_filter(target.store, where) if where else None)


def _clone(
    context: Context, database: str | None, table: str | None, catalog_conf: str | None, target_database: str | None,
    target_table: str | None, target_catalog_conf: str | None, parallelism: int | None, where: str | None,
    included_tables: str | None, excluded_tables: str | None, prefer_file_format: str | None, clone_from: str | None,
    meta_only: bool | None, clone_if_exists: bool | None, target_table_conf: str | None,
) -> pa.Table:  # fmt: skip
    source = _source(given_catalog(context, catalog_conf, "catalog_conf"), clone_from)
    target = given_catalog(context, target_catalog_conf, "target_catalog_conf")
    file_format = _format(prefer_file_format)
    pairs = chosen_pairs(
        source.tables, source.catalog.databases, (database, table), (target_database, target_table),
        (included_tables, excluded_tables),
    )  # fmt: skip
    conf = parse_options(target_table_conf)
    schemas = {pair: source.schema(pair[0], conf, file_format) for pair in pairs}
    for pair in pairs:  # all are looked at before the first is made
        _check_place(source, target, pair, schemas[pair], clone_if_exists)
    for pair in pairs:
        _one(context, source, target, pair, schemas[pair], where, bool(meta_only), clone_if_exists)
    return one_row(result="Success")  # Java's word


def _one(
    context: Context, source: Source, catalog: Catalog, pair: Pair, schema: TableSchema, where: str | None,
    meta_only: bool, if_exists: bool | None,
) -> None:  # fmt: skip
    name, place = pair
    if if_exists is False and place.table in known_tables(catalog, place.database):
        context.notes.append(f"{place} is there already and stays as it is")
        return
    with Made(catalog, place, schema) as made:
        if meta_only:
            context.notes.append(f"{place} has the columns of {name}, and no rows")
            return
        target = catalog.table(made.place)
        count, snapshots = source.write(name, target, where)
    if catalog is context.catalog:
        context.snapshots += [(str(place), i) for i in snapshots]
    context.notes.append(f"{count} rows of {name} are in {place}")
    if snapshots and target.store.bucket_option == POSTPONE_BUCKET:
        _give_buckets(context, catalog, target)


def _give_buckets(context: Context, catalog: Catalog, target: Table) -> None:
    """Rows of a table with postponed buckets are seen once they are compacted, which Java leaves to another call."""
    if target.options.get(opt.WRITE_ONLY):
        context.notes.append(f"{target.name} is write-only: CALL sys.compact makes its rows readable")
        return
    try:
        done = compact(target, context.spark)
    except PaimonError as error:
        context.notes.append(f"CALL sys.compact must make the rows of {target.name} readable: {error.one_line}")
        return
    if catalog is context.catalog:
        context.snapshots += [(str(target.name), i) for i in done.snapshots]


class Made:
    """A place for a table: what was made for it goes away again when the work inside fails before it published anything."""

    def __init__(self, catalog: Catalog, place: Identifier, schema: TableSchema) -> None:
        self.catalog, self.place, self.schema = catalog, place, schema
        self._database = self._table = False

    def __enter__(self) -> Made:
        try:
            self._database = self.catalog.create_database(self.place.database, if_not_exists=True)
            self._table = self.catalog.create_table(self.place, self.schema, if_not_exists=True)
        except BaseException:
            self._undo()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            self._undo()

    def _undo(self) -> None:
        if self._table and self.catalog.table(self.place).latest_snapshot() is None:
            self.catalog.drop_table(self.place, purge=True)
        if self._database and not self.catalog.tables(self.place.database):
            self.catalog.drop_database(self.place.database)


# -- what the arguments mean


def given_catalog(context: Context, conf: str | Mapping[str, str] | None, argument: str) -> Catalog:
    """The catalog that options describe; without them the session's current one."""
    options = parse_options(conf)
    if not options:
        return context.catalog
    if "warehouse" not in options and options.get("metastore", "filesystem") == "filesystem":
        raise BadOptionValue(
            f"{argument} names no warehouse", hint=f"{argument} => 'warehouse=/path'", argument=argument
        )
    return open_catalog(argument.removesuffix("_conf"), options)


def _source(catalog: Catalog, clone_from: str | None) -> Source:
    kind = (clone_from or ("hive" if catalog.options.get("metastore") == "hive" else "paimon")).lower()
    if kind == "hive":
        return HiveSource(catalog)
    if kind != "paimon":
        raise BadOptionValue(
            f"clone_from cannot be {clone_from!r}", hint="use 'paimon' or 'hive'", argument="clone_from"
        )
    return PaimonSource(catalog)


def _format(text: str | None) -> str | None:
    if text is not None and text.lower() not in _FORMATS:
        raise BadOptionValue(
            f"prefer_file_format cannot be {text!r}", hint=f"use {', '.join(_FORMATS)}", argument="prefer_file_format"
        )
    return text.lower() if text else None


class _Tables(Protocol):
    def __call__(self, database: str) -> list[str]: ...


class _Databases(Protocol):
    def __call__(self) -> list[str]: ...


def chosen_pairs(
    tables: _Tables, databases: _Databases, source: tuple[str | None, str | None], target: tuple[str | None, str | None],
    lists: tuple[str | None, str | None] = (None, None),
) -> list[Pair]:  # fmt: skip
    """What is taken, and its new name: one table, a database under another name, or the catalog under the same names.

    Args:
        source, target: database and table. lists: 'db.t,db.u' of what is taken, and of what is not.

    Raises: SqlAnalysisError: a name too few or too many, or nothing found. DatabaseNotFound.
    """
    (database, table), (to_database, to_table) = source, target
    if table and not database:
        raise SqlAnalysisError("a table without its database", hint="give database too", argument="database")
    for argument, value, wanted in (
        ("target_database", to_database, database), ("target_table", to_table, table),
    ):  # fmt: skip
        if wanted and not value:
            raise SqlAnalysisError(f"{argument} is missing", hint="name where to", argument=argument)
        if value and not wanted:
            what = "a whole catalog keeps its names" if not database else "all tables of a database keep their names"
            raise SqlAnalysisError(what, hint=f"leave {argument} out", argument=argument)
    included, excluded = ({t.strip() for t in (text or "").split(",") if t.strip()} for text in lists)
    if database and table:
        if included or excluded:
            raise SqlAnalysisError(
                "included_tables and excluded_tables choose among several tables", hint="leave them out for one",
                argument="included_tables" if included else "excluded_tables",
            )  # fmt: skip
        return [(Identifier.parse_object(database, table), Identifier(str(to_database), str(to_table)))]
    found = [(d, t) for d in ([database] if database else databases()) for t in tables(d)]
    pairs = [
        (Identifier(d, t), Identifier(to_database or d, t))
        for d, t in found
        if f"{d}.{t}" not in excluded and (not included or f"{d}.{t}" in included)
    ]
    if not pairs:
        raise SqlAnalysisError(
            "there is no table to take", hint=f"known: {', '.join(f'{d}.{t}' for d, t in found[:10]) or 'none'}"
        )
    return pairs


def _check_place(source: Source, target: Catalog, pair: Pair, schema: TableSchema, if_exists: bool | None) -> None:
    """Raise where the target's name is taken and nobody said what then. An empty table that fits is a clone cut short."""
    name, place = pair
    if place.table not in known_tables(target, place.database):
        return
    there = target.table(place)
    if isinstance(source, PaimonSource) and source.catalog.table(name).path == there.path:
        raise AlreadyExists(f"{place} is the very table to be cloned", hint="clone under another name", name=str(place))
    if if_exists is False:
        return
    if if_exists is None and there.latest_snapshot() is not None:
        raise AlreadyExists(
            f"table {place} exists already", name=str(place),
            hint="clone_if_exists => true writes over it, clone_if_exists => false leaves it as it is",
        )  # fmt: skip
    check_target(there.store, schema)


def known_tables(catalog: Catalog, database: str) -> list[str]:
    """The tables of a database; [] where it is not there."""
    return catalog.tables(database) if database in catalog.databases() else []


CLONE = Procedure(
    "clone",
    "Write a table, a database or a catalog anew somewhere else. A table with keys gets postponed buckets, as in Java, and is compacted at once.",
    (
        Argument("database", doc="of the source; the whole catalog if absent"),
        Argument("table", doc="of the source; the whole database if absent"),
        Argument("catalog_conf", doc="'warehouse=...' of the source; the current catalog if absent", many=True),
        Argument("target_database", doc="where to; made if it is absent"),
        Argument("target_table", doc="its new name"),
        Argument("target_catalog_conf", doc="'warehouse=...' of the target; the current catalog if absent", many=True),
        Argument("parallelism", "int", doc="accepted, without effect here"),
        Argument("where", doc="condition on partition columns"),
        Argument("included_tables", doc="'db.t,db.u': only these"),
        Argument("excluded_tables", doc="'db.t,db.u': not these"),
        Argument("prefer_file_format", doc="parquet, orc or avro"),
        Argument("clone_from", doc="paimon or hive; hive for a catalog with a Hive metastore, else paimon"),
        Argument("meta_only", "bool", doc="the columns and options, no rows"),
        Argument("clone_if_exists", "bool", doc="true: over a table that is there; false: leave it; absent: refuse"),
        Argument("target_table_conf", doc="options of the new tables, 'k=v,k2=v2'", many=True),
    ),
    _clone,
)
