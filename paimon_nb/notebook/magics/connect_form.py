"""The connection form: bare `%paimon connect` opens or makes a warehouse, or opens a catalog of another kind."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from paimon_nb.notebook import recent_connections
from paimon_nb.notebook.connection_model import (
    KINDS,
    catalog_name,
    catalog_options,
    cell_of,
    create_statement,
    folder_note,
    opened_sentence,
)
from paimon_nb.notebook.magics.active import current, open_warehouse, workbench
from paimon_nb.notebook.widgets.base import STYLE, report_errors, script

_MAX_TEXT = 2_000
TEXT = "%paimon connect PATH opens a warehouse; CREATE CATALOG ... WITH (...) and USE CATALOG open a catalog of another kind"


class ConnectForm(anywidget.AnyWidget):
    """What bare `%paimon connect` shows in a front end. Secrets go to the kernel only: into no cell and no file."""

    _esm = script("panel.js", "connect.js")
    _css = STYLE
    trouble = traitlets.Unicode("").tag(sync=True)
    is_refused = traitlets.Bool(False).tag(sync=True)
    view = traitlets.Dict().tag(sync=True)

    def __init__(self) -> None:
        super().__init__(view=self._view())
        self.on_msg(self._on_message)

    def _view(self, done: str = "") -> dict[str, Any]:
        wb = current.workbench
        kinds = [
            {
                "kind": kind,
                "label": found.label,
                "about": found.about,
                "fields": [
                    {"option": f.option, "label": f.label, "hint": f.hint, "required": f.required, "secret": f.secret}
                    for f in found.fields
                ],
            }
            for kind, found in KINDS.items()
        ]
        return {
            "kinds": kinds,
            "recent": recent_connections.recent(),
            "now": "" if wb is None else str(wb.session.catalog.warehouse),
            "done": done,
        }

    @report_errors
    def _on_message(self, _: Any, content: Any, _buffers: Any) -> None:
        self.on_message(content)

    def on_message(self, content: Any) -> None:
        """Handle a message from the page. Pages are untrusted: unexpected messages are ignored."""
        match content:
            case {"look": str(path)}:
                self.send({"note": folder_note(path[:_MAX_TEXT])})
            case {"connect": str(kind), "name": str(name), "values": dict(values)} if _are_texts(values):
                self._connect(kind, name, values)
            case {"cell": str(kind), "name": str(name), "values": dict(values)} if _are_texts(values):
                options = catalog_options(kind, values)
                taken = {} if current.workbench is None else current.workbench.session.catalogs
                self.send({"code": cell_of(kind, catalog_name(name, taken), options)})

    def _connect(self, kind: str, name: str, values: dict[str, str]) -> None:
        options = catalog_options(kind, values)
        if kind == "filesystem":
            open_warehouse(options["warehouse"])
        else:
            wb = workbench()
            name = catalog_name(name, wb.session.catalogs)
            wb.run(f"{create_statement(name, options)}; USE CATALOG `{name}`")
        recent_connections.remember(kind, name if kind != "filesystem" else "", values)
        self.view = self._view(opened_sentence(workbench().session))
        current.on_catalogs_changed()

    def __repr__(self) -> str:
        return TEXT

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        data, meta = live if isinstance(live, tuple) else (live or {}, {})
        return {**data, "text/plain": TEXT, "text/html": f"<pre>{TEXT}</pre>"}, meta


def _are_texts(values: dict[Any, Any]) -> bool:
    return all(isinstance(k, str) and isinstance(v, str) and len(v) <= _MAX_TEXT for k, v in values.items())
