"""`t$table_indexes`: the live index files of the selected snapshot: hash indexes, deletion vectors, global indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.table.read.live_files import index_entries
from paimon_nb.table.read.plan.time_travel import parse_travel, resolve_time_travel
from paimon_nb.table.tables.system.columns import partition_text_function, system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "partition": "STRING",
    "bucket": "INT NOT NULL",
    "index_type": "STRING NOT NULL",
    "file_name": "STRING NOT NULL",
    "file_size": "BIGINT NOT NULL",
    "row_count": "BIGINT NOT NULL",
    "dv_ranges": "ARRAY<ROW<f0 STRING NOT NULL, f1 INT NOT NULL, f2 INT NOT NULL, _CARDINALITY BIGINT>>",
    "row_range_start": "BIGINT",
    "row_range_end": "BIGINT",
    "index_field_id": "INT",
    "index_field_name": "STRING",
}
"""The last four are those of global indexes."""


def _index_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    text = partition_text_function(store)
    for e in index_entries(store, resolve_time_travel(store, parse_travel(store.options))):
        ranges = None if e.dv_ranges is None else [
            {"f0": r.data_file, "f1": r.offset, "f2": r.length, "_CARDINALITY": r.cardinality} for r in e.dv_ranges
        ]  # fmt: skip
        known = (text(e.partition), e.bucket, e.index_type, e.file_name, e.file_size, e.row_count, ranges)
        yield *known, *_global_index_columns(store, dict(e.global_index or ()))


def _global_index_columns(store: TableStore, index: Mapping[str, Any]) -> tuple[Any, ...]:
    """First and last row id, and the columns; a column that was dropped has no name."""
    if not index:
        return None, None, None, None
    names = {f.id: f.name for f in store.schema.fields}
    ids = [index["_INDEX_FIELD_ID"], *(index.get("_EXTRA_FIELD_IDS") or ())]
    name = ",".join(names[i] for i in ids) if all(i in names for i in ids) else None
    return index["_ROW_RANGE_START"], index["_ROW_RANGE_END"], ids[0], name


TABLE_INDEXES = system_table_with_columns(COLUMNS, _index_rows)
