"""The comm that answers the catalog side bar of JupyterLab, and its editors of %%paimon cells.

The kernel opens the comm when the extension is loaded, so the front end needs to execute nothing. A
front end with subshells sends the requests to a thread of their own: the tree answers while a cell runs.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnknownName
from paimon_nb.notebook import editor
from paimon_nb.notebook.catalog_tree import search_names, table_facts, tree_children, tree_table
from paimon_nb.notebook.errors import error_sentence, last
from paimon_nb.notebook.magics.active import current, workbench
from paimon_nb.notebook.table_panels import PANELS, preview_grid, snapshots_to_choose
from paimon_nb.notebook.widgets.base import SnapshotPanel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TARGET = "paimon-nb:catalog"


class CatalogComm:
    """Answers the requests of all pages that are connected to this kernel.

    Args:
        comm: the open comm.
    """

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.closed = False
        self._panels: dict[str, Any] = {}
        """The widget of each tab, by the tab's id."""
        self._moving: set[str] = set()
        """Tabs that follow a choice of the page: they do not report it back."""
        comm.on_msg(self._on_message)
        comm.on_close(self._on_close)

    def _on_message(self, message: Mapping[str, Any]) -> None:
        request = message["content"].get("data")
        answer = self.answer(request)
        if answer is not None:
            self.comm.send(answer)

    def _on_close(self, _: Any) -> None:
        self.closed = True

    def answer(self, request: Any) -> dict[str, Any] | None:
        """The answer to a request. Pages are untrusted: None for an unexpected one."""
        if not isinstance(request, dict) or not isinstance(request.get("id"), str):
            return None
        try:
            found = self._answer_request(request)
        except Exception as error:  # the catalog or the table may be damaged, or not be reachable
            last.error = error
            found = {"error": error_sentence(error)}
        return None if found is None else {"id": request["id"], **found}

    def _answer_request(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        match request:
            case {"do": "children", "kind": str(kind), "path": list(path), "match": str(match), "start": int(start)}:
                found = tree_children(workbench(), kind, _checked_path(path), match, max(0, start))
                return {
                    **_session(),
                    "nodes": [asdict(n) for n in found.nodes],
                    "more": found.more,
                    "empty": found.empty,
                }
            case {"do": "facts", "paths": list(paths)}:
                facts, left = table_facts(workbench(), [_checked_path(path) for path in paths])
                return {"facts": [f.as_json() for f in facts], "left": left}
            case {"do": "search", "text": str(text)}:
                return asdict(search_names(workbench(), text[:1000]))
            case {"do": "open", "tab": str(tab), "panel": str(panel), "kind": str(kind), "path": list(path), **rest}:
                snapshot = _checked_snapshot(rest.get("snapshot"))
                return self._open_panel_in_tab(tab, panel, kind, _checked_path(path), snapshot)
            case {"do": "snapshots", "kind": str(kind), "path": list(path)}:
                return {"snapshots": snapshots_to_choose(tree_table(workbench(), kind, _checked_path(path)))}
            case {"do": "snapshot", "tab": str(tab), "snapshot": snapshot}:
                self._move_tab(tab, _checked_snapshot(snapshot))
                return {}
            case {"do": str(), "cell": str()}:
                return editor.answer(request)
            case {"do": "close", "tab": str(tab)}:
                self._close_tab(tab)
                return {}
        return None

    def _open_panel_in_tab(
        self, tab: str, panel: str, kind: str, path: Sequence[str], snapshot: int | None
    ) -> dict[str, Any]:
        """Make the widget of a tab; the front end draws its MIME bundle."""
        widget = self._panel_of_node(panel, kind, path, snapshot)
        self._close_tab(tab)
        self._panels[tab] = widget
        if isinstance(widget, SnapshotPanel):
            if snapshot is not None:
                widget.show_snapshot(snapshot)
            widget.observe(lambda change: self._report_choice(tab, change["new"]), "selected_snapshot")
        if hasattr(widget, "follow"):
            widget.follow()
        data = widget._repr_mimebundle_()
        bundle, metadata = data if isinstance(data, tuple) else (data, {})
        return {"data": bundle, "metadata": metadata}

    def _move_tab(self, tab: str, snapshot: int | None) -> None:
        """Show another snapshot in a tab. Raises SnapshotExpired, SnapshotNotFound, TableReplaced."""
        panel = self._panels.get(tab)
        if not isinstance(panel, SnapshotPanel):
            return
        self._moving.add(tab)
        try:
            panel.show_snapshot(snapshot)
        finally:
            self._moving.discard(tab)

    def _report_choice(self, tab: str, snapshot: int | None) -> None:
        """The user chose a snapshot in a tab: the page moves its other tabs."""
        if tab not in self._moving and not self.closed:
            self.comm.send({"event": "snapshot", "tab": tab, "snapshot": snapshot})

    @staticmethod
    def _panel_of_node(panel: str, kind: str, path: Sequence[str], snapshot: int | None) -> Any:
        if panel == "connect":
            from paimon_nb.notebook.magics.connect_form import ConnectForm

            return ConnectForm()
        if panel == "jobs":
            from paimon_nb.notebook.widgets.jobs import JobsView

            return JobsView(workbench())
        table = tree_table(workbench(), kind, path)
        if panel != "preview":
            return PANELS.find(panel)(table)
        return preview_grid(table, snapshot=snapshot, system=path[-1] if kind == "system_table" else None)

    def _close_tab(self, tab: str) -> None:
        """Stop what a tab shows; the kernel and the front end forget its widget."""
        from paimon_nb.notebook.widgets.jobs import JobsView
        from paimon_nb.notebook.widgets.live import LiveTable

        before = self._panels.pop(tab, None)
        if isinstance(before, LiveTable):
            before.stop()
        if isinstance(before, JobsView):
            before.replaced()
        if hasattr(before, "close"):
            before.close()

    def close(self) -> None:
        """Close the tabs' widgets and the comm."""
        for tab in list(self._panels):
            self._close_tab(tab)
        if not self.closed:
            self.closed = True
            self.comm.close()


def _checked_path(path: Sequence[Any]) -> list[str]:
    if not all(isinstance(name, str) for name in path):
        raise UnknownName("a tree path is a list of names", hint="refresh the tree")
    return list(path)


def _checked_snapshot(snapshot: Any) -> int | None:
    if snapshot is not None and type(snapshot) is not int:
        raise UnknownName("a snapshot is a number", hint="refresh the tree")
    return snapshot


def _session() -> dict[str, str]:
    """Where the session is; displayed above the tree."""
    session = workbench().session
    return {
        "current": f"{session.current_catalog}.{session.current_database}",
        "warehouse": str(session.catalogs[session.current_catalog].warehouse),
    }


class _Open:
    """The comm of this kernel."""

    comm: CatalogComm | None = None


_open = _Open()


def open_comm() -> None:
    """Open the comm of this kernel, unless it is open. Does nothing where no front end is connected."""
    from paimon_nb.notebook.progress import has_front_end

    if not has_front_end() or (_open.comm is not None and not _open.comm.closed):
        return
    from comm import create_comm

    _open.comm = CatalogComm(create_comm(target_name=TARGET))
    current.on_catalogs_changed = _report_catalogs


def _report_catalogs() -> None:
    """The pages read the catalogs again, though no cell has run."""
    if _open.comm is not None and not _open.comm.closed:
        _open.comm.comm.send({"event": "catalog"})


def close_comm() -> None:
    """Close the comm."""
    if _open.comm is not None:
        _open.comm.close()
        _open.comm = None
