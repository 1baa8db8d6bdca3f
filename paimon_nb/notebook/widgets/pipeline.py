"""The pipeline panel: the graph of tables, materialized tables and jobs, and the details of the selected part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import split_name
from paimon_nb.notebook.pipeline_svg import pipeline_svg, pipeline_text
from paimon_nb.notebook.widgets.base import DrawnPanel, script
from paimon_nb.session.materialized.pipeline import JOB, MATERIALIZED, TABLE, PipelineNode, pipeline_of

if TYPE_CHECKING:
    from paimon_nb.session.materialized.pipeline import Pipeline
    from paimon_nb.workbench import Workbench


class PipelineView(DrawnPanel):
    """`%paimon pipeline`: reads metadata only, and again with the button.

    Args:
        selected: the table that is selected first, `[database.]table`; '' is the last one.
    """

    _esm = script("panel.js", "pipeline.js")

    def __init__(self, workbench: Workbench, selected: str = "") -> None:
        self._workbench = workbench
        self.pipeline: Pipeline = pipeline_of(workbench.session)
        self._selected = self._node_named(selected)
        self._message = ""
        super().__init__()
        self.view = self._view_data()

    def _node_named(self, name: str) -> str:
        if not name:
            last = [n for n in self.pipeline.nodes if n.kind == MATERIALIZED] or list(self.pipeline.nodes)
            return last[-1].id if last else ""
        found = self._workbench.session.find(split_name(name))
        found.catalog.table(found.name)  # raises with the nearest name
        return next((n.id for n in self.pipeline.nodes if n.title == found.name.text), "")

    def draw_pictures(self) -> dict[str, str]:
        return {"svg": pipeline_svg(self.pipeline, self._selected, self.width)}

    def _view_data(self) -> dict[str, Any]:
        node = next((n for n in self.pipeline.nodes if n.id == self._selected), None)
        return {**self.draw_pictures(), "selected": self._selected, "details": _details(node), "message": self._message}

    def reload(self) -> None:
        """Read the catalog again; the selection stays."""
        self.pipeline = pipeline_of(self._workbench.session)
        if self._selected not in {n.id for n in self.pipeline.nodes}:
            self._selected = self._node_named("")
        self.view = self._view_data()

    def on_message(self, content: Any) -> None:
        match content:
            case {"select": str(node)} if node in {n.id for n in self.pipeline.nodes}:
                self._selected, self._message = node, ""
                self.view = self._view_data()
            case {"refresh": True}:
                self._refresh_selected()
            case _:
                super().on_message(content)

    def _refresh_selected(self) -> None:
        """Refresh the selected materialized table. The view is read again, also after an error."""
        node = next((n for n in self.pipeline.nodes if n.id == self._selected), None)
        if node is None or node.kind != MATERIALIZED:
            return
        try:
            result = self._workbench.run(f"ALTER MATERIALIZED TABLE {node.id} REFRESH")
            self._message = str(result.to_arrow().column(0)[0].as_py())
        except PaimonError as error:
            self._message = error.one_line
        self.reload()

    @property
    def sql(self) -> str:
        """The statement that lists the materialized tables."""
        return "SHOW MATERIALIZED TABLES"

    def still_text(self) -> str:
        return pipeline_text(self.pipeline)

    def still_svg(self) -> str:
        return pipeline_svg(self.pipeline, self._selected)


def _details(node: PipelineNode | None) -> dict[str, Any]:
    """What the page shows of a part."""
    if node is None:
        return {}
    return {
        "title": f"{node.kind} {node.title}",
        "facts": [list(f) for f in node.facts],
        "columns": [[c.name, c.text or "selected", ", ".join(c.origins) or "no column"] for c in node.columns],
        "query": node.query,
        "plan": node.plan,
        "commands": _commands(node),
        "refreshes": node.kind == MATERIALIZED,
    }


def _commands(node: PipelineNode) -> list[list[str]]:
    """Label and cell of what opens a part."""
    if node.kind in (TABLE, MATERIALIZED):
        name = node.id.replace("`", "") if all(p.isidentifier() for p in split_name(node.id)) else node.id
        found = [
            ["Rows", f"%paimon SELECT * FROM {node.id} LIMIT 100"],
            ["Timeline", f"%paimon timeline {name}"],
            ["Explore", f"%paimon explore {name}"],
        ]
        if node.kind == MATERIALIZED:
            found.append(["Statement", f"%paimon SHOW CREATE MATERIALIZED TABLE {node.id}"])
        return found
    return [["Jobs", "%paimon jobs"]] if node.kind == JOB else []
