"""The interface of one index of one column. Knows no container."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyroaring import BitMap

    from paimon_nb.format.row.binary_row import Value

OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "in", "not in", "is null", "is not null")
"""The operators that indexes support. Others ('like', 'starts with', ...) are not evaluated."""


class UnknownVersion(Exception):
    """The index has a newer version and is not used."""


class IndexReader(Protocol):
    """One index of one column in one file.

    Literals are in-row values, never null: one for a comparison, any number for 'in' and 'not in', none otherwise.
    """

    def may_match(self, op: str, literals: Sequence[Value]) -> bool:
        """False only if no row of the file satisfies the condition."""
        ...

    def candidates(self, op: str, literals: Sequence[Value]) -> BitMap | None:
        """Positions outside of which no row satisfies the condition; None if unknown."""
        ...


def rows_for_comparison(op: str, less: BitMap, equal: BitMap, greater: BitMap) -> BitMap:
    """The rows that satisfy a comparison, from those less than, equal to and greater than the literal."""
    match op:
        case "=":
            return equal
        case "<>":
            return less | greater
        case "<":
            return less
        case "<=":
            return less | equal
        case ">":
            return greater
    return equal | greater
