"""The health panel: what is wrong with a table, what that means, and the statement that fixes it, with its price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import traitlets

from paimon_nb.notebook.reports import SIGN, health_report
from paimon_nb.notebook.svg import text_svg
from paimon_nb.notebook.widgets.base import Panel, script
from paimon_nb.table.tables.inspect.formatting import count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.table.tables.inspect import Finding
    from paimon_nb.table.tables.table import Table

_MEANING = {
    "missing files": "Queries of this table fail: files with its rows are missing.",
    "broken metadata": "Queries of this table fail: its metadata cannot be read.",
    "unreadable file": "Queries of this table fail when they reach a damaged file.",
    "broken history": "Queries work, but the table can never be cleaned up: a part of its history cannot be read.",
    "unreadable tag": "Queries work, but nothing can be deleted any more: a tag cannot be read.",
    "many sorted runs": "Reads are slower than they have to be: they merge many sorted runs for each key.",
    "small files": "Reads are slower than they have to be: they open many small files.",
    "many retractions": "Reads are slower than they have to be: many stored versions only say that a row is gone.",
    "big buckets": "Writers and readers are slower than they have to be: a bucket is too large to share out its work.",
    "skewed buckets": "Writers and readers are slower than they have to be: one bucket has most of the rows.",
    "many snapshots": "The table keeps more snapshots than its settings say, and the files of all of them.",
    "reader far behind": "A reader that has not come for long keeps old snapshots and their files.",
    "many manifests": "Each query starts slowly: it reads many manifests before any row.",
    "orphan files": "Files that belong to no snapshot take up space.",
}
"""What a kind of finding means for who uses the table."""
_GRADES = {"broken": "broken", "slow": "works, but costs more than necessary", "ok": "ok"}


class DoctorView(Panel):
    """`%paimon doctor t`: reads metadata and listings, rows only on request.

    Args:
        read_files: also read every data file to its end.
    """

    _esm = script("panel.js", "terms.js", "doctor.js")
    view = traitlets.Dict().tag(sync=True)

    def __init__(self, table: Table, *, read_files: bool = False) -> None:
        self._table, self._read_files = table, read_files
        self.findings: Sequence[Finding] = table.health(read_files=read_files)
        super().__init__(view=self._view_data())

    def reload(self) -> None:
        """Check again. Raises: TableReplaced: the table was dropped."""
        self._table = self._table.refresh()
        self.findings = self._table.health(read_files=self._read_files)
        self.view = self._view_data()

    def lead(self) -> str:
        """What the worst finding means, and how many more there are."""
        worst = self.findings[0]
        if worst.grade == "ok":
            return f"Nothing to do: {worst.detail}."
        more = len(self.findings) - 1
        return _MEANING.get(worst.what, worst.detail) + (
            f" And {count_text(more, 'more finding')}, below." if more else ""
        )

    def _view_data(self) -> dict[str, Any]:
        return {
            "title": str(self._table.name),
            "lead": self.lead(),
            "findings": [
                {
                    "sign": SIGN[f.grade][0], "colour": SIGN[f.grade][1], "what": f.what, "grade": _GRADES[f.grade],
                    "detail": f.detail, "fix": f.fix or "", "price": f.price,
                    "cell": f"%%paimon\n{f.fix}" if f.fix and f.fix.startswith("CALL ") else "",
                }
                for f in self.findings
            ],
        }  # fmt: skip

    @property
    def code(self) -> str:
        """Python code for the same findings."""
        return f'wb.table("{self._table.name}").health({"read_files=True" if self._read_files else ""})'

    def still_text(self) -> str:
        return repr(health_report(str(self._table.name), self.findings))

    def still_svg(self) -> str:
        return text_svg(self.still_text(), f"health of {self._table.name}")

    def still_html(self) -> str:
        return health_report(str(self._table.name), self.findings)._repr_mimebundle_()["text/html"]
