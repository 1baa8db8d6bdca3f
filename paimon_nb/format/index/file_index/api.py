"""What one index of one column can answer; knows no container."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyroaring import BitMap

    from paimon_nb.format.row.binary_row import Value

OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "in", "not in", "is null", "is not null")
"""What an index may be asked. Others ('like', 'starts with', ...) get no answer."""


class UnknownVersion(Exception):
    """The index is of a newer version; it answers nothing."""


class IndexReader(Protocol):
    """One index of one column in one file.

    Literals are in-row values, none of them null: one for a comparison, any number for 'in' and 'not in', else none.
    """

    def may_match(self, op: str, literals: Sequence[Value]) -> bool:
        """False only when no row of the file satisfies the condition."""
        ...

    def candidates(self, op: str, literals: Sequence[Value]) -> BitMap | None:
        """Positions outside of which no row satisfies the condition; None when the index cannot tell."""
        ...


def pick(op: str, less: BitMap, equal: BitMap, greater: BitMap) -> BitMap:
    """The rows for a comparison, given how the rows' values compare with the literal."""
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
