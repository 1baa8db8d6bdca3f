"""Default values of columns that are missing or null in the input. Source: docs/spec/format.md section 4."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.data import cast_text
from paimon_nb.format.schema import TableSchema


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
