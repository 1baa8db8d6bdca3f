"""Reads splits: rows of files, deletion vectors applied by position, versions merged, evolved to the schema.

A condition on key columns is the same for all versions of a row, so it is always pushed into the file readers. Any other
condition is pushed only if the stored rows are the result rows. A split is read at once, or in pieces of bounded memory.
Source: docs/spec/format.md section 14 (Paimon `MergeFileSplitRead`, `RawFileSplitRead`, `IncrementalDiffSplitRead`).
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import (
    KIND_FIELD,
    SEQUENCE_FIELD,
    SEQUENCE_NUMBER,
    VALUE_KIND,
    RowFilter,
    iter_data_file,
    iter_rows_at,
    read_data_file,
)
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.index import DeletionVector, read_deletion_vector
from paimon_nb.format.row import bucket_of
from paimon_nb.format.schema import readable_fields
from paimon_nb.format.types import arrow_schema
from paimon_nb.format.types.arrow_builders import empty_table, from_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.key_chunks import LevelFiles, chunks_aligned_by_key, runs_of
from paimon_nb.table.lsm.levels import Section, key_decoder, oldest_first, sections
from paimon_nb.table.lsm.merge import PICKS_ROWS, MergeSpec, merge
from paimon_nb.table.lsm.merge.groups import merge_order
from paimon_nb.table.lsm.merge.merge import without_retracts
from paimon_nb.table.lsm.superseded import drop_superseded
from paimon_nb.table.read.data_evolution import (
    ColumnParts,
    FileRows,
    anchor_file,
    cut_at_same_rows,
    files_by_column,
    group_by_row_range,
)
from paimon_nb.table.read.migrated_files import fields_in_file, with_partition_columns
from paimon_nb.table.read.plan.chain import origins_of
from paimon_nb.table.read.plan.planner import plan_scan
from paimon_nb.table.read.plan.time_travel import translate_missing_files
from paimon_nb.table.read.predicate.evaluate import filter_on_file_columns, filter_rows
from paimon_nb.table.read.predicate.model import conjuncts_on
from paimon_nb.table.read.side_by_side import map_in_threads
from paimon_nb.table.read.split.blob_versions import newest_blobs
from paimon_nb.table.read.split.bucket_diff import diff_states
from paimon_nb.table.read.split.decoded_size import UNPACKED, bytes_per_row, split_bytes
from paimon_nb.table.read.split.inline_blobs import selected_rows, with_referenced_values
from paimon_nb.table.read.split.unreadable_files import readable_rows
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from pyroaring import BitMap64

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import DvRef, ScanPlan, Split
    from paimon_nb.table.read.predicate.model import Predicate

    Vectors = Mapping[str, DvRef] | None
    """Deletion vectors by data file name."""
    Parts = list[tuple[int, pa.Table]]
    """(level, rows) of runs, with all their rows of the same keys."""

_MIN_ROWS, _MAX_ROWS = 4096, 1 << 17
_MIN_ROWS_PER_SELECTED_ROW = 4
"""A file of fewer rows per selected one is read whole."""

PIECE_BYTES = 64 << 20
"""Of rows that are in memory at a time when a split is read in pieces, about. A smaller split is read at once."""


def read_plan(
    plan: ScanPlan,
    columns: Sequence[str] | None = None,
    *,
    kinds: bool = False,
    sequence: bool = False,
    threads: int | None = None,
) -> pa.Table:
    """All rows of a plan that match its predicate. Splits are read in parallel; their order is kept.

    Args:
        columns: names in result order; None: all columns of the plan's schema.
        kinds: keep retractions, and add each row's kind as last column `_VALUE_KIND` (int8).
        sequence: with `kinds`, of a table with a primary key: also `_SEQUENCE_NUMBER`, before the kind.
    """

    def read_one_split(split: Split) -> pa.Table:
        (rows,) = _read_on_branch(plan.store, split, columns, plan.predicate, kinds=kinds, sequence=sequence)
        return rows

    size = sum(f.file_size for s in plan.splits for f in s.files)
    _prefetch(plan.store, plan.splits)
    parts = map_in_threads(plan.store.fs, read_one_split, plan.splits, size, threads or os.cpu_count() or 1)
    fields = [plan.schema.field(c) for c in columns] if columns is not None else list(plan.schema.fields)
    empty = empty_table([*fields, *system_fields(kinds, sequence)])
    return pa.concat_tables([empty, *parts])


def _prefetch(store: TableStore, splits: Sequence[Split]) -> None:
    """Announce the splits' files to an object store: small ones come side by side, whatever the number of readers."""
    if store.fs.is_object_store:
        store.fs.prefetch(
            (store.data_path(s.partition, s.bucket, f), f.file_size)
            for s in splits
            if s.branch is None
            for f in (*s.before, *s.files)
        )


