"""The columns of CREATE TABLE AS: what Spark knows of the query's result, and more of it in Flink's semantics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.types import Char, VarChar
from paimon_nb.session.query.run_query import schema_fields
from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan, has_bridge
from paimon_nb.spark.runtime.plan_expressions import scala_items
from paimon_nb.spark.types import fields_of_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.format.types import DataType
    from paimon_nb.session.core.session import Session
    from paimon_nb.spark.runtime.jvm_types import Expression, Plan
    from paimon_nb.statements import Query

_SAME_COLUMNS = frozenset({"Distinct", "Filter", "GlobalLimit", "LocalLimit", "Offset", "Sort", "SubqueryAlias"})
"""Operators whose columns are those of their only child."""


def result_columns(
    session: Session, query: Query, frame: DataFrame
) -> list[tuple[str, DataType, str | None, str | None]]:
    """Name, type, comment and default of each column of a query's result.

    A DataFrame knows neither CHAR(4) nor TIMESTAMP(3) nor NOT NULL. Of a column that the query only selects, Spark keeps the
    length of CHAR and VARCHAR, and Flink keeps all of these.

    Raises:
        SchemaMismatch: Paimon has no type for a column.
    """
    fields = fields_of_spark(frame.schema)
    stored: dict[str, DataType] = {}
    if len(query.tables) == 1 and has_bridge(frame):
        stored = {f.name: f.type for f in schema_fields(session, query.tables[0])}
    if not session.flink_semantics:
        stored = {n: t.with_nullable(True) for n, t in stored.items() if isinstance(t, Char | VarChar)}
    selected = (_table_columns_selected(analyzed_plan(frame)) if stored else []) or [None] * len(fields)
    return [
        (f.name, stored.get(name or "", f.type), f.description, None) for f, name in zip(fields, selected, strict=True)
    ]


def _table_columns_selected(plan: Plan) -> list[str | None]:
    """The table's column that each result column is; None for what is computed or comes from more than one table.
    Nothing if the plan has no projection, such as that of GROUP BY."""
    projections: list[Expression] = []
    while (name := plan.getClass().getSimpleName()) in _SAME_COLUMNS or (name == "Project" and not projections):
        if name == "Project":
            projections = [*scala_items(plan.projectList())]
        plan = next(scala_items(plan.children()))
    out: list[str | None] = []
    for e in projections:
        column = e.child() if e.getClass().getSimpleName() == "Alias" else e
        is_stored = name == "View" and column.getClass().getSimpleName() == "AttributeReference"
        out.append(column.name() if is_stored else None)
    return out
