"""The tables of the database `sys`: all tables, partitions and options of a catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.redact import redact_options
from paimon_nb.base.registry import Registry
from paimon_nb.format.row import partition_path
from paimon_nb.options import table as opt
from paimon_nb.table.tables.system.columns import columns_of, table_of
from paimon_nb.table.tables.system.file_totals import Totals, file_totals_by, selected_entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from paimon_nb.table.read.store import TableStore


class HasStore(Protocol):
    """The part of a table that these functions use."""

    @property
    def store(self) -> TableStore: ...


class CatalogLike(Protocol):
    """The part of a catalog that these functions use."""

    @property
    def options(self) -> Mapping[str, str]: ...
    def databases(self) -> list[str]: ...
    def tables(self, database: str) -> list[str]: ...
    def table(self, name: Identifier) -> HasStore: ...


TABLES = columns_of(
    {
        "database_name": "STRING", "table_name": "STRING", "table_type": "STRING", "partitioned": "BOOLEAN",
        "primary_key": "BOOLEAN", "owner": "STRING", "created_at": "BIGINT", "created_by": "STRING", "updated_at": "BIGINT",
        "updated_by": "STRING", "record_count": "BIGINT", "file_size_in_bytes": "BIGINT", "file_count": "BIGINT",
        "last_file_creation_time": "BIGINT",
    }
)  # fmt: skip
PARTITIONS = columns_of(
    {
        "database_name": "STRING", "table_name": "STRING", "partition_name": "STRING", "record_count": "BIGINT",
        "file_size_in_bytes": "BIGINT", "file_count": "BIGINT", "last_file_creation_time": "BIGINT", "done": "BOOLEAN",
    }
)  # fmt: skip
ALL_OPTIONS = columns_of({"database_name": "STRING", "table_name": "STRING", "key": "STRING", "value": "STRING"})
CATALOG_OPTIONS = columns_of({"key": "STRING NOT NULL", "value": "STRING NOT NULL"})


def _stores_of_tables(catalog: Any) -> Iterator[tuple[str, str, TableStore]]:
    """Every table that can be opened; a broken table does not hide the others."""
    for database in catalog.databases():
        for table in catalog.tables(database):
            try:
                yield database, table, catalog.table(Identifier(database, table)).store
            except PaimonError:
                continue


def all_tables(catalog: Any) -> pa.Table:
    """`sys.tables`. `catalog` is a `CatalogLike`."""
    return table_of(TABLES, (_table_row(d, t, s) for d, t, s in _stores_of_tables(catalog)))


def _table_row(database: str, table: str, store: TableStore) -> tuple[Any, ...]:
    kind = store.options.get(opt.TYPE) or "table"
    first = store.schemas.get(0) if 0 in store.schemas.ids() else store.schema
    return (
        database, table, str(kind), bool(store.schema.partition_keys), store.has_keys, None, first.time_ms, None,
        store.schema.time_ms, None, *_file_totals(store),
    )  # fmt: skip


def _file_totals(store: TableStore) -> tuple[int | None, ...]:
    """Rows, bytes, number and newest time of the files; NULL for a format table, whose files would have to be listed."""
    if store.is_format_table:
        return None, None, None, None
    _, entries = selected_entries(store)
    total = file_totals_by(entries, lambda _e: 0).get(0, Totals())
    return total.rows, total.size, total.files, total.newest_ms


def all_partitions(catalog: Any) -> pa.Table:
    """`sys.partitions`."""
    return table_of(PARTITIONS, (row for d, t, s in _stores_of_tables(catalog) for row in _partition_rows(d, t, s)))


def _partition_rows(database: str, table: str, store: TableStore) -> Iterator[tuple[Any, ...]]:
    if not store.schema.partition_keys or store.is_format_table:
        return
    _, entries = selected_entries(store)
    for partition, t in file_totals_by(entries, lambda e: e.partition).items():
        name = partition_path(
            store.schema.partition_fields,
            store.partition_values(partition),
            legacy=store.options.get(opt.PARTITION_LEGACY_NAME),
            default_name=store.options.get(opt.PARTITION_DEFAULT_NAME),
        )
        yield database, table, name, t.rows, t.size, t.files, t.newest_ms, False


def all_table_options(catalog: Any) -> pa.Table:
    """`sys.all_table_options`."""
    rows = ((d, t, k, v) for d, t, s in _stores_of_tables(catalog) for k, v in redact_options(s.schema.options).items())
    return table_of(ALL_OPTIONS, rows)


def catalog_options(catalog: Any) -> pa.Table:
    """`sys.catalog_options`, secrets hidden."""
    return table_of(CATALOG_OPTIONS, redact_options(catalog.options).items())


GLOBAL_TABLES = Registry(
    "table of the database sys",
    {
        "tables": all_tables,
        "partitions": all_partitions,
        "all_table_options": all_table_options,
        "catalog_options": catalog_options,
    },
)
LISTED = ("all_table_options", "catalog_options")
"""What SHOW TABLES lists in the database `sys`. Source: Paimon `SystemTableLoader.loadGlobalTableNames`."""
