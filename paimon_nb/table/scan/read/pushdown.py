"""Predicate pushdown into file readers, before merging: which conjuncts, and in the file's own schema.

A condition on key columns is the same for all versions of a row, so it can always be pushed. Any other condition can be
pushed only if the stored rows are the result rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from paimon_nb.format.data import RowFilter
from paimon_nb.format.data.pushdown import Span
from paimon_nb.format.types import DataField, VarChar
from paimon_nb.table.scan.plan.splits import Split
from paimon_nb.table.scan.predicate.evaluate import evaluate
from paimon_nb.table.scan.predicate.model import Compare, In, Predicate, conjuncts, only_on
from paimon_nb.table.scan.read.data_evolution import evolves
from paimon_nb.table.store import TableStore

_WHOLE = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"})


def pushable_predicate(store: TableStore, split: Split, predicate: Predicate | None) -> Predicate | None:
    """The conjuncts that can be applied to each file of the split alone."""
    if predicate is not None and not split.raw and evolves(store):
        return None  # a file may lack columns of its rows
    if predicate is None or not store.has_keys or (split.raw and not split.diff):
        return predicate
    return only_on(predicate, set(store.schema.trimmed_primary_keys))


def file_filter(
    condition: Predicate, fields: Sequence[DataField], stored: Sequence[DataField], keys: Sequence[str] = ()
) -> RowFilter | None:
    """The condition on a file's own columns; None if the file lacks some of them or stores them in another type.

    Args:
        condition: bound to `fields`. fields: columns of the current schema. stored: those that will be read from the
            file.
            keys: what the file is sorted by.
    """
    in_file = {f.id: f for f in stored}
    used = [f for f in fields if f.name in condition.columns()]
    names: dict[str, str] = {}
    for f in used:
        old = in_file.get(f.id)
        if old is None or old.type.with_nullable(True) != f.type.with_nullable(True):
            return None
        names[f.name] = old.name
    if not names:
        return None

    def mask(rows: pa.Table) -> Any:
        return evaluate(condition, rows.rename_columns(list(names)), used)

    bounds = {names[c]: s for c, s in spans(condition, used).items()}
    sorted_by = names.get(keys[0]) if keys else None
    return RowFilter(tuple(names.values()), mask, bounds, _one_value_each(condition, used), sorted_by)


def _one_value_each(condition: Predicate, fields: Sequence[DataField]) -> bool:
    """Whether the condition is exactly one integer per field: then the spans are exact."""
    parts, roots = conjuncts(condition), {f.name: f.type.root for f in fields}
    return len(parts) == len(fields) and all(
        isinstance(p, Compare) and p.op == "=" and type(p.literal) is int and roots[p.column] in _WHOLE for p in parts
    )


def spans(condition: Predicate, fields: Sequence[DataField]) -> dict[str, Span]:
    """Bounds of the matching values of integer and text columns; equal to the conjuncts, or wider."""
    types = {f.name: f.type for f in fields}
    out: dict[str, Span] = {}
    for part in conjuncts(condition):
        match part:
            case Compare(column, op, literal) if op != "<>":
                values = [literal]
            case In(column, literals) if literals:
                op, values = "=", list(literals)
            case _:
                continue
        kind = int if types[column].root in _WHOLE else str if isinstance(types[column], VarChar) else None
        if kind is None or any(not isinstance(v, kind) or isinstance(v, bool) for v in values):
            continue
        low, high = out.get(column, (None, None))
        if op in ("=", ">", ">="):
            low = min(values) if low is None else max(low, min(values))
        if op in ("=", "<", "<="):
            high = max(values) if high is None else min(high, max(values))
        out[column] = (low, high)
    return out
