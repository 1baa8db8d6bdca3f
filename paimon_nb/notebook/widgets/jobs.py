"""Streaming jobs: a card for one that a cell started, and the list of all with their stop buttons."""

from __future__ import annotations

import time
from html import escape
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.display import Rows, html_table, text_table
from paimon_nb.notebook.stream_model import Rate, rate_text
from paimon_nb.notebook.svg import text_svg
from paimon_nb.notebook.widgets.base import script
from paimon_nb.notebook.widgets.live_base import Following

if TYPE_CHECKING:
    from paimon_nb.session.core.jobs import Jobs, StreamJob
    from paimon_nb.workbench import Workbench


class _Told:
    """What a line says of a job; remembers how fast its rows go out."""

    def __init__(self, job: StreamJob) -> None:
        self.job, self._rate = job, Rate()

    def data(self) -> dict[str, Any]:
        job = self.job
        rate, error = self._rate.seen(time.monotonic(), job.rows), job.error
        try:
            standing = job.standings()
        except PaimonError:
            standing = ()
        return {
            "id": job.id,
            "name": job.name,
            "status": job.status,
            "rows": job.rows,
            "rate": rate_text(rate) if job.isActive else "",
            "lag": " · ".join(f"{s.table}: {s}" if len(standing) > 1 else str(s) for s in standing),
            "share": [[s.at, s.newest] for s in standing if s.behind][:1],
            "error": "" if error is None else error.one_line,
        }


class JobCard(Following):
    """A streaming INSERT: what it does, how far it is, and a button that ends it.

    Args:
        rows: the statement's own answer, which is the card's still form.
    """

    _esm = script("panel.js", "jobs.js")

    def __init__(self, job: StreamJob, rows: Rows) -> None:
        self.job, self._answer, self._told = job, rows, _Told(job)
        super().__init__()

    def look(self) -> dict[str, Any]:
        return {"jobs": [self._told.data()], "card": True}

    def lives(self) -> bool:
        return self.job.isActive

    def stop(self) -> None:
        """End the job; what was committed stays."""
        self.job.stop()
        self.redraw()

    def hear(self, content: Any) -> None:
        match content:
            case {"stop": str(name)} if name == self.job.id:
                self.stop()

    @property
    def sql(self) -> str:
        """What ends it in SQL."""
        return f"STOP JOB '{self.job.id}'"

    def still_text(self) -> str:
        return text_table(self._answer.shown)

    def still_html(self) -> str:
        return html_table(self._answer.shown)

    def still_svg(self) -> str:
        return text_svg(self.still_text(), f"job {self.job.name}")


class JobsView(Following):
    """`%paimon jobs`: every stream of this session, the running ones first."""

    _esm = script("panel.js", "jobs.js")

    def __init__(self, workbench: Workbench) -> None:
        self._workbench, self._known = workbench, dict[str, _Told]()
        self._replaced = False
        super().__init__()

    @property
    def jobs(self) -> Jobs:
        """The jobs of the session."""
        return self._workbench.session.jobs

    def look(self) -> dict[str, Any]:
        # Told by what they are now, so a job that ends while we look stands below.
        told = [self._known.setdefault(j.id, _Told(j)).data() for j in list(self.jobs.all.values())]
        return {"jobs": sorted(told, key=lambda j: j["status"] != "RUNNING"), "card": False}

    def lives(self) -> bool:
        return not self._replaced

    def replaced(self) -> None:
        """Another list was opened: this one stands still from now on."""
        self._replaced = True

    def hear(self, content: Any) -> None:
        match content:
            case {"stop": str(name)} if name in self.jobs.all:
                self.jobs.all[name].stop()
            case {"stop": True}:
                for job in list(self.jobs.all.values()):
                    if job.isActive:
                        job.stop()
        self.redraw()

    @property
    def sql(self) -> str:
        """The same list as a statement."""
        return "SHOW JOBS"

    def _answer(self) -> Rows:
        return Rows(self._workbench.run("SHOW JOBS"), 1000)

    def still_text(self) -> str:
        return text_table(self._answer().shown) if self.jobs.all else "no streams in this session"

    def still_html(self) -> str:
        return html_table(self._answer().shown) if self.jobs.all else f"<div>{escape(self.still_text())}</div>"

    def still_svg(self) -> str:
        return text_svg(self.still_text(), "streams of this session")
