"""The pruning panel: which partitions, buckets, files and row groups a WHERE clause skips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.funnel_model import FunnelModel, funnel, funnel_svg
from paimon_nb.notebook.history_model import version_arguments
from paimon_nb.notebook.widgets.base import DrawnPanel, SnapshotPanel, none_if_latest, script

if TYPE_CHECKING:
    from paimon_nb.table.tables.table import Table


class FunnelView(SnapshotPanel, DrawnPanel):
    """`t.show.funnel("id = 7")`: reads metadata and footers, no rows.

    Raises:
        SqlSyntaxError, ColumnNotFound: the initial condition is wrong; later errors are shown in the panel.
    """

    _esm = script("panel.js", "terms.js", "funnel.js")

    def __init__(self, table: Table, where: str = "") -> None:
        self._table = table
        super().__init__()
        self.model: FunnelModel = self._plan_funnel(where)
        self.view = self._view_data()

    def _plan_funnel(self, where: str) -> FunnelModel:
        where = where.strip()
        where = where[6:].strip() if where[:6].lower() == "where " else where
        version = {} if self.selected_snapshot is None else version_arguments(self._table.store, self.selected_snapshot)
        return funnel(self._table.scan(where or None, **version).plan, where)

    def show(self, where: str) -> None:
        """Show another condition on the current table; '' for none. Raises SqlSyntaxError, ColumnNotFound, TableReplaced."""
        self._table = self._table.refresh()
        self.model = self._plan_funnel(where)
        self.view = self._view_data()

    def show_snapshot(self, snapshot: int | None) -> None:
        if snapshot is not None:
            version_arguments(self._table.store, snapshot)  # raises if it has expired
        self.selected_snapshot = none_if_latest(self._table.store, snapshot)
        self.show(self.model.where)

    def draw_pictures(self) -> dict[str, str]:
        return {"svg": funnel_svg(self.model, self.width)}

    def _view_data(self, error: str = "", where: str | None = None) -> dict[str, Any]:
        columns = [f"{f.name} {f.type}" for f in self._table.schema.fields]
        return {
            **self.draw_pictures(), "where": self.model.where if where is None else where, "error": error,
            "columns": columns, "sql": self.sql, "lead": self.model.lead(),
        }  # fmt: skip

    def on_message(self, content: Any) -> None:
        where = str(content.get("where", ""))
        try:
            self.show(where)
        except PaimonError as error:
            hint = f"; {error.hint}" if error.hint else ""
            self.view = self._view_data(error.message + hint, where)

    @property
    def sql(self) -> str:
        """The query."""
        where = f" WHERE {self.model.where}" if self.model.where else ""
        version = "" if self.selected_snapshot is None else f" VERSION AS OF {self.selected_snapshot}"
        return f"SELECT * FROM {self._table.name.quoted()}{version}{where}"

    @property
    def code(self) -> str:
        """Python code that opens this panel in the same state."""
        return f'wb.table("{self._table.name}").show.funnel({self.model.where!r})'

    def still_text(self) -> str:
        return str(self.model)

    def still_svg(self) -> str:
        return funnel_svg(self.model)
