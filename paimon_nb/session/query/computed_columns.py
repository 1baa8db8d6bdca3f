"""Computed columns (`c AS expr`): evaluated on read, stored in the table's options as Flink stores them.

Data files do not contain them. Source: Flink `FlinkCatalogPropertiesUtil`.
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
class ComputedColumn:
    """A column that is computed on read."""

    position: int
    """Among all columns of the table, from 0."""
    name: str
    expression: str
    """In Flink SQL."""
    type: str
    """Type text as Flink writes it; '' if unknown."""
    comment: str | None = None


def computed_columns(options: Mapping[str, str]) -> tuple[ComputedColumn, ...]:
    """The computed columns in a table's options, by position."""
    entries: dict[int, dict[str, str]] = {}
    for key, value in options.items():
        if (match := _KEY.fullmatch(key)) is not None:
            entries.setdefault(int(match[1]), {})[match[2]] = value
    return tuple(
        ComputedColumn(n, c["name"], c["expr"], c.get("data-type", ""), c.get("comment"))
        for n, c in sorted(entries.items())
        if "name" in c and "expr" in c
    )


def is_computed_column_key(key: str) -> bool:
    """Whether an option key belongs to a computed column."""
    return _KEY.fullmatch(key) is not None


def computed_options(
    spark: SparkSession, columns: Sequence[ColumnDef], stored: Sequence[DataField], first: int = 0
) -> dict[str, str]:
    """The options that define a new table's computed columns. Spark infers their types.

    Args:
        first: position of the first of `columns` in the table.

    Raises:
        SqlAnalysisError: Spark cannot compute an expression from the stored columns.
    """
    from pyspark.sql import functions as F

    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.types import fields_of_spark, spark_type

    rows = spark.range(0).select(*(F.lit(None).cast(spark_type(f.type)).alias(f.name) for f in stored))
    stored_types = {f.name: f.type for f in stored}
    out: dict[str, str] = {}
    for n, column in enumerate(columns, first):
        if column.computed is None:
            continue
        expression = to_spark_expression(column.computed)
        with spark_errors(column.computed):
            (field,) = fields_of_spark(rows.selectExpr(f"{expression} AS c").schema)
        kind = stored_types.get(column.computed.strip("`"), field.type)  # Spark has no TIMESTAMP(3)
        properties = {"name": column.name, "expr": column.computed, "data-type": str(kind), "comment": column.comment}
        out |= {f"schema.{n}.{k}": v for k, v in properties.items() if v is not None}
    return out


def with_computed(frame: DataFrame, options: Mapping[str, str]) -> DataFrame:
    """The rows with the table's computed columns at their positions; `frame` starts with the stored columns."""
    computed = computed_columns(options)
    if not computed:
        return frame
    from pyspark.sql import functions as F

    from paimon_nb.format.types import parse_type
    from paimon_nb.spark.types import spark_type

    columns = [F.col(quote(c)) for c in frame.columns]
    for c in computed:
        value = F.expr(to_spark_expression(c.expression))
        if c.type:
            value = value.cast(spark_type(parse_type(c.type)))
        columns.insert(c.position, value.alias(c.name))
    return frame.select(*columns)


def to_spark_expression(expression: str) -> str:
    """A Flink expression as Spark SQL."""
    from paimon_nb.sql import parse, render

    text = f"SELECT {expression}"
    (query,) = parse(text)
    return render(query, text, {})[len("SELECT ") :]  # type: ignore[arg-type]
