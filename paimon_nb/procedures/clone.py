"""clone: copies a table, a database or a whole catalog from Paimon or Hive."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from paimon_nb.base.errors import AlreadyExists, BadOptionValue, PaimonError, SqlAnalysisError, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.api import undo_after
from paimon_nb.catalog.filesystem import FilesystemCatalog
from paimon_nb.catalog.open import open_catalog
from paimon_nb.options import table as opt
from paimon_nb.procedures.procedure import Argument, Context, Procedure, one_row, parse_options
from paimon_nb.spark.write.compact import compact
from paimon_nb.table.read.plan.snapshot_scan import visible_levels
from paimon_nb.table.read.predicate.partition_filter import partition_filter
from paimon_nb.table.read.store import POSTPONE_BUCKET
from paimon_nb.table.tables.copy import check_target, clone_rows, clone_schema
from paimon_nb.table.write.compact.postponed_batch import assigns_buckets_in_batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from paimon_nb.catalog.api import Catalog
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.tables.table import Table

Pair = tuple[Identifier, Identifier]
"""(source, target)."""
_FORMATS = ("parquet", "orc", "avro")


class Source(Protocol):
    """A source of tables to clone."""

    catalog: Catalog

    def tables(self, database: str) -> list[str]:
        """The sorted names of tables that can be cloned."""

    def schema(self, name: Identifier, options: Mapping[str, str], file_format: str | None) -> TableSchema:
        """Schema 0 of the clone."""

    def write(self, name: Identifier, target: Table, where: str | None, replaces: bool) -> tuple[int, list[int]]:
        """Write the rows to the target, in place of those that it has or beside them. Returns their number and the new snapshots."""


class PaimonSource:
    """Tables of a Paimon catalog: clones by reading and writing rows."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def tables(self, database: str) -> list[str]:
        return self.catalog.tables(database)

    def schema(self, name: Identifier, options: Mapping[str, str], file_format: str | None) -> TableSchema:
        return clone_schema(self.catalog.table(name).schema, options, file_format)

    def write(self, name: Identifier, target: Table, where: str | None, replaces: bool) -> tuple[int, list[int]]:
        source = self.catalog.table(name).store
        keep = partition_filter(source, where) if where else None
        return clone_rows(source, target.store, keep, replaces=replaces)


class HiveSource:
    """Hive tables in a Hive metastore: clones by copying files."""

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
                "target_table_conf needs clone_from 'paimon'",
                hint="ALTER TABLE ... SET (...) afterwards", argument="target_table_conf",
            )  # fmt: skip
        created = hive_schema(self.hive, name)
        if file_format and file_format != created.options["file.format"]:
            raise UnsupportedOperation(
                f"the files of {name} are copied as they are: {created.options['file.format']}",
                hint="remove prefer_file_format", argument="prefer_file_format",
            )  # fmt: skip
        return created

    def write(self, name: Identifier, target: Table, where: str | None, replaces: bool) -> tuple[int, list[int]]:
        from paimon_nb.catalog.hive.clone import clone_files

        selected = partition_filter(target.store, where) if where else None
        return clone_files(self.hive, name, target.store, selected, replaces=replaces)


def _clone_tables(
    context: Context, database: str | None, table: str | None, catalog_conf: str | None, target_database: str | None,
    target_table: str | None, target_catalog_conf: str | None, parallelism: int | None, where: str | None,
    included_tables: str | None, excluded_tables: str | None, prefer_file_format: str | None, clone_from: str | None,
    meta_only: bool | None, clone_if_exists: bool | None, target_table_conf: str | None,
) -> pa.Table:  # fmt: skip
    source = _source_from_argument(catalog_from_conf(context, catalog_conf, "catalog_conf"), clone_from)
    target = catalog_from_conf(context, target_catalog_conf, "target_catalog_conf")
    file_format = _checked_file_format(prefer_file_format)
    pairs = table_pairs(
        source.tables, source.catalog.databases, (database, table), (target_database, target_table),
        (included_tables, excluded_tables),
    )  # fmt: skip
    conf = parse_options(target_table_conf)
    schemas = {pair: source.schema(pair[0], conf, file_format) for pair in pairs}
    for pair in pairs:  # check all before the first one is created
        _check_target_name(source, target, pair, schemas[pair], clone_if_exists)
    for pair in pairs:
        _clone_table(context, source, target, pair, schemas[pair], where, bool(meta_only), clone_if_exists)
    return one_row(result="Success")  # Java's word


