"""Late materialization: decodes the columns of a condition first, and the others only for matching rows. Runs without Spark.

A scan that decodes all columns, or starts tasks for every file, spends most of its time on rows that do not match.
Superseded rows are skipped by position, as in a masked scan, so nothing is merged.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import open_data_file
from paimon_nb.format.data.parquet import MatchingRows, ParquetReader
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.types.arrow_builders import empty_table
from paimon_nb.table.read.plan.time_travel import translate_missing_files
from paimon_nb.table.read.predicate.evaluate import filter_on_file_columns
from paimon_nb.table.read.strategy.superseded_rows import hidden_rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore

_SAMPLE_ROWS = 10_000
"""Number of scanned rows from which the matches in the remaining rows are estimated."""


@dataclass(frozen=True, slots=True)
class _Hits:
    """The matching rows of an open file."""

    reader: ParquetReader
    stored: Sequence[DataField]
    found: MatchingRows
    rows: int
    """Rows of the whole file."""


def read_only_matching_rows(
    store: TableStore, splits: Sequence[Split], fields: Sequence[DataField], predicate: Predicate, max_rows: int
) -> pa.Table | None:
    """The rows of splits for which the predicate is true.

    Args:
        store: `ScanPlan.store`.
        splits: splits of Parquet files that contain all columns of their rows. If rows of one key overlap, the merge engine
            must pick one of them.
        fields: columns to return.
        predicate: the condition.
        max_rows: the maximum number of rows.

    Returns:
        None if more rows match, or if a column of the predicate has another type in a file.

    Raises:
        SnapshotExpired, MissingFile, CorruptFile, UnsupportedFormat.
    """
    names = {f.name for f in fields}
    wide = [*fields, *(f for f in store.schema.fields if f.name in predicate.columns() - names)]
    with translate_missing_files(store, splits[0].snapshot_id), ExitStack() as opened:
        hits = _files_with_matches(store, splits, wide, predicate, max_rows, opened)
        if hits is None:
            return None
        with ThreadPoolExecutor(_thread_count(len(hits))) as pool:
            parts = list(pool.map(lambda h: _fetch_rows(h, fields), hits))
    return pa.concat_tables([empty_table(fields), *parts])


def _files_with_matches(
    store: TableStore,
    splits: Sequence[Split],
    wide: Sequence[DataField],
    predicate: Predicate,
    max_rows: int,
    opened: ExitStack,
) -> list[_Hits] | None:
    """The open files with matching rows; None as soon as more than `max_rows` match or are expected to match."""
    merging = [s for s in splits if not s.raw or s.deletion_vectors]
    hidden: Mapping[str, np.ndarray] = hidden_rows_of(store, merging).rows if merging else {}
    files = [(s, f) for s in splits for f in s.files]
    small_first = sorted(range(len(files)), key=lambda n: files[n][1].row_count)
    total = sum(f.row_count for _, f in files)
    hits: dict[int, _Hits] = {}
    seen, count = 0, 0
    pool = ThreadPoolExecutor(_thread_count(len(files)))
    try:
        found = pool.map(lambda n: _search_file(store, *files[n], wide, predicate, hidden, opened), small_first)
        for number, one in zip(small_first, found, strict=True):
            if one is None:
                return None
            hits[number] = one
            seen += one.rows
            count += one.found.seen.num_rows
            if count > max_rows or (seen > _SAMPLE_ROWS and count * total > 2 * max_rows * seen):
                return None
    finally:
        pool.shutdown(cancel_futures=True)
    return [hits[n] for n in range(len(files)) if hits[n].found.seen.num_rows]


def _search_file(
    store: TableStore,
    split: Split,
    file: DataFile,
    wide: Sequence[DataField],
    predicate: Predicate,
    hidden: Mapping[str, np.ndarray],
    opened: ExitStack,
) -> _Hits | None:
    schema = store.schema_by_id(file.schema_id)
    condition_ids = {f.id for f in wide}
    stored = [f for f in schema.fields if f.id in condition_ids]
    keep = filter_on_file_columns(predicate, wide, stored)
    if keep is None:
        return None
    reader = open_data_file(
        store.fs, store.data_path(split.partition, split.bucket, file), stored, row_count=file.row_count
    )
    assert isinstance(reader, ParquetReader)
    opened.callback(reader.close)
    return _Hits(reader, stored, reader.find_matching(keep, hidden.get(file.file_name)), reader.num_rows)


def _fetch_rows(hits: _Hits, fields: Sequence[DataField]) -> pa.Table:
    field_ids = {f.id for f in fields}
    stored = [f for f in hits.stored if f.id in field_ids]
    rows = hits.reader.fetch_matching(hits.found).select([f.name for f in stored])
    return rows_as_read_fields(rows, stored, fields)


def _thread_count(files: int) -> int:
    return max(1, min(files, os.cpu_count() or 1))
