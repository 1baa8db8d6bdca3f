"""Reads splits: rows of files, deletion vectors applied by position, versions merged, evolved to the schema.

A condition on key columns is the same for all versions of a row, so it is always pushed into the file readers. Any other
condition is pushed only if the stored rows are the result rows.
Source: docs/spec/format.md section 14 (Paimon `MergeFileSplitRead`, `RawFileSplitRead`, `IncrementalDiffSplitRead`).
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.data import KIND_FIELD, SEQUENCE_FIELD, SEQUENCE_NUMBER, VALUE_KIND, RowFilter, read_data_file
from paimon_nb.format.data.schema_evolution import evolve
from paimon_nb.format.index import DeletionVector, read_deletion_vector
from paimon_nb.format.row import bucket_of
from paimon_nb.format.schema import TableSchema, readable_fields
from paimon_nb.format.types import DataField, VarChar, arrow_schema
from paimon_nb.format.types.arrow_builders import from_numpy, no_rows
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.levels import key_decoder, sections
from paimon_nb.table.lsm.superseded import without_older_results
from paimon_nb.table.merge import PICKS_ROWS, MergeSpec, merge
from paimon_nb.table.merge.merge import without_retracts
from paimon_nb.table.migrated_files import in_file, with_partition
from paimon_nb.table.scan.plan.prune import file_schema
from paimon_nb.table.scan.plan.time_travel import translate_missing_files
from paimon_nb.table.scan.predicate.evaluate import evaluate, keep
from paimon_nb.table.scan.predicate.model import Compare, In, Predicate, conjuncts, only_on
from paimon_nb.table.scan.read.bucket_diff import diff_states
from paimon_nb.table.scan.read.data_evolution import anchor, holders, same_rows
from paimon_nb.table.store import POSTPONE_BUCKET, TableStore, side_by_side

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.format.data.pushdown import Span
    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.scan.plan.snapshot_scan import DvRef, ScanPlan, Split


def read_plan(
    plan: ScanPlan, columns: Sequence[str] | None = None, *, kinds: bool = False, threads: int | None = None
) -> pa.Table:
    """All rows of a plan that match its predicate. Splits are read in parallel; their order is kept.

    Args:
        columns: names in result order; None: all columns of the plan's schema.
        kinds: keep retractions, and add each row's kind as last column `_VALUE_KIND` (int8).
    """
    read = read_split_kinds if kinds else read_split

    def one(split: Split) -> pa.Table:
        return read(plan.store, split, columns, plan.predicate)

    size = sum(f.file_size for s in plan.splits for f in s.files)
    parts = side_by_side(plan.store.fs, one, plan.splits, size, threads or os.cpu_count() or 1)
    fields = [plan.schema.field(c) for c in columns] if columns is not None else list(plan.schema.fields)
    empty = no_rows([*fields, KIND_FIELD] if kinds else fields)
    return pa.concat_tables([empty, *parts])


def iter_plan(plan: ScanPlan, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """The rows split by split, for callers that must not hold all of them in memory."""
    for split in plan.splits:
        yield read_split(plan.store, split, columns, plan.predicate)


def read_split(
    store: TableStore, split: Split, columns: Sequence[str] | None = None, predicate: Predicate | None = None
) -> pa.Table:
    """The rows of a split in the store's schema, merged, without retractions (but see `Split.changes`).

    Args:
        store: `ScanPlan.store`. columns: names in result order; None: all. predicate: only rows for which it is true
            are returned.

    Raises: SnapshotExpired: during the read. MissingFile, CorruptFile, UnsupportedFormat; ColumnNotFound.
    """
    return _read(store, split, columns, predicate, kinds=False)


def read_split_kinds(
    store: TableStore, split: Split, columns: Sequence[str] | None = None, predicate: Predicate | None = None
) -> pa.Table:
    """The same with retractions, and each row's kind as last column `_VALUE_KIND` (int8: 0 +I, 1 -U, 2 +U, 3 -D)."""
    return _read(store, split, columns, predicate, kinds=True)


