"""Compacts tables without primary key: small neighbouring files of a partition are merged in order.

Source: docs/spec/merge-semantics.md sections 4.1 and 13 (Paimon `append/AppendCompactCoordinator`,
`BucketedAppendCompactManager`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from paimon_nb.format.data import TRACKING_FIELDS, iter_data_file
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.read.migrated_files import fields_in_file, with_partition_columns
from paimon_nb.table.read.split.row_tracking import stored_tracking_fields, tracks_rows, with_tracking
from paimon_nb.table.write.bucket_compact.result import CompactResult
from paimon_nb.table.write.cluster import Order, sorted_rows
from paimon_nb.table.write.data_file_writer import COMPACT_SOURCE, AppendFileWriter, FileTarget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors

_FULL_FILES = 3
"""Minimum number of files for a full compaction of a bucket (Paimon `BucketedAppendCompactManager`)."""


class BucketLocation(Protocol):
    """A partition and bucket."""

    @property
    def partition(self) -> bytes: ...
    @property
    def bucket(self) -> int: ...


def small_file_threshold(store: TableStore) -> float:
    """Files below this size are worth merging."""
    return store.options.target_file_size(False) * float(store.options.get(opt.COMPACTION_SMALL_FILE_RATIO))


def deleted_share_limit(store: TableStore) -> float:
    """Files of which a larger share of rows is deleted are merged, however large they are."""
    return float(store.options.get(opt.COMPACTION_DELETE_RATIO_THRESHOLD))


# -- picking


def pick_unaware_bucket_files(
    store: TableStore, files: Sequence[DataFile], *, full: bool, vectors: BucketVectors | None = None
) -> list[list[DataFile]]:
    """Groups of files to merge. `full`: every group of at least two small files."""
    o = store.options
    limit, ratio = small_file_threshold(store), deleted_share_limit(store)
    small = [f for f in files if f.file_size < limit or deleted_share(f, vectors) > ratio]
    target, cost = o.target_file_size(False), o.get(opt.SOURCE_SPLIT_OPEN_FILE_COST)
    groups: list[list[DataFile]] = []
    group: list[DataFile] = []
    weight = 0
    for file in sorted(small, key=lambda f: f.file_size):
        group.append(file)
        weight += file.file_size + cost
        if len(group) > 1 and weight >= 2 * target:
            groups.append(group)
            group, weight = [], 0
    forced = o.get(opt.COMPACTION_MAX_FILE_NUM)
    enough = 2 if full else min(o.get(opt.COMPACTION_MIN_FILE_NUM), forced or 1 << 30)
    if (len(group) >= max(enough, 1) and (len(group) > 1 or _has_deletes(group, vectors))) or (
        full and group and _has_deletes(group, vectors)
    ):
        groups.append(group)
    return groups


def pick_append_auto(store: TableStore, files: Sequence[DataFile]) -> list[DataFile]:
    """Neighbouring files of a bucket that are due after a write; [] for none. The order in the bucket is kept."""
    o = store.options
    min_files, target = o.get(opt.COMPACTION_MIN_FILE_NUM), o.target_file_size(False)
    forced = o.get(opt.COMPACTION_MAX_FILE_NUM)
    if forced:
        min_files = min(min_files, forced)
    window: list[DataFile] = []
    size = 0
    for file in in_arrival_order(files):
        window.append(file)
        size += file.file_size
        if len(window) >= max(min_files, 2):
            return window
        while size >= 2 * target and window:
            size -= window.pop(0).file_size
    return []


def pick_append_full(store: TableStore, files: Sequence[DataFile], vectors: BucketVectors | None) -> list[DataFile]:
    """All files of a bucket except leading large ones, if merging them pays off; [] if not."""
    target = store.options.target_file_size(False)
    rest = in_arrival_order(files)
    while rest and rest[0].file_size >= target and not _has_deletes(rest[:1], vectors):
        rest.pop(0)
    if _has_deletes(rest, vectors):
        return rest
    limit = small_file_threshold(store)
    small = sum(f.file_size < limit for f in rest)
    return rest if small > len(rest) - small and len(rest) >= _FULL_FILES else []


def in_arrival_order(files: Sequence[DataFile]) -> list[DataFile]:
    """Files of a bucket in the order in which their rows arrived."""
    return sorted(files, key=lambda f: (f.min_sequence, f.max_sequence, f.creation_time_ms or 0, f.file_name))


def deleted_share(file: DataFile, vectors: BucketVectors | None) -> float:
    """The share of a file's rows that deletion vectors hide: 0 to 1."""
    vector = vectors.of(file.file_name) if vectors else None
    return len(vector) / file.row_count if vector and file.row_count else 0.0


