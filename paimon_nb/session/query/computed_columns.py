"""Columns that are computed when a table is read (`c AS expr`), kept in its options as Flink keeps them.

So each of both sees what the other was told; the files hold none of it. Source: Flink `FlinkCatalogPropertiesUtil`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimon_nb.base.identifier import quote
from paimon_nb.plan import ColumnDef

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.format.types import DataField

_KEY = re.compile(r"schema\.(\d+)\.(name|expr|data-type|comment)")


@dataclass(frozen=True, slots=True)
class Computed:
    """A column that no file has."""

    position: int
    """Among all columns of the table, from 0."""
    name: str
    expression: str
    """In Flink's words."""
    type: str
    """Type text as Flink writes it; '' when it was not told."""
    comment: str | None = None


def computed_columns(options: Mapping[str, str]) -> tuple[Computed, ...]:
    """The computed columns that a table's options tell of, by position."""
    told: dict[int, dict[str, str]] = {}
    for key, value in options.items():
        if (match := _KEY.fullmatch(key)) is not None:
            told.setdefault(int(match[1]), {})[match[2]] = value
    return tuple(
        Computed(n, c["name"], c["expr"], c.get("data-type", ""), c.get("comment"))
        for n, c in sorted(told.items())
        if "name" in c and "expr" in c
    )


def is_of_computed(key: str) -> bool:
    """Whether an option's key tells of a computed column."""
    return _KEY.fullmatch(key) is not None


def computed_options(
    spark: SparkSession, columns: Sequence[ColumnDef], stored: Sequence[DataField], first: int = 0
) -> dict[str, str]:
    """The options that say which of a new table's columns are computed. Asks Spark for their types.

    first: how many columns stand before `columns`.

    Raises: SqlAnalysisError: an expression that Spark cannot compute from the stored columns.
    """
    from pyspark.sql import functions as F

    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.types import fields_of_spark, spark_type

    rows = spark.range(0).select(*(F.lit(None).cast(spark_type(f.type)).alias(f.name) for f in stored))
    as_they_are = {f.name: f.type for f in stored}
    out: dict[str, str] = {}
    for n, column in enumerate(columns, first):
        if column.computed is None:
            continue
        said = in_spark(column.computed)
        with spark_errors(column.computed):
            (field,) = fields_of_spark(rows.selectExpr(f"{said} AS c").schema)
        kind = as_they_are.get(column.computed.strip("`"), field.type)  # Spark knows no TIMESTAMP(3)
        told = {"name": column.name, "expr": column.computed, "data-type": str(kind), "comment": column.comment}
        out |= {f"schema.{n}.{k}": v for k, v in told.items() if v is not None}
    return out


def with_computed(frame: DataFrame, options: Mapping[str, str]) -> DataFrame:
    """The rows with the table's computed columns in their places; `frame` begins with the table's stored columns."""
    computed = computed_columns(options)
    if not computed:
        return frame
    from pyspark.sql import functions as F

    from paimon_nb.format.types import parse_type
    from paimon_nb.spark.types import spark_type

    columns = [F.col(quote(c)) for c in frame.columns]
    for c in computed:
        value = F.expr(in_spark(c.expression))
        if c.type:
            value = value.cast(spark_type(parse_type(c.type)))
        columns.insert(c.position, value.alias(c.name))
    return frame.select(*columns)


def in_spark(expression: str) -> str:
    """An expression of Flink's as Spark says it."""
    from paimon_nb.sql import parse, render

    text = f"SELECT {expression}"
    (query,) = parse(text)
    return render(query, text, {})[len("SELECT ") :]  # type: ignore[arg-type]
