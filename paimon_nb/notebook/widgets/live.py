"""A streaming query as a live table: rows by kind, rate, lag, pause, seek, stop."""

from __future__ import annotations

import threading
import time
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base.errors import PaimonError
from paimon_nb.notebook.stream_model import LiveRows, Rate, counts_text, rate_text
from paimon_nb.notebook.svg import text_svg
from paimon_nb.notebook.widgets.base import script
from paimon_nb.notebook.widgets.live_base import TICK_S, LivePanel
from paimon_nb.table.tables.inspect.formatting import count_text

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.session.core.jobs import StreamJob
    from paimon_nb.table.tables.table import Table

KEEP = 100
"""Rows shown when the cell does not set --limit."""
BEAT_S = 5.0
"""Heartbeat interval of a running stream; live.js treats a longer silence as the end of the kernel."""
FIRST_LOOK_S = 3.0
"""How long a cell waits for the first rows, so that the stored output contains some."""


class Feed(Protocol):
    """The source of a live table: `LiveResult` (a query, in Spark) or `TableFeed` (a table, without Spark)."""

    @property
    def job(self) -> StreamJob | None: ...

    @property
    def tables(self) -> tuple[Table, ...]: ...

    @property
    def fixed(self) -> str | None: ...

    def start(self) -> Any: ...

    def take(self, timeout_s: float) -> list[pa.Table]: ...

    def seek(self, snapshot: int | None) -> None: ...


