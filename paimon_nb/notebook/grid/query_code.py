"""Filters, searched text and order of a grid as SQL around the query that gave its rows."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.sql_quoting import text_literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from paimon_nb.notebook.grid.rows import Arrangement


def query_code(statement: str, arrangement: Arrangement, rows: pa.Table) -> str:
    """A cell that reads the rows as they are arranged.

    Args:
        statement: the query, or a cell with its magic line in front of it.
        rows: the rows of the result, for the names of its columns.

    Raises:
        UnsupportedOperation: two columns have the name of a column that is filtered or sorted.
    """
    from paimon_nb.sql import quote_if_needed

    names = rows.column_names
    magic, query = filtered_query(statement, arrangement, rows)
    order = [] if arrangement.sort is None else [(arrangement.sort, arrangement.descending), *arrangement.then]
    if not order:
        return f"{magic}\n{query}"
    check_unique({names[column] for column, _ in order}, rows)
    if not arrangement.filtered:
        query = _selected_from(query)
    parts = [f"{quote_if_needed(names[c])}{' DESC' if descending else ''} NULLS LAST" for c, descending in order]
    return "\n".join([magic, query, f"ORDER BY {', '.join(parts)}"])


def filtered_query(statement: str, arrangement: Arrangement, rows: pa.Table) -> tuple[str, str]:
    """The magic line and the query of the visible rows, in any order. Raises as `query_code`."""
    from paimon_nb.sql import quote_if_needed

    names = rows.column_names
    magic, query = _magic_and_query(statement)
    conditions = [c.sql() for c in arrangement.filters]
    if arrangement.search:
        text = f"lower({text_literal(arrangement.search)})"
        found = [f"contains(lower(CAST({quote_if_needed(n)} AS STRING)), {text})" for n in names]
        conditions.append(f"({' OR '.join(found)})")
    check_unique({c.name for c in arrangement.filters} | (set(names) if arrangement.search else set()), rows)
    if not conditions:
        return magic, query
    return magic, "\n".join([_selected_from(query), f"WHERE {conditions[0]}", *(f"  AND {c}" for c in conditions[1:])])


def check_unique(used: Iterable[str], rows: pa.Table) -> None:
    """Raises UnsupportedOperation if a column name is ambiguous in SQL."""
    for name in sorted(used):
        if rows.column_names.count(name) > 1:
            raise UnsupportedOperation(f"two columns are named {name!r}", hint="give one of them another name with AS")


def _selected_from(query: str) -> str:
    return "\n".join(["SELECT * FROM (", textwrap.indent(query, "  "), ") AS result"])


def _magic_and_query(statement: str) -> tuple[str, str]:
    """The line of %%paimon, with the engine that was chosen, and the query."""
    if statement.startswith("%%"):
        magic, _, query = statement.partition("\n")
        return magic, query
    return "%%paimon", statement
