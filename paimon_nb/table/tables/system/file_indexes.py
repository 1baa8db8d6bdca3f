"""`t$file_indexes`: the indexes of each data file by column (bloom filter, bitmap, ...), and where they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.table.read import all_levels, plan_scan
from paimon_nb.table.tables.system.columns import partition_text_function, system_table_with_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore

COLUMNS = {
    "partition": "STRING", "bucket": "INT NOT NULL", "file_path": "STRING NOT NULL", "file_size_in_bytes": "BIGINT NOT NULL",
    "record_count": "BIGINT NOT NULL", "schema_id": "BIGINT NOT NULL", "column_name": "STRING NOT NULL",
    "index_type": "STRING NOT NULL", "storage_type": "STRING NOT NULL", "index_file_path": "STRING",
    "index_size_in_bytes": "BIGINT NOT NULL", "index_container_size_in_bytes": "BIGINT NOT NULL", "is_empty": "BOOLEAN NOT NULL",
}  # fmt: skip
_EMBEDDED, _FILE = "EMBEDDED", "FILE"


def _index_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    from paimon_nb.table.read.plan.file_index import has_index, index_path, open_index

    plan = plan_scan(store.for_metadata(), levels=all_levels)
    partition = partition_text_function(plan.store)
    for split in plan.splits:
        for f in filter(has_index, split.files):
            index = open_index(plan.store, split.partition, split.bucket, f)
            if index is None:
                continue
            path = index_path(plan.store, split.partition, split.bucket, f)
            data = plan.store.data_path(split.partition, split.bucket, f)
            for column, kind, size in index.sizes():
                yield (
                    partition(split.partition), split.bucket, data, f.file_size, f.row_count, f.schema_id, column, kind,
                    _EMBEDDED if path is None else _FILE, path, size or 0, index.container_size, size is None,
                )  # fmt: skip


FILE_INDEXES = system_table_with_columns(COLUMNS, _index_rows)
