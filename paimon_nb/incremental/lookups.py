"""Which sides of joins need no state: the rows of a table whose primary key is the join key are looked up in the table itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import Decimal
from paimon_nb.incremental.operators import Filter, Join, Operator, Project, Source
from paimon_nb.session.query.local.values import is_integer

if TYPE_CHECKING:
    from collections.abc import Mapping

_EXACT = frozenset({"VARCHAR", "DATE", "BOOLEAN"})
"""Types of key columns, beside integers and decimals, whose equal values have one form."""
_CASTS = ("SMALLINT", "INTEGER", "BIGINT", "VARCHAR")


@dataclass(frozen=True, slots=True)
class Lookup:
    """How the rows of a join's side are found in its table."""

    source: Source
    keys: Mapping[str, tuple[str, str]]
    """By column of the primary key: SQL of its value over the side's own columns, and over those of the other side."""


def lookup_of(op: Join, side: int) -> Lookup | None:
    """The lookup of a join's side; None: the side needs a state table. `side`: 0 is the left one."""
    found = (op.left, op.right)[side]
    while isinstance(found, Filter | Project):
        found = found.child
    if op.null_safe or not isinstance(found, Source) or not found.table.primary_keys:
        return None
    schema, keys = found.table.schema, found.table.primary_keys
    types = [schema.field(k).type for k in keys]
    if not all(is_integer(t) or isinstance(t, Decimal) or t.root in _EXACT for t in types):
        return None
    names = {c.id: n for n, c in found.used.items()}
    compared = _compared_columns(op, side, _columns_of_table((op.left, op.right)[side], names))
    return Lookup(found, {k: compared[k] for k in keys}) if set(keys) <= compared.keys() else None


def _compared_columns(op: Join, side: int, columns: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for pair in op.equalities:
        for sql, name in columns.items():
            if pair[side] in (sql, *(f"CAST({sql} AS {t})" for t in _CASTS)):
                found.setdefault(name, (sql, pair[1 - side]))
    return found


def _columns_of_table(op: Operator, names: Mapping[str, str]) -> dict[str, str]:
    """The ids of an operator's columns that are columns of the table, with their names there."""
    match op:
        case Filter():
            return _columns_of_table(op.child, names)
        case Project():
            below = _columns_of_table(op.child, names)
            return {c.id: below[sql] for sql, c in op.items if sql in below}
    return dict(names)
