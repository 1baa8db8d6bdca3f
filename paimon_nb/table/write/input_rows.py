"""Callers' rows: conversion to Arrow, default values, row kinds, and the partition and bucket of each row.

Takes Arrow objects, and objects with Arrow's C interfaces (pandas, polars). Vectorized; knows no files.
Source: docs/spec/format.md section 10; docs/spec/merge-semantics.md sections 1 and 5.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.caller_warning import warn_caller
from paimon_nb.base.errors import SchemaMismatch, UnsupportedOperation
from paimon_nb.format.data import cast_text
from paimon_nb.format.row import EMPTY_ROW, bucket_of, from_scalar, serialize
from paimon_nb.format.types.arrow_builders import arrow_column, from_numpy, row_codes, to_numpy, unique_inverse
from paimon_nb.format.types.arrow_from_outside import sound_batch, sound_reader, sound_table
from paimon_nb.options import table as opt
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataField

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""Name that pandas gives an unnamed index: row labels, not a column of the user's table."""


class ArrowStream(Protocol):
    """Rows behind Arrow's C stream interface: RecordBatchReader, pandas and polars frames ..."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class ArrowBatch(Protocol):
    """Rows behind Arrow's C array interface: RecordBatch."""

    def __arrow_c_array__(self, requested_schema: object = None) -> object: ...


Rows: TypeAlias = pa.Table | ArrowStream | ArrowBatch


