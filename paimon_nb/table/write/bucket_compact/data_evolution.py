"""Compacts data-evolution tables: neighbouring files become one, with the newest values of all columns and the same row ids.

Files of vector columns stay as they are: they refer to rows by their ids. So do those of BLOB columns without `blob-compaction.enabled`.
Source: Paimon 2.1 `DataEvolutionCompactCoordinator`, `DataEvolutionNormalCompactTask`, `DataEvolutionCompactDeletionVectorRewriter`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.read.data_evolution import (
    anchor_file,
    group_by_row_range,
    holds_column,
    is_dedicated,
    stores_column,
)
from paimon_nb.table.read.plan.snapshot_scan import Split
from paimon_nb.table.read.split.inline_blobs import as_stored
from paimon_nb.table.read.split.split_reader import iter_split
from paimon_nb.table.write.bucket_compact.blob_files import merge_blob_files, mergeable_blob_files
from paimon_nb.table.write.bucket_compact.result import CompactResult
from paimon_nb.table.write.data_file_writer import COMPACT_SOURCE, AppendFileWriter, FileTarget
from paimon_nb.table.write.dedicated_files import dedicated_fields, open_append_writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.bucket_compact.append import BucketLocation
    from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors

RowGroup = list["DataFile"]
"""Files of the same rows, without dedicated ones."""


def pick_row_ranges(store: TableStore, files: Sequence[DataFile]) -> list[list[RowGroup]]:
    """Parts of consecutive rows whose files are worth merging into one each: `compaction.min.file-num` files or more.

    Args:
        files: of one bucket.
    """
    parts = [_normal_files(part) for part in _consecutive_groups(store, files)]
    return [part for part in parts if _is_worth_merging(store, part)]


def pick_blob_files(store: TableStore, files: Sequence[DataFile]) -> list[tuple[DataField, list[DataFile]]]:
    """With `blob-compaction.enabled`: the files of a BLOB column, of consecutive rows, that become one file each.

    Where the normal files are not merged, only files of the same normal file are.

    Args:
        files: of one bucket.
    """
    picked: list[tuple[DataField, list[DataFile]]] = []
    if store.options.get(opt.BLOB_COMPACTION_ENABLED):
        for part in _consecutive_groups(store, files):
            merged = _is_worth_merging(store, _normal_files(part))
            for groups in [part] if merged else [[group] for group in part]:
                picked += mergeable_blob_files(store, [f for group in groups for f in group])
    return picked


def _normal_files(part: Sequence[Sequence[DataFile]]) -> list[RowGroup]:
    return [[f for f in group if not is_dedicated(f)] for group in part]


def _is_worth_merging(store: TableStore, part: Sequence[RowGroup]) -> bool:
    return sum(map(len, part)) >= max(store.options.get(opt.COMPACTION_MIN_FILE_NUM), 2)


def _consecutive_groups(store: TableStore, files: Sequence[DataFile]) -> list[list[list[DataFile]]]:
    """Mergeable groups of files of the same rows, those of consecutive rows together, up to the target size of a file."""
    o = store.options
    target, cost = o.target_file_size(False), o.get(opt.SOURCE_SPLIT_OPEN_FILE_COST)
    parts: list[list[list[DataFile]]] = [[]]
    weight = next_row = 0
    for group in group_by_row_range(files):
        normal = [f for f in group if not is_dedicated(f)]
        if not normal or not _is_mergeable(store, group):
            parts.append([])
            continue
        first = normal[0].first_row_id or 0
        size = sum(max(f.file_size, cost) for f in normal)
        if parts[-1] and (first != next_row or weight > target or size > target):
            parts.append([])
        weight = size if not parts[-1] else weight + size
        parts[-1].append(group)
        next_row = first + normal[0].row_count
    return parts


def _is_mergeable(store: TableStore, group: Sequence[DataFile]) -> bool:
    """Whether the rows' ids are counted from the first one, and no normal file has values of a column with separate files."""
    if any(f.first_row_id is None or ROW_ID_FIELD.name in (f.write_cols or ()) for f in group):
        return False
    dedicated = [f for f in group if is_dedicated(f)]
    return not any(
        holds_column(store, file, field) and not stores_column(store, dedicated, field)
        for field in dedicated_fields(store)
        for file in group
        if not is_dedicated(file)
    )


