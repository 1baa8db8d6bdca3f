"""The signed change of each operator's rows, from the changes of its inputs and the state that they touch.

The rules, with their derivation, are in docs/decisions/0013-incremental-tables.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.incremental.evaluate_aggregate import aggregate_change
from paimon_nb.incremental.evaluate_join import join_change
from paimon_nb.incremental.operators import (
    WEIGHT,
    Aggregate,
    Constant,
    Filter,
    Join,
    Partitioned,
    Project,
    Source,
    UnionAll,
)
from paimon_nb.incremental.row_states import RowState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.incremental.engine import Relation
    from paimon_nb.incremental.evaluation import Evaluation
    from paimon_nb.incremental.operators import Column, Operator


def result_change(evaluation: Evaluation, root: Operator) -> Relation:
    """The consolidated change of a plan's result. Raises NotLocal, StateLost."""
    return evaluation.run(root, _change)


def _change(evaluation: Evaluation, op: Operator) -> Relation:
    match op:
        case Source():
            name = evaluation.engine.arrow(evaluation.change_of(op))
            return evaluation.engine.table(f"SELECT {op.select_list}{WEIGHT} FROM {name}")
        case Project():
            items = "".join(f"{sql} AS {c.id}, " for sql, c in op.items)
            return evaluation.engine.table(f"SELECT {items}{WEIGHT} FROM {evaluation.change(op.child).name}")
        case Filter():
            below = evaluation.change(op.child)
            return evaluation.engine.table(f"SELECT * FROM {below.name} WHERE {op.condition}")
        case UnionAll():
            ids = "".join(f"{c.id}, " for c in op.columns)
            parts = [f"SELECT {ids}{WEIGHT} FROM {evaluation.change(c).name}" for c in op.children]
            return evaluation.engine.table(" UNION ALL ".join(parts))
        case Constant():
            rows = f"SELECT *, CAST(1 AS BIGINT) AS {WEIGHT} FROM ({op.sql})"
            return evaluation.engine.table(rows if evaluation.is_first else f"{rows} WHERE FALSE")
        case Join():
            return join_change(evaluation, op)
        case Aggregate():
            return aggregate_change(evaluation, op)
        case Partitioned():
            return _partitioned(evaluation, op)


def _partitioned(evaluation: Evaluation, op: Partitioned) -> Relation:
    """The rows of the changed partitions as they are now, without those that they had."""
    engine = evaluation.engine
    change = engine.consolidated(evaluation.change(op.child), op.child.columns)
    if not change.count:
        return engine.table(empty_sql(op.columns))
    rows = RowState(evaluation, evaluation.state(op), op.child.columns, op.child.key)
    partition = partition_text(op)
    keyed = rows.keyed(change, partition)
    before = rows.find(keyed)
    after = rows.after(before, keyed)
    rows.write(keyed, before)
    parts = []
    items = "".join(f"{sql} AS {c.id}, " for sql, c in op.items)
    for relation, weight in ((after, 1), (before, -1)):
        copies = f"SELECT * FROM {relation.name}, unnest(range({WEIGHT}))"
        parts.append(
            f"SELECT *, CAST({weight} AS BIGINT) AS {WEIGHT} FROM (SELECT {items.removesuffix(', ')} FROM ({copies}) {op.ending})"
        )
    return engine.table(" UNION ALL ".join(parts))


def partition_text(op: Partitioned) -> str:
    """SQL of the key of a row's partition."""
    return " || '|' || ".join(f"coalesce(CAST({p} AS VARCHAR), '\\N')" for p in op.partition) or "''"


def empty_sql(columns: Sequence[Column]) -> str:
    """A relation without rows."""
    from paimon_nb.session.query.local.values import engine_type

    ids = "".join(f"CAST(NULL AS {engine_type(c.type)}) AS {c.id}, " for c in columns)
    return f"SELECT {ids}CAST(0 AS BIGINT) AS {WEIGHT} WHERE FALSE"