def as_table(rows: Rows) -> pa.Table:
    """`rows` as a table; a stream is read to its end.

    Raises: SchemaMismatch: unsupported type, or a column with values of several types.
    """
    if isinstance(rows, pa.Table):
        return _sound(rows)
    if not (hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__")):
        raise SchemaMismatch(
            f"rows of type {type(rows).__name__} cannot be written",
            hint="pass a pyarrow.Table or a pandas or polars frame; pyarrow.Table.from_pylist converts dicts, "
            "pyarrow.RecordBatchReader.from_batches an iterator of batches",
        )
    try:
        table = pa.table(rows)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise SchemaMismatch(
            f"rows of type {type(rows).__name__} cannot be converted to an Arrow table: {error}",
            hint="use one type per column",
        ) from error
    labels = [n for n in table.column_names if _UNNAMED_INDEX.fullmatch(n)] if table.schema.pandas_metadata else []
    return _sound(table.drop_columns(labels))


def _sound(rows: pa.Table) -> pa.Table:
    """The rows with offsets in every empty array. Plain columns in one piece have such arrays only if there is no row."""
    plain = not any(pa.types.is_nested(t) or isinstance(t, pa.BaseExtensionType) for t in rows.schema.types)
    one_piece = rows.num_rows and all(c.num_chunks == 1 for c in rows.columns)
    return rows if plain and one_piece else sound_table(rows)


_CHUNK_ROWS = 1 << 17
"""Rows of a stream that are written together, about."""


def as_reader(rows: Any) -> pa.RecordBatchReader:
    """Rows as a stream of record batches, without reading them all.

    Takes what `as_table` takes, pyarrow datasets, DataFrames of Spark (a partition is in memory at a time), and LazyFrames of
    polars (which are collected).

    Raises:
        SchemaMismatch: they are of another kind.
    """
    return sound_reader(rows if isinstance(rows, pa.RecordBatchReader) else _with_a_batch(_reader_of(rows)))


def _with_a_batch(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """The same rows in at least one batch. A reader without any looks like one that was read before."""

    def batches() -> Iterator[pa.RecordBatch]:
        first = next(iter(reader), None)
        if first is None:
            first = pa.RecordBatch.from_arrays([pa.nulls(0, f.type) for f in reader.schema], schema=reader.schema)
        yield first
        yield from reader

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def _reader_of(rows: Any) -> pa.RecordBatchReader:
    """Rows that are no reader yet, as a stream."""
    if hasattr(rows, "toArrow") and hasattr(rows, "mapInArrow"):  # a DataFrame of Spark
        return _reader_of_spark_frame(rows)
    if hasattr(type(rows), "collect") and hasattr(type(rows), "collect_schema"):  # a LazyFrame of polars
        rows = rows.collect()
    elif hasattr(rows, "scanner"):
        return _reader_of_dataset(rows)
    if not isinstance(rows, pa.Table) and hasattr(rows, "__arrow_c_stream__"):
        try:
            reader = pa.RecordBatchReader.from_stream(rows)
        except (pa.ArrowException, ValueError, TypeError):
            return as_table(rows).to_reader()  # raises the error
        if not reader.schema.pandas_metadata:
            return reader
    return as_table(rows).to_reader()


def _reader_of_spark_frame(frame: Any) -> pa.RecordBatchReader:
    """The rows of a DataFrame, partition by partition. Spark itself offers them as Arrow only all at once."""
    schema = frame.limit(0).toArrow().schema

    def batches() -> Iterator[pa.RecordBatch]:
        for (message,) in frame.mapInArrow(_batches_as_bytes, "batch binary").toLocalIterator():
            for batch in pa.ipc.open_stream(message):
                yield sound_batch(batch).cast(schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _batches_as_bytes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """In a task: each record batch as one row, in Arrow's IPC format."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as stream:
            stream.write_batch(batch)
        yield pa.record_batch({"batch": pa.array([sink.getvalue().to_pybytes()], pa.binary())})


def _reader_of_dataset(rows: Any) -> pa.RecordBatchReader:
    """The rows of a dataset of pyarrow, or of a table of ours, as a stream."""
    if hasattr(rows, "to_reader"):  # ours, read no further than the consumer has taken it
        return rows.to_reader()
    # With threads, a scanner of pyarrow decodes up to a gigabyte ahead of the consumer.
    few = {"use_threads": False, "batch_readahead": 1} if type(rows).__module__ == "pyarrow._dataset" else {}
    return rows.scanner(**few).to_reader()


Progress: TypeAlias = Callable[[int, int], None]
"""Takes the number of rows that are written, and their bytes in memory."""


def chunks_to_write(rows: Any, name: object, progress: Progress | None = None) -> Iterator[pa.Table]:
    """The rows of a caller in tables of a bounded number of rows. Warns about a stream of record batches that has none.

    Args:
        rows: as for `as_reader`.
        name: the table that takes them, for the warning.
        progress: called when the consumer has taken a chunk and asks for the next.
    """
    count = size = chunks = 0
    for chunk in bounded_chunks(as_reader(rows)):
        chunks += 1
        yield chunk
        if progress is not None:
            count, size = count + chunk.num_rows, size + chunk.nbytes
            progress(count, size)
    if not chunks:
        warn_of_empty_stream(rows, name)


def warn_of_empty_stream(rows: Any, name: object) -> None:
    """Warn that a reader gave no record batch: pyarrow does not tell a consumed reader from an empty one."""
    if isinstance(rows, pa.RecordBatchReader):
        warn_caller(
            f"{name}: the reader has no rows, so none were written. If it was read before, make a new one: a "
            "pyarrow.RecordBatchReader can be read once"
        )


def bounded_chunks(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The rows of a stream in tables of a bounded number of rows."""
    batches: list[pa.RecordBatch] = []
    for batch in reader:
        batches.append(batch)
        if sum(b.num_rows for b in batches) >= _CHUNK_ROWS:
            yield pa.Table.from_batches(batches, reader.schema)
            batches = []
    if batches:
        yield pa.Table.from_batches(batches, reader.schema)


def with_defaults(rows: pa.Table, schema: TableSchema) -> pa.Table:
    """`rows` with every column of the table: missing ones as default or null, nulls replaced by the default."""
    for field in schema.fields:
        if field.default_value is None:
            continue
        value = cast_text(field.default_value, field.type)
        if field.name not in rows.column_names:
            rows = rows.append_column(field.name, pa.repeat(value, rows.num_rows))
            continue
        column = rows.column(field.name)
        if column.null_count:
            index = rows.column_names.index(field.name)
            filled = pc.fill_null(pc.cast(column, value.type), value)
            rows = rows.set_column(index, field.name, filled)
    missing = [f for f in schema.fields if f.name not in rows.column_names]
    for field in missing:
        rows = rows.append_column(pa.field(field.name, pa.null()), pa.nulls(rows.num_rows))
    return rows


Kinds: TypeAlias = pa.Array | pa.ChunkedArray | Sequence[str] | Sequence[int]
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 0, 1, 2, 3
SYMBOLS = {"+I": INSERT, "-U": UPDATE_BEFORE, "+U": UPDATE_AFTER, "-D": DELETE}


def row_kinds(store: TableStore, rows: pa.Table, kinds: Kinds | None) -> np.ndarray:
    """int8 per row. `kinds` may be codes 0..3 or the symbols +I -U +U -D; None means +I.

    Raises: SchemaMismatch: an unknown kind.
    """
    column = store.options.get(opt.ROWKIND_FIELD)
    if column:
        return kind_codes(rows.column(column), f"column {column!r} (rowkind.field)")
    if kinds is None:
        return np.zeros(rows.num_rows, dtype=np.int8)
    if len(kinds) != rows.num_rows:
        raise SchemaMismatch(f"{len(kinds)} row kinds for {rows.num_rows} rows", hint="give one kind a row")
    return kind_codes(kinds if isinstance(kinds, pa.Array | pa.ChunkedArray) else pa.array(kinds))


def rows_to_keep(store: TableStore, kinds: np.ndarray) -> np.ndarray | None:
    """Mask of rows that the options let through; None for all rows.

    Raises: UnsupportedOperation: -U or -D into a table without a primary key.
    """
    o = store.options
    if not store.has_keys:
        if bool(((kinds == UPDATE_BEFORE) | (kinds == DELETE)).any()):
            raise UnsupportedOperation(
                f"{store.name} has no primary key, so it cannot take -U or -D rows",
                hint="use DELETE or UPDATE statements, or a table with a PRIMARY KEY",
            )
        return None
    mask = np.ones(len(kinds), dtype=bool)
    if o.get(opt.IGNORE_DELETE):
        mask &= (kinds != UPDATE_BEFORE) & (kinds != DELETE)
    if o.get(opt.IGNORE_UPDATE_BEFORE):
        mask &= kinds != UPDATE_BEFORE
    return None if bool(mask.all()) else mask


def needs_update_before(store: TableStore) -> bool:
    """Whether a stream into the table has to bring -U: merging or the changelog needs what a row was. Other key tables
    find it by the key. Source: Paimon `FlinkTableSinkBase.getChangelogMode`."""
    if not store.has_keys:
        return True
    o = store.options
    aggregates = o.has(opt.FIELDS_DEFAULT_AGGREGATE_FUNCTION) or any(
        k.startswith("fields.") and k.endswith(".aggregate-function") for k in o.raw
    )
    return (
        o.changelog_producer == "input"
        or o.merge_engine == "aggregation"
        or (o.merge_engine == "partial-update" and aggregates)
    )


def kind_codes(values: pa.Array | pa.ChunkedArray, what: str = "row kinds") -> np.ndarray:
    """int8 per row, of codes or of symbols. Raises SchemaMismatch: an unknown kind, called `what`."""
    if values.null_count:
        raise SchemaMismatch(f"{what}: null is not a row kind", hint="use +I, -U, +U or -D")
    if pa.types.is_integer(values.type):
        codes = to_numpy(values).astype(np.int64)
        if len(codes) and (codes.min() < 0 or codes.max() > 3):
            raise SchemaMismatch(f"{what}: row kind codes are 0 to 3", hint="0 +I, 1 -U, 2 +U, 3 -D")
        return codes.astype(np.int8)
    text = pc.cast(values, pa.string())
    found = pc.index_in(text, value_set=arrow_column(list(SYMBOLS), pa.string()))
    if found.null_count:
        wrong = text.filter(pc.is_null(found))[0].as_py()
        raise SchemaMismatch(f"{what}: {wrong!r} is not a row kind", hint="use +I, -U, +U or -D")
    return to_numpy(found).astype(np.int8)


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
    codes = row_codes(rows.select([f.name for f in fields]))
    first, group = unique_inverse(codes)
    return [partition_bytes(fields, rows, int(row)) for row in first], group


def partition_bytes(fields: Sequence[DataField], rows: pa.Table, row: int) -> bytes:
    """The serialized partition of one row."""
    values = [from_scalar(f.type, rows.column(f.name)[row]) for f in fields]
    return serialize([f.type for f in fields], values)


def split_by_bucket(rows: pa.Table, groups: np.ndarray, buckets: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """(group, bucket, row numbers in input order) for every pair that occurs."""
    if not rows.num_rows:
        return
    order = np.lexsort((buckets, groups))  # stable: keeps the input order within a pair
    g, b = groups[order], buckets[order]
    cuts = np.flatnonzero((np.diff(g) != 0) | (np.diff(b) != 0)) + 1
    for part in np.split(order, cuts):
        yield int(groups[part[0]]), int(buckets[part[0]]), part


def take_rows(rows: pa.Table, numbers: np.ndarray) -> pa.Table:
    """Rows by number; the table itself if all are taken in order."""
    if len(numbers) == rows.num_rows and (len(numbers) < 2 or bool((np.diff(numbers) == 1).all())):
        return rows
    return rows.take(from_numpy(numbers))


def one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """A column as one array."""
    if isinstance(column, pa.Array):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
