"""Spark's INSERT into a table with `upsert-key`: a MERGE by these columns, which need no primary key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.options import table as opt
from paimon_nb.session.core.statement_context import StatementContext
from paimon_nb.session.execute.merge import merge
from paimon_nb.session.query.run_query import new_view
from paimon_nb.sql.parse import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from paimon_nb.session.core.result import Result
    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import Merge
    from paimon_nb.table.tables.table import Table


def upsert_key(session: Session, table: Table) -> list[str]:
    """Columns by which an INSERT into a table without primary key replaces rows; [] for a plain INSERT.

    Flink's dialect ignores the option, as Java's Flink does.
    """
    if session.flink_semantics:
        return []
    return [table.schema.column_name(n) for n in table.options.names(opt.UPSERT_KEY)]


def upsert(session: Session, frame: DataFrame, table: Table, parts: Sequence[str]) -> Result:
    """Store rows that have the table's columns. A row replaces the one with its key unless its `sequence.field` is smaller.

    Args:
        parts: the table's name in the session.
    """
    keys = upsert_key(session, table)
    order = _order(table)
    frame = newest_of_each_key(session, frame, table)
    view = new_view()
    frame.createOrReplaceTempView(view)
    same = " AND ".join(f"target.{quote(n)} <=> source.{quote(n)}" for n in keys)
    newer = "".join(f" AND target.{quote(n)} <= source.{quote(n)}" for n in order)
    text = (
        f"MERGE INTO {'.'.join(map(quote, parts))} AS target USING {view} AS source ON {same} "
        f"WHEN MATCHED{newer} THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    try:
        [statement] = parse(text)
        return merge(StatementContext(session, text, {}), _as_merge(statement))
    finally:
        session.spark.catalog.dropTempView(view)


def newest_of_each_key(session: Session, frame: DataFrame, table: Table) -> DataFrame:
    """The rows with the largest `sequence.field` of their key; all rows if the table has none."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    order = _order(table)
    if not order:
        return frame
    newest = Window.partitionBy(*map(quote, upsert_key(session, table))).orderBy(
        *(F.col(quote(n)).desc() for n in order)
    )
    rank = new_view()
    return frame.withColumn(rank, F.row_number().over(newest)).where(F.col(rank) == 1).drop(rank)


def _order(table: Table) -> list[str]:
    """The columns that order the rows of a key."""
    return [table.schema.column_name(n) for n in table.options.names(opt.SEQUENCE_FIELD)]


def _as_merge(statement: object) -> Merge:
    from paimon_nb.statements import Merge

    assert isinstance(statement, Merge)
    return statement
