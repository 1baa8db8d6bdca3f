"""CHAR columns as Spark has them: padded to their length when read, and compared with padded texts.

Spark's analyzer pads the other side of a comparison when a column's metadata has its CHAR type. Files of ORC hold CHAR without its
padding; it is added unless `spark.sql.readSideCharPadding` is false. Which tables are read so: `session/query/char_columns.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.format.types import Char

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.format.types import DataField

_TYPE_KEY = "__CHAR_VARCHAR_TYPE_STRING"
"""Key of the metadata with a column's type, as Spark's CharVarcharUtils writes it."""


def with_char_columns(frame: DataFrame, fields: Sequence[DataField]) -> DataFrame:
    """The frame whose columns that are CHAR in `fields` are padded, and are CHAR to Spark's analyzer."""
    from pyspark.sql import functions as F

    lengths = {f.name: f.type.length for f in fields if isinstance(f.type, Char)}
    if not lengths.keys() & set(frame.columns):
        return frame
    pads = frame.sparkSession.conf.get("spark.sql.readSideCharPadding", "true") == "true"
    columns = []
    for name in frame.columns:
        column, length = F.col(quote(name)), lengths.get(name)
        if length is not None:
            padded = (
                F.when(F.length(column) < length, F.rpad(column, length, " ")).otherwise(column) if pads else column
            )
            column = padded.alias(name, metadata={_TYPE_KEY: f"char({length})"})
        columns.append(column)
    return frame.select(*columns)


def pad_chars(rows: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """Arrow rows whose columns that are CHAR in `fields` are padded to their length."""
    import pyarrow.compute as pc

    for field in fields:
        if isinstance(field.type, Char) and field.name in rows.column_names:
            position = rows.column_names.index(field.name)
            padded = pc.utf8_rpad(rows.column(position), field.type.length, " ")
            rows = rows.set_column(position, rows.field(position), padded)
    return rows
