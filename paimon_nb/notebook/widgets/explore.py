"""The table explorer: a tree whose nodes are read when opened, and the details of the selected node."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.notebook.explore_model import Facts, Inspector, explore_text
from paimon_nb.notebook.svg import text_svg
from paimon_nb.notebook.widgets.base import Panel, report_errors, script

if TYPE_CHECKING:
    from paimon_nb.table.table import Table


class Explorer(Panel):
    """`t.explore()`: from the table down to a column of a row group.

    Args:
        table: the table. at: the node to open, such as `snapshot/5`; '' is the table.
    """

    _esm = script("panel.js", "explore.js")
    title = traitlets.Unicode().tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)
    top = traitlets.List(traitlets.Dict()).tag(sync=True)
    facts = traitlets.Dict().tag(sync=True)

    def __init__(self, table: Table, at: str = "") -> None:
        self._table = table
        self._inspector = Inspector(table)
        super().__init__(
            title=str(table.name),
            top=[asdict(p) for p in self._inspector.children("")],
            selected=at,
            facts=asdict(self._inspector.facts(at)),
        )
        self.observe(self._show_selected_node, "selected")

    @report_errors
    def _show_selected_node(self, change: Any) -> None:
        self.facts = asdict(self._inspector.facts(change["new"]))

    def on_message(self, content: Any) -> None:
        match content:
            case {"open": str(node)}:
                self.send({"open": node, "children": [asdict(p) for p in self._inspector.children(node)]})
            case _:
                super().on_message(content)

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
