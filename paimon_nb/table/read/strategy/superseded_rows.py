"""Computes the hidden rows of a split's files from the key columns only, in the driver or, of many rows, in tasks. The results are
cached in the driver.

A row is hidden if a deletion vector marks it, if a newer row has its key, or if it is a retraction. If the merge engine
creates a new row from several, those are all hidden. The new rows are computed with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.threads import run_in_threads
from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND, kv_columns, read_data_file
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.index import read_deletion_vectors
from paimon_nb.format.manifest import DataFile, DvRange
from paimon_nb.format.types.arrow_builders import empty_table, from_numpy
from paimon_nb.fs.file_cache import FileCache, LruCache
from paimon_nb.table.lsm.levels import key_decoder
from paimon_nb.table.lsm.merge import PICKS_ROWS, MergeSpec, lone_rows, merge, remaining_rows
from paimon_nb.table.lsm.superseded import drop_superseded
from paimon_nb.table.read.strategy.superseded_rows_delta import (
    by_file,
    concat_with_kinds,
    hidden_rows_of_dense_keys,
    hidden_rows_with_new_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.store import TableStore

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
    """File name -> bool per physical row, True = hidden, unpacked on access. Without files that have no hidden rows."""
    merged: tuple[pa.Table, ...] = field(default=())
    """Rows that the merge engine created, with the table's columns."""


def creates_rows(store: TableStore) -> bool:
    """Whether merging creates rows that are in no file."""
    return store.has_keys and MergeSpec.of(store.schema, store.options).engine not in PICKS_ROWS


InTasks: TypeAlias = "Callable[[Sequence[Split], Sequence[int], Callable[[Split], Any]], Iterable[Any]]"
"""Runs a function on pieces of these sizes in tasks of an engine; results in order."""


def hidden_rows_of(
    store: TableStore, splits: Sequence[Split], in_tasks: InTasks | None = None, driver_rows: int = 0
) -> HiddenRows:
    """Hidden rows of all splits, cached per split: data files never change.

    Args:
        in_tasks: computes splits that are not cached in tasks if they have more than `driver_rows` rows; None: always here.
    """
    bits: dict[str, tuple[np.ndarray, int]] = {}
    merged: list[pa.Table] = []
    known = [_CACHE.get(split_key(store, split)) for split in splits]
    unknown = [split for split, found in zip(splits, known, strict=True) if found is None]
    compute = partial(_packed_hidden_rows, store)
    if in_tasks is not None and sum(split.row_count for split in unknown) > driver_rows:
        computed = iter(in_tasks(unknown, [s.size for s in unknown], compute))
    else:
        computed = iter(run_in_threads(compute, unknown))
    for split, found in zip(splits, known, strict=True):
        if found is None:
            found = next(computed)
            _CACHE.put(split_key(store, split), found, found.size)
        bits.update(found.bits)
        if found.merged is not None:
            merged.append(found.merged)
    return HiddenRows(_RowsByFile(bits), tuple(merged))


def _merged_rows(store: TableStore, split: Split, hidden: PackedRows) -> pa.Table:
    """The rows that the merge engine creates from a split's hidden rows, with the table's columns. Reads all columns of their files."""
    deleted = _deleted_by_vectors(store, split)
    by_name = _RowsByFile(hidden.bits)
    parts: list[tuple[int, pa.Table]] = []
    for file in sorted(split.files, key=lambda f: f.min_sequence):
        rows = by_name.get(file.file_name)
        if rows is not None:
            if file.file_name in deleted:
                rows = rows & ~deleted[file.file_name]
            found = _read_columns(store, split, file, store.schema.fields).filter(from_numpy(rows))
            parts.append((file.level, found))
    if not parts:
        return empty_table(store.schema.fields)
    runs = drop_superseded(parts, store.schema.key_fields) if store.options.need_lookup else [t for _, t in parts]
    return merge(runs, MergeSpec.of(store.schema, store.options), drop_delete=True).select(list(store.schema.names))


def _packed_hidden_rows(store: TableStore, split: Split) -> PackedRows:
    hidden = _pack_bits(_hidden_rows(store, split))
    return (
        hidden if split.raw or not creates_rows(store) else replace(hidden, merged=_merged_rows(store, split, hidden))
    )


def _hidden_rows(store: TableStore, split: Split) -> dict[str, np.ndarray]:
    updated = None if split.raw or split.deletion_vectors else _hidden_rows_from_cached_split(store, split)
    if updated is not None:
        return updated
    rows = _deleted_by_vectors(store, split)
    return rows if split.raw else _superseded_by_merge(store, split, rows)


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
                return hidden_rows_with_new_files(_RowsByFile(found.bits), old, new, rows, spec)
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


