"""The table explorer: a tree whose nodes are read when opened, and the details of the selected node."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.display import display_cells
from paimon_nb.notebook.explore_model import Facts, Inspector, explore_text
from paimon_nb.notebook.grid.types import is_number
from paimon_nb.notebook.history_model import version_arguments
from paimon_nb.notebook.svg import text_svg
from paimon_nb.notebook.widgets.base import SnapshotPanel, none_if_latest, report_errors, script
from paimon_nb.table.tables.inspect.formatting import count_text

if TYPE_CHECKING:
    from paimon_nb.table.tables.table import Table


PREVIEW_ROWS = 5
PREVIEW_BYTES = 64 << 20
"""Larger tables show no rows: those of a key table are merged first."""


class Explorer(SnapshotPanel):
    """`t.explore()`: from the table down to a column of a row group.

    Args:
        table: the table. at: the node to open, such as `snapshot/5`; '' is the table.
    """

    _esm = script("panel.js", "terms.js", "explore.js")
    title = traitlets.Unicode().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    top = traitlets.List(traitlets.Dict()).tag(sync=True)
    facts = traitlets.Dict().tag(sync=True)
    query = traitlets.Unicode().tag(sync=True)
    """A cell that queries the table."""

    def __init__(self, table: Table, at: str = "") -> None:
        self._table = table
        self._inspector = Inspector(table)
        super().__init__(
            title=str(table.name),
            top=[asdict(p) for p in self._inspector.children("")],
            selected=at,
            query=self.query_cell,
            facts=asdict(self._inspector.facts(at)),
        )
        self.observe(self._show_selected_node, "selected")

    @report_errors
    def _show_selected_node(self, change: Any) -> None:
        node = change["new"]
        self.facts = asdict(self._inspector.facts(node))
        snapshot = self._snapshot_of_node(node)
        if snapshot is not None:
            self.selected_snapshot = none_if_latest(self._table.store, snapshot)

    def _snapshot_of_node(self, node: str) -> int | None:
        """The snapshot whose node this is, or which contains it; None for nodes of the table, such as its options."""
        match node.split("/"):
            case ["snapshot", number, *_]:
                return int(number)
            case ["tag", name, *_]:
                return self._table.store.tags.get(name).snapshot.id
        return None

    def show_snapshot(self, snapshot: int | None) -> None:
        """Open the node of a snapshot; None opens the page of the table, if the node of a snapshot is open."""
        if snapshot is None:
            self.selected_snapshot = None
            if self._snapshot_of_node(self.selected) is not None:
                self.selected = ""
        elif self._snapshot_of_node(self.selected) != snapshot:
            version = version_arguments(self._table.store, snapshot)
            self.selected = f"tag/{version['tag']}" if "tag" in version else f"snapshot/{snapshot}"

    def on_message(self, content: Any) -> None:
        match content:
            case {"open": str(node)}:
                self.send({"open": node, "children": [asdict(p) for p in self._inspector.children(node)]})
            case {"rows": True}:
                self.send({"rows": self.first_rows()})
            case _:
                super().on_message(content)

    def first_rows(self) -> dict[str, Any]:
        """A few rows of the table as it is now, for the page; or why there are none."""
        table = self._table
        try:
            if not table.store.is_format_table and table.latest_snapshot():
                size = sum(table.files().column("file_size_in_bytes").to_pylist())
                if size > PREVIEW_BYTES:
                    return {"columns": [], "rows": [], "note": "The table is large: its rows are not read here."}
            found = table.head(PREVIEW_ROWS)
        except PaimonError as error:
            return {"columns": [], "rows": [], "note": f"Its rows cannot be read: {error.message}"}
        names, rows = display_cells(found)
        numbers = [is_number(found.schema.field(i).type) for i in range(len(names))]
        note = f"the first {count_text(len(rows), 'row')}" if rows else "no rows"
        return {"columns": names, "rows": rows, "numbers": numbers, "note": note}

    @property
    def query_cell(self) -> str:
        """A cell that queries the table."""
        return f"%%paimon\nSELECT * FROM {self._table.name.quoted()} LIMIT 100"

    def reload(self) -> None:
        """Reload the table; the selected node stays. Raises: TableReplaced: the table was dropped."""
        self._table = self._table.refresh()
        self._inspector = Inspector(self._table)
        self.top = [asdict(p) for p in self._inspector.children("")]
        self.facts = asdict(self._inspector.facts(self.selected))

    @property
    def code(self) -> str:
        """Python code that opens this panel in the same state."""
        at = f"at={self.selected!r}" if self.selected else ""
        return f'wb.table("{self._table.name}").explore({at})'

    @property
    def sql(self) -> str:
        """SQL equivalent to the selected node; '' if no system table has it."""
        found: Facts = self._inspector.facts(self.selected)
        return found.sql

    def still_text(self) -> str:
        return explore_text(self._inspector)

    def still_svg(self) -> str:
        return text_svg(self.still_text(), f"outline of {self._table.name}")
