"""Converts callers' rows to an Arrow table: Arrow objects, and objects with Arrow's C interfaces (pandas, polars)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from paimon_nb.base.errors import SchemaMismatch

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
        return rows
    if not (hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__")):
        raise SchemaMismatch(
            f"rows of type {type(rows).__name__} cannot be written",
            hint="pass a pyarrow.Table or a pandas or polars frame; pyarrow.Table.from_pylist converts dicts",
        )
    try:
        table = pa.table(rows)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise SchemaMismatch(
            f"rows of type {type(rows).__name__} cannot be converted to an Arrow table: {error}",
            hint="use one type per column",
        ) from error
    labels = [n for n in table.column_names if _UNNAMED_INDEX.fullmatch(n)] if table.schema.pandas_metadata else []
    return table.drop_columns(labels)


_CHUNK_ROWS = 1 << 17
"""Rows of a stream that are written together, about."""


def as_reader(rows: Any) -> pa.RecordBatchReader:
    """Rows as a stream of record batches, without reading them all.

    Takes what `as_table` takes, and pyarrow datasets, and DataFrames of Spark (which are collected).

    Raises:
        SchemaMismatch: they are of another kind.
    """
    if isinstance(rows, pa.RecordBatchReader):
        return rows
    if hasattr(rows, "toArrow"):  # a DataFrame of Spark
        rows = rows.toArrow()
    elif hasattr(rows, "scanner"):  # a dataset of pyarrow
        return rows.scanner().to_reader()
    if not isinstance(rows, pa.Table) and hasattr(rows, "__arrow_c_stream__"):
        try:
            reader = pa.RecordBatchReader.from_stream(rows)
        except (pa.ArrowException, ValueError, TypeError):
            return as_table(rows).to_reader()  # which says what is wrong
        if not reader.schema.pandas_metadata:
            return reader
    return as_table(rows).to_reader()


def chunks(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The rows of a stream in tables of a bounded number of rows."""
    batches: list[pa.RecordBatch] = []
    for batch in reader:
        batches.append(batch)
        if sum(b.num_rows for b in batches) >= _CHUNK_ROWS:
            yield pa.Table.from_batches(batches, reader.schema)
            batches = []
    if batches:
        yield pa.Table.from_batches(batches, reader.schema)
