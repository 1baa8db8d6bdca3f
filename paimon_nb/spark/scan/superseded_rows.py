"""Computes the hidden rows of a split's files from the key columns only, in the driver or, of many rows, in tasks. The results are
cached in the driver.

A row is hidden if a deletion vector marks it, if a newer row has its key, or if it is a retraction. If the merge engine
creates a new row from several, those are all hidden, and the new row is returned separately.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import SEQUENCE_NUMBER, kv_columns, read_data_file
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.file_cache import FileCache
from paimon_nb.format.index import read_deletion_vectors
from paimon_nb.format.manifest import DataFile, DvRange
from paimon_nb.spark.jobs.task_runner import run_in_tasks, run_in_threads
from paimon_nb.spark.scan.superseded_rows_delta import by_file, hidden_rows_with_new_files
from paimon_nb.table.lsm.levels import key_decoder
from paimon_nb.table.merge import PICKS_ROWS, MergeSpec, merge, remaining_rows
from paimon_nb.table.merge.groups import group_ends, group_starts, merge_order
from paimon_nb.table.merge.merge import retraction_mask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession

    from paimon_nb.format.types import DataField
    from paimon_nb.table.scan.plan.snapshot_scan import Split
    from paimon_nb.table.store import TableStore

CACHE_BYTES = 64 << 20
"""Size of the cache of hidden rows, including merged rows."""
_KEY_BYTES = 128 << 20
"""Size of the cache of decoded key columns, for the masks of later snapshots."""
_MAX_NEW = 8
"""Maximum number of new files for which the cached hidden rows of a split are updated."""


@dataclass(frozen=True)
class HiddenRows:
    """The hidden rows of some files."""

    rows: Mapping[str, np.ndarray]
    """File name -> bool per physical row, True = hidden. Without files that have no hidden rows."""
    merged: tuple[pa.Table, ...] = field(default=())
    """Rows that the merge engine created, with the table's columns."""


def creates_rows(store: TableStore) -> bool:
    """Whether merging creates rows that are in no file."""
    return store.has_keys and MergeSpec.of(store.schema, store.options).engine not in PICKS_ROWS


def hidden_rows_of(
    store: TableStore, splits: Sequence[Split], spark: SparkSession | None = None, driver_rows: int = 0
) -> HiddenRows:
    """Hidden rows of all splits, cached per split: data files never change.

    Args:
        spark: computes splits that are not cached in tasks if they have more than `driver_rows` rows; None: always here.
    """
    rows: dict[str, np.ndarray] = {}
    merged: list[pa.Table] = []
    known = [_CACHE.get(split_key(store, split)) for split in splits]
    unknown = [split for split, found in zip(splits, known, strict=True) if found is None]
    compute = partial(_packed_hidden_rows, store)
    if spark is not None and sum(split.row_count for split in unknown) > driver_rows:
        computed = iter(run_in_tasks(spark, unknown, [s.size for s in unknown], compute))
    else:
        computed = iter(run_in_threads(compute, unknown))
    for split, found in zip(splits, known, strict=True):
        if found is None:
            found = next(computed)
            _CACHE.put(split_key(store, split), found)
        rows.update(_unpack_bits(found))
        merged += found.merged
    return HiddenRows(rows, tuple(merged))


def _packed_hidden_rows(store: TableStore, split: Split) -> _PackedRows:
    return _pack_bits(_hidden_rows(store, split))


def _hidden_rows(store: TableStore, split: Split) -> HiddenRows:
    updated = None if split.raw or split.deletion_vectors else _hidden_rows_from_cached_split(store, split)
    if updated is not None:
        return HiddenRows(updated)
    rows = _deleted_by_vectors(store, split)
    return HiddenRows(rows) if split.raw else _superseded_by_merge(store, split, rows)


def _hidden_rows_from_cached_split(store: TableStore, split: Split) -> dict[str, np.ndarray] | None:
    """Computed from the cached result for the split without its newest files; None if there is none."""
    by_age = sorted(split.files, key=lambda f: f.min_sequence)
    spec = MergeSpec.of(store.schema, store.options)
    fields = [store.schema.field(n) for n in spec.keys]
    for more in range(1, min(_MAX_NEW, len(by_age) - 1) + 1):
        new = by_age[-more:]
        old = tuple(f for f in split.files if f not in new)
        for raw in (False, True):
            found = _CACHE.get(split_key(store, replace(split, files=old, raw=raw)))
            if found is not None:
                rows = partial(_read_keys_cached, store, split, fields=fields, sequence=_overlap_in_age(store, new))
                return hidden_rows_with_new_files(_unpack_bits(found), old, new, rows, spec)
    return None