def _read(
    store: TableStore, split: Split, columns: Sequence[str] | None, predicate: Predicate | None, *, kinds: bool
) -> pa.Table:
    if split.branch is not None:
        store = store.on_branch(split.branch)
    with translate_missing_files(store, split.snapshot_id):
        return _read_here(store, split, columns, predicate, kinds=kinds)


def _read_here(
    store: TableStore, split: Split, columns: Sequence[str] | None, predicate: Predicate | None, *, kinds: bool
) -> pa.Table:
    names = list(store.schema.names if columns is None else columns)
    used = set(names) | (predicate.columns() if predicate is not None else set())
    unknown = used - set(store.schema.names)
    if unknown:
        store.schema.field(min(unknown))  # raises with a did-you-mean
    fields = tuple(f for f in store.schema.fields if f.name in used) or readable_fields(store.schema)[:1]
    files = _Files(store, split.partition, split.bucket, pushable_predicate(store, split, predicate))
    rows = _rows(files, split, fields, kinds)
    if not kinds and not split.changes and VALUE_KIND in rows.column_names:
        rows = without_retracts(rows)  # changes are emitted one by one: Java too returns -U and -D rows of an increment
    rows = keep(predicate, rows, fields)
    return rows.select([*names, VALUE_KIND] if kinds else names)


def _rows(files: _Files, split: Split, fields: tuple[DataField, ...], kinds: bool) -> pa.Table:
    """The split's rows; with a kind column unless all rows are inserts."""
    store = files.store
    if not store.has_keys:
        column_files = not split.raw and store.evolves_data
        rows = (files.column_files if column_files else files.plain)(split.files, fields, split.deletion_vectors)
        return rows.append_column(VALUE_KIND, _inserts(rows.num_rows)) if kinds else rows
    if split.raw and not kinds:
        return files.plain(split.files, fields, split.deletion_vectors)
    if split.changes:
        return files.plain(split.files, (*fields, KIND_FIELD), None)
    if split.diff:
        spec, wide = _merging(store, None)
        before = _merged(files, split.before, wide, split.before_vectors, spec)
        after = _merged(files, split.files, wide, split.deletion_vectors, spec)
        if not kinds:
            before, after = without_retracts(before), without_retracts(after)
        return diff_states(before, after, spec, keep_deletes=kinds)
    spec, wide = _merging(store, fields)
    rows = _merged(files, split.files, wide, split.deletion_vectors, spec)
    return _over(rows, _waiting_rows(store, split, wide), spec) if split.waiting else rows


def _waiting_rows(store: TableStore, split: Split, fields: tuple[DataField, ...]) -> pa.Table:
    """Rows of the postponed files that belong to the split's bucket, in the order in which they were written."""
    keys = [store.schema.field(name) for name in store.schema.bucket_keys]
    waiting = _Files(store, split.partition, POSTPONE_BUCKET)
    rows = waiting.plain(split.waiting, (*fields, *(k for k in keys if k not in fields), KIND_FIELD), None)
    function = str(store.options.get(opt.BUCKET_FUNCTION_TYPE))
    columns = [rows.column(k.name).combine_chunks() for k in keys]
    if rows.num_rows and split.total_buckets > 1:
        buckets = bucket_of([k.type for k in keys], columns, split.total_buckets, function)
        rows = rows.filter(from_numpy(np.asarray(buckets) == split.bucket))
    return rows.select([*(f.name for f in fields), VALUE_KIND])


def _over(real: pa.Table, waiting: pa.Table, spec: MergeSpec) -> pa.Table:
    """Waiting rows merged over those of a real bucket: they are newer than all of these."""
    newest = pc.max(real.column(SEQUENCE_NUMBER)).as_py()
    begin = 0 if newest is None else newest + 1
    numbers = from_numpy(np.arange(begin, begin + waiting.num_rows, dtype=np.int64))
    waiting = waiting.add_column(waiting.num_columns - 1, SEQUENCE_FIELD.name, numbers)
    names = real.column_names
    return merge([real, waiting.select(names).cast(real.schema)], spec, drop_delete=False).select(names)


