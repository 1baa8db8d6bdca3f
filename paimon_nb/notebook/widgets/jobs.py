"""Streaming jobs: a card for the job of a cell, and the list of all jobs with stop buttons."""

from __future__ import annotations

import time
from html import escape
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.display import Rows, html_table, text_table
from paimon_nb.notebook.stream_model import Rate, rate_text
from paimon_nb.notebook.svg import text_svg
from paimon_nb.notebook.widgets.base import script
from paimon_nb.notebook.widgets.live_base import LivePanel
from paimon_nb.session.streaming.job_list import job_row, other_job_row
from paimon_nb.session.streaming.other_jobs import other_jobs

if TYPE_CHECKING:
    from paimon_nb.session.core.jobs import Jobs, StreamJob
    from paimon_nb.session.streaming.other_jobs import OtherJob
    from paimon_nb.workbench import Workbench

_LOOK_EVERY_S = 5.0


class _JobLine:
    """The displayed data of one job, including its row rate."""

    def __init__(self, job: StreamJob) -> None:
        self.job, self._rate = job, Rate()
        self._after_end: dict[str, Any] = {}
        """What an ended job shows: it is read once."""

    def data(self) -> dict[str, Any]:
        if self.job.isActive:
            self._after_end = {}
            return self._read()
        self._after_end = self._after_end or self._read()
        return self._after_end

    def _read(self) -> dict[str, Any]:
        job = self.job
        rate, error = self._rate.update(time.monotonic(), job.rows), job.error
        try:
            progress = job.progress()
        except PaimonError:
            progress = ()
        return {
            "id": job.id,
            "name": job.name,
            "status": job.status,
            "rows": job.rows,
            "rate": rate_text(rate) if job.isActive else "",
            "lag": " · ".join(f"{s.table}: {s}" if len(progress) > 1 else str(s) for s in progress),
            "share": [[s.at, s.newest] for s in progress if s.behind][:1],
            "error": "" if error is None else error.one_line,
            "facts": _facts(job_row(job, progress)),
        }


def _facts(row: dict[str, Any]) -> list[str]:
    """What SHOW JOBS knows beyond status, rows and progress, as short texts."""
    facts = [str(row["position"])] if row["position"] else []
    numbers = (
        ("records behind", "{:,} records behind"), ("seconds behind", "{:,.0f} s behind"), ("late rows", "{:,} late rows"), ("restarts", "{:,} restarts"),
        ("changed values", "{:,} changed values"), ("dead letters", "{:,} dead letters"), ("skipped", "{:,} skipped records"), ("state bytes", "{:,} bytes of state"),
    )  # fmt: skip
    facts += [text.format(row[name]) for name, text in numbers if row[name]]
    if row["last commit"] is not None:
        facts.append(f"last commit {row['last commit']:%Y-%m-%d %H:%M:%S} UTC")
    _, marker, statement = (row["message"] or "").partition("resume with: ")
    return [*facts, marker + statement] if marker else facts


def _other_line(other: OtherJob) -> dict[str, Any]:
    """The displayed data of a job of another process."""
    row = other_job_row(other)
    behind = "" if other.behind is None else f"{other.behind:,} snapshots behind"
    line = {
        "id": row["job id"],
        "name": row["job name"],
        "status": row["status"],
        "rows": None,
        "rate": "",
        "lag": behind,
        "share": [],
        "error": "",
    }
    return {**line, "facts": _facts(row)}


class JobCard(LivePanel):
    """A streaming INSERT: status, progress and a stop button.

    Args:
        rows: the statement's result, used as the static form.
    """

    _esm = script("panel.js", "jobs.js")

    def __init__(self, job: StreamJob, rows: Rows) -> None:
        self.job, self._result_rows, self._line = job, rows, _JobLine(job)
        super().__init__()

    def current(self) -> dict[str, Any]:
        return {"jobs": [self._line.data()], "card": True}

    def is_live(self) -> bool:
        return self.job.isActive

    def stop(self) -> None:
        """Stop the job; committed data stays."""
        self.job.stop()
        self.redraw()

    def on_message(self, content: Any) -> None:
        match content:
            case {"stop": str(name)} if name == self.job.id:
                self.stop()

    @property
    def sql(self) -> str:
        """SQL that stops the job."""
        return f"STOP JOB '{self.job.id}'"

    def still_text(self) -> str:
        return text_table(self._result_rows.preview)

    def still_html(self) -> str:
        return html_table(self._result_rows.preview)

    def still_svg(self) -> str:
        return text_svg(self.still_text(), f"job {self.job.name}")


class JobsView(LivePanel):
    """`%paimon jobs`: all streaming jobs of this session, running ones first."""

    _esm = script("panel.js", "jobs.js")

    def __init__(self, workbench: Workbench) -> None:
        self._workbench, self._known = workbench, dict[str, _JobLine]()
        self._replaced = False
        self._next_look_s, self._other_lines = 0.0, list[dict[str, Any]]()
        super().__init__()

    @property
    def jobs(self) -> Jobs:
        """The jobs of the session."""
        return self._workbench.session.jobs

    def current(self) -> dict[str, Any]:
        # Sorted by the collected status, so that a job that ends during the collection is listed consistently.
        lines = [self._known.setdefault(j.id, _JobLine(j)).data() for j in list(self.jobs.all.values())]
        lines.sort(key=lambda j: j["status"] != "RUNNING")
        return {"jobs": lines + self._others(), "card": False}

    def _others(self) -> list[dict[str, Any]]:
        """Jobs of other processes. Looked up again after some seconds: each look reads the newest snapshots of all tables."""
        if time.monotonic() >= self._next_look_s:
            started = time.monotonic()
            self._other_lines = [_other_line(o) for o in other_jobs(self._workbench.session)]
            self._next_look_s = time.monotonic() + max(_LOOK_EVERY_S, 20 * (time.monotonic() - started))
        return self._other_lines

    def is_live(self) -> bool:
        return not self._replaced or any(job.isActive for job in list(self.jobs.all.values()))

    def replaced(self) -> None:
        """Another list was opened: update this one only until the running jobs have ended."""
        self._replaced = True

    def on_message(self, content: Any) -> None:
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
        """The equivalent statement."""
        return "SHOW JOBS"

    def _result_rows(self) -> Rows:
        return Rows(self._workbench.run("SHOW JOBS"), 1000)

    def still_text(self) -> str:
        return (
            text_table(self._result_rows().preview)
            if self.jobs.all or self._others()
            else "No streaming jobs in this session"
        )

    def still_html(self) -> str:
        return (
            html_table(self._result_rows().preview)
            if self.jobs.all or self._others()
            else f"<div>{escape(self.still_text())}</div>"
        )

    def still_svg(self) -> str:
        return text_svg(self.still_text(), "streams of this session")