def _superseded_by_merge(store: TableStore, split: Split, deleted: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    spec = MergeSpec.of(store.schema, store.options)
    picks = spec.engine in PICKS_ROWS
    # The order of versions decides which of them is picked. All of them are hidden if the engine creates a row.
    names = list(dict.fromkeys([*spec.keys, *spec.sequence_fields])) if picks else list(spec.keys)
    fields = [store.schema.field(n) for n in names]
    files = sorted(split.files, key=lambda f: f.min_sequence)  # oldest first, so that rows of one key are in order
    sequence = picks and _overlap_in_age(store, files)
    tables = [_read_keys_cached(store, split, file, fields, sequence) for file in files]
    found = None if sequence or deleted else hidden_rows_of_dense_keys(files, tables, spec)
    if found is not None:
        return found
    kv = concat_with_kinds(tables)
    starts = np.cumsum([0, *(t.num_rows for t in tables)])
    hidden = np.zeros(kv.num_rows, bool)
    for number, file in enumerate(files):
        if file.file_name in deleted:
            hidden[starts[number] : starts[number + 1]] = deleted[file.file_name]
    alive = np.flatnonzero(~hidden)
    seen = kv if len(alive) == kv.num_rows else kv.take(pa.array(alive))
    hidden[:] = True
    hidden[alive[remaining_rows(seen, spec) if picks else lone_rows(seen, spec)]] = False
    return by_file(files, hidden, starts)


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


def _read_keys_cached(
    store: TableStore, split: Split, file: DataFile, fields: Sequence[DataField], sequence: bool
) -> pa.Table:
    """Key columns of one file, cached: the next snapshot has mostly the same files. Without row kind if all rows are inserts."""
    path = store.data_path(split.partition, split.bucket, file)
    part = (store.schema.id, tuple(fields), sequence)
    unread = set() if sequence else {SEQUENCE_NUMBER}
    if file.delete_row_count == 0:
        unread.add(VALUE_KIND)
    return _DECODED.get(
        store.fs, path, lambda: _read_columns(store, split, file, fields, unread), lambda t: int(t.nbytes) + 500, part
    )


def _read_columns(
    store: TableStore, split: Split, file: DataFile, fields: Sequence[DataField], unread: Collection[str] = ()
) -> pa.Table:
    """Some columns of one file in the current schema, with sequence number and row kind if they are not in `unread`."""
    schema = store.schema if file.schema_id == store.schema.id else store.schemas.get(file.schema_id)
    key_range = [f for f in kv_columns(tuple(fields)) if f.name not in unread]
    ids = {f.id for f in key_range}
    stored = [f for f in kv_columns(schema.fields) if f.id in ids]
    path = store.data_path(split.partition, split.bucket, file)
    table = read_data_file(
        store.fs, path, kv_columns(schema.fields), [f.name for f in stored], row_count=file.row_count
    )
    return rows_as_read_fields(table, stored, key_range)


# -- cache


@dataclass(frozen=True)
class PackedRows:
    """The hidden rows of a split."""

    bits: Mapping[str, tuple[np.ndarray, int]]
    """File name -> (8 rows per byte, number of rows)."""
    merged: pa.Table | None = None
    """Rows that the merge engine created from them; None if it creates none."""

    @property
    def size(self) -> int:
        """Bytes."""
        merged = 0 if self.merged is None else int(self.merged.nbytes)
        return sum(b.nbytes for b, _ in self.bits.values()) + merged + 200


def _pack_bits(hidden: Mapping[str, np.ndarray]) -> PackedRows:
    return PackedRows({n: (np.packbits(r, bitorder="little"), len(r)) for n, r in hidden.items()})


class _RowsByFile(Mapping[str, np.ndarray]):
    """The bits of files as arrays. Those of many rows are never in memory together."""

    def __init__(self, bits: Mapping[str, tuple[np.ndarray, int]]) -> None:
        self._bits = bits

    def __getitem__(self, name: str) -> np.ndarray:
        bits, count = self._bits[name]
        return np.unpackbits(bits, count=count, bitorder="little").view(bool)

    def __contains__(self, name: object) -> bool:
        return name in self._bits

    def __iter__(self) -> Iterator[str]:
        return iter(self._bits)

    def __len__(self) -> int:
        return len(self._bits)


def split_key(store: TableStore, split: Split) -> tuple[object, ...]:
    """The cache key of a split: everything that its rows depend on."""
    # Names of data files are never reused; options and schema determine how they merge.
    vectors = tuple(sorted((name, str(ref)) for name, ref in (split.deletion_vectors or {}).items()))
    options = tuple(sorted(store.schema.options.items()))
    return (store.root, store.schema.id, options, tuple(f.file_name for f in split.files), split.raw, vectors)


_CACHE: LruCache[tuple[object, ...], PackedRows] = LruCache(CACHE_BYTES)
_DECODED = FileCache(_KEY_BYTES)
