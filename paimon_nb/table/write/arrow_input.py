"""Converts callers' rows to an Arrow table: Arrow objects, and objects with Arrow's C interfaces (pandas, polars)."""

from __future__ import annotations

import re
from typing import Protocol, TypeAlias

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
