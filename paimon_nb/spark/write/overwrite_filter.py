"""The partition that a condition means, for `df.writeTo(t).overwrite(condition)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql._typing import ColumnOrName

    from paimon_nb.spark.runtime.jvm_types import Expression


def partition_of(condition: ColumnOrName, rows: DataFrame, partition_keys: Sequence[str]) -> dict[str, str]:
    """SQL of a value by partition column; {} for a condition that is always true.

    Args:
        rows: the table's rows, which say what names mean. partition_keys: as the table spells them.

    Raises: UnsupportedOperation: it says more than that partition columns equal values, as in Java.
    """
    made = analyzed_plan(rows.filter(condition)).condition()
    out: dict[str, str] = {}
    for part in _conjuncts(made):
        if _name(part) == "Literal" and part.value() is True:
            continue
        name, value = _equality(part)
        key = next((k for k in partition_keys if name is not None and k.lower() == name.lower()), None)
        if key is None or key in out:
            raise UnsupportedOperation(
                f"rows are not overwritten by the condition {part.sql()}",
                hint="partition columns equal to values; or DELETE FROM t WHERE ... and then append()",
            )
        out[key] = value
    return out


def _name(expression: Expression) -> str:
    return str(expression.getClass().getSimpleName())


def _conjuncts(expression: Expression) -> list[Expression]:
    if _name(expression) == "And":
        return [*_conjuncts(expression.left()), *_conjuncts(expression.right())]
    return [expression]


def _equality(expression: Expression) -> tuple[str | None, str]:
    """(column, SQL of the value) of `column = value`, either way round."""
    if _name(expression) in ("EqualTo", "EqualNullSafe"):
        sides = [expression.left(), expression.right()]
        for column, value in (sides, sides[::-1]):
            while _name(column) == "Cast":  # Spark widens the column for a wider value
                column = column.child()
            if _name(column) == "AttributeReference" and value.foldable():
                return str(column.name()), str(value.sql())
    return None, ""
