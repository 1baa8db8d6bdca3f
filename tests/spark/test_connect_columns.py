"""Columns of Spark Connect as the SQL text of a MERGE. No server: the client has the expressions."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from paimon_nb.base.errors import ColumnNotFound, UnsupportedOperation

pytest.importorskip("grpc", reason="no grpcio: pip install 'paimon-nb[connect]'")

from pyspark.sql.connect import functions as F
from pyspark.sql.connect.column import Column
from pyspark.sql.connect.expressions import ColumnReference
from pyspark.sql.connect.plan import Range, SubqueryAlias
from pyspark.sql.types import IntegerType

from paimon_nb.spark.api.connect_columns import SqlRenderer, source_alias

ROWS = Range(0, 3, 1)
SOURCE = SubqueryAlias(ROWS, "x")
RENDER = SqlRenderer(SOURCE, "x")


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (F.col("t.id") == F.col("x.id"), "(`t`.`id` = `x`.`id`)"),
        (Column(ColumnReference("id", ROWS._plan_id)), "`x`.`id`"),
        ((F.col("n") > 1) & ~F.col("s").isNull(), "((`n` > 1) AND `not`(`isNull`(`s`)))"),
        (F.expr("t.n + 1").alias("m"), "(t.n + 1)"),
        (F.when(F.col("n") > 1, "big").otherwise(None), "CASE WHEN (`n` > 1) THEN 'big' ELSE NULL END"),
        (F.transform("a", lambda v: v * 2), None),
        (F.lit("it's"), "CAST(X'69742773' AS STRING)"),
        (F.lit(b"\x01"), "X'01'"),
        (F.lit(True), "true"),
        (F.lit(2**40), "CAST('1099511627776' AS bigint)"),
        (F.lit(Decimal("1.50")), "CAST('1.50' AS DECIMAL(3, 2))"),
        (F.lit(dt.date(1970, 1, 3)), "date_from_unix_date(2)"),
        (F.lit(dt.timedelta(seconds=1)), "make_dt_interval(0, 0, 0, CAST('1.000000' AS DECIMAL(18, 6)))"),
        (F.col("n").cast("string"), "CAST(`n` AS string)"),
        (F.col("r")["f"], "`r`['f']"),
        (F.call_function("my.f", F.col("n")), "`my`.`f`(`n`)"),
    ],
)
def test_text_of_a_column(column: Column, text: str | None) -> None:
    found = RENDER(column)
    if text is None:
        name = found.split("`")[5]
        text = f"`transform`(`a`, `{name}` -> (`{name}` * 2))"
    assert found == text


def test_name_of_the_source() -> None:
    assert (source_alias(SOURCE), source_alias(ROWS)) == ("x", "source")


def test_columns_without_text_are_refused() -> None:
    other = Column(ColumnReference("id", Range(0, 1, 1)._plan_id))
    with pytest.raises(ColumnNotFound, match="belongs to another DataFrame"):
        RENDER(other == F.col("x.id"))
    with pytest.raises(UnsupportedOperation, match="mergeInto cannot use the expression"):
        RENDER(F.udf(lambda v: v, IntegerType())(F.col("n")) == 1)