def _merging(store: TableStore, fields: Sequence[DataField] | None) -> tuple[MergeSpec, tuple[DataField, ...]]:
    """The merge rule, and the columns it needs to produce `fields` (None: all)."""
    schema, options = store.schema, store.options
    if fields is None or options.merge_engine not in PICKS_ROWS:  # every column that others depend on must be read
        return MergeSpec.of(schema, options), schema.fields
    needed = {f.name for f in fields} | set(schema.primary_keys) | set(options.names(opt.SEQUENCE_FIELD))
    narrow = tuple(f for f in schema.fields if f.name in needed)
    return replace(MergeSpec.of(schema, options), fields=narrow), narrow


def _merged(
    files: _Files,
    inputs: Sequence[DataFile],
    fields: tuple[DataField, ...],
    vectors: Mapping[str, DvRef] | None,
    spec: MergeSpec,
) -> pa.Table:
    """One row per key, kinds kept. Only sections with overlapping runs are merged."""
    wide = (*fields, SEQUENCE_FIELD, KIND_FIELD)
    parts = [no_rows(wide)]
    key = key_decoder([f.type for f in files.store.schema.key_fields])
    single: list[DataFile] = []
    for section in sections(inputs, key):
        if len(section) == 1:
            single += section[0].files
            continue
        if files.store.options.need_lookup:
            by_level = [(f.level, files.plain([f], wide, vectors)) for run in section for f in run.files]
            runs = without_older_results(by_level, files.store.schema.key_fields)
        else:
            runs = [files.plain(run.files, wide, vectors) for run in section]
        runs = [r for r in runs if r.num_rows]
        if runs:
            parts.append(merge(runs, spec, drop_delete=False).select([f.name for f in wide]))
    if single:
        parts.append(files.plain(single, wide, vectors))
    return pa.concat_tables(parts)


class _Files:
    """Rows of one bucket's files, file by file; where possible, only those that match `early`."""

    def __init__(self, store: TableStore, partition: bytes, bucket: int, early: Predicate | None = None) -> None:
        self.store, self.partition, self.bucket, self.early = store, partition, bucket, early

    def plain(
        self, files: Sequence[DataFile], fields: tuple[DataField, ...], vectors: Mapping[str, DvRef] | None
    ) -> pa.Table:
        """All requested rows of the files that no vector deletes, as `fields` of the current schema."""
        parts = [no_rows(fields)]
        parts += [self._one(f, fields, (vectors or {}).get(f.file_name)) for f in files]
        return pa.concat_tables(parts)

    def column_files(
        self, files: Sequence[DataFile], fields: tuple[DataField, ...], vectors: Mapping[str, DvRef] | None
    ) -> pa.Table:
        """The same for files of the same rows that each hold some of their columns."""
        parts = [no_rows(fields)]
        for group in same_rows(files):
            columns: dict[str, pa.ChunkedArray] = {}
            vector = (vectors or {}).get(anchor(group).file_name)  # one vector per group of files with the same rows
            for file, part in holders(self.store, group, fields):
                rows = self._one(file, part, vector)
                columns |= dict(zip(rows.column_names, rows.columns, strict=True))
            parts.append(pa.table({f.name: columns[f.name] for f in fields}, schema=parts[0].schema))
        return pa.concat_tables(parts)

    def _one(self, file: DataFile, fields: tuple[DataField, ...], vector: DvRef | None) -> pa.Table:
        schema = file_schema(self.store, file.schema_id)
        field_ids = {f.id for f in fields}
        partitioned = bool(self.store.schema.partition_keys)
        held = in_file(self.store, file, schema.fields) if partitioned else schema.fields
        stored = [f for f in (*held, SEQUENCE_FIELD, KIND_FIELD) if f.id in field_ids]
        if file.write_cols is not None:
            stored = [f for f in stored if f.name in file.write_cols or f.id > 1 << 30]
        path = self.store.data_path(self.partition, self.bucket, file)
        if stored:
            early = None
            if self.early is not None and vector is None:  # which counts rows by their place in the whole file
                early = file_filter(self.early, fields, stored, self.store.schema.trimmed_primary_keys)
            columns = [f.name for f in stored]
            rows = read_data_file(self.store.fs, path, schema_and_system(schema), columns, keep=early)
        else:
            rows = _no_columns(file.row_count)
        if vector is not None:
            deleted = load_vector(self.store, vector).mask(rows.num_rows)
            rows = rows.filter(from_numpy(~deleted))
        if not stored:
            rows = pa.table(
                [pa.nulls(rows.num_rows, f.type) for f in arrow_schema(fields)],
                schema=arrow_schema(fields, nullable=True),
            )
        else:
            rows = evolve(rows, stored, fields)
        return with_partition(self.store, self.partition, file, rows) if partitioned else rows