def compact_row_ranges(
    store: TableStore,
    where: BucketLocation,
    files: Sequence[DataFile],
    vectors: BucketVectors | None,
    *,
    column_sequences: bool,
) -> CompactResult:
    """Merge what `pick_row_ranges` and `pick_blob_files` pick. Deleted rows stay deleted: their vectors move to the new files.

    Args:
        files: of the bucket.
        column_sequences: record how new the values of each column are, for the indexes of the table.
    """
    result = CompactResult()
    for part in pick_row_ranges(store, files):
        merged = _merge_files(store, where, part)
        before = [f for group in part for f in group]
        if column_sequences:
            merged = _with_column_sequences(store, merged, before)
        result.before += before
        result.after.append(merged)
        if vectors is not None:
            _move_vectors(vectors, part, merged)
    for column, blobs in pick_blob_files(store, files):
        result.before += blobs
        result.after.append(merge_blob_files(store, where, column, blobs))
    if vectors is not None:
        result.new_index, result.deleted_index = vectors.finish()
    return result


def rewrite_without_deleted_rows(
    store: TableStore, where: BucketLocation, files: Sequence[DataFile], vectors: BucketVectors
) -> CompactResult:
    """Write the remaining rows of files with deleted ones again; the commit gives them new row ids.

    Args:
        files: of the bucket.
    """
    result = CompactResult()
    with open_append_writer(store, FileTarget(where.partition, where.bucket)) as out:
        for group in group_by_row_range(files):
            vector = vectors.of(anchor_file(group).file_name)
            if vector is None:
                continue
            split = Split(0, where.partition, where.bucket, -1, tuple(group), None, raw=len(group) == 1)
            position = 0
            for rows in iter_split(as_stored(store), split):
                remaining = rows.filter(from_numpy(~vector.mask(rows.num_rows, position)))
                position += rows.num_rows
                if remaining.num_rows:
                    out.write(remaining)
            result.before += group
        result.after += out.finish()
    vectors.drop([f.file_name for f in result.before])
    result.new_index, result.deleted_index = vectors.finish()
    return result


class _WholeRangeWriter(AppendFileWriter):
    """One file of any size with all columns that have no files of their own."""

    def __init__(self, store: TableStore, target: FileTarget, columns: Sequence[DataField]) -> None:
        super().__init__(
            store.at_schema(
                store.schema.with_options({**store.schema.options, opt.TARGET_FILE_SIZE.key: f"{1 << 60} b"})
            ),
            target,
        )
        self.columns = columns

    def _stored_fields(self) -> Sequence[DataField]:
        return self.columns


def _merge_files(store: TableStore, where: BucketLocation, part: Sequence[RowGroup]) -> DataFile:
    """Write the newest values of consecutive rows into one file."""
    separate = set(dedicated_fields(store))
    columns = [f for f in store.schema.fields if f not in separate]
    names = [f.name for f in columns]
    with _WholeRangeWriter(store, FileTarget(where.partition, where.bucket, 0, COMPACT_SOURCE), columns) as out:
        for group in part:
            split = Split(0, where.partition, where.bucket, -1, tuple(group), None, raw=len(group) == 1)
            for rows in iter_split(as_stored(store), split, names):
                out.write(rows)
        (file,) = out.finish()
    files = [f for group in part for f in group]
    return replace(
        file,
        first_row_id=part[0][0].first_row_id,
        min_sequence=min(f.min_sequence for f in files),
        max_sequence=max(f.max_sequence for f in files),
        write_cols=tuple(names) if separate else None,
    )


def _with_column_sequences(store: TableStore, merged: DataFile, before: Sequence[DataFile]) -> DataFile:
    """The file with the largest sequence number of each column's values, if they differ."""
    newest: dict[int, int] = {}
    for file in before:
        fields = store.schemas.get(file.schema_id).fields
        stored = [f for f in fields if file.write_cols is None or f.name in file.write_cols]
        by_name = dict(zip(file.write_cols or [f.name for f in fields], file.write_cols_sequences or (), strict=False))
        for field in stored:
            newest[field.id] = max(newest.get(field.id, 0), by_name.get(field.name, file.max_sequence))
    names = merged.write_cols or store.schema.names
    sequences = tuple(newest.get(store.schema.field(name).id, merged.max_sequence) for name in names)
    return merged if set(sequences) == {merged.max_sequence} else replace(merged, write_cols_sequences=sequences)


def _move_vectors(vectors: BucketVectors, part: Sequence[RowGroup], merged: DataFile) -> None:
    """The deleted positions of the old files, in the new one."""
    deleted = []
    for group in part:
        anchor = anchor_file(group)
        vector = vectors.of(anchor.file_name)
        if vector is not None:
            deleted.append(vector.positions() + ((anchor.first_row_id or 0) - (merged.first_row_id or 0)))
        vectors.drop([anchor.file_name])
    vectors.delete_rows(merged.file_name, np.concatenate([np.empty(0, np.int64), *deleted]))
