"""Reading a bucket's files as streams of kv tables; bounded memory. `lsm.key_chunks` aligns them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND, iter_data_file, kv_columns
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.lsm.key_chunks import LevelFiles
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors

_UNPACKED = 8
"""How many times larger rows are in memory than in a file, about: zstd and dictionaries."""
_FORMS = 8
"""Read, in the memory types, joined, sorted, taken, written."""
_MIN_ROWS = 1024


def read_run(
    store: TableStore, partition: bytes, bucket: int, run: LevelFiles, vectors: BucketVectors | None, share: float = 1.0
) -> Iterator[pa.Table]:
    """The run's rows as kv tables in the table's current schema, without deleted positions.

    Args:
        share: this run's fraction of the merged bytes: all runs are read over the same keys at the same time, so each
            gets that fraction of `write-buffer-size`.
    """
    for file in run.files:
        yield from file_rows(store, partition, bucket, file, vectors, rows_per_piece(store, file, share))


def rows_per_piece(store: TableStore, file: DataFile, share: float) -> int:
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
    for batch in iter_data_file(
        store.fs, path, in_file, [f.name for f in in_file], rows, options=store.options, row_count=file.row_count
    ):
        table = pa.Table.from_batches([batch])
        if vector is not None:
            alive = ~vector.mask(table.num_rows, position)
            table = table if alive.all() else table.filter(from_numpy(alive))
        position += batch.num_rows
        if table.num_rows:
            yield in_kv_column_order(rows_as_read_fields(table, in_file, target_fields), store)


def in_kv_column_order(table: pa.Table, store: TableStore) -> pa.Table:
    """Columns of a kv table in the contract's order."""
    return table.select([*store.schema.names, SEQUENCE_NUMBER, VALUE_KIND])