def schema_and_system(schema: TableSchema) -> tuple[DataField, ...]:
    """Columns by which a data file can be asked: the table's, sequence number and kind."""
    return (*schema.fields, SEQUENCE_FIELD, KIND_FIELD)


def load_vector(store: TableStore, ref: DvRef) -> DeletionVector:
    """A data file's deleted positions. Raises `MissingFile`, `CorruptFile`."""
    return read_deletion_vector(store.fs, ref.path, ref.offset, ref.length)


def _no_columns(rows: int) -> pa.Table:
    return pa.table({"": pa.nulls(rows)})


def _inserts(rows: int) -> pa.Array:
    return from_numpy(np.zeros(rows, np.int8))


_WHOLE = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"})


def pushable_predicate(store: TableStore, split: Split, predicate: Predicate | None) -> Predicate | None:
    """The conjuncts that can be applied to each file of the split alone."""
    if predicate is not None and not split.raw and store.evolves_data:
        return None  # a file may lack columns of its rows
    if predicate is None or not store.has_keys or (split.raw and not split.diff):
        return predicate
    return only_on(predicate, set(store.schema.trimmed_primary_keys))


def file_filter(
    condition: Predicate, fields: Sequence[DataField], stored: Sequence[DataField], keys: Sequence[str] = ()
) -> RowFilter | None:
    """The condition on a file's own columns; None if the file lacks some of them or stores them in another type.

    Args:
        condition: bound to `fields`. fields: columns of the current schema. stored: those that will be read from the
            file.
            keys: what the file is sorted by.
    """
    in_file = {f.id: f for f in stored}
    used = [f for f in fields if f.name in condition.columns()]
    names: dict[str, str] = {}
    for f in used:
        old = in_file.get(f.id)
        if old is None or old.type.with_nullable(True) != f.type.with_nullable(True):
            return None
        names[f.name] = old.name
    if not names:
        return None

    def mask(rows: pa.Table) -> Any:
        return evaluate(condition, rows.rename_columns(list(names)), used)

    bounds = {names[c]: s for c, s in spans(condition, used).items()}
    sorted_by = names.get(keys[0]) if keys else None
    return RowFilter(tuple(names.values()), mask, bounds, _one_value_each(condition, used), sorted_by)


def _one_value_each(condition: Predicate, fields: Sequence[DataField]) -> bool:
    """Whether the condition is exactly one integer per field: then the spans are exact."""
    parts, roots = conjuncts(condition), {f.name: f.type.root for f in fields}
    return len(parts) == len(fields) and all(
        isinstance(p, Compare) and p.op == "=" and type(p.literal) is int and roots[p.column] in _WHOLE for p in parts
    )


def spans(condition: Predicate, fields: Sequence[DataField]) -> dict[str, Span]:
    """Bounds of the matching values of integer and text columns; equal to the conjuncts, or wider."""
    types = {f.name: f.type for f in fields}
    out: dict[str, Span] = {}
    for part in conjuncts(condition):
        match part:
            case Compare(column, op, literal) if op != "<>":
                values = [literal]
            case In(column, literals) if literals:
                op, values = "=", list(literals)
            case _:
                continue
        kind = int if types[column].root in _WHOLE else str if isinstance(types[column], VarChar) else None
        if kind is None or any(not isinstance(v, kind) or isinstance(v, bool) for v in values):
            continue
        low, high = out.get(column, (None, None))
        if op in ("=", ">", ">="):
            low = min(values) if low is None else max(low, min(values))
        if op in ("=", "<", "<="):
            high = max(values) if high is None else min(high, max(values))
        out[column] = (low, high)
    return out
