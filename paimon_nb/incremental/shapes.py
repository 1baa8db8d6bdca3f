"""Which state tables an operator needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.types import Decimal
from paimon_nb.incremental.lookups import lookup_of
from paimon_nb.incremental.operators import ARRIVAL, Aggregate, Column, Join, Partitioned, Sessions, postorder
from paimon_nb.incremental.state import StateShape
from paimon_nb.session.query.local.values import BIGINT

if TYPE_CHECKING:
    from collections.abc import Sequence

from paimon_nb.incremental.operators import AggregateCall, Operator

ROWS_OF_GROUP = Column("n_rows_", BIGINT, "rows")
"""The number of rows of a group."""
SUM = Decimal(38, 0)
"""The type of stored sums: of integers, and of unscaled decimals."""


def shapes_of(op: Operator, number: int) -> Sequence[StateShape]:
    """The state tables of one operator. `number`: its position in the plan."""
    match op:
        case Join():
            name = f"{number}_{op.kind.lower()}_join"
            sides = (("left", op.left), ("right", op.right))
            return [
                StateShape(f"{name}_{side}", child.columns, True)
                for at, (side, child) in enumerate(sides)
                if lookup_of(op, at) is None
            ]
        case Aggregate():
            what = "distinct" if op.is_distinct else "groups"
            groups = StateShape(f"{number}_{what}", (*op.keys, ROWS_OF_GROUP, *accumulators(op)), False)
            if not op.rows_needed:
                return (groups,)
            arrival = (ARRIVAL,) if op.by_arrival else ()
            return groups, StateShape(f"{number}_group_rows", (*op.keys, *op.rows_needed, *arrival), True)
        case Partitioned() | Sessions():
            return (StateShape(f"{number}_partition_rows", op.child.columns, True),)
    return ()


def all_shapes(root: Operator) -> list[StateShape]:
    """The state tables of a plan."""
    return [s for number, op in enumerate(postorder(root)) for s in shapes_of(op, number)]


def accumulators(op: Aggregate) -> list[Column]:
    """What is kept of a group: for linear functions counts and sums, for others the result."""
    found: list[Column] = []
    for call in op.calls:
        if not call.is_linear:
            found.append(call.result)
            continue
        if call.operand is not None:
            found.append(count_of(call))
        if call.function in ("SUM", "AVG"):
            found.append(sum_of(call))
    return list({c.id: c for c in found}.values())


def count_of(call: AggregateCall) -> Column:
    """The number of values that are not NULL."""
    assert call.operand is not None
    return Column(f"n_{call.operand.id}", BIGINT, f"count_{call.operand.name}")


def sum_of(call: AggregateCall) -> Column:
    """Their sum, in units of the last digit."""
    assert call.operand is not None
    return Column(f"s_{call.operand.id}", SUM, f"sum_{call.operand.name}")
