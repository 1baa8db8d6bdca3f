"""Few rows of many, found in the driver: a condition's columns are decoded first, the others where rows are left. No Spark.

A reader that decodes all columns, or a query that starts tasks for every file, does most of its work for rows that nobody asked
for. Here the rows that newer ones hide are left out by their place, as a masked scan does it, so nothing is merged.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from paimon_nb.format.data import open_data_file
from paimon_nb.format.data.parquet import Found, ParquetReader
from paimon_nb.format.data.schema_evolution import evolve
from paimon_nb.format.manifest import DataFile
from paimon_nb.format.types import DataField
from paimon_nb.format.types.arrow_builders import no_rows
from paimon_nb.spark.scan.superseded_rows import hidden_of
from paimon_nb.table.scan.plan.prune import file_schema
from paimon_nb.table.scan.plan.snapshot_scan import Split
from paimon_nb.table.scan.plan.time_travel import translate_missing_files
from paimon_nb.table.scan.predicate.model import Predicate
from paimon_nb.table.scan.read.split_reader import file_filter
from paimon_nb.table.store import TableStore

_ALIKE_FROM = 10_000
"""Rows after which those that are left to look at are taken to be like them."""


@dataclass(frozen=True, slots=True)
class _Hits:
    """What an open file has of the wanted rows."""

    reader: ParquetReader
    stored: Sequence[DataField]
    found: Found
    rows: int
    """Of the whole file."""


def scan_selective(
    store: TableStore, splits: Sequence[Split], fields: Sequence[DataField], predicate: Predicate, max_rows: int
) -> pa.Table | None:
    """The splits' rows for which the predicate is true.

    Args:
        store: `ScanPlan.store`. splits: of Parquet files that each hold all columns of their rows; where versions meet, the
            merge engine picks one. fields: columns to return. max_rows: give up above this number of rows.

    Returns:
        None where there are more rows, or where a file has a column of the predicate not as the table has it now.

    Raises:
        SnapshotExpired, MissingFile, CorruptFile, UnsupportedFormat.
    """
    names = {f.name for f in fields}
    wide = [*fields, *(f for f in store.schema.fields if f.name in predicate.columns() - names)]
    with translate_missing_files(store, splits[0].snapshot_id), ExitStack() as opened:
        hits = _find(store, splits, wide, predicate, max_rows, opened)
        if hits is None:
            return None
        with ThreadPoolExecutor(_threads(len(hits))) as pool:
            parts = list(pool.map(lambda h: _rows(h, fields), hits))
    return pa.concat_tables([no_rows(fields), *parts])


def _find(
    store: TableStore,
    splits: Sequence[Split],
    wide: Sequence[DataField],
    predicate: Predicate,
    max_rows: int,
    opened: ExitStack,
) -> list[_Hits] | None:
    """The files that have some of the rows, opened; None as soon as there are, or will be, too many."""
    merging = [s for s in splits if not s.raw or s.deletion_vectors]
    hidden: Mapping[str, np.ndarray] = hidden_of(store, merging).rows if merging else {}
    files = [(s, f) for s in splits for f in s.files]
    small_first = sorted(range(len(files)), key=lambda n: files[n][1].row_count)
    total = sum(f.row_count for _, f in files)
    hits: dict[int, _Hits] = {}
    seen, count = 0, 0
    pool = ThreadPoolExecutor(_threads(len(files)))
    try:
        found = pool.map(lambda n: _search(store, *files[n], wide, predicate, hidden, opened), small_first)
        for number, one in zip(small_first, found, strict=True):
            if one is None:
                return None
            hits[number] = one
            seen += one.rows
            count += one.found.seen.num_rows
            if count > max_rows or (seen > _ALIKE_FROM and count * total > 2 * max_rows * seen):
                return None
    finally:
        pool.shutdown(cancel_futures=True)
    return [hits[n] for n in range(len(files)) if hits[n].found.seen.num_rows]


def _search(
    store: TableStore,
    split: Split,
    file: DataFile,
    wide: Sequence[DataField],
    predicate: Predicate,
    hidden: Mapping[str, np.ndarray],
    opened: ExitStack,
) -> _Hits | None:
    schema = file_schema(store, file.schema_id)
    condition_ids = {f.id for f in wide}
    stored = [f for f in schema.fields if f.id in condition_ids]
    keep = file_filter(predicate, wide, stored)
    if keep is None:
        return None
    reader = open_data_file(store.fs, store.data_path(split.partition, split.bucket, file), stored)
    assert isinstance(reader, ParquetReader)
    opened.callback(reader.close)
    return _Hits(reader, stored, reader.find(keep, hidden.get(file.file_name)), reader.num_rows)


def _rows(hits: _Hits, fields: Sequence[DataField]) -> pa.Table:
    field_ids = {f.id for f in fields}
    stored = [f for f in hits.stored if f.id in field_ids]
    rows = hits.reader.fetch(hits.found).select([f.name for f in stored])
    return evolve(rows, stored, fields)


def _threads(files: int) -> int:
    return max(1, min(files, os.cpu_count() or 1))
