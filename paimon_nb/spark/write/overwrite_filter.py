"""The partition selected by the condition of `df.writeTo(t).overwrite(condition)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql._typing import ColumnOrName

    from paimon_nb.spark.runtime.jvm_types import Expression


def partition_of_overwrite(condition: ColumnOrName, rows: DataFrame, partition_keys: Sequence[str]) -> dict[str, str]:
    """The SQL literal of each partition column in the condition; {} for a condition that is always true.

    Args:
        condition: a Spark condition.
        rows: the table's rows, for resolving column names.
        partition_keys: the table's partition columns.

    Raises:
        UnsupportedOperation: the condition is not a conjunction of `partition column = value`, as in Java.
    """
    resolved = analyzed_plan(rows.filter(condition)).condition()
    out: dict[str, str] = {}
    for part in _parts_of_overwrite_condition(resolved):
        if _class_name(part) == "Literal" and part.value() is True:
            continue
        name, value = _column_and_value(part)
        key = next((k for k in partition_keys if name is not None and k.lower() == name.lower()), None)
        if key is None or key in out:
            raise UnsupportedOperation(
                f"rows cannot be overwritten by the condition {part.sql()}",
                hint="compare partition columns with values, or use DELETE FROM t WHERE ... and then append()",
            )
        out[key] = value
    return out


def _class_name(expression: Expression) -> str:
    return str(expression.getClass().getSimpleName())


def _parts_of_overwrite_condition(expression: Expression) -> list[Expression]:
    if _class_name(expression) == "And":
        return [*_parts_of_overwrite_condition(expression.left()), *_parts_of_overwrite_condition(expression.right())]
    return [expression]


def _column_and_value(expression: Expression) -> tuple[str | None, str]:
    """(column, SQL of the value) of `column = value` or `value = column`; (None, '') for other expressions."""
    if _class_name(expression) in ("EqualTo", "EqualNullSafe"):
        sides = [expression.left(), expression.right()]
        for column, value in (sides, sides[::-1]):
            while _class_name(column) == "Cast":  # Spark widens the column for a wider value
                column = column.child()
            if _class_name(column) == "AttributeReference" and value.foldable():
                return str(column.name()), str(value.sql())
    return None, ""
