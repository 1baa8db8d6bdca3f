"""Filters that a file's reader applies before it decodes the other columns. Knows no predicates, only masks."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types.arrow_builders import fill_null

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

Span = tuple[Any, Any]
"""(lowest, highest) matching value, both inclusive; None = unbounded."""


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A predicate on some columns of a file, applied while it is read."""

    columns: tuple[str, ...]
    """Column names in the file."""
    mask: Callable[[pa.Table], Any]
    """Takes a table of these columns, in this order and as logical types; returns a boolean per row, null for no match.
    """
    spans: Mapping[str, Span] = field(default_factory=dict)
    """For integer and text columns: bounds of the matching rows. For skipping by statistics."""
    exact: bool = False
    """Whether every row inside all spans matches, so that the mask is not needed."""
    sorted_by: str | None = None
    """The leading sort column of the file's rows; None if unknown."""

    @property
    def points(self) -> tuple[str, ...]:
        """Columns with a single matching value; then few rows match."""
        return tuple(c for c, (low, high) in self.spans.items() if low is not None and low == high)

    @property
    def is_range(self) -> bool:
        """Whether the matching rows are contiguous in the file."""
        return self.sorted_by in self.spans

    def matches(self, rows: pa.Table) -> Any:
        """A boolean per decoded row. `rows` contains the filter's columns, in any order."""
        return fill_null(self.mask(rows.select(list(self.columns))), False)

    def apply(self, rows: pa.Table) -> pa.Table:
        """The matching rows of decoded rows, which contain the filter's columns."""
        return rows.filter(self.matches(rows))