def _has_deletes(files: Sequence[DataFile], vectors: BucketVectors | None) -> bool:
    return vectors is not None and any(vectors.of(f.file_name) is not None for f in files)


# -- rewriting


def compact_append_bucket(
    store: TableStore, where: BucketLocation, files: Sequence[DataFile], vectors: BucketVectors | None = None
) -> CompactResult:
    """Merge `files` in their order. Rows hidden by deletion vectors are dropped, and so are the vectors."""
    start = files[0].min_sequence if files else 0
    return rewrite_append(store, where, files, vectors, COMPACT_SOURCE, start=start)


def rewrite_append(
    store: TableStore,
    where: BucketLocation,
    files: Sequence[DataFile],
    vectors: BucketVectors | None,
    source: int,
    *,
    start: int = 0,
    order: Order | None = None,
) -> CompactResult:
    """The visible rows of `files` in new files, in stored order or in `order`. Deletion vectors of `files` are removed.

    Args:
        source: `file_source` of the new files (`APPEND_SOURCE`, `COMPACT_SOURCE`).
        start: sequence number of the first row.
    """
    tracked = tracks_rows(store)
    rows = append_rows(store, where, files, vectors, tracked=tracked)
    with AppendFileWriter(store, FileTarget(where.partition, where.bucket, 0, source), start, tracked=tracked) as out:
        for table in rows if order is None else sorted_rows(store, order, rows):
            out.write(table)
        after = out.finish()
    result = CompactResult(before=list(files), after=after)
    if vectors is not None:
        vectors.drop(f.file_name for f in files)
        result.new_index, result.deleted_index = vectors.finish()
    return result


def append_rows(
    store: TableStore,
    where: BucketLocation,
    files: Sequence[DataFile],
    vectors: BucketVectors | None,
    *,
    tracked: bool = False,
) -> Iterator[pa.Table]:
    """Rows of plain files in the table's current schema; `tracked`: with their ids, as `with_tracking` adds them."""
    target_fields = (*store.schema.fields, *TRACKING_FIELDS) if tracked else store.schema.fields
    store.prefetch(where.partition, where.bucket, files)
    for file in files:
        schema = store.schemas.get(file.schema_id) if file.schema_id != store.schema.id else store.schema
        path = store.data_path(where.partition, where.bucket, file)
        vector = vectors.of(file.file_name) if vectors else None
        position = 0
        held_here = fields_in_file(store, file, schema.fields)
        stored = [f for f in held_here if file.write_cols is None or f.name in file.write_cols]
        ids = stored_tracking_fields(file) if tracked else ()
        columns = [f.name for f in (*stored, *ids)]
        for batch in iter_data_file(
            store.fs, path, (*schema.fields, *ids), columns, options=store.options, row_count=file.row_count
        ):
            table = pa.Table.from_batches([batch])
            if tracked:
                table = with_tracking(table, file, position)
            if vector is not None:
                table = table.filter(from_numpy(~vector.mask(table.num_rows, position)))
            position += batch.num_rows
            if table.num_rows:
                evolved = rows_as_read_fields(table, [*stored, *TRACKING_FIELDS] if tracked else stored, target_fields)
                yield with_partition_columns(store, where.partition, file, evolved)
