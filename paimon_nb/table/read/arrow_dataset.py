"""A lazy read as a dataset of pyarrow, for engines that push their columns and conditions into one: DuckDB, polars, Daft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pyarrow.dataset as ds

from paimon_nb.base.batches import BATCH_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    import pyarrow.compute as pc


class Scanned(Protocol):
    """What a dataset needs of a query."""

    @property
    def schema(self) -> pa.Schema: ...

    def scanner(
        self, columns: Sequence[str] | None = None, filter: pc.Expression | None = None, *, batch_rows: int = ...
    ) -> Any: ...

    def to_reader(self) -> pa.RecordBatchReader: ...

    def count(self) -> int: ...

    def head(self, rows: int = ...) -> pa.Table: ...


class TableDataset(ds.Dataset):  # type: ignore[misc]  # pyarrow has no types
    """The rows of a query. Each scan reads the columns that it names, and leaves out files by its condition."""

    def __init__(self, query: Scanned) -> None:
        """Not the initialisation of pyarrow, which makes datasets of files only."""
        self._query = query

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return self._query.schema

    def scanner(
        self,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,
        batch_size: int | None = None,
        **_: Any,
    ) -> ds.Scanner:
        """A scanner of the rows, which engines call.

        Args:
            columns: names in the order of the result; None: all.
            filter: an expression of Arrow, or None.
            batch_size: rows of a batch, at most.

        Returns:
            A `pyarrow.dataset.Scanner`, which can be read once.
        """
        return self._query.scanner(columns, filter, batch_rows=batch_size or BATCH_ROWS)

    def to_table(self, columns: Sequence[str] | None = None, filter: pc.Expression | None = None, **_: Any) -> pa.Table:
        """All rows.

        Args:
            columns: names in the order of the result; None: all.
            filter: an expression of Arrow, or None.

        Returns:
            A `pyarrow.Table`.
        """
        return self.scanner(columns, filter).to_table()

    def to_batches(self, columns: Sequence[str] | None = None, filter: pc.Expression | None = None, **_: Any) -> Any:
        """The rows in batches.

        Args:
            columns: names in the order of the result; None: all.
            filter: an expression of Arrow, or None.

        Returns:
            An iterator of `pyarrow.RecordBatch`.
        """
        return self.scanner(columns, filter).to_batches()

    def to_reader(self) -> pa.RecordBatchReader:
        """All rows as a stream, read no further than the consumer has taken them.

        Returns:
            A `pyarrow.RecordBatchReader`, which can be read once.
        """
        return self._query.to_reader()

    def count_rows(self, filter: pc.Expression | None = None, **_: Any) -> int:
        """The number of rows.

        Args:
            filter: an expression of Arrow, or None.

        Returns:
            The number of rows that it selects.
        """
        return self._query.count() if filter is None else self.scanner(filter=filter).count_rows()

    def head(self, num_rows: int, **_: Any) -> pa.Table:
        """Some rows.

        Args:
            num_rows: how many, at most.

        Returns:
            A `pyarrow.Table`.
        """
        return self._query.head(num_rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return TableDataset, (self._query,)
