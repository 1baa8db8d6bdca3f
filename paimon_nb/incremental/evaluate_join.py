"""The change of a join.

Inner joins are bilinear: the change is dL * R + (L + dL) * dR. Left, semi and anti joins are linear in the left side only: a change of the
right side changes what the left rows with its keys give, before and after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.incremental.engine import KEY_TEXT, Relation
from paimon_nb.incremental.input_rows import InputRows
from paimon_nb.incremental.list_types import engine_type
from paimon_nb.incremental.lookups import lookup_of
from paimon_nb.incremental.operators import WEIGHT
from paimon_nb.incremental.row_states import RowState
from paimon_nb.incremental.row_text import row_text
from paimon_nb.session.query.local.values import STRING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.incremental.evaluation import Evaluation
    from paimon_nb.incremental.operators import Column, Join


def join_change(evaluation: Evaluation, op: Join) -> Relation:
    """The change of a join's rows; stores those of its sides."""
    engine = evaluation.engine
    sides = [engine.consolidated(evaluation.change(s), s.columns) for s in (op.left, op.right)]
    left, right = (_rows_of_side(evaluation, op, side) for side in (0, 1))
    whole_left, whole_right = (
        s.keyed(c, key_text(op, i)) for i, (s, c) in enumerate(((left, sides[0]), (right, sides[1])))
    )
    d_left, d_right = (
        w if op.null_safe or not op.equalities else engine.table(f"SELECT * FROM {w.name} WHERE {has_key(op, i)}")
        for i, w in enumerate((whole_left, whole_right))
    )
    both_sides = op.kind == "FULL"
    old_right = right.matching(d_left, None if op.kind == "INNER" else d_right)
    old_left = left.matching(d_right, d_left if both_sides else None)
    parts: list[str] = []
    if op.kind == "INNER":
        parts += _bilinear(op, d_left, d_right, old_left, old_right)
    else:
        pair = _Linear(evaluation, op, op.kind if op.kind != "FULL" else "LEFT", op.left.columns, op.right.columns)
        new_right = right.after(old_right, d_right)
        parts += pair.parts(whole_left, d_left, d_right, old_left, old_right, new_right)
        if both_sides:
            mirrored = _Linear(evaluation, op, "ANTI", op.right.columns, op.left.columns)
            new_left = left.after(old_left, d_left)
            parts += mirrored.parts(whole_right, d_right, d_left, old_right, old_left, new_left)
    made = engine.table(" UNION ALL ".join(parts))
    left.write(d_left)
    right.write(d_right)
    return made


def _rows_of_side(evaluation: Evaluation, op: Join, side: int) -> RowState | InputRows:
    child, lookup = (op.left, op.right)[side], lookup_of(op, side)
    if lookup is not None:
        return InputRows(evaluation, child, lookup, key_text(op, side))
    return RowState(evaluation, evaluation.state(op, ("_left", "_right")[side]), child.columns, child.key)


def key_text(op: Join, side: int) -> str:
    """SQL of the text of a side's join key."""
    return row_text([(f"CAST({e[side]} AS VARCHAR)", STRING) for e in op.equalities])


def has_key(op: Join, side: int) -> str:
    """SQL of whether a side's row may match: its key has no NULL."""
    return " AND ".join(f"({e[side]}) IS NOT NULL" for e in op.equalities)


def _ids(columns: Sequence[Column], alias: str) -> str:
    return "".join(f"{alias}.{c.id}, " for c in columns)


def _bilinear(op: Join, d_left: Relation, d_right: Relation, old_left: Relation, old_right: Relation) -> list[str]:
    ids = f"{_ids(op.left.columns, 'l')}{_ids(op.right.columns, 'r')}"
    plain = "".join(f"{c.id}, " for c in op.left.columns) + WEIGHT
    new_left = f"(SELECT {plain} FROM {old_left.name} UNION ALL SELECT {plain} FROM {d_left.name})"
    weight = f"l.{WEIGHT} * r.{WEIGHT} AS {WEIGHT}"
    return [
        f"SELECT {ids}{weight} FROM {d_left.name} l JOIN {old_right.name} r ON {op.condition}",
        f"SELECT {ids}{weight} FROM {new_left} l JOIN {d_right.name} r ON {op.condition}",
    ]


class _Linear:
    """A join that is linear in its first side, `first`."""

    def __init__(
        self, evaluation: Evaluation, op: Join, kind: str, first: Sequence[Column], second: Sequence[Column]
    ) -> None:
        self._engine, self._op, self._kind, self._first, self._second = evaluation.engine, op, kind, first, second

    def parts(
        self,
        whole: Relation,
        first: Relation,
        second: Relation,
        old_first: Relation,
        old_second: Relation,
        new_second: Relation,
    ) -> list[str]:
        """The queries whose rows are the change.

        Args:
            whole: the change of the first side, with rows that have no key.
            first: the same without those.
            second: the change of the second side.
            old_first, old_second, new_second: rows with the keys of these changes.
        """
        found = [self._joined(whole.name, old_second, 1)]
        if second.count:
            ids = "".join(f"{c.id}, " for c in self._first)
            rows = f"SELECT {ids}{WEIGHT}, {KEY_TEXT} FROM"
            keys = f"SELECT {KEY_TEXT} FROM {second.name}"
            near = self._engine.table(
                f"SELECT * FROM ({rows} {old_first.name} UNION ALL {rows} {first.name}) WHERE {KEY_TEXT} IN ({keys})"
            )
            found += [self._joined(near.name, new_second, 1), self._joined(near.name, old_second, -1)]
        return found

    def _joined(self, first: str, second: Relation, sign: int) -> str:
        ids, condition = _ids(self._first, "m"), self._op.condition
        if self._kind == "LEFT":
            weight = f"m.{WEIGHT} * coalesce(o.{WEIGHT}, 1) * {sign} AS {WEIGHT}"
            return (
                f"SELECT {ids}{_ids(self._second, 'o')}{weight} FROM {first} m LEFT JOIN {second.name} o ON {condition}"
            )
        word = "EXISTS" if self._kind == "SEMI" else "NOT EXISTS"
        where = f"WHERE {word} (SELECT 1 FROM {second.name} o WHERE {condition})"
        if self._op.kind == "FULL":
            nulls = "".join(f"CAST(NULL AS {engine_type(c.type)}) AS {c.id}, " for c in self._second)
            ids = nulls + ids
        return f"SELECT {ids}m.{WEIGHT} * {sign} AS {WEIGHT} FROM {first} m {where}"
