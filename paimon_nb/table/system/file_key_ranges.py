"""`t$file_key_ranges`: the key range of each data file; `t$files` without its statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.table.scan import all_levels, plan_scan
from paimon_nb.table.system.columns import partition_text_function, system_table_with_columns
from paimon_nb.table.system.file_stats import StatsTexts
from paimon_nb.table.system.files import COLUMNS as FILE_COLUMNS
from paimon_nb.table.system.files import files_of_splits, format_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.store import TableStore

_COMMON = (
    "partition", "bucket", "file_path", "file_format", "schema_id", "level", "record_count", "file_size_in_bytes",
    "min_key", "max_key",
)  # fmt: skip
COLUMNS = {**{name: FILE_COLUMNS[name] for name in _COMMON}, "first_row_id": "BIGINT"}


def _key_range_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    plan = plan_scan(store.for_metadata(), levels=all_levels)
    texts, partition = StatsTexts(plan.store), partition_text_function(plan.store)
    for split, files in files_of_splits(plan.splits):
        for f in files:
            yield (
                partition(split.partition), split.bucket, plan.store.data_path(split.partition, split.bucket, f),
                format_name(f.file_name), f.schema_id, f.level, f.row_count, f.file_size, *texts.keys(f), f.first_row_id,
            )  # fmt: skip


FILE_KEY_RANGES = system_table_with_columns(COLUMNS, _key_range_rows)
