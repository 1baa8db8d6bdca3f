"""Cells of a grid as text for the clipboard: for a spreadsheet, as Markdown, as JSON, as INSERT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.notebook.grid.filters import sql_literal
from paimon_nb.notebook.grid.texts import display_texts, display_values, nested_text
from paimon_nb.notebook.grid.types import is_number

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

_MAX_TEXT = 1 << 24
_TARGET = "my_table"
"""The table of an INSERT where the result is not that of one table."""


def as_tsv(rows: pa.Table, *, header: bool = False) -> str:
    """The rows as tab-separated text; tabs and line ends inside values become spaces."""
    lines = ["\t".join(map(_one_line, rows.column_names))] if header else []
    lines.extend("\t".join(map(_one_line, row)) for row in _texts_by_row(rows))
    return "\n".join(lines)


def as_markdown(rows: pa.Table) -> str:
    """The rows as a Markdown table; numbers to the right.

    Examples:
        >>> import pyarrow as pa
        >>> print(as_markdown(pa.table({"id": [1, 2], "t": ["a|b", None]})))
        | id | t |
        | ---: | --- |
        | 1 | a\\|b |
        | 2 | *NULL* |
    """

    def cell(text: str | None) -> str:
        return "*NULL*" if text is None else _one_line(text).replace("\\", "\\\\").replace("|", "\\|")

    rules = ["---:" if is_number(t) else "---" for t in rows.schema.types]
    lines = [list(map(cell, rows.column_names)), rules, *([cell(t) for t in row] for row in _texts_by_row(rows))]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def as_json(rows: pa.Table) -> str:
    """The rows as a JSON array of objects, one a line. Columns with the same name are numbered: `a`, `a_2`."""
    names = _unique_names(rows.column_names)
    columns = [display_values(c) for c in rows.columns]
    lines = [nested_text(dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]
    return "[\n  " + ",\n  ".join(lines) + "\n]" if lines else "[]"


def as_insert(rows: pa.Table) -> str:
    """The rows as an INSERT statement of Spark SQL.

    Examples:
        >>> import pyarrow as pa
        >>> print(as_insert(pa.table({"id": [1], "t": ["it's"]})))
        INSERT INTO my_table (id, t) VALUES
          (1, 'it''s');
    """
    from paimon_nb.sql import quote_if_needed

    names = ", ".join(quote_if_needed(n) for n in _unique_names(rows.column_names))
    literals = [[sql_literal(value) for value in column] for column in rows.columns]
    values = ",\n  ".join(f"({', '.join(row)})" for row in zip(*literals, strict=True))
    return f"INSERT INTO {_TARGET} ({names}) VALUES\n  {values};" if values else ""


COPY_FORMS: dict[str, Callable[[pa.Table], str]] = {"markdown": as_markdown, "json": as_json, "insert": as_insert}
"""Beside tab-separated text."""


def _texts_by_row(rows: pa.Table) -> Any:
    return zip(*(display_texts(c, _MAX_TEXT) for c in rows.columns), strict=True)


def _one_line(text: str | None) -> str:
    return "" if text is None else text.replace("\t", " ").replace("\r", " ").replace("\n", " ")


def _unique_names(names: list[str]) -> list[str]:
    from paimon_nb.files.nearest_types import unique_names

    return unique_names(names)[0]
