"""The columns of an incremental query's result, and which of them can be a primary key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.format.types import DataField
from paimon_nb.incremental.operators import (
    Aggregate,
    Filter,
    Join,
    Operator,
    Partitioned,
    Project,
    Sessions,
    Source,
    Unnest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def result_fields(root: Operator, names: Sequence[str | None], text: str) -> tuple[DataField, ...]:
    """The columns of a result. Raises SqlAnalysisError: one has no name."""
    fields = []
    for at, (name, column) in enumerate(zip(names, root.columns, strict=True)):
        if name is None:
            raise SqlAnalysisError(
                f"column {at + 1} of the query has no name", hint="write an alias: ... AS name", sql=text
            )
        fields.append(DataField(at, name, column.type))
    return tuple(fields)


def natural_key(root: Operator, names: Sequence[str | None]) -> tuple[str, ...] | None:
    """The names of columns that are a key and never NULL."""
    key = root.key
    if not key or not set(key) <= never_null(root):
        return None
    by_id = {c.id: n for c, n in zip(root.columns, names, strict=True)}
    found = tuple(by_id[k] for k in key)
    return None if any(n is None for n in found) else tuple(n for n in found if n is not None)


def never_null(op: Operator) -> set[str]:
    """The columns of an operator that are never NULL, as far as the inputs' types say."""
    match op:
        case Source():
            return {c.id for n, c in op.used.items() if not op.table.schema.field(n).type.nullable}
        case Filter():
            return never_null(op.child)
        case Unnest():
            return never_null(op.child) | {op.column.id}
        case Sessions():
            return never_null(op.child) | {op.start.id, op.end.id}
        case Project() | Partitioned():
            below = never_null(op.child)
            return {c.id for sql, c in op.items if sql in below}
        case Join(kind="INNER"):
            return never_null(op.left) | never_null(op.right)
        case Join(kind="LEFT" | "SEMI" | "ANTI"):
            return never_null(op.left)
        case Aggregate():
            counts = {c.result.id for c in op.calls if c.function == "COUNT"}
            return (never_null(op.child) & {c.id for c in op.keys}) | counts
    return set()