def iter_plan(plan: ScanPlan, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The rows split by split, for callers that must not hold all of them in memory."""
    for split in plan.splits:
        yield from iter_split(plan.store, split, columns, plan.predicate)


def read_split(
    store: TableStore, split: Split, columns: Sequence[str] | None = None, predicate: Predicate | None = None
) -> pa.Table:
    """The rows of a split in the store's schema, merged, without retractions (but see `Split.changes`).

    Args:
        store: `ScanPlan.store`. columns: names in result order; None: all. predicate: only rows for which it is true
            are returned.

    Raises: SnapshotExpired: during the read. MissingFile, CorruptFile, UnsupportedFormat; ColumnNotFound.
    """
    (rows,) = _read_on_branch(store, split, columns, predicate, kinds=False)
    return rows


def read_split_kinds(
    store: TableStore,
    split: Split,
    columns: Sequence[str] | None = None,
    predicate: Predicate | None = None,
    *,
    sequence: bool = False,
) -> pa.Table:
    """The same with retractions, and each row's kind as last column `_VALUE_KIND` (int8: 0 +I, 1 -U, 2 +U, 3 -D); `sequence`: see `read_plan`."""
    (rows,) = _read_on_branch(store, split, columns, predicate, kinds=True, sequence=sequence)
    return rows


def system_fields(kinds: bool, sequence: bool) -> tuple[DataField, ...]:
    """The last columns of rows that are read: kind, and before it the sequence number."""
    return (*((SEQUENCE_FIELD,) if sequence else ()), *((KIND_FIELD,) if kinds else ()))


def iter_split(
    store: TableStore,
    split: Split,
    columns: Sequence[str] | None = None,
    predicate: Predicate | None = None,
    *,
    piece_bytes: int = PIECE_BYTES,
) -> Generator[pa.Table, None, None]:
    """The rows of `read_split` in pieces. A large split is read and merged in ranges of keys; all files are closed when the
    iterator is.

    Args:
        piece_bytes: of rows in memory at a time, about. A difference of two states (`Split.diff`) is computed at once.
    """
    from paimon_nb.table.read.plan.selectivity import key_share

    names = set(store.schema.names if columns is None else columns)
    size = split_bytes(split, [f for f in store.schema.fields if f.name in names])
    whole = split.diff or size <= piece_bytes or size * key_share(store, [split], predicate) <= piece_bytes
    with closing(
        _read_on_branch(store, split, columns, predicate, kinds=False, piece_bytes=None if whole else piece_bytes)
    ) as rows:
        yield from rows


def _read_on_branch(
    store: TableStore,
    split: Split,
    columns: Sequence[str] | None,
    predicate: Predicate | None,
    *,
    kinds: bool,
    sequence: bool = False,
    piece_bytes: int | None = None,
) -> Generator[pa.Table, None, None]:
    """Tables with the requested rows, at least one; exactly one if `piece_bytes` is None."""
    if split.branch is not None:
        store = store.on_branch(split.branch)
    names = list(store.schema.names if columns is None else columns)
    used = set(names) | (predicate.columns() if predicate is not None else set())
    unknown = used - set(store.schema.names)
    if unknown:
        store.schema.field(min(unknown))  # raises with a did-you-mean
    fields = tuple(f for f in store.schema.fields if f.name in used) or readable_fields(store.schema)[:1]
    early = pushable_predicate(store, split, predicate)
    _prefetch(store, [split])
    row_ids = split.row_ids if predicate is not None else None  # they are those of the plan's condition
    origins = None if split.origins is None else origins_of(store, split.origins)
    files = SplitFiles(store, split.partition, split.bucket, early, piece_bytes, row_ids, split.snapshot_id, origins)
    system = system_fields(kinds, sequence)
    with translate_missing_files(store, split.snapshot_id):
        pieces = _rows_of_split(files, split, fields, kinds, sequence)
        if piece_bytes is None:
            found = [*pieces]
            pieces = iter([pa.concat_tables(found)] if found else [])
        some = False
        referring = store.has_keys and [f for f in fields if f.name in store.inline_blobs]
        for rows in pieces:
            if not kinds and not split.changes and VALUE_KIND in rows.column_names:
                # Changes are emitted one by one: Java too returns -U and -D rows of an increment.
                rows = without_retracts(rows)
            some = True
            result = [*names, *(f.name for f in system)]
            if not referring:
                yield filter_rows(predicate, rows, fields).select(result)
                continue
            for part in selected_rows(store, rows, fields, predicate, _values_at_row_ids, whole=piece_bytes is None):
                yield part.select(result)
        if not some:
            yield empty_table([*(store.schema.field(n) for n in names), *system])


def _rows_of_split(
    files: SplitFiles, split: Split, fields: tuple[DataField, ...], kinds: bool, sequence: bool
) -> Iterator[pa.Table]:
    """The split's rows; with a kind column unless all rows are inserts."""
    store = files.store
    if split.plain_files:
        from paimon_nb.table.read.split.format_table_files import format_table_rows

        for rows in format_table_rows(store, split, fields):
            yield rows.append_column(VALUE_KIND, _insert_kinds(rows.num_rows)) if kinds else rows
    elif not store.has_keys:
        column_files = not split.raw and store.evolves_data
        for rows in (files.column_files if column_files else files.pieces)(split.files, fields, split.deletion_vectors):
            yield rows.append_column(VALUE_KIND, _insert_kinds(rows.num_rows)) if kinds else rows
    elif split.raw and not kinds:
        yield from files.pieces(split.files, fields, split.deletion_vectors)
    elif split.changes:
        yield from files.pieces(split.files, (*fields, *system_fields(True, sequence)), None)
    elif split.diff:
        spec, wide = merge_spec_and_columns(store, None)
        empty = empty_table((*wide, SEQUENCE_FIELD, KIND_FIELD))
        before = pa.concat_tables([empty, *merge_files(files, split.before, wide, split.before_vectors, spec)])
        after = pa.concat_tables([empty, *merge_files(files, split.files, wide, split.deletion_vectors, spec)])
        if not kinds:
            before, after = without_retracts(before), without_retracts(after)
        yield diff_states(before, after, spec, keep_deletes=kinds)
    else:
        spec, wide = merge_spec_and_columns(store, fields)
        system = (SEQUENCE_FIELD, KIND_FIELD) if kinds or split.waiting else ()
        rows_of_bucket = merge_files(files, split.files, wide, split.deletion_vectors, spec, system)
        yield from merge_postponed_rows(files, split, wide, spec, rows_of_bucket) if split.waiting else rows_of_bucket


def _insert_kinds(rows: int) -> pa.Array:
    return from_numpy(np.zeros(rows, np.int8))


def pushable_predicate(store: TableStore, split: Split, predicate: Predicate | None) -> Predicate | None:
    """The conjuncts that can be applied to each file of the split alone."""
    if predicate is not None and not split.raw and store.evolves_data:
        return None  # a file may lack columns of its rows
    if predicate is None or not store.has_keys or (split.raw and not split.diff):
        return predicate
    return conjuncts_on(predicate, set(store.schema.trimmed_primary_keys))


# -- merging


def merge_spec_and_columns(
    store: TableStore, fields: Sequence[DataField] | None
) -> tuple[MergeSpec, tuple[DataField, ...]]:
    """The merge rule, and the columns it needs to produce `fields` (None: all)."""
    schema, options = store.schema, store.options
    spec = MergeSpec.of(schema, options)
    if fields is None or spec.groups:  # the columns of a sequence group depend on others
        return spec, schema.fields
    needed = {f.name for f in fields} | set(schema.primary_keys) | set(options.names(opt.SEQUENCE_FIELD))
    narrow = tuple(f for f in schema.fields if f.name in needed)
    return replace(spec, fields=narrow), narrow


def merge_files(
    files: SplitFiles,
    inputs: Sequence[DataFile],
    fields: tuple[DataField, ...],
    vectors: Vectors,
    spec: MergeSpec,
    system: tuple[DataField, ...] = (SEQUENCE_FIELD, KIND_FIELD),
) -> Iterator[pa.Table]:
    """One row per key in key order, retractions kept. Only sections with overlapping runs are merged.

    Args:
        system: which of sequence number and kind to return. Kinds are always returned if a file may have retractions.
    """
    keys = files.store.schema.key_fields
    need_lookup = files.store.options.need_lookup and files.origins is None  # levels of several partitions tell no age
    # Row by row, an engine needs kind and sequence number.
    inserts_only = not spec.groups and all(f.delete_row_count == 0 for f in inputs)
    if KIND_FIELD not in system and not inserts_only:
        system = (*system, KIND_FIELD)
    returned = (*fields, *system)
    may_order_by_age = not need_lookup and (inserts_only or spec.engine in PICKS_ROWS)
    for section in sections(inputs, key_decoder([f.type for f in keys])):
        if len(section) == 1:
            yield from files.pieces(section[0].files, returned, vectors)
            continue
        runs = _runs_of_section(files, section)
        by_age = oldest_first(runs) if may_order_by_age else None
        wide = returned if by_age or SEQUENCE_FIELD in system else (*fields, SEQUENCE_FIELD, *system)
        for parts in _aligned_parts(files, by_age or runs, wide, vectors):
            tables = drop_superseded(parts, keys) if need_lookup else [t for _, t in parts]
            tables = [t for t in tables if t.num_rows]
            if tables:
                yield merge(tables, spec, drop_delete=False).select([f.name for f in returned])


def _runs_of_section(files: SplitFiles, section: Section) -> list[LevelFiles]:
    if files.piece_bytes is not None and files.origins is None:
        keys = files.store.schema.key_fields
        return runs_of([f for run in section for f in run.files], key_decoder([f.type for f in keys]))
    if files.store.options.need_lookup and files.origins is None:
        return [LevelFiles(f.level, (f,)) for run in section for f in run.files]
    return [LevelFiles(0, run.files) for run in section]


def _aligned_parts(
    files: SplitFiles, runs: Sequence[LevelFiles], fields: tuple[DataField, ...], vectors: Vectors
) -> Iterator[Parts]:
    """Whole runs, or ranges of keys. Each run gets memory by its size, so that all advance over the keys alike."""
    if files.piece_bytes is None:
        yield [(run.level, files.whole(run.files, fields, vectors)) for run in runs]
        return
    sizes = [sum(f.file_size for f in run.files) for run in runs]
    streams = [
        files.pieces(run.files, fields, vectors, size / max(sum(sizes), 1))
        for run, size in zip(runs, sizes, strict=True)
    ]
    try:
        for tables in chunks_aligned_by_key(files.store.schema.key_fields, streams):
            yield [(run.level, t) for run, t in zip(runs, tables, strict=True) if t is not None]
    finally:
        for stream in streams:
            stream.close()  # type: ignore[attr-defined]


def merge_postponed_rows(
    files: SplitFiles, split: Split, fields: tuple[DataField, ...], spec: MergeSpec, real: Iterator[pa.Table]
) -> Iterator[pa.Table]:
    """The merged rows of a real bucket with postponed rows over them. The postponed ones of the bucket are in memory."""
    waiting = _postponed_rows(files.store, split, fields)
    if files.piece_bytes is None:
        wide = (*fields, SEQUENCE_FIELD, KIND_FIELD)
        yield _merge_postponed_over_real(pa.concat_tables([empty_table(wide), *real]), waiting, spec)
        return
    numbers = from_numpy(np.arange(waiting.num_rows, dtype=np.int64))
    numbered = waiting.add_column(waiting.num_columns - 1, SEQUENCE_FIELD.name, numbers)
    order = merge_order(numbered.combine_chunks(), replace(spec, sequence_fields=()))
    ordered = waiting.take(from_numpy(order))  # by key; of one key in the order in which they were written
    for below, above in chunks_aligned_by_key(files.store.schema.key_fields, [real, iter([ordered])]):
        if above is None:
            assert below is not None
            yield below
        else:
            wide = (*fields, SEQUENCE_FIELD, KIND_FIELD)
            yield _merge_postponed_over_real(empty_table(wide) if below is None else below, above, spec)


def _postponed_rows(store: TableStore, split: Split, fields: tuple[DataField, ...]) -> pa.Table:
    """Rows of the postponed files that belong to the split's bucket, in the order in which they were written."""
    keys = [store.schema.field(name) for name in store.schema.bucket_keys]
    read = (*fields, *(k for k in keys if k not in fields), KIND_FIELD)
    waiting = SplitFiles(store, split.partition, POSTPONE_BUCKET)
    function = str(store.options.get(opt.BUCKET_FUNCTION_TYPE))
    parts = [empty_table(read)]
    for rows in waiting.pieces(split.waiting, read, None):
        columns = [rows.column(k.name).combine_chunks() for k in keys]
        if rows.num_rows and split.total_buckets > 1:
            buckets = bucket_of([k.type for k in keys], columns, split.total_buckets, function)
            rows = rows.filter(from_numpy(np.asarray(buckets) == split.bucket))
        parts.append(rows)
    return pa.concat_tables(parts).select([*(f.name for f in fields), VALUE_KIND])


def _merge_postponed_over_real(real: pa.Table, waiting: pa.Table, spec: MergeSpec) -> pa.Table:
    """Waiting rows merged over those of a real bucket: they are newer than all of these."""
    newest = pc.max(real.column(SEQUENCE_NUMBER)).as_py()
    begin = 0 if newest is None else newest + 1
    numbers = from_numpy(np.arange(begin, begin + waiting.num_rows, dtype=np.int64))
    waiting = waiting.add_column(waiting.num_columns - 1, SEQUENCE_FIELD.name, numbers)
    names = real.column_names
    return merge([real, waiting.select(names).cast(real.schema)], spec, drop_delete=False).select(names)


# -- files


@dataclass(frozen=True, slots=True)
class SplitFiles:
    """The files of one bucket; where possible, only their rows that match `early` are read."""

    store: TableStore
    partition: bytes
    bucket: int
    early: Predicate | None = None
    piece_bytes: int | None = None
    """Bytes of rows, about, that are in memory at a time; None: whole files."""
    row_ids: BitMap64 | None = None
    """The row ids outside of which no row is selected; None: any."""
    snapshot_id: int | None = None
    origins: Mapping[str, tuple[TableStore, bytes]] | None = None
    """Branch and partition of each file, by name, if they are not those of the split."""

    def path(self, file: DataFile) -> str:
        """The path of a data file."""
        if self.origins is None:
            return self.store.data_path(self.partition, self.bucket, file)
        store, partition = self.origins[file.file_name]
        return store.data_path(partition, self.bucket, file)

    def _schema_of(self, file: DataFile) -> TableSchema:
        """The schema by which a file was written."""
        store = self.store if self.origins is None else self.origins[file.file_name][0]
        return store.schema_by_id(file.schema_id)

    def whole(self, files: Sequence[DataFile], fields: tuple[DataField, ...], vectors: Vectors) -> pa.Table:
        """All requested rows of the files that no vector deletes, as `fields` of the current schema."""
        everything = replace(self, piece_bytes=None)
        return pa.concat_tables([empty_table(fields), *everything.pieces(files, fields, vectors)])

    def pieces(
        self, files: Sequence[DataFile], fields: tuple[DataField, ...], vectors: Vectors, share: float = 1.0
    ) -> Iterator[pa.Table]:
        """The same piece by piece, in the order of the files and their rows.

        Args:
            share: the fraction of `piece_bytes` for these files, where several streams are read at the same time.
        """
        for file in files:
            vector, piece_rows = (vectors or {}).get(file.file_name), self._rows_per_piece(file, fields, share)
            selected = self._selected_rows(file, vector)
            if selected is None:
                rows = self._pieces_of_file(file, fields, vector, piece_rows)
            else:
                rows = self._rows_of_file_at(file, fields, selected, piece_rows)
            yield from self._readable([file], rows)

    def _readable(self, files: Sequence[DataFile], rows: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """The rows; where the options say so, without those of files that cannot be read."""
        return readable_rows(self.store, files, self.snapshot_id, rows) if self.store.skips_unreadable_files else rows

    def column_files(
        self, files: Sequence[DataFile], fields: tuple[DataField, ...], vectors: Vectors
    ) -> Iterator[pa.Table]:
        """The same for files of the same rows that each hold some of their columns."""
        for group in group_by_row_range(files):
            # One vector per group of files with the same rows.
            vector = (vectors or {}).get(anchor_file(group).file_name)
            yield from self._readable(group, self._rows_of_group(group, fields, vector))

    def _rows_of_group(
        self, group: Sequence[DataFile], fields: tuple[DataField, ...], vector: DvRef | None
    ) -> Iterator[pa.Table]:
        """Rows whose columns are in several files."""
        schema = arrow_schema(fields, nullable=True)
        parts = files_by_column(self.store, group, fields)
        # All files are cut at the same rows, so that their deleted positions are, too.
        files_read = [rows.file for part in parts for rows in part.rows]
        sizes = [r for f in files_read if (r := self._rows_per_piece(f, fields, 1 / len(parts))) is not None]
        selected = self._selected_rows(anchor_file(group), vector)
        streams = [self._column_part(part, vector, min(sizes, default=None), selected) for part in parts]
        for tables in cut_at_same_rows(streams, group):
            columns = {n: c for t in tables for n, c in zip(t.column_names, t.columns, strict=True)}
            yield pa.table({f.name: columns[f.name] for f in fields}, schema=schema)

    def _selected_rows(self, file: DataFile, vector: DvRef | None) -> np.ndarray | None:
        """Positions of the file's selected rows that are not deleted; None: all rows are read, as many of them are selected."""
        if self.row_ids is None or file.first_row_id is None:
            return None
        from paimon_nb.format.index.global_index.row_id_bitmap import row_id_range, row_ids_as_array

        selected = row_ids_as_array(
            self.row_ids & row_id_range(file.first_row_id, file.first_row_id + file.row_count - 1)
        )
        if len(selected) * _MIN_ROWS_PER_SELECTED_ROW > file.row_count:
            return None
        selected = selected - file.first_row_id
        if vector is not None:
            selected = selected[~np.isin(selected, load_deletion_vector(self.store, vector).positions())]
        return selected

    def _column_part(
        self, part: ColumnParts, vector: DvRef | None, piece_rows: int | None, selected: np.ndarray | None
    ) -> Iterator[pa.Table]:
        """Some columns of a group's rows, all or those at the positions `selected`."""
        for rows in part.rows:
            if rows.older or (selected is not None and rows.file.file_name.endswith(".blob")):
                yield from self._pieces_of_blob_files(rows, part.fields, vector, piece_rows, selected)
            elif selected is None:
                yield from self._pieces_of_file(rows.file, part.fields, vector, piece_rows, rows)
            else:
                here = selected - rows.at
                here = here[(here >= rows.begin) & (here < rows.end)]
                yield from self._rows_of_file_at(rows.file, part.fields, here, piece_rows)

    def _pieces_of_blob_files(
        self,
        rows: FileRows,
        fields: tuple[DataField, ...],
        vector: DvRef | None,
        piece_rows: int | None,
        selected: np.ndarray | None,
    ) -> Iterator[pa.Table]:
        """Values of a BLOB column that newer files have for some of the rows only."""
        files = [(self.path(r.file), r.begin) for r in (rows, *rows.older)]
        count, first = rows.end - rows.begin, rows.at + rows.begin
        visible = np.ones(count, dtype=bool)
        if selected is not None:
            visible = np.isin(np.arange(first, first + count), selected)
        elif vector is not None:
            visible = ~load_deletion_vector(self.store, vector).mask(count, first)
        schema = arrow_schema(fields, nullable=True)
        yield pa.table([pa.array([], f.type) for f in schema], schema=schema)
        for values in newest_blobs(
            self.store.fs, files, np.flatnonzero(visible), fields[0], self.store.options, piece_rows or count
        ):
            yield pa.table([values] * len(fields), schema=schema)

    def _rows_per_piece(self, file: DataFile, fields: Sequence[DataField], share: float) -> int | None:
        if self.piece_bytes is None:
            return None
        bytes_each = max(file.file_size * UNPACKED / max(file.row_count, 1), bytes_per_row(fields), 1)
        return int(min(_MAX_ROWS, max(_MIN_ROWS, self.piece_bytes * share / bytes_each)))

    def _pieces_of_file(
        self,
        file: DataFile,
        fields: tuple[DataField, ...],
        vector: DvRef | None,
        piece_rows: int | None,
        only: FileRows | None = None,
    ) -> Iterator[pa.Table]:
        """Rows of a file, all or `only` some. A vector counts the rows of the group that the file belongs to."""
        schema = self._schema_of(file)
        stored = self._stored_fields(file, schema, fields)
        early = None
        if self.early is not None and stored and vector is None:  # which counts rows by their place in the whole file
            early = filter_on_file_columns(self.early, fields, stored, self.store.schema.trimmed_primary_keys)
        deleted = load_deletion_vector(self.store, vector) if vector is not None else None
        position, at = 0, only.at if only is not None else 0
        for rows in self._columns_of_file(file, schema, stored, early, piece_rows):
            begin = position
            position += rows.num_rows
            if only is not None and (only.begin > begin or only.end < position):
                begin = max(begin, only.begin)
                rows = rows.slice(begin - position + rows.num_rows, max(min(position, only.end) - begin, 0))
            visible = rows
            if deleted is not None and rows.num_rows:
                visible = rows.filter(from_numpy(~deleted.mask(rows.num_rows, at + begin)))
            yield from self._with_values(file, self._as_requested(file, visible, stored, fields), fields)

    def _rows_of_file_at(
        self, file: DataFile, fields: tuple[DataField, ...], positions: np.ndarray, piece_rows: int | None
    ) -> Iterator[pa.Table]:
        """The rows of a file at ascending positions."""
        schema = self._schema_of(file)
        stored = self._stored_fields(file, schema, fields)
        if not stored or not len(positions):
            found = iter([pa.table({"": pa.nulls(len(positions))}) if not stored else empty_table(stored)])
        else:
            path, columns = self.path(file), [f.name for f in stored]
            fields_of_file = self._fields_of_file(schema, stored)
            found = iter_rows_at(
                self.store.fs, path, fields_of_file, columns, positions, piece_rows, self.store.options, file.row_count
            )
        for rows in found:
            yield from self._with_values(file, self._as_requested(file, rows, stored, fields), fields)

    def _with_values(self, file: DataFile, rows: pa.Table, fields: tuple[DataField, ...]) -> Iterator[pa.Table]:
        """The rows with the values that BLOB columns refer to. The values of `.blob` files are read already."""
        if self.store.has_keys or all(f.type.root != "BLOB" for f in fields) or file.file_name.endswith(".blob"):
            yield rows
        else:
            yield from with_referenced_values(self.store, rows, fields, _values_at_row_ids)

    def _fields_of_file(self, schema: TableSchema, stored: Sequence[DataField]) -> Sequence[DataField]:
        """The columns that a read may name. Without a primary key: the table's, in file order, as CSV is read by position."""
        plain = not self.store.has_keys and {f.name for f in stored} <= set(schema.names)
        return schema.fields if plain else schema_and_system(schema)

    def _stored_fields(self, file: DataFile, schema: TableSchema, fields: Sequence[DataField]) -> list[DataField]:
        """Those of the fields that a file holds, as it was written."""
        field_ids = {f.id for f in fields}
        held: Sequence[DataField] = schema.fields
        if self.origins is not None:  # its rows are in another partition now
            held = [f for f in held if f.name not in self.store.schema.partition_keys]
        elif self.store.schema.partition_keys:
            held = fields_in_file(self.store, file, held)
        stored = [f for f in (*held, SEQUENCE_FIELD, KIND_FIELD) if f.id in field_ids]
        if file.write_cols is not None:
            stored = [f for f in stored if f.name in file.write_cols or f.id > 1 << 30]
        return stored

    def _as_requested(
        self, file: DataFile, rows: pa.Table, stored: Sequence[DataField], fields: tuple[DataField, ...]
    ) -> pa.Table:
        """Rows of a file in the columns and types that are requested."""
        if not stored:
            schema = arrow_schema(fields, nullable=True)
            found = pa.table([pa.nulls(rows.num_rows, f.type) for f in arrow_schema(fields)], schema=schema)
        else:
            found = rows_as_read_fields(rows, stored, fields)
        if self.store.schema.partition_keys:
            return with_partition_columns(self.store, self.partition, None if self.origins is not None else file, found)
        return found

    def _columns_of_file(
        self,
        file: DataFile,
        schema: TableSchema,
        stored: Sequence[DataField],
        early: RowFilter | None,
        piece_rows: int | None,
    ) -> Iterator[pa.Table]:
        """A file's own columns."""
        if not stored:
            if (
                self.store.skips_unreadable_files and schema.fields
            ):  # the number of rows alone does not show that the file can be read
                read_data_file(
                    self.store.fs, self.path(file), schema.fields,
                    [schema.fields[0].name], options=self.store.options, row_count=file.row_count,
                )  # fmt: skip
            for begin in range(0, file.row_count, piece_rows or max(file.row_count, 1)):
                yield pa.table({"": pa.nulls(min(piece_rows or file.row_count, file.row_count - begin))})
            return
        path = self.path(file)
        fields, columns = self._fields_of_file(schema, stored), [f.name for f in stored]
        options = self.store.options
        if piece_rows is None or (early is not None and early.points):  # of one value there are few rows
            yield read_data_file(
                self.store.fs, path, fields, columns, options=options, keep=early, row_count=file.row_count
            )
            return
        for batch in iter_data_file(
            self.store.fs, path, fields, columns, piece_rows, options=options, keep=early, row_count=file.row_count
        ):
            yield pa.Table.from_batches([batch])


def _values_at_row_ids(store: TableStore, field: DataField, row_ids: Sequence[int]) -> dict[int, bytes | None]:
    """The latest values of a column at ascending row ids, those of rows that exist."""
    ids = np.array(row_ids, np.int64)
    found: dict[int, bytes | None] = {}
    for split in plan_scan(store).splits:
        for group in group_by_row_range(split.files):
            anchor = anchor_file(group)
            if anchor.first_row_id is None:
                continue
            first = anchor.first_row_id
            here = ids[(ids >= first) & (ids < first + anchor.row_count)]
            if not len(here):
                continue
            vector = (split.deletion_vectors or {}).get(anchor.file_name)
            if vector is not None:
                here = here[~np.isin(here - first, load_deletion_vector(store, vector).positions())]
            files = SplitFiles(store, split.partition, split.bucket)
            rows = pa.concat_tables([empty_table([field]), *files.column_files(group, (field,), None)])
            values = rows.column(0).take(from_numpy(here - first)).to_pylist()
            found.update(zip(here.tolist(), values, strict=True))
    return found


def schema_and_system(schema: TableSchema) -> tuple[DataField, ...]:
    """Columns by which a data file can be asked: the table's, sequence number and kind."""
    return (*schema.fields, SEQUENCE_FIELD, KIND_FIELD)


def load_deletion_vector(store: TableStore, ref: DvRef) -> DeletionVector:
    """A data file's deleted positions. Raises `MissingFile`, `CorruptFile`."""
    return read_deletion_vector(store.fs, ref.path, ref.offset, ref.length, ref.cardinality)
