"""The conjuncts of a condition that Spark evaluates before the mask of a native scan."""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING

from paimon_nb.format.types import DataField, Decimal, VarChar
from paimon_nb.table.read.predicate.model import Compare, In, IsNotNull, Predicate, conjuncts
from paimon_nb.table.read.strategy.spark_meaning import WHOLE_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column

_OPERATORS = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def condition_for_native_scan(predicate: Predicate | None, fields: Sequence[DataField]) -> Column | None:
    """The conjuncts to evaluate before the mask of a native scan, as a Spark condition; None if there are none.

    Spark would evaluate them after the mask, and the mask for every row. Only integers, decimals and strings.

    Args:
        predicate: from `conjuncts_with_spark_meaning`, bound to the table's columns.
        fields: the columns of the scan.
    """
    from pyspark.sql import functions as F

    from paimon_nb.base.identifier import quote

    types = {f.name: f.type for f in fields}
    matching: list[Column] = []
    for part in conjuncts(predicate):
        if not isinstance(part, Compare | In | IsNotNull) or part.column not in types:
            continue
        t, name = types[part.column], quote(part.column)
        plain = t.root in WHOLE_NUMBERS or isinstance(t, Decimal | VarChar)
        match part:
            case Compare(_, op, literal) if plain:
                matching.append(_OPERATORS[op](F.col(name), F.lit(literal)))
            case In(_, literals) if plain and None not in literals:
                matching.append(F.col(name).isin(list(literals)))
            case IsNotNull():
                matching.append(F.col(name).isNotNull())
    return reduce(operator.and_, matching) if matching else None
