"""A condition that a file's reader applies before it decodes the other columns. Knows no predicates, only their masks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from paimon_nb.format.types.arrow_builders import filled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

Span = tuple[Any, Any]
"""(lowest, highest) wanted value, both included; None = open."""


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A predicate on some columns of a file, applied while it is read."""

    columns: tuple[str, ...]
    """The file's own names."""
    mask: Callable[[pa.Table], Any]
    """Takes a table of these columns, in this order, in the memory form; gives one boolean a row, null for 'not wanted'."""
    spans: Mapping[str, Span] = field(default_factory=dict)
    """For integer and text columns: bounds of the matching rows. For skipping by statistics."""
    exact: bool = False
    """Every row inside all spans is wanted: the mask would say no more."""
    sorted_by: str | None = None
    """The column that orders the file's rows before all others, where that is known."""

    @property
    def points(self) -> tuple[str, ...]:
        """Columns of which one value is wanted: where there is one, few rows are."""
        return tuple(c for c, (low, high) in self.spans.items() if low is not None and low == high)

    @property
    def is_range(self) -> bool:
        """Whether the wanted rows stand together in the file."""
        return self.sorted_by in self.spans

    def matches(self, rows: pa.Table) -> Any:
        """A boolean for each decoded row; they have the filter's columns, in any order and among others."""
        return filled(self.mask(rows.select(list(self.columns))), False)

    def apply(self, rows: pa.Table) -> pa.Table:
        """The wanted ones of decoded rows, which have the filter's columns."""
        return rows.filter(self.matches(rows))
