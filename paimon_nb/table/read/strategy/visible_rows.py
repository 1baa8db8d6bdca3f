"""Reads the rows of splits file by file and leaves out hidden rows by position. Runs without Spark.

A merge decodes and compares the keys for each query. The positions of hidden rows are cached (`superseded_rows`), so a later query decodes
only its own columns, in parallel for each file.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import open_data_file
from paimon_nb.format.data.parquet import ParquetReader
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.schema import readable_fields
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.table.read.plan.time_travel import translate_missing_files
from paimon_nb.table.read.predicate.evaluate import filter_on_file_columns
from paimon_nb.table.read.strategy.routes import ScanStrategy, file_format
from paimon_nb.table.read.strategy.superseded_rows import creates_rows, hidden_rows_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from concurrent.futures import Future

    import pyarrow as pa

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.read.strategy.routes import Route

_MAX_SPLIT_ROWS = 10_000_000
"""Rows of a split whose keys are compared in memory; larger splits are merged in ranges of keys."""
PIECE_ROWS = 1 << 19
"""Rows of a file that one task decodes, about."""


def hides_by_position(store: TableStore, splits: Sequence[Split], routes: Sequence[Route]) -> bool:
    """Whether the rows of all splits are rows of their Parquet files, less those at known positions.

    Args:
        store: the table.
        splits: the splits.
        routes: their strategies, in the same order.
    """
    for split, route in zip(splits, routes, strict=True):
        if (route.fallback or route.strategy) not in (ScanStrategy.NATIVE, ScanStrategy.MASKED):
            return False
        if any(file_format(f.file_name) != "parquet" for f in split.files):
            return False
        if not split.raw and (creates_rows(store) or split.row_count > _MAX_SPLIT_ROWS):
            return False
    return True


@dataclass(frozen=True, slots=True)
class _FilePart:
    """The row groups of a file that begin in a range of its rows."""

    split: Split
    file: DataFile
    begin: int
    end: int | None
    """None: up to the end of the file."""

    @property
    def rows(self) -> int:
        return (self.file.row_count if self.end is None else self.end) - self.begin


def visible_rows(
    store: TableStore,
    splits: Sequence[Split],
    fields: Sequence[DataField],
    predicate: Predicate | None,
    *,
    rows_ahead: int,
    piece_rows: int = PIECE_ROWS,
) -> Generator[pa.Table, None, None]:
    """The rows of splits for which `hides_by_position` is true, in the order of their files.

    Args:
        store: `ScanPlan.store`.
        splits: the splits.
        fields: columns to return.
        predicate: leaves out row groups by their statistics; rows are not filtered.
        rows_ahead: rows that are decoded before the consumer takes them, about; at least one piece is.
        piece_rows: rows of a file that one task decodes, about: whole row groups.

    Raises:
        SnapshotExpired, MissingFile, CorruptFile, UnsupportedFormat.
    """
    if not splits:
        return
    with translate_missing_files(store, splits[0].snapshot_id):
        merging = [s for s in splits if not s.raw or s.deletion_vectors]
        hidden = hidden_rows_of(store, merging).rows if merging else {}
        parts = deque(p for s in splits for f in s.files for p in _parts_of(s, f, piece_rows))
        pending: deque[tuple[int, Future[pa.Table]]] = deque()
        pool = ThreadPoolExecutor(max(1, min(len(parts), os.cpu_count() or 1)))
        try:
            while parts or pending:
                while parts and (not pending or sum(rows for rows, _ in pending) + parts[0].rows <= rows_ahead):
                    part = parts.popleft()
                    pending.append((part.rows, pool.submit(_read_part, store, part, fields, predicate, hidden)))
                yield pending.popleft()[1].result()
        finally:
            pool.shutdown(cancel_futures=True)


def _parts_of(split: Split, file: DataFile, rows: int) -> list[_FilePart]:
    begins = [*range(0, max(file.row_count, 1), rows)]
    return [_FilePart(split, file, b, e) for b, e in zip(begins, [*begins[1:], None], strict=True)]


def _read_part(
    store: TableStore,
    part: _FilePart,
    fields: Sequence[DataField],
    predicate: Predicate | None,
    hidden: Mapping[str, np.ndarray],
) -> pa.Table:
    """The visible rows of a part of a file, as `fields`."""
    schema = store.schema_by_id(part.file.schema_id)
    ids = {f.id for f in fields}
    # A file that is older than all columns still has as many rows.
    stored = [f for f in schema.fields if f.id in ids] or readable_fields(schema)[:1]
    path = store.data_path(part.split.partition, part.split.bucket, part.file)
    reader = open_data_file(store.fs, path, stored, row_count=part.file.row_count)
    assert isinstance(reader, ParquetReader)
    try:
        starts = np.cumsum([0, *reader.row_groups])
        groups = [
            g
            for g in _groups_that_may_match(reader, store, schema.fields, predicate)
            if starts[g] >= part.begin and (part.end is None or starts[g] < part.end)
        ]
        rows = reader.read(groups)
    finally:
        reader.close()
    mask = hidden.get(part.file.file_name)
    if mask is not None and groups:
        visible = [~mask[starts[g] : starts[g + 1]] for g in groups]
        rows = rows.filter(from_numpy(np.concatenate(visible)))
    return rows_as_read_fields(rows, stored, fields)


def _groups_that_may_match(
    reader: ParquetReader, store: TableStore, stored: Sequence[DataField], predicate: Predicate | None
) -> Sequence[int]:
    """Row groups of a file whose statistics allow rows for which the predicate is true."""
    used = [] if predicate is None else [f for f in store.schema.fields if f.name in predicate.columns()]
    keep = filter_on_file_columns(predicate, used, stored) if predicate is not None else None
    return range(len(reader.row_groups)) if keep is None else reader.groups_overlapping(keep.spans)
