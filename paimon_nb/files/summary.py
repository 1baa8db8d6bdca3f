"""Statistics of columns, as DuckDB's SUMMARIZE computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.files.engine import reading_engine
from paimon_nb.format.types.arrow_builders import from_arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa


def summary_of(rows: pa.Table) -> pa.Table:
    """One row for each column: type, least and greatest value, distinct values, mean, deviation, quartiles, count and NULLs."""
    import pyarrow as pa

    with reading_engine() as engine:
        found = engine.table("SUMMARIZE FROM rows", rows=rows)
    types = pa.array([str(f.type) for f in from_arrow_schema(rows.schema)])
    return found.set_column(found.column_names.index("column_type"), "column_type", types)