class LiveTable(LivePanel):
    """Starts the stream. It runs until stopped here, in `%paimon jobs`, by STOP JOB, or by the end of the kernel.

    Args:
        feed: the source of the rows. sql: the query to display. keep: number of rows shown.
    """

    _esm = script("panel.js", "terms.js", "live.js")

    def __init__(self, feed: Feed, sql: str, keep: int = KEEP) -> None:
        self.feed, self._sql = feed, sql
        self.rows, self._rate = LiveRows(keep), Rate()
        self._paused, self._error = False, ""
        self._taking = threading.Lock()
        """Held while rows are taken and during a seek, so that no rows of the old position follow a seek."""
        feed.start()
        assert feed.job is not None
        self.job = feed.job
        deadline = time.monotonic() + FIRST_LOOK_S
        while not self.rows.total and self.job.isActive and time.monotonic() < deadline:
            self._take_rows(0.2)
        super().__init__()

    @property
    def sql(self) -> str:
        """The query."""
        return self._sql

    @property
    def status(self) -> str:
        """RUNNING, PAUSED, FINISHED, FAILED or CANCELED."""
        status = self.job.status
        return "PAUSED" if status == "RUNNING" and self._paused else status

    # -- actions

    def pause(self, paused: bool = True) -> None:
        """Pause the display. The stream continues until its buffer is full, then waits."""
        with self._taking:  # rows being taken now still belong to the previous state
            self._paused = paused
        self.redraw()

    def seek(self, snapshot: int | None) -> None:
        """Restart with the changes of a snapshot, or (None) from the current state. Also restarts a stopped stream.

        Raises: UnsupportedOperation: the query always shows the current state.
        """
        with self._taking:
            self.feed.seek(snapshot)
            self.rows.clear()
            self._paused = False
        self.redraw()
        self.follow()

    def stop(self) -> None:
        """Stop the stream; the rows stay."""
        self.job.stop()
        self._take_rows(0)
        self.redraw()

    def on_message(self, content: Any) -> None:
        self._error = ""
        try:
            match content:
                case {"pause": bool(paused)}:
                    self.pause(paused)
                case {"stop": True}:
                    self.stop()
                case {"seek": None}:
                    self.seek(None)
                case {"seek": str(text)}:
                    if not text.strip().isdecimal():
                        raise _NotASnapshotId(text)
                    self.seek(int(text))
        except PaimonError as error:
            self._error = error.one_line
            self.redraw()
        except _NotASnapshotId as error:
            self._error = str(error)
            self.redraw()

    # -- updates

    def is_live(self) -> bool:
        return self.job.isActive

    def wait(self) -> None:
        began = time.monotonic()
        with self._taking:
            if not self._paused:
                self._add_changes(self.feed.take(TICK_S / 2))
        threading.Event().wait(max(0.05, TICK_S - (time.monotonic() - began)))

    def _take_rows(self, timeout_s: float) -> None:
        with self._taking:
            self._add_changes(self.feed.take(timeout_s))

    def _add_changes(self, taken: list[pa.Table]) -> None:
        for changes in taken:
            self.rows.add(changes)

    def ended(self) -> None:
        self._take_rows(0)
        self.redraw()
        if self._handle is not None:  # store the last rows in the notebook, not the first
            data, metadata = self._repr_mimebundle_()
            self._handle.update(data, metadata=metadata, raw=True)

    def current(self) -> dict[str, Any]:
        with self._taking:  # not while rows are added or dropped
            return self._current_locked()

    def _current_locked(self) -> dict[str, Any]:
        status, failed, lag = self.status, self.job.error, self._source_lag()
        rate = self._rate.update(time.monotonic(), self.rows.total)
        return {
            "status": status,
            "lead": self.lead(lag),
            "fix": getattr(self.feed, "changelog_statement", ""),
            "rate": rate_text(rate) if status == "RUNNING" else "",
            "counts": dict(self.rows.counts),
            "waiting": max(0, self.job.rows - self.rows.total) if self._paused else 0,
            "lag": lag,
            "columns": self.rows.columns,
            "numbers": self.rows.numeric,
            "rows": self.rows.newest(),
            "total": self.rows.total,
            "more": f"{self.rows.left_out:,} more columns" if self.rows.left_out else getattr(self.feed, "note", ""),
            "fixed": self.feed.fixed or "",
            "sql": self._sql,
            "error": self._error if failed is None else failed.one_line,
            "beat": int(time.monotonic() / BEAT_S) if self.job.isActive else 0,
        }

    def lead(self, lag: list[dict[str, Any]]) -> str:
        """What the panel shows now, in a sentence. `lag`: how far the stream is in each source."""
        changes = count_text(self.rows.total, "change")
        match self.status:
            case "FAILED":
                return f"The stream failed after {changes}."
            case "PAUSED":
                return f"Paused after {changes}. Resume shows those that came meanwhile."
            case "RUNNING":
                state = (
                    "Older ones are still being read."
                    if any(s["behind"] for s in lag)
                    else "All are read; new ones come by themselves."
                )
                return f"Changes appear here as they are committed: {changes} so far. {state}"
        return f"Stopped after {changes}. Restart follows the table again."

    def _source_lag(self) -> list[dict[str, Any]]:
        try:
            found = self.job.progress()
        except PaimonError:  # the table was dropped; the stream reports it
            return []
        return [{"table": s.table, "text": str(s), "behind": s.behind, "newest": s.newest} for s in found]

    # -- on the page

    def still_text(self) -> str:
        head = f"live: {counts_text(self.rows.counts)}"
        rows = self.rows.newest()
        if not rows:
            return head
        names = ["op", *self.rows.columns]
        lines = [[_escaped_and_cut(v) for v in row[1:]] for row in rows]
        widths = [max(len(n), *(len(line[i]) for line in lines)) for i, n in enumerate(names)]
        table = ["  ".join(v.ljust(w) for v, w in zip(line, widths, strict=True)).rstrip() for line in (names, *lines)]
        return "\n".join([head, *table])

    def still_svg(self) -> str:
        return text_svg(self.still_text(), f"live table: {counts_text(self.rows.counts)}")

    def still_html(self) -> str:
        return f'<pre style="overflow:auto;max-height:460px">{escape(self.still_text())}</pre>'


class _NotASnapshotId(ValueError):
    def __str__(self) -> str:
        return f"{self.args[0][:40]!r} is not a snapshot id"


def _escaped_and_cut(value: str | None) -> str:
    if value is None:
        return "NULL"
    escaped = value.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")
    return escaped if len(escaped) <= 60 else escaped[:59] + "…"
