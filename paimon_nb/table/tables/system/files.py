"""`t$files`: one row per data file of the selected snapshot, level 0 included. For past snapshots, as in Java, only files
of partitions that still exist.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data import format_of
from paimon_nb.format.manifest import FileFields
from paimon_nb.fs.file_cache import FileCache
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import group_by_bucket, read_live
from paimon_nb.table.read.plan.time_travel import Latest, parse_incremental, parse_travel, translate_missing_files
from paimon_nb.table.read.store import POSTPONE_BUCKET
from paimon_nb.table.tables.system.columns import (
    PIECE_ROWS,
    SystemTable,
    partition_text_function,
    system_table_with_columns,
)
from paimon_nb.table.tables.system.file_stats import StatsTexts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.store import TableStore

T = TypeVar("T")
BucketFiles = tuple[tuple[bytes, int], "Sequence[DataFile]"]
"""((partition, bucket), files)."""
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
    "first_row_id": "BIGINT",
    "write_cols": "ARRAY<STRING>",
}
SOURCES = {0: "APPEND", 1: "COMPACT"}


def _file_rows(store: TableStore) -> Iterator[tuple[Any, ...]]:
    store, groups = _files_by_bucket(store.for_metadata())
    texts = StatsTexts(store)
    for files, common in common_columns(store, texts, groups):
        stats = zip(*texts.values(files), strict=True)
        sources = map(SOURCES.get, files.values("file_source"))
        columns = (names and list(names) for names in files.values("write_cols"))
        yield from zip(
            *common,
            *stats,
            *map(files.values, _AFTER_STATS),
            sources,
            files.values("first_row_id"),
            columns,
            strict=True,
        )


_NUMBERS = ("schema_id", "level", "row_count", "file_size")
_AFTER_STATS = ("min_sequence", "max_sequence", "creation_time_ms", "delete_row_count")


def common_columns(
    store: TableStore, texts: StatsTexts, groups: Iterable[BucketFiles]
) -> Iterator[tuple[FileFields, list[Iterable[Any]]]]:
    """The files, and their columns `partition` to `max_key`. A portion of the files is in memory at a time."""
    partition_text, formats = partition_text_function(store), _Formats()
    for portion in _in_portions(groups):
        files, sizes = FileFields.of([files for _, files in portion]), [len(files) for _, files in portion]
        folders = [store.bucket_dir(partition, bucket) if files else "" for (partition, bucket), files in portion]
        names = files.values("file_name")
        paths = zip(_repeated(folders, sizes), names, files.values("external_path"), strict=True)
        yield (
            files,
            [
                _repeated([partition_text(partition) for (partition, _), _ in portion], sizes),
                _repeated([bucket for (_, bucket), _ in portion], sizes),
                [external or f"{folder}/{name}" for folder, name, external in paths],
                [formats[name.partition(".")[2]] or format_name(name) for name in names],
                *map(files.values, _NUMBERS),
                *zip(*texts.keys(files), strict=True),
            ],
        )


def _repeated(values: Iterable[T], sizes: Iterable[int]) -> Iterator[T]:
    return chain.from_iterable(map(repeat, values, sizes))


class _Formats(dict[str, str]):
    """The format by the extensions of a file's name; empty without any."""

    def __missing__(self, extensions: str) -> str:
        self[extensions] = format_name(f"data.{extensions}") if extensions else ""
        return self[extensions]


def _files_by_bucket(store: TableStore) -> tuple[TableStore, list[BucketFiles]]:
    """(the table with the schema of the result, the files of the selected snapshot)."""
    newest = newest_files(store)
    if newest is not None:
        return store, newest
    from paimon_nb.table.read import all_levels, plan_scan
    from paimon_nb.table.tables.system.file_totals import file_totals_by, unmerged_entries

    plan = plan_scan(store, levels=all_levels)
    planned, splits = plan.store, plan.splits
    if plan.snapshot is not None and not isinstance(parse_travel(store.options), Latest):
        planned = planned.at_schema(store.schemas.get(plan.snapshot.schema_id))  # a past snapshot uses its own columns
        present = file_totals_by(unmerged_entries(planned, planned.latest()), lambda e: e.partition)
        splits = tuple(s for s in splits if s.partition in present)
    return planned, [((s.partition, s.bucket), s.files) for s in splits]


def newest_files(store: TableStore) -> list[BucketFiles] | None:
    """The files of the newest snapshot, in the order of its manifests; None if the table's options select other files.

    Nothing is left out and no rows are merged, so this needs no scan plan.
    """
    options = store.options
    if not isinstance(parse_travel(options), Latest) or parse_incremental(options) is not None:
        return None
    if options.get(opt.SCAN_BUCKET) is not None:
        return None
    store.check_readable()
    snapshot = store.latest()
    if snapshot is None:
        return []
    with translate_missing_files(store, snapshot.id):
        entries = read_live(store, snapshot).entries
    if store.bucket_option == POSTPONE_BUCKET:
        entries = entries.filter(entries.column("bucket") >= 0)
    return [((partition, bucket), files) for (partition, bucket, _), files in group_by_bucket(entries)]


def _in_portions(groups: Iterable[BucketFiles]) -> Iterator[list[BucketFiles]]:
    portion: list[BucketFiles] = []
    size = 0
    for group in groups:
        if len(group[1]):
            portion.append(group)
            size += len(group[1])
        if size >= PIECE_ROWS:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


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