def _clone_table(
    context: Context, source: Source, catalog: Catalog, pair: Pair, schema: TableSchema, where: str | None,
    meta_only: bool, if_exists: bool | None,
) -> None:  # fmt: skip
    name, target_name = pair
    if if_exists is False and target_name.table in known_tables(catalog, target_name.database):
        context.notes.append(f"{target_name} exists already and is unchanged")
        return
    with created_target(catalog, target_name, schema) as created:
        if meta_only:
            context.notes.append(f"{target_name} has the schema of {name}, and no rows")
            return
        target = catalog.table(target_name)
        if not created and if_exists is None and target.latest_snapshot() is not None:
            raise _exists_already(target_name)  # another session has created or filled it since the check
        count, snapshots = source.write(name, target, where, bool(if_exists))
    if catalog is context.catalog:
        context.snapshots += [(str(target_name), i) for i in snapshots]
    context.notes.append(f"{count} rows of {name} were cloned to {target_name}")
    waits = not assigns_buckets_in_batch(target.store) or visible_levels(target.store) is not None
    if snapshots and target.store.bucket_option == POSTPONE_BUCKET and waits:
        _compact_postponed_rows_of_clone(context, catalog, target)


def _compact_postponed_rows_of_clone(context: Context, catalog: Catalog, target: Table) -> None:
    """Compact a table with postpone buckets, which makes its rows visible; Java leaves that to another call."""
    if target.options.get(opt.WRITE_ONLY):
        context.notes.append(f"{target.name} is write-only: run CALL sys.compact to make its rows visible")
        return
    try:
        done = compact(target, context.spark)
    except PaimonError as error:
        context.notes.append(f"run CALL sys.compact to make the rows of {target.name} visible: {error.one_line}")
        return
    if catalog is context.catalog:
        context.snapshots += [(str(target.name), i) for i in done.snapshots]


@contextmanager
def created_target(catalog: Catalog, target_name: Identifier, schema: TableSchema) -> Iterator[bool]:
    """Creates a target table and its database, if they do not exist. If the block fails, both are removed again.

    Yields: whether the table was created now.
    """
    made = catalog.create_database(target_name.database, if_not_exists=True)
    try:
        with catalog.creating_table(target_name, schema, if_not_exists=True) as created:
            yield created
    except BaseException as error:
        if made:
            failure = f"database {target_name.database} was created and could not be removed"
            undo_after(error, failure, lambda: catalog.drop_database(target_name.database, if_exists=True))
        raise


# -- arguments


def catalog_from_conf(context: Context, conf: str | Mapping[str, str] | None, argument: str) -> Catalog:
    """The catalog of the options. The session's current one without options, and for its own warehouse and nothing else."""
    options = parse_options(conf)
    if not options:
        return context.catalog
    if "warehouse" not in options and options.get("metastore", "filesystem") == "filesystem":
        raise BadOptionValue(f"{argument} has no warehouse", hint=f"{argument} => 'warehouse=/path'", argument=argument)
    catalog, own = open_catalog(argument.removesuffix("_conf"), options), context.catalog
    is_own = type(catalog) is type(own) is FilesystemCatalog and catalog.warehouse == own.warehouse
    return own if is_own and options.keys() == {"warehouse"} else catalog


def _source_from_argument(catalog: Catalog, clone_from: str | None) -> Source:
    kind = (clone_from or ("hive" if catalog.options.get("metastore") == "hive" else "paimon")).lower()
    if kind == "hive":
        return HiveSource(catalog)
    if kind != "paimon":
        raise BadOptionValue(
            f"clone_from cannot be {clone_from!r}", hint="use 'paimon' or 'hive'", argument="clone_from"
        )
    return PaimonSource(catalog)


def _checked_file_format(text: str | None) -> str | None:
    if text is not None and text.lower() not in _FORMATS:
        raise BadOptionValue(
            f"prefer_file_format cannot be {text!r}", hint=f"use {', '.join(_FORMATS)}", argument="prefer_file_format"
        )
    return text.lower() if text else None


