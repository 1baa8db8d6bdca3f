"""CHAR columns in each dialect: Spark pads them when it reads and compares; Flink takes texts as they are stored.

Files of ORC store CHAR without padding. Spark's API pads it; `Workbench.run` gives it as it is stored in both dialects, unless
`spark.sql.readSideCharPadding` is set: so one statement has one answer in both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.format.types import Char, DataField, VarChar
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.table.tables.table import Table

READ_PADDING = "spark.sql.readSideCharPadding"


def with_chars(session: Session, frame: DataFrame, table: Table) -> DataFrame:
    """The frame with its CHAR columns as the session's dialect has them."""
    from paimon_nb.spark.scan.char_columns import with_char_columns

    return frame if _are_as_stored(session, table) else with_char_columns(frame, table.schema.fields)


def with_padded_chars(session: Session, rows: pa.Table, table: Table) -> pa.Table:
    """Rows without Spark, with their CHAR columns as the session's dialect has them."""
    from paimon_nb.spark.scan.char_columns import pad_chars

    if _are_as_stored(session, table) or session.spark_setting(READ_PADDING) == "false":
        return rows
    return pad_chars(rows, table.schema.fields)


def fields_of_dialect(session: Session, fields: Sequence[DataField], table: Table) -> tuple[DataField, ...]:
    """The columns of a table, those of CHAR as texts where the session's dialect takes them as they are stored."""
    if _are_as_stored(session, table):
        return tuple(
            replace(f, type=VarChar(is_nullable=f.type.nullable)) if isinstance(f.type, Char) else f for f in fields
        )
    return tuple(fields)


def _are_as_stored(session: Session, table: Table) -> bool:
    undecided = session.spark_setting(READ_PADDING) is None and not session.answers_like_spark
    return session.flink_semantics or (undecided and table.options.get(opt.FILE_FORMAT) == "orc")
