"""Rows as callers have them, as an Arrow table: Arrow's own forms, and what offers Arrow's C interfaces (pandas, polars)."""

from __future__ import annotations

import re
from typing import Protocol, TypeAlias

import pyarrow as pa

from paimon_nb.base.errors import SchemaMismatch

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls an index that has no name: row labels, and no column of anybody's table."""


class ArrowStream(Protocol):
    """Rows behind Arrow's C stream interface: RecordBatchReader, pandas and polars frames ..."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class ArrowBatch(Protocol):
    """Rows behind Arrow's C array interface: RecordBatch."""

    def __arrow_c_array__(self, requested_schema: object = None) -> object: ...


Rows: TypeAlias = pa.Table | ArrowStream | ArrowBatch


def as_table(rows: Rows) -> pa.Table:
    """`rows` as a table; a stream is read to its end.

    Raises: SchemaMismatch: they are of another kind, or values of a column are of several types.
    """
    if isinstance(rows, pa.Table):
        return rows
    if not (hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__")):
        raise SchemaMismatch(
            f"rows of type {type(rows).__name__} are no table",
            hint="give a pyarrow.Table or a frame of pandas or polars; pyarrow.Table.from_pylist makes one of dicts",
        )
    try:
        table = pa.table(rows)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise SchemaMismatch(
            f"rows of type {type(rows).__name__} do not become an Arrow table: {error}",
            hint="give each column one type",
        ) from error
    labels = [n for n in table.column_names if _UNNAMED_INDEX.fullmatch(n)] if table.schema.pandas_metadata else []
    return table.drop_columns(labels)
