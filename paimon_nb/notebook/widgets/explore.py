"""The table explorer: a tree that reads what is opened, and the facts of the chosen place."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.notebook.explore_model import Facts, Inspector, explore_text
from paimon_nb.notebook.svg import text_svg
from paimon_nb.notebook.widgets.base import Picture, script, told

if TYPE_CHECKING:
    from paimon_nb.table.table import Table


class Explorer(Picture):
    """`t.explore()`: from the table down to a column of a row group.

    Args:
        table: a handle. at: the place to begin at, such as `snapshot/5`; '' is the table.
    """

    _esm = script("panel.js", "explore.js")
    title = traitlets.Unicode().tag(sync=True)
    chosen = traitlets.Unicode("").tag(sync=True)
    top = traitlets.List(traitlets.Dict()).tag(sync=True)
    facts = traitlets.Dict().tag(sync=True)

    def __init__(self, table: Table, at: str = "") -> None:
        self._table = table
        self._inspector = Inspector(table)
        super().__init__(
            title=str(table.name),
            top=[asdict(p) for p in self._inspector.children("")],
            chosen=at,
            facts=asdict(self._inspector.facts(at)),
        )
        self.observe(self._choose, "chosen")

    @told
    def _choose(self, change: Any) -> None:
        self.facts = asdict(self._inspector.facts(change["new"]))

    def hear(self, content: Any) -> None:
        match content:
            case {"open": str(place)}:
                self.send({"open": place, "children": [asdict(p) for p in self._inspector.children(place)]})
            case _:
                super().hear(content)

    def look(self) -> None:
        """The table as it is now; the chosen place stays. Raises: TableReplaced: the table was dropped."""
        self._table = self._table.refresh()
        self._inspector = Inspector(self._table)
        self.top = [asdict(p) for p in self._inspector.children("")]
        self.facts = asdict(self._inspector.facts(self.chosen))

    @property
    def code(self) -> str:
        """Python that shows this state again."""
        at = f"at={self.chosen!r}" if self.chosen else ""
        return f'wb.table("{self._table.name}").explore({at})'

    @property
    def sql(self) -> str:
        """SQL that asks for what the chosen place shows; '' where no table holds it."""
        found: Facts = self._inspector.facts(self.chosen)
        return found.sql

    def still_text(self) -> str:
        return explore_text(self._inspector)

    def still_svg(self) -> str:
        return text_svg(self.still_text(), f"outline of {self._table.name}")
