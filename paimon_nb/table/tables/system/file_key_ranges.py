"""`t$file_key_ranges`: the key range of each data file; `t$files` without its statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.table.read import all_levels, plan_scan
from paimon_nb.table.tables.system.columns import system_table_with_columns
from paimon_nb.table.tables.system.file_stats import StatsTexts
from paimon_nb.table.tables.system.files import COLUMNS as FILE_COLUMNS
from paimon_nb.table.tables.system.files import common_columns, newest_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.table.read.store import TableStore

_COMMON = (
    "partition", "bucket", "file_path", "file_format", "schema_id", "level", "record_count", "file_size_in_bytes",
    "min_key", "max_key",
)  # fmt: skip
COLUMNS = {**{name: FILE_COLUMNS[name] for name in _COMMON}, "first_row_id": "BIGINT"}


def _key_range_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    store = store.for_metadata()
    groups = newest_files(store)
    if groups is None:
        plan = plan_scan(store, levels=all_levels)
        store, groups = plan.store, [((s.partition, s.bucket), s.files) for s in plan.splits]
    for files, common in common_columns(store, StatsTexts(store), groups):
        yield from zip(*common, files.values("first_row_id"), strict=True)


FILE_KEY_RANGES = system_table_with_columns(COLUMNS, _key_range_rows)
