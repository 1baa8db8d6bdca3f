"""The partitions that a condition of DELETE matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.base.identifier import quote
from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.session.execute.dml_target import Target
    from paimon_nb.spark.runtime.jvm_types import Expression
    from paimon_nb.statements import Span


def matching_partitions(target: Target, condition: Span) -> list[dict[str, object]] | None:
    """The partitions that a DELETE with this condition drops as a whole; None if it deletes row by row.

    In Spark's dialect the condition needs partition columns alone. Flink's also wants it to be `column = constant AND ...`.
    Source: Paimon `DeleteFromPaimonTableCommand` and `OnlyPartitionKeyEqualVisitor`.
    """
    import pyarrow as pa

    from paimon_nb.format.row import to_scalar
    from paimon_nb.format.types import DataField, arrow_type, parse_type
    from paimon_nb.spark.runtime.arrow_interop import from_arrow
    from paimon_nb.table.read.live_files import live_entries

    store = target.table.store
    fields = store.schema.partition_fields
    if not fields:
        return None
    partitions = [
        store.partition_values(p) for p in dict.fromkeys(e.partition for e in live_entries(store, store.latest()))
    ]
    columns = [
        pa.array([to_scalar(f.type, v[i]) for v in partitions], arrow_type(f.type)) for i, f in enumerate(fields)
    ]
    number = DataField(-1, "__paimon_partition", parse_type("INT"))
    columns.append(pa.array(range(len(partitions)), pa.int32()))
    rows = pa.table(columns, names=[f.name for f in (*fields, number)])
    frame = from_arrow(target.context.session.spark, rows, (*fields, number))
    alias = quote(target.alias)
    try:
        matching = target.run_sql(
            [frame],
            lambda render, views: (
                f"SELECT {alias}.{number.name} FROM {views[0]} AS {alias} WHERE ({render(condition)})"
            ),
        )
    except SqlAnalysisError:
        return None  # the condition uses other columns
    if not _is_deterministic(matching):
        return None
    if target.context.session.flink_semantics and not _has_equalities_alone(matching):
        return None
    return [dict(zip(store.schema.partition_keys, partitions[r[0]], strict=True)) for r in matching.collect()]


def constant_condition(target: Target, condition: Span) -> bool | None:
    """The value of a condition without columns, such as TRUE or 1 = 2; NULL is False. None if it has columns."""
    import pyarrow as pa

    from paimon_nb.spark.runtime.arrow_interop import from_arrow
    from paimon_nb.syntax.lexer import tokens

    columns = {name.lower() for name in target.table.schema.names}
    if any(
        t.name.lower() in columns for t in tokens(target.context.text[condition.start : condition.stop]) if t.is_name
    ):
        return None  # without a look at it by Spark, which may not have been started
    one_row = from_arrow(target.context.session.spark, pa.table({"__paimon_row": pa.array([0], pa.int32())}))
    try:
        found = target.run_sql(
            [one_row],
            lambda render, views: f"SELECT ({render(condition)}) AS x FROM {views[0]} AS {quote(target.alias)}",
        )
    except SqlAnalysisError:
        return None
    try:
        foldable = analyzed_plan(found).projectList().apply(0).child().foldable()
    except AttributeError:  # Spark Connect
        return None
    return found.collect()[0][0] is True if foldable else None


def _has_equalities_alone(filtered: DataFrame) -> bool:
    """Whether a query's WHERE is `column = constant`, or a conjunction of such conditions."""
    plan = analyzed_plan(filtered)
    while plan.getClass().getSimpleName() != "Filter":
        plan = plan.children().apply(0)
    return _is_conjunction_of_equalities(plan.condition())


def _is_conjunction_of_equalities(condition: Expression) -> bool:
    """As Flink's planner leaves it: NOT of `<>` and IN with one value are equalities, a condition on a BOOLEAN column is none."""
    kind = condition.getClass().getSimpleName()
    sides = [condition.children().apply(i) for i in range(condition.children().size())]
    inner = sides[0].getClass().getSimpleName() if sides else ""
    if kind == "And":
        return all(map(_is_conjunction_of_equalities, sides))
    if kind == inner == "Not":
        return _is_conjunction_of_equalities(sides[0].child())
    if kind not in ("EqualTo", "In") or len(sides) != 2:
        return False
    columns = [s for s in sides if s.getClass().getSimpleName() == "AttributeReference"]
    return any(s.foldable() for s in sides) and [c.dataType().typeName() == "boolean" for c in columns] == [False]


def _is_deterministic(frame: DataFrame) -> bool:
    """False for rand() and other functions that are evaluated per row."""
    try:
        return bool(analyzed_plan(frame).deterministic())
    except AttributeError:  # Spark Connect
        return False
