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
    Sessions,
    Source,
    UnionAll,
    Unnest,
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
        case Unnest():
            below = evaluation.change(op.child)
            return evaluation.engine.table(f"SELECT *, unnest({op.values}) AS {op.column.id} FROM {below.name}")
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
        case Partitioned() | Sessions():
            return _partitioned(evaluation, op)


def _partitioned(evaluation: Evaluation, op: Partitioned | Sessions) -> Relation:
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
    for relation, weight in ((after, 1), (before, -1)):
        copies = f"SELECT * FROM {relation.name}, unnest(range({WEIGHT}))"
        parts.append(f"SELECT *, CAST({weight} AS BIGINT) AS {WEIGHT} FROM ({_of_partitions(op, copies)})")
    return engine.table(" UNION ALL ".join(parts))


def _of_partitions(op: Partitioned | Sessions, rows: str) -> str:
    """The operator's rows of whole partitions."""
    if isinstance(op, Partitioned):
        items = ", ".join(f"{sql} AS {c.id}" for sql, c in op.items)
        return f"SELECT {items} FROM ({rows}) {op.ending}"
    own = f"PARTITION BY {partition_text(op)}"
    gap = f"INTERVAL ({op.gap_us}) MICROSECOND"
    begins = f"CASE WHEN {op.time} <= lag({op.time}) OVER ({own} ORDER BY {op.time}) + {gap} THEN 0 ELSE 1 END"
    numbered = f"SELECT *, sum(begins_) OVER ({own} ORDER BY {op.time} ROWS UNBOUNDED PRECEDING) AS session_ FROM (SELECT *, {begins} AS begins_ FROM ({rows}))"
    ids = "".join(f"{c.id}, " for c in op.child.columns)
    session = f"OVER (PARTITION BY {partition_text(op)}, session_)"
    return (
        f"SELECT {ids}min({op.time}) {session} AS {op.start.id}, max({op.time}) {session} + {gap} AS {op.end.id} "
        f"FROM ({numbered})"
    )


def partition_text(op: Partitioned | Sessions) -> str:
    """SQL of the key of a row's partition."""
    return " || '|' || ".join(f"coalesce(CAST({p} AS VARCHAR), '\\N')" for p in op.partition) or "''"


def empty_sql(columns: Sequence[Column]) -> str:
    """A relation without rows."""
    from paimon_nb.incremental.list_types import engine_type

    ids = "".join(f"CAST(NULL AS {engine_type(c.type)}) AS {c.id}, " for c in columns)
    return f"SELECT {ids}CAST(0 AS BIGINT) AS {WEIGHT} WHERE FALSE"