class _ListTables(Protocol):
    def __call__(self, database: str) -> list[str]: ...


class _ListDatabases(Protocol):
    def __call__(self) -> list[str]: ...


def table_pairs(
    tables: _ListTables, databases: _ListDatabases, source: tuple[str | None, str | None], target: tuple[str | None, str | None],
    lists: tuple[str | None, str | None] = (None, None),
) -> list[Pair]:  # fmt: skip
    """(source, target) pairs: one table, a database under a new name, or a whole catalog under the same names.

    Args:
        source, target: database and table.
        lists: included and excluded tables, 'db.t,db.u'.

    Raises:
        SqlAnalysisError: a name is missing or superfluous, or there are no tables.
        DatabaseNotFound: no such database.
    """
    (database, table), (to_database, to_table) = source, target
    if table and not database:
        raise SqlAnalysisError("table needs database", hint="also set database", argument="database")
    for argument, value, source_value in (
        ("target_database", to_database, database), ("target_table", to_table, table),
    ):  # fmt: skip
        if source_value and not value:
            raise SqlAnalysisError(f"{argument} is missing", hint=f"set {argument}", argument=argument)
        if value and not source_value:
            what = "a whole catalog keeps its names" if not database else "all tables of a database keep their names"
            raise SqlAnalysisError(what, hint=f"remove {argument}", argument=argument)
    included, excluded = ({t.strip() for t in (text or "").split(",") if t.strip()} for text in lists)
    if database and table:
        if included or excluded:
            raise SqlAnalysisError(
                "included_tables and excluded_tables cannot be used with table", hint="remove them",
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
            "no matching tables", hint=f"known: {', '.join(f'{d}.{t}' for d, t in found[:10]) or 'none'}"
        )
    return pairs


def _check_target_name(
    source: Source, target: Catalog, pair: Pair, schema: TableSchema, if_exists: bool | None
) -> None:
    """Raises if the target exists and clone_if_exists is not set. An empty, matching table is an interrupted clone."""
    name, target_name = pair
    if target_name.table not in known_tables(target, target_name.database):
        return
    existing = target.table(target_name)
    if isinstance(source, PaimonSource) and source.catalog.table(name).path == existing.path:
        raise AlreadyExists(
            f"{target_name} is the source table itself", hint="use another target name", name=str(target_name)
        )
    if if_exists is False:
        return
    if if_exists is None and existing.latest_snapshot() is not None:
        raise _exists_already(target_name)
    check_target(existing.store, schema)


def _exists_already(target_name: Identifier) -> AlreadyExists:
    return AlreadyExists(
        f"table {target_name} exists already",
        hint="set clone_if_exists => true to overwrite it, or false to skip it",
        name=str(target_name),
    )


def known_tables(catalog: Catalog, database: str) -> list[str]:
    """The tables of a database; [] if it does not exist."""
    return catalog.tables(database) if database in catalog.databases() else []


CLONE = Procedure(
    "clone",
    "Clone a table, a database or a catalog. As in Java, a primary-key table gets postpone buckets; its rows are visible at once.",
    (
        Argument("database", doc="of the source; the whole catalog if absent"),
        Argument("table", doc="of the source; the whole database if absent"),
        Argument("catalog_conf", doc="'warehouse=...' of the source; the current catalog if absent", many=True),
        Argument("target_database", doc="the target database; created if it does not exist"),
        Argument("target_table", doc="the new name"),
        Argument("target_catalog_conf", doc="'warehouse=...' of the target; the current catalog if absent", many=True),
        Argument("parallelism", "int", doc="accepted, without effect here"),
        Argument("where", doc="condition on partition columns"),
        Argument("included_tables", doc="'db.t,db.u': only these tables"),
        Argument("excluded_tables", doc="'db.t,db.u': all but these tables"),
        Argument("prefer_file_format", doc="parquet, orc or avro"),
        Argument("clone_from", doc="paimon or hive; hive for a catalog with a Hive metastore, else paimon"),
        Argument("meta_only", "bool", doc="schema and options only, no rows"),
        Argument("clone_if_exists", "bool", doc="if the target exists: true: overwrite, false: skip, absent: fail"),
        Argument("target_table_conf", doc="options of the new tables, 'k=v,k2=v2'", many=True),
    ),
    _clone_tables,
)
