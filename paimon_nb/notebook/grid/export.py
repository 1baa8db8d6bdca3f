"""Rows of a grid as files and as text for the clipboard."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.notebook.grid.texts import display_texts

if TYPE_CHECKING:
    import pyarrow as pa

MAX_BYTES = 256 << 20
_MAX_COPIED_TEXT = 1 << 24
MIME = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


def as_file(rows: pa.Table, kind: str) -> bytes:
    """The rows as a CSV or Parquet file.

    Args:
        kind: 'csv' (nested values as JSON) or 'parquet'.

    Raises:
        UnsupportedOperation: the rows are larger than 256 MB.
    """
    import pyarrow.csv as csv
    import pyarrow.parquet as parquet

    if rows.nbytes > MAX_BYTES:
        raise UnsupportedOperation(
            f"the rows take {rows.nbytes >> 20:,} MB; a download may take {MAX_BYTES >> 20} MB",
            hint="filter them, or write them in a cell: _paimon.to_arrow()",
        )
    out = io.BytesIO()
    if kind == "parquet":
        parquet.write_table(rows, out)
    else:
        csv.write_csv(_with_texts_for_csv(rows), out)
    return out.getvalue()


def _text_column(column: pa.ChunkedArray) -> list[str | None]:
    return display_texts(column, _MAX_COPIED_TEXT)


def _with_texts_for_csv(rows: pa.Table) -> pa.Table:
    """Columns that a CSV file cannot hold, as texts."""
    import pyarrow as pa

    for i, name in enumerate(rows.column_names):
        kind = rows.column(i).type
        if not _has_csv_text(kind):
            rows = rows.set_column(i, name, pa.array(_text_column(rows.column(i)), pa.string()))
    return rows


def _has_csv_text(kind: pa.DataType) -> bool:
    """Whether Arrow writes values of this type into CSV files as the grid shows them."""
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_boolean(kind)
        or types.is_float64(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_date(kind)
        or types.is_timestamp(kind)
        or types.is_null(kind)
    )
