"""A result's rows in the order and with the filters that a reader chose. The rows themselves never change."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.notebook.grid.filters import Condition, is_comparable, searchable_texts
from paimon_nb.notebook.grid.text_order import text_order
from paimon_nb.notebook.grid.texts import display_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

Index = np.ndarray[Any, np.dtype[np.int64]]
_LARGE_VALUE = 4096
"""Average bytes of a value from which single rows are sliced, not copied together."""
_LONG_DIGITS = 18
"""Digits that a 64-bit number holds."""


class Superseded(Exception):
    """The reader asked for something else meanwhile."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What the reader chose: the sorted column, filters, a searched text."""

    sort: int | None = None
    descending: bool = False
    then: tuple[tuple[int, bool], ...] = ()
    """Further sorted columns, which decide between rows with equal values: (column, descending)."""
    filters: tuple[Condition, ...] = ()
    search: str = ""

    @property
    def filtered(self) -> bool:
        """Whether rows may be hidden."""
        return bool(self.filters or self.search)


def with_further_column(arrangement: Arrangement, column: int, *, descending: bool) -> Arrangement:
    """The arrangement, sorted by a further column, or with another direction of one that is sorted already."""
    if column == arrangement.sort:
        return replace(arrangement, descending=descending)
    if any(c == column for c, _ in arrangement.then):
        return replace(arrangement, then=tuple((c, descending if c == column else d) for c, d in arrangement.then))
    return replace(arrangement, then=(*arrangement.then, (column, descending)))


@dataclass(slots=True)
class ArrangedRows:
    """Rows of a table in an arrangement.

    Args:
        table: all rows. index: the visible rows in order; None: all, in the table's order.
    """

    table: pa.Table
    index: Index | None = None
    arrangement: Arrangement = field(default_factory=Arrangement)

    def __len__(self) -> int:
        return self.table.num_rows if self.index is None else len(self.index)

    def rows_of(self, start: int, stop: int, columns: Sequence[int]) -> pa.Table:
        """Visible rows [start, stop) of these columns."""
        part = self.table.select(list(columns))
        if self.index is None:
            return part.slice(start, max(0, stop - start))
        import pyarrow as pa

        indices = self.index[start:stop]
        if part.num_rows and part.nbytes / part.num_rows > _LARGE_VALUE:
            return pa.concat_tables([part.slice(i, 1) for i in indices]) if len(indices) else part.slice(0, 0)
        return part.take(pa.array(indices))

    def page(self, start: int, stop: int, first: int, last: int) -> list[str | None]:
        """The texts of rows [start, stop) of columns [first, last), column by column."""
        part = self.rows_of(start, stop, range(first, min(last, self.table.num_columns)))
        return [text for column in part.columns for text in display_texts(column)]

    def value(self, row: int, column: int) -> Any:
        """One value as an Arrow scalar. Raises IndexError."""
        if not 0 <= row < len(self):
            raise IndexError(row)
        return self.table.column(column)[row if self.index is None else int(self.index[row])]

    def visible(self, column: int) -> pa.ChunkedArray:
        """A column's visible values."""
        whole = self.table.column(column)
        return whole if self.index is None else whole.take(self.index)


def filter_and_sort_rows(
    table: pa.Table, arrangement: Arrangement, order: Index | None = None, check: Callable[[], None] = lambda: None
) -> ArrangedRows:
    """The rows in an arrangement.

    Args:
        order: the sorted rows, if they are known from an arrangement with the same sort.
        check: called between steps; may raise `Superseded`.
    """
    import pyarrow.compute as pc

    mask: Any = None
    for condition in arrangement.filters:
        check()
        found = condition.mask(table.column(condition.column))
        mask = found if mask is None else pc.and_(mask, found)
    if arrangement.search:
        found = _rows_containing_text(table, arrangement.search, check)
        mask = found if mask is None else pc.and_(mask, found)
    check()
    keep = None if mask is None else np.asarray(pc.fill_null(mask, False).to_numpy())
    if arrangement.sort is not None:
        if order is None:
            order = rows_sorted_by(table, [(arrangement.sort, arrangement.descending), *arrangement.then])
        index = order if keep is None else order[keep[order]]
    else:
        index = None if keep is None else np.flatnonzero(keep)
    return ArrangedRows(table, index, arrangement)


def rows_sorted_by(table: pa.Table, columns: Sequence[tuple[int, bool]]) -> Index:
    """The rows sorted by several columns, the most important first: (column, descending)."""
    (column, descending), *before = reversed(columns)
    order = sorted_rows(table, column, descending)
    for column, descending in before:  # the sort is stable: what was sorted before decides between equal values
        order = order[sorted_rows(table.select([column]).take(order), 0, descending)]
    return order


def sorted_rows(table: pa.Table, column: int, descending: bool) -> Index:
    """The rows sorted by a column, NULL last; rows with equal values keep their order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = table.column(column)
    if not is_comparable(values.type):
        values = pa.chunked_array([pa.array(display_texts(values), pa.string())])
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    if pa.types.is_string(values.type) and values.nbytes < 1 << 30:
        return text_order(values, descending)
    if pa.types.is_decimal128(values.type) and values.type.precision <= _LONG_DIGITS:
        values = _unscaled_integers(values)
    order = "descending" if descending else "ascending"
    return np.asarray(pc.array_sort_indices(values, order, null_placement="at_end").to_numpy()).astype(np.int64)


def _unscaled_integers(values: pa.ChunkedArray) -> pa.Array:
    """Decimals of up to 18 digits as whole numbers, which sort five times as fast."""
    import pyarrow as pa

    decimals = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if not len(decimals):
        return pa.array([], pa.int64())
    low = np.frombuffer(decimals.buffers()[1], np.int64)[::2][decimals.offset : decimals.offset + len(decimals)]
    return pa.array(low, mask=~np.asarray(decimals.is_valid().to_numpy(zero_copy_only=False)))


def _rows_containing_text(table: pa.Table, text: str, check: Callable[[], None]) -> Any:
    """Rows in which any column contains the text, in any case."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found: Any = pa.chunked_array([pa.array(np.zeros(table.num_rows, bool))])
    for column in table.columns:
        check()
        hit = pc.match_substring(searchable_texts(column), text, ignore_case=True)
        found = pc.or_(found, pc.fill_null(hit, False))
    return found
