"""Assigns a partition and bucket to each row. Vectorised; knows no files.

Source: docs/spec/format.md section 10; docs/spec/merge-semantics.md section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_nb.format.row import EMPTY_ROW, bucket_of, from_scalar, serialize
from paimon_nb.format.types import DataField
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.format.unique import unique_inverse
from paimon_nb.options import table as opt
from paimon_nb.table.store import POSTPONE_BUCKET, TableStore


def fixed_buckets(store: TableStore, rows: pa.Table) -> np.ndarray:
    """Bucket per row for a fixed number of buckets, an unaware table (all 0) or a postponed one (all -2)."""
    count = store.bucket_option
    if count == POSTPONE_BUCKET:
        return np.full(rows.num_rows, POSTPONE_BUCKET, dtype=np.int32)
    if count <= 1:
        return np.zeros(rows.num_rows, dtype=np.int32)
    fields = [store.schema.field(name) for name in store.schema.bucket_keys]
    columns = [one_chunk(rows.column(f.name)) for f in fields]
    function = store.options.get(opt.BUCKET_FUNCTION_TYPE)
    return np.asarray(bucket_of([f.type for f in fields], columns, count, str(function)), dtype=np.int32)


def partition_groups(store: TableStore, rows: pa.Table) -> tuple[list[bytes], np.ndarray]:
    """(serialized partitions, index into them per row)."""
    fields = store.schema.partition_fields
    if not fields:
        return [EMPTY_ROW], np.zeros(rows.num_rows, dtype=np.int64)
    codes = np.zeros(rows.num_rows, dtype=np.int64)
    for field in fields:
        column = one_chunk(rows.column(field.name)).dictionary_encode(null_encoding="encode")
        codes = codes * (len(column.dictionary) + 1) + to_numpy(column.indices)
        codes = unique_inverse(codes)[1]  # codes stay small, so that many columns do not overflow
    first, group = unique_inverse(codes)
    return [partition_bytes(fields, rows, int(row)) for row in first], group


def partition_bytes(fields: Sequence[DataField], rows: pa.Table, row: int) -> bytes:
    """The serialized partition of one row."""
    values = [from_scalar(f.type, rows.column(f.name)[row]) for f in fields]
    return serialize([f.type for f in fields], values)


def split(rows: pa.Table, groups: np.ndarray, buckets: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """(group, bucket, row numbers in input order) for every pair that occurs."""
    if not rows.num_rows:
        return
    order = np.lexsort((buckets, groups))  # stable: keeps the input order within a pair
    g, b = groups[order], buckets[order]
    cuts = np.flatnonzero((np.diff(g) != 0) | (np.diff(b) != 0)) + 1
    for part in np.split(order, cuts):
        yield int(groups[part[0]]), int(buckets[part[0]]), part


def take(rows: pa.Table, numbers: np.ndarray) -> pa.Table:
    """Rows by number; the table itself if all are taken in order."""
    if len(numbers) == rows.num_rows and (len(numbers) < 2 or bool((np.diff(numbers) == 1).all())):
        return rows
    return rows.take(from_numpy(numbers))


def one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
