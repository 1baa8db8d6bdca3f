"""Reading a bucket's files as streams of kv tables, cut at common keys; bounded memory.

A chunk holds, for every run, all rows up to one key: merging chunk by chunk equals merging everything at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND, iter_data_file, kv_columns
from paimon_nb.format.data.read import BATCH_ROWS
from paimon_nb.format.data.schema_evolution import evolve
from paimon_nb.format.row import from_scalar
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.levels import Key, key_order, sections

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.bucket_compact.deletion_vectors import BucketVectors
    from paimon_nb.table.store import TableStore

_UNPACKED = 8
"""How many times larger rows are in memory than in a file, about: zstd and dictionaries."""
_FORMS = 8
"""Read, in the memory types, joined, sorted, taken, written."""
_MIN_ROWS = 1024


@dataclass(frozen=True)
class LevelFiles:
    """Files of one level with disjoint keys, in key order: one sorted run."""

    level: int
    files: tuple[DataFile, ...]


def runs_of(files: Sequence[DataFile], key: Any) -> list[LevelFiles]:
    """Files as runs, lower levels first: level 0 as few runs as possible, because each is an open file; one run per upper
    level.
    """
    cut = sections((f for f in files if f.level == 0), key)
    max_runs = max(map(len, cut), default=0)
    zero = [LevelFiles(0, tuple(f for s in cut if i < len(s) for f in s[i].files)) for i in range(max_runs)]
    levels = sorted({f.level for f in files if f.level > 0})
    upper = [
        LevelFiles(level, tuple(sorted((f for f in files if f.level == level), key=lambda f: key(f.min_key))))
        for level in levels
    ]
    return zero + upper


def stream(
    store: TableStore, partition: bytes, bucket: int, run: LevelFiles, vectors: BucketVectors | None, share: float = 1.0
) -> Iterator[pa.Table]:
    """The run's rows as kv tables in the table's current schema, without deleted positions.

    Args:
        share: this run's fraction of the merged bytes: all runs are read over the same keys at the same time, so each
            gets that fraction of `write-buffer-size`.
    """
    for file in run.files:
        yield from file_rows(store, partition, bucket, file, vectors, piece_rows(store, file, share))


def piece_rows(store: TableStore, file: DataFile, share: float) -> int:
    """Rows of a file to read at a time. Merged rows exist in several forms at once; each gets a part of the memory."""
    bytes_each = max(file.file_size * _UNPACKED / max(file.row_count, 1), 1)
    allowed = store.options.get(opt.WRITE_BUFFER_SIZE) * share / _FORMS
    return int(min(BATCH_ROWS, max(_MIN_ROWS, allowed / bytes_each)))


def file_rows(
    store: TableStore,
    partition: bytes,
    bucket: int,
    file: DataFile,
    vectors: BucketVectors | None,
    rows: int = BATCH_ROWS,
) -> Iterator[pa.Table]:
    """One key-value file's rows, in order, at most `rows` at a time."""
    schema = store.schemas.get(file.schema_id) if file.schema_id != store.schema.id else store.schema
    in_file, target_fields = kv_columns(schema.fields), kv_columns(store.schema.fields)
    path = store.data_path(partition, bucket, file)
    vector = vectors.of(file.file_name) if vectors else None
    position = 0
    for batch in iter_data_file(store.fs, path, in_file, [f.name for f in in_file], rows):
        table = pa.Table.from_batches([batch])
        if vector is not None:
            alive = ~vector.mask(table.num_rows, position)
            table = table if alive.all() else table.filter(from_numpy(alive))
        position += batch.num_rows
        if table.num_rows:
            yield ordered(evolve(table, in_file, target_fields), store)


def ordered(table: pa.Table, store: TableStore) -> pa.Table:
    """Columns of a kv table in the contract's order."""
    return table.select([*store.schema.names, SEQUENCE_NUMBER, VALUE_KIND])


def chunks(store: TableStore, streams: Sequence[Iterator[pa.Table]]) -> Iterator[list[pa.Table | None]]:
    """Aligned chunks: one entry per stream (None: no rows), with all keys up to a common bound."""
    cursors = [_Cursor(s, store) for s in streams]
    while True:
        open_ones = [c for c in cursors if c.fill()]
        if not open_ones:
            return
        # Rows up to the smallest last key are complete in every stream, because each is in key order.
        unfinished = [c.last_key for c in open_ones]
        cut = min(unfinished)
        yield [c.take_until(cut) if c in open_ones else None for c in cursors]


class _Cursor:
    def __init__(self, rows: Iterator[pa.Table], store: TableStore) -> None:
        self._rows = rows
        self._fields = store.schema.key_fields
        self._table: pa.Table | None = None

    def fill(self) -> bool:
        """Ensure at least one row; False at the end."""
        while self._table is None or self._table.num_rows == 0:
            self._table = next(self._rows, None)
            if self._table is None:
                return False
        return True

    @property
    def last_key(self) -> Key:
        assert self._table is not None
        return self._key(self._table.num_rows - 1)

    def take_until(self, cut: Key) -> pa.Table | None:
        """Rows with keys up to and including `cut`."""
        assert self._table is not None
        low, high = 0, self._table.num_rows
        while low < high:
            middle = (low + high) // 2
            if self._key(middle) <= cut:
                low = middle + 1
            else:
                high = middle
        taken, self._table = self._table.slice(0, low), self._table.slice(low)
        return taken if low else None

    def _key(self, row: int) -> Key:
        table = self._table
        assert table is not None
        return tuple(key_order(from_scalar(f.type, table.column(f.name)[row])) for f in self._fields)
