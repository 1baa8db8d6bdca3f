"""The home card: bare `%paimon` shows the connection, tables, recent commits and buttons for the next step."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from paimon_nb.base.identifier import quote
from paimon_nb.notebook.create_model import quoted_if_needed
from paimon_nb.notebook.home_model import home_of, view_of
from paimon_nb.notebook.widgets.base import STYLE, report_errors, script

if TYPE_CHECKING:
    from paimon_nb.workbench import Workbench


class HomeCard(anywidget.AnyWidget):
    """What bare `%paimon` shows in a front end. Buttons insert cells.

    Args:
        wb: the workbench.
    """

    _esm = script("panel.js", "home.js")
    _css = STYLE
    trouble = traitlets.Unicode("").tag(sync=True)
    is_refused = traitlets.Bool(False).tag(sync=True)
    view = traitlets.Dict().tag(sync=True)

    def __init__(self, wb: Workbench) -> None:
        self._workbench = wb
        self.home = home_of(wb)
        super().__init__(view=self._view_data())
        self.on_msg(self._on_message)

    def _view_data(self) -> dict[str, Any]:
        view = view_of(self.home)
        for table in view["tables"]:
            name = quoted_if_needed(table["name"])
            # A command takes one word; a table with another name is opened by SQL.
            plain = table["name"].isidentifier()
            table["explore"] = f"%paimon explore {table['name']}" if plain else ""
            table["select"] = f"%%paimon\nSELECT * FROM {name if plain else quote(table['name'])}"
        return view

    @report_errors
    def _on_message(self, _: Any, content: Any, _buffers: Any) -> None:
        self.on_message(content)

    def on_message(self, content: Any) -> None:
        """Handle a message from the page. Pages are untrusted: unexpected messages are ignored."""
        if content == {"reload": True}:
            self.home = home_of(self._workbench)
            self.view = self._view_data()

    def __repr__(self) -> str:
        return str(self.home)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        data, meta = live if isinstance(live, tuple) else (live or {}, {})
        return {**data, "text/plain": str(self.home), "text/html": f"<pre>{escape(str(self.home))}</pre>"}, meta