def _deleted_by_vectors(store: TableStore, split: Split) -> dict[str, np.ndarray]:
    """Rows hidden by deletion vectors."""
    refs = split.deletion_vectors or {}
    ranges: dict[str, list[DvRange]] = {}
    for name, ref in refs.items():
        ranges.setdefault(ref.path, []).append(DvRange(name, ref.offset, ref.length, ref.cardinality))
    counts = {f.file_name: f.row_count for f in split.files}
    return {
        name: vector.mask(counts[name])
        for path, key_range in ranges.items()
        for name, vector in read_deletion_vectors(store.fs, path, key_range).items()
        if len(vector)
    }


def _superseded_by_merge(store: TableStore, split: Split, deleted: Mapping[str, np.ndarray]) -> HiddenRows:
    spec = MergeSpec.of(store.schema, store.options)
    names = list(dict.fromkeys([*spec.keys, *spec.sequence_fields]))
    fields = [store.schema.field(n) for n in names]
    tables, owners = [], []
    files = sorted(split.files, key=lambda f: f.min_sequence)  # oldest first, so that rows of one key are in order
    sequence = _overlap_in_age(store, files)
    for number, file in enumerate(files):
        table = _read_keys_cached(store, split, file, fields, sequence)
        owners.append(np.full(table.num_rows, number, np.int32))
        tables.append(table)
    kv = pa.concat_tables(tables).combine_chunks()
    owner = np.concatenate(owners) if owners else np.zeros(0, np.int32)
    starts = np.cumsum([0, *(t.num_rows for t in tables)])
    superseded = np.zeros(kv.num_rows, bool)
    for number, file in enumerate(files):
        if file.file_name in deleted:
            superseded[starts[number] : starts[number + 1]] = deleted[file.file_name]
    alive = np.flatnonzero(~superseded)
    seen = kv if len(alive) == kv.num_rows else kv.take(pa.array(alive))
    visible = np.zeros(kv.num_rows, bool)
    overlapping = np.zeros(0, np.int64)
    if spec.engine in PICKS_ROWS:
        visible[alive[remaining_rows(seen, spec)]] = True
    else:
        single, overlapping = _single_and_overlapping_rows(seen, spec)
        visible[alive[single]] = True
        overlapping = alive[overlapping]
    rows = by_file(files, ~visible, starts)
    merged = _merge_overlapping(store, split, spec, files, overlapping, owner, starts)
    return HiddenRows(rows, (merged,) if merged is not None else ())


def _overlap_in_age(store: TableStore, files: Sequence[DataFile]) -> bool:
    """Whether files, oldest first, overlap in sequence numbers and in keys: then sequence numbers must be compared row by row."""
    decode = key_decoder([f.type for f in store.schema.key_fields])
    older: list[DataFile] = []
    for new in files:
        older = [f for f in older if f.max_sequence >= new.min_sequence]
        if any(decode(f.min_key) <= decode(new.max_key) and decode(new.min_key) <= decode(f.max_key) for f in older):
            return True
        older.append(new)
    return False


def _single_and_overlapping_rows(kv: pa.Table, spec: MergeSpec) -> tuple[np.ndarray, np.ndarray]:
    """(rows whose key is unique and that are visible, rows that the engine must merge)."""
    if spec.ignore_delete:
        surviving = np.flatnonzero(~retraction_mask(kv))
        single, overlapping = _single_and_overlapping_rows(kv.take(pa.array(surviving)), _without_ignore(spec))
        return surviving[single], surviving[overlapping]
    order = merge_order(kv, spec)
    starts = group_starts(kv.select(list(spec.keys)).take(pa.array(order)), spec.keys)
    ends = group_ends(starts, len(order))
    alone = np.zeros(len(order), bool)
    alone[starts[starts == ends]] = True
    # A row with a unique key is not merged: it is visible, or it is a retraction without a row.
    return order[alone & ~retraction_mask(kv)[order]], np.sort(order[~alone])


