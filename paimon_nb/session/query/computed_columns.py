"""Columns that are not stored in files: computed when a table is read (`c AS expr`) or METADATA, kept in its options as Flink keeps them.

Data files do not contain them. Source: Flink `FlinkCatalogPropertiesUtil`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.format.types import parse_type
from paimon_nb.statements import ColumnDef
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.format.types import DataField, DataType

COMPUTED_COLUMN_PREFIX = "schema."
"""Prefix of the options that describe such columns."""
_KEY = re.compile(r"schema\.(\d+)\.(name|expr|data-type|comment|metadata|virtual)")


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
    metadata: str | None = None
    """The key of a METADATA column, which has no expression. A Paimon table has no metadata to read or write."""
    virtual: bool = False

    @property
    def clause(self) -> str:
        """What it is, in Flink's words."""
        if self.metadata is None:
            return f"AS {self.expression}"
        origin = "" if self.metadata == self.name else f" FROM {text_literal(self.metadata)}"
        return f"METADATA{origin}{' VIRTUAL' if self.virtual else ''}"

    @property
    def column_definition(self) -> ColumnDef:
        """The column as a statement defines it."""
        if self.metadata is None:
            return ColumnDef(self.name, None, self.comment, computed=self.expression)
        return ColumnDef(self.name, self.type, self.comment, metadata=self.metadata, virtual=self.virtual)


def computed_columns(options: Mapping[str, str]) -> tuple[ComputedColumn, ...]:
    """The computed columns in a table's options, by position."""
    entries: dict[int, dict[str, str]] = {}
    for key, value in options.items():
        if (match := _KEY.fullmatch(key)) is not None:
            entries.setdefault(int(match[1]), {})[match[2]] = value
    return tuple(
        ComputedColumn(
            n,
            c["name"],
            c.get("expr", ""),
            c.get("data-type", ""),
            c.get("comment"),
            c.get("metadata"),
            c.get("virtual") == "true",
        )
        for n, c in sorted(entries.items())
        if "name" in c and ("expr" in c or "metadata" in c)
    )


def check_metadata(options: Mapping[str, str], *, writing: bool) -> None:
    """Raise UnsupportedOperation for METADATA columns: as in Flink, no row is read, and none written unless all are VIRTUAL."""
    for column in computed_columns(options):
        if column.metadata is not None and not (writing and column.virtual):
            raise UnsupportedOperation(
                f"column {column.name!r} is METADATA, and a Paimon table has none to {'write' if writing else 'read'}",
                hint=f"ALTER TABLE ... DROP {column.name}; a connector's table (kafka) has metadata",
                column=column.name,
            )


def is_computed_column_key(key: str) -> bool:
    """Whether an option's key belongs to a computed or METADATA column."""
    return _KEY.fullmatch(key) is not None


def computed_options(
    spark: Callable[[], SparkSession], columns: Sequence[ColumnDef], stored: Sequence[DataField], first: int = 0
) -> dict[str, str]:
    """The options that define the columns of a new table that are not stored in files. Asks Spark for the types of computed ones.

    Args:
        first: position of the first of `columns` in the table.

    Raises:
        SqlAnalysisError: Spark cannot compute an expression from the stored columns.
    """
    out: dict[str, str] = {}
    names = {f.name for f in stored}
    for n, column in enumerate(columns, first):
        if column.computed is not None:
            kind = _type_of_expression(column.computed, spark(), stored)
            properties = {
                "name": column.name,
                "expr": quoted_columns(column.computed, names),
                "data-type": str(kind),
                "comment": column.comment,
            }
        elif column.metadata is not None:
            kind = parse_type(str(column.type))
            virtual = str(column.virtual).lower()
            properties = {"name": column.name, "metadata": column.metadata, "virtual": virtual, "data-type": str(kind), "comment": column.comment}  # fmt: skip
        else:
            continue
        out |= {f"schema.{n}.{k}": v for k, v in properties.items() if v is not None}
    return out


def _type_of_expression(expression: str, spark: SparkSession, stored: Sequence[DataField]) -> DataType:
    from pyspark.sql import functions as F

    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.plan_check import check_expression
    from paimon_nb.spark.types import fields_of_spark, spark_type

    rows = spark.range(0).select(*(F.lit(None).cast(spark_type(f.type)).alias(f.name) for f in stored))
    with spark_errors(expression):
        text = to_spark_expression(expression)
        check_expression(spark, text, "the computed column")
        (field,) = fields_of_spark(rows.selectExpr(f"{text} AS c").schema)
    # Spark knows no TIMESTAMP(3).
    return {f.name: f.type for f in stored}.get(expression.strip("`"), field.type)


def quoted_columns(expression: str, names: Collection[str]) -> str:
    """An expression in which the names of columns are in backticks, as Flink stores it."""
    found = tokens(expression)
    parts, at = [], 0
    for i, token in enumerate(found):
        called = i + 1 < len(found) and found[i + 1].text == "("
        if token.kind == "word" and token.text in names and not called:
            parts += [expression[at : token.start], quote(token.text)]
            at = token.stop
    return "".join(parts) + expression[at:]


def has_computed_columns(system: str | None) -> bool:
    """Whether a system table also has its table's computed columns: `$audit_log`, after the stored ones."""
    return system is not None and system.lower() == "audit_log"


def with_computed(frame: DataFrame, options: Mapping[str, str], *, last: bool = False) -> DataFrame:
    """The rows with the table's computed columns at their positions, or `last`; `frame` starts with the stored columns."""
    computed = computed_columns(options)
    if not computed:
        return frame
    check_metadata(options, writing=False)
    from pyspark.sql import functions as F

    from paimon_nb.spark.plan_check import check_expression
    from paimon_nb.spark.runtime.flink_json import register_flink_json
    from paimon_nb.spark.types import spark_type

    columns = [F.col(quote(c)) for c in frame.columns]
    for c in computed:
        expression = to_spark_expression(c.expression)
        register_flink_json(frame.sparkSession, expression)
        check_expression(frame.sparkSession, expression, f"computed column {c.name}")
        value = F.expr(expression)
        if c.type:
            value = value.cast(spark_type(parse_type(c.type)))
        columns.insert(len(columns) if last else c.position, value.alias(c.name))
    return frame.select(*columns)


def to_spark_expression(expression: str) -> str:
    """A Flink expression as Spark SQL."""
    from paimon_nb.sql import parse, render

    text = f"SELECT {expression}"
    (query,) = parse(text)
    return render(query, text, {})[len("SELECT ") :]  # type: ignore[arg-type]
