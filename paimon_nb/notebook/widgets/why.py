"""The row history panel: enter a key and step through its versions and the merged row after each."""

from __future__ import annotations

import datetime as dt
import re
import time
from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.notebook.grid.texts import value_text
from paimon_nb.notebook.key_values import InvalidKeyValue, key_value
from paimon_nb.notebook.origin_model import Origin, origin_of
from paimon_nb.notebook.overview import ago_text
from paimon_nb.notebook.reports import why_report
from paimon_nb.notebook.undo import history as cells_of_kernel
from paimon_nb.notebook.why_svg import why_svg
from paimon_nb.notebook.widgets.base import DrawnPanel, report_errors, script

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.tables.inspect import RowHistory
    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench


_MAX_CELL = 80
"""Characters of a cell that a sentence quotes."""
_LISTED = 6
_GENERATED = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


def _short(user: str) -> str:
    """A generated name is cut: its beginning identifies it."""
    return user[:8] if _GENERATED.fullmatch(user) else user if len(user) <= _MAX_CELL else user[: _MAX_CELL - 1] + "…"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more columns" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


class WhyView(DrawnPanel):
    """`%paimon why`: reads the files that may contain the key.

    Args:
        key: all primary key columns.
        workbench: where the inputs of a materialized table are read; None: they are not shown.

    Raises:
        UnsupportedOperation: no primary key, or a key column is missing.
    """

    _esm = script("panel.js", "terms.js", "why.js")
    step = traitlets.Int(0).tag(sync=True)
    """Number of versions merged."""

    def __init__(self, table: Table, key: Mapping[str, Any], workbench: Workbench | None = None) -> None:
        self._table, self._workbench = table, workbench
        self.answer: RowHistory = table.why(**key)
        self.origin = self._origin()
        super().__init__(step=len(self.answer.versions))
        self.view = self._view_data()
        self.observe(self._on_step_change, "step")

    def show_history_of_key(self, **key: Any) -> None:
        """Show another key, or reload the same one. Raises TableReplaced."""
        self._table = self._table.refresh()
        self.answer = self._table.why(**key)
        self.origin = self._origin()
        self.step = len(self.answer.versions)
        self.view = self._view_data()

    def _origin(self) -> Origin | None:
        """The input rows that made the row of a materialized table."""
        return None if self._workbench is None else origin_of(self._workbench, self._table, self.answer.key)

    @report_errors
    def _on_step_change(self, _: Any) -> None:
        self.view = self._view_data()

    def draw_pictures(self) -> dict[str, str]:
        return {"svg": why_svg(self.answer, self.step, self.width)}

    def _view_data(self, error: str = "", key: Mapping[str, str] | None = None) -> dict[str, Any]:
        values = {k: value_text(self.answer.key[k]) if k in self.answer.key else "" for k in self._table.primary_keys}
        return {
            **self.draw_pictures(), "lead": self.lead(), "written": self.written(self.step - 1) if self.step else "", "before": self.sql_before(), "rule": self.answer.rule, "summary": self.step_text(), "steps": len(self.answer.versions),
            "key": dict(key) if key is not None else {k: v or "" for k, v in values.items()}, "error": error, "sql": self.sql,
            "origin": None if self.origin is None else self.origin.view(),
        }  # fmt: skip

    def lead(self) -> str:
        """How often the row was written and by what, as far as the files still know; for who knows no LSM tree."""
        versions = self.answer.versions
        if not versions:
            return "No file of the table has this key."
        times = "once" if len(versions) == 1 else f"{len(versions)} times"
        end = "" if self.answer.row is not None else " It is deleted now."
        written = self.written(len(versions) - 1)
        sentence = f"This row was written {times}{', the last time' if len(versions) > 1 else ''} {written or 'by a snapshot that has expired'}.{end}"
        if self.sql_before():
            sentence += " It came from a compaction, which merged what was before: older snapshots still have it."
        return sentence

    def written(self, number: int) -> str:
        """When a version was committed, by whom, and by which cell if that ran in this session; '' if its snapshot has expired."""
        snapshot = self._snapshot_of(number)
        if snapshot is None:
            return ""
        ago = ago_text(int(time.time() * 1000) - snapshot.time_ms)
        at = dt.datetime.fromtimestamp(snapshot.time_ms / 1000, dt.UTC)
        cell = " ".join(cells_of_kernel.text(str(self._table.name), snapshot.id, snapshot.time_ms).split())
        if cell:
            by = f"by the cell {cell if len(cell) <= _MAX_CELL else cell[: _MAX_CELL - 1] + '…'}"
        else:
            by = (
                "by a compaction"
                if snapshot.commit_kind == "COMPACT"
                else f"by the user {_short(snapshot.commit_user)}"
            )
        return f"{ago} ({at:%Y-%m-%d %H:%M:%S} UTC) in snapshot {snapshot.id} {by}"

    def _snapshot_of(self, number: int) -> Snapshot | None:
        snapshot = self.answer.versions[number].snapshot
        try:
            return None if snapshot is None else self._table.store.snapshots.get(snapshot)
        except PaimonError:  # expired meanwhile
            return None

    def sql_before(self) -> str:
        """A cell that reads the row as it was before a compaction merged its versions; '' if there is none to read."""
        last = self._snapshot_of(len(self.answer.versions) - 1) if len(self.answer.versions) == 1 else None
        if last is None or last.commit_kind != "COMPACT" or not self.sql:
            return ""
        earlier = [i for i in self._table.store.snapshots.ids() if i < last.id - 1]
        if not earlier:
            return ""
        name = self._table.name.quoted()
        return "%%paimon\n" + self.sql.replace(f"FROM {name}", f"FROM {name} VERSION AS OF {earlier[-1]}", 1)

    def step_text(self) -> str:
        """The selected step as a sentence."""
        if not 1 <= self.step <= len(self.answer.versions):
            return "before the first version: no row" if self.answer.versions else ""
        version = self.answer.versions[self.step - 1]
        head = (
            f"{self.step} of {len(self.answer.versions)}: {version.kind} #{version.sequence} from level {version.level}"
        )
        if version.hidden:
            return f"{head} is ignored: {version.hidden}"
        if version.after is None:
            return f"{head}: the row is deleted"
        before = next((v.after for v in reversed(self.answer.versions[: self.step - 1]) if not v.hidden), None)
        changed = [
            c for c, x in version.after.items() if c not in self.answer.key and (before is None or before.get(c) != x)
        ]
        return f"{head} " + (f"sets {_listed(changed)}" if changed else "changes nothing")

    def on_message(self, content: Any) -> None:
        values = {k: str(v) for k, v in dict(content.get("key", {})).items() if k in self._table.primary_keys}
        try:
            self.show_history_of_key(
                **{k: key_value(self._table.schema.field(k), v) for k, v in values.items() if v != ""}
            )
        except PaimonError as error:
            self.view = self._view_data(error.message, values)
        except InvalidKeyValue as error:
            self.view = self._view_data(str(error), values)

    @property
    def sql(self) -> str:
        """The query whose row is explained; '' if a key value has no SQL literal."""
        parts = []
        for name, value in self.answer.key.items():
            text = value_text(value)
            if text is None or isinstance(value, bytes):
                return ""
            plain = isinstance(value, int) and not isinstance(value, bool)
            literal = text if plain else text_literal(text)
            parts.append(f"`{name.replace('`', '``')}` = {literal}")
        return f"SELECT * FROM {self._table.name.quoted()} WHERE {' AND '.join(parts)}"

    @property
    def code(self) -> str:
        """Python code for the same history."""
        return f'wb.table("{self._table.name}").why(**{dict(self.answer.key)!r})'

    def still_text(self) -> str:
        return str(self.answer) if self.origin is None else f"{self.answer}\n{self.origin.text()}"

    def still_svg(self) -> str:
        return why_svg(self.answer)

    def still_html(self) -> str:
        made_from = "" if self.origin is None else self.origin.html()
        return why_report(self.answer, made_from)._repr_mimebundle_()["text/html"]
