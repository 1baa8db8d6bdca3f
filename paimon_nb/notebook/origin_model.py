"""The input rows that made a row of a materialized table, as tables for the page and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import python_values
from paimon_nb.notebook.grid.texts import value_text
from paimon_nb.notebook.svg import clip, escape
from paimon_nb.session.materialized.row_origin import MAX_ROWS, is_followed, origin_of_row
from paimon_nb.sql import quote_if_needed
from paimon_nb.table.tables.inspect.formatting import count_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.session.materialized.row_origin import InputRows
    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench

ROWS = 20
"""Rows of an input that are displayed."""
_FOLLOWED = 5
"""Rows of a materialized input with a button each."""
_CELL = 200


@dataclass(frozen=True, slots=True)
class Origin:
    """The input rows of one row, or why they are not known."""

    inputs: tuple[InputRows, ...] = ()
    reason: str = ""

    def view(self) -> dict[str, Any]:
        """For the page."""
        return {"reason": self.reason, "inputs": [_input_view(i) for i in self.inputs]}

    def text(self) -> str:
        """Lines of plain text; '' if the table has no query."""
        if self.reason:
            return f"input rows are not known: {self.reason}"
        lines: list[str] = []
        for one in self.inputs:
            columns, rows = _cells(one)
            lines.append(f"made from {_count_text(one)} of {one.table}")
            lines += [
                "  " + ", ".join(f"{c} = {'NULL' if v is None else v}" for c, v in zip(columns, row, strict=True))
                for row in rows
            ]
        return "\n".join(lines)

    def html(self) -> str:
        """Tables for a page without a kernel."""
        if self.reason:
            return f"<div>{escape(f'input rows are not known: {self.reason}')}</div>"
        parts: list[str] = []
        for one in self.inputs:
            view = _input_view(one)
            head = "".join(f"<th>{escape(c)}</th>" for c in view["columns"])
            lines = (
                "".join("<td class='null'>NULL</td>" if v is None else f"<td>{escape(v)}</td>" for v in row)
                for row in view["rows"]
            )
            body = "".join(f"<tr>{line}</tr>" for line in lines)
            parts.append(
                f"<div>{escape(view['title'])}</div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            )
        return "".join(parts)


def origin_of(workbench: Workbench, table: Table, key: Mapping[str, Any]) -> Origin | None:
    """The input rows of a row; None: the table is not a materialized table. Runs queries over the inputs."""
    if not is_followed(table.schema.options):
        return None
    target = workbench.session.find((table.name.database, table.name.table))
    try:
        return Origin(tuple(origin_of_row(workbench.session, target, key)))
    except PaimonError as error:
        return Origin(reason=error.one_line)


def _cells(one: InputRows) -> tuple[list[str], list[list[str | None]]]:
    columns = [python_values(column) for column in one.rows.slice(0, ROWS).columns]
    rows = [
        [None if (t := value_text(v)) is None else clip(t, _CELL) for v in row] for row in zip(*columns, strict=True)
    ]
    return list(one.rows.column_names), rows


def _count_text(one: InputRows) -> str:
    return count_text(one.rows.num_rows, "row") if one.is_complete else f"more than {MAX_ROWS} rows"


def _input_view(one: InputRows) -> dict[str, Any]:
    columns, rows = _cells(one)
    more = f"; the first {ROWS}" if one.rows.num_rows > ROWS else ""
    return {
        "title": f"made from {_count_text(one)} of {one.table}{more}",
        "columns": columns, "rows": rows, "note": "", "sql": one.sql, "follow": _commands(one),
    }  # fmt: skip


def _commands(one: InputRows) -> list[list[str]]:
    """For rows of a materialized table: label and cell that follow them further."""
    if not one.key or len(one.parts) != 3:
        return []
    name = ".".join(map(quote_if_needed, one.parts))
    found = []
    for row in one.rows.select(list(one.key)).slice(0, _FOLLOWED).to_pylist():
        texts = {k: value_text(v) or "" for k, v in row.items()}
        pairs = " ".join(f"{quote_if_needed(k)}={_argument(v)}" for k, v in texts.items())
        found.append([f"why {', '.join(clip(v, 30) for v in texts.values())}", f"%paimon why {name} {pairs}"])
    return found


def _argument(text: str) -> str:
    """A value as an argument of a magic."""
    import shlex

    return shlex.quote(text)
