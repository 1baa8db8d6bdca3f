"""CHAR columns in each dialect: Spark pads them when it reads and compares; Flink takes texts as they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.format.types import DataField
    from paimon_nb.session.core.session import Session


def with_chars(session: Session, frame: DataFrame, fields: Sequence[DataField]) -> DataFrame:
    """The frame with its CHAR columns as the session's dialect has them."""
    from paimon_nb.spark.scan.char_columns import with_char_columns

    return frame if session.flink_semantics else with_char_columns(frame, fields)


def with_padded_chars(session: Session, rows: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """Rows without Spark, with their CHAR columns as the session's dialect has them."""
    from paimon_nb.spark.scan.char_columns import pad_chars

    pads = session.spark_setting("spark.sql.readSideCharPadding") != "false"
    return pad_chars(rows, fields) if pads and not session.flink_semantics else rows
