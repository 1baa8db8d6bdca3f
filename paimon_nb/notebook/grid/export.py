"""Rows of a grid as files and as text for the clipboard."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.notebook.grid.texts import nested_text

if TYPE_CHECKING:
    import pyarrow as pa

MAX_BYTES = 256 << 20
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


def as_tsv(rows: pa.Table, *, header: bool = False) -> str:
    """The rows as tab-separated text; tabs and line ends inside values become spaces."""
    columns = [_text_column(c) for c in rows.columns]
    lines = ["\t".join(rows.column_names)] if header else []
    lines.extend("\t".join(map(_one_line, row)) for row in zip(*columns, strict=True))
    return "\n".join(lines)


def _one_line(text: str | None) -> str:
    return "" if text is None else text.replace("\t", " ").replace("\r", " ").replace("\n", " ")


def _text_column(column: pa.ChunkedArray) -> list[str | None]:
    from paimon_nb.format.data import python_values
    from paimon_nb.notebook.grid.texts import value_text

    return [value_text(v, 1 << 24) for v in python_values(column)]


def _with_texts_for_csv(rows: pa.Table) -> pa.Table:
    """Columns that a CSV file cannot hold, as texts."""
    import pyarrow as pa

    from paimon_nb.format.data import python_values

    for i, name in enumerate(rows.column_names):
        kind = rows.column(i).type
        if pa.types.is_nested(kind):
            values = [None if v is None else nested_text(v) for v in python_values(rows.column(i))]
            rows = rows.set_column(i, name, pa.array(values, pa.string()))
        elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            rows = rows.set_column(i, name, pa.array(_text_column(rows.column(i)), pa.string()))
    return rows