def _without_ignore(spec: MergeSpec) -> MergeSpec:
    return replace(spec, ignore_delete=False)


def _merge_overlapping(
    store: TableStore,
    split: Split,
    spec: MergeSpec,
    files: Sequence[DataFile],
    overlapping: np.ndarray,
    owner: np.ndarray,
    starts: np.ndarray,
) -> pa.Table | None:
    """Merge the rows at the positions `overlapping`. Reads all columns of the files that contain them.

    `owner`: index of the file of each position. `starts`: first position of each file.
    """
    if not len(overlapping):
        return None
    runs = []
    for number in np.unique(owner[overlapping]):
        positions = overlapping[owner[overlapping] == number] - starts[number]
        table = _read_columns(store, split, files[number], store.schema.fields)
        runs.append(table.take(pa.array(positions)))
    return merge(runs, spec, drop_delete=True).select(list(store.schema.names))


def _read_keys_cached(
    store: TableStore, split: Split, file: DataFile, fields: Sequence[DataField], sequence: bool
) -> pa.Table:
    """`_read_columns` of key columns, cached: the next snapshot has mostly the same files."""
    path = store.data_path(split.partition, split.bucket, file)
    part = (store.schema.id, tuple(fields), sequence)
    return _DECODED.get(
        store.fs, path, lambda: _read_columns(store, split, file, fields, sequence), lambda t: int(t.nbytes) + 500, part
    )


def _read_columns(
    store: TableStore, split: Split, file: DataFile, fields: Sequence[DataField], sequence: bool = True
) -> pa.Table:
    """Some columns of one file in the current schema, with row kind and, if `sequence`, sequence number."""
    schema = store.schema if file.schema_id == store.schema.id else store.schemas.get(file.schema_id)
    key_range = [f for f in kv_columns(tuple(fields)) if sequence or f.name != SEQUENCE_NUMBER]
    ids = {f.id for f in key_range}
    stored = [f for f in kv_columns(schema.fields) if f.id in ids]
    path = store.data_path(split.partition, split.bucket, file)
    table = read_data_file(store.fs, path, kv_columns(schema.fields), [f.name for f in stored])
    return rows_as_read_fields(table, stored, key_range)


# -- cache


@dataclass(frozen=True)
class _PackedRows:
    bits: Mapping[str, tuple[np.ndarray, int]]
    merged: tuple[pa.Table, ...]

    @property
    def size(self) -> int:
        return sum(b.nbytes for b, _ in self.bits.values()) + sum(int(t.nbytes) for t in self.merged) + 200


def _pack_bits(hidden: HiddenRows) -> _PackedRows:
    return _PackedRows({n: (np.packbits(r, bitorder="little"), len(r)) for n, r in hidden.rows.items()}, hidden.merged)


def _unpack_bits(found: _PackedRows) -> dict[str, np.ndarray]:
    return {
        name: np.unpackbits(bits, count=count, bitorder="little").astype(bool)
        for name, (bits, count) in found.bits.items()
    }


def split_key(store: TableStore, split: Split) -> tuple[object, ...]:
    """The cache key of a split: everything that its rows depend on."""
    # Names of data files are never reused; options and schema determine how they merge.
    vectors = tuple(sorted((name, str(ref)) for name, ref in (split.deletion_vectors or {}).items()))
    options = tuple(sorted(store.schema.options.items()))
    return (store.root, store.schema.id, options, tuple(f.file_name for f in split.files), split.raw, vectors)


class _Cache:
    """A least-recently-used cache with a limit in bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._cache: OrderedDict[tuple[object, ...], _PackedRows] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[object, ...]) -> _PackedRows | None:
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
            return self._cache.get(key)

    def put(self, key: tuple[object, ...], value: _PackedRows) -> None:
        with self._lock:
            if key in self._cache or value.size > self.limit // 2:
                return
            self._cache[key] = value
            self.used += value.size
            while self.used > self.limit:
                _, old = self._cache.popitem(last=False)
                self.used -= old.size


_CACHE = _Cache(CACHE_BYTES)
_DECODED = FileCache(_KEY_BYTES)
