"""`t$files`: one row per data file of the selected snapshot, level 0 included. For past snapshots, as in Java, only files
of partitions that still exist.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data import format_of
from paimon_nb.format.file_cache import FileCache
from paimon_nb.format.manifest import data_files_of
from paimon_nb.table.scan import all_levels, parse_travel, plan_scan
from paimon_nb.table.scan.plan.snapshot_scan import pack_into_bins
from paimon_nb.table.scan.plan.time_travel import Latest
from paimon_nb.table.system.columns import PIECE_ROWS, SystemTable, partition_text_function, system_table_with_columns
from paimon_nb.table.system.file_stats import StatsTexts
from paimon_nb.table.system.file_totals import file_totals_by, unmerged_entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.scan import Split
    from paimon_nb.table.store import TableStore

COLUMNS = {
    "partition": "STRING",
    "bucket": "INT NOT NULL",
    "file_path": "STRING NOT NULL",
    "file_format": "STRING NOT NULL",
    "schema_id": "BIGINT NOT NULL",
    "level": "INT NOT NULL",
    "record_count": "BIGINT NOT NULL",
    "file_size_in_bytes": "BIGINT NOT NULL",
    "min_key": "STRING",
    "max_key": "STRING",
    "null_value_counts": "STRING NOT NULL",
    "min_value_stats": "STRING NOT NULL",
    "max_value_stats": "STRING NOT NULL",
    "min_sequence_number": "BIGINT",
    "max_sequence_number": "BIGINT",
    "creation_time": "TIMESTAMP(3)",
    "deleteRowCount": "BIGINT",
    "file_source": "STRING",
}
SOURCES = {0: "APPEND", 1: "COMPACT"}


def _file_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    plan, present = plan_scan(store.for_metadata(), levels=all_levels), None
    store = plan.store
    if plan.snapshot is not None and not isinstance(parse_travel(store.options), Latest):
        store = store.at_schema(store.schemas.get(plan.snapshot.schema_id))  # a past snapshot uses its own columns
        present = set(file_totals_by(unmerged_entries(store, store.latest()), lambda e: e.partition))
    texts, partition = StatsTexts(store), partition_text_function(store)
    splits = plan.splits if present is None else [s for s in plan.splits if s.partition in present]
    for split, files in files_of_splits(splits):
        folder = store.bucket_dir(split.partition, split.bucket) if files else ""
        for f in files:
            path = f.external_path or f"{folder}/{f.file_name}"
            yield (
                partition(split.partition), split.bucket, path, format_name(f.file_name), f.schema_id, f.level,
                f.row_count, f.file_size, *texts.keys(f), *texts.values(f), f.min_sequence, f.max_sequence,
                f.creation_time_ms, f.delete_row_count, SOURCES.get(f.file_source) if f.file_source is not None else None,
            )  # fmt: skip


def files_of_splits(splits: Iterable[Split]) -> Iterator[tuple[Split, list[DataFile]]]:
    """Each split and its files. A portion of the files is in memory at a time: the plan does not keep them."""
    for portion in pack_into_bins(splits, lambda split: len(split.files), PIECE_ROWS):
        files = iter(data_files_of([split.files for split in portion]))
        for split in portion:
            yield split, list(islice(files, len(split.files)))


def format_name(file_name: str) -> str:
    """The file's format from its name, even if it cannot be read here."""
    try:
        return format_of(file_name)
    except UnsupportedFormat:
        return file_name.rsplit(".", 1)[-1]


_MADE = system_table_with_columns(COLUMNS, _file_rows)
_MADE_BEFORE = FileCache(64 << 20)


def _read_files(store: TableStore) -> pa.Table:
    """The rows of the newest snapshot are cached: its manifest lists never change, and formatting takes most of the time."""
    snapshot = store.latest()
    if snapshot is None or not isinstance(parse_travel(store.options), Latest):
        return _MADE.read(store)
    part = (snapshot.base_manifest_list, store.schema.fields, frozenset(store.options.raw.items()))
    delta = store.manifest_path(snapshot.delta_manifest_list)
    return _MADE_BEFORE.get(store.fs, delta, lambda: _MADE.read(store), lambda table: table.nbytes, part)


FILES = SystemTable(_MADE.fields, _read_files)
