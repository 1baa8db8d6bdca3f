"""One line below a running cell: what it does, how far it is, how long it has taken. An interrupt cancels Spark's jobs."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import field
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import SparkSession

    from paimon_nb.spark.jobs.progress import Progress
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan

T = TypeVar("T")
AFTER_S, EVERY_S = 0.1, 0.25
"""When the line appears, and how often it changes."""
LABEL_WORDS, LABEL_CHARACTERS, LABEL_FROM = 6, 60, 4_000
CANCEL = '<button type="button" class="pnb-cancel" style="font:inherit;display:none">Cancel</button>'
"""The JupyterLab extension shows it, handles the click and interrupts the kernel. Elsewhere the notebook's stop button does that."""
_TOKEN = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'?|`[^`]*`|\w+|\S", re.DOTALL)
"""Not the parser's tokens: those of a long text take time."""
_QUERIES = {"SELECT", "WITH", "VALUES", "FROM", "TABLE", "("}
_ENDS_LABEL = {"SELECT", "WITH", "VALUES", "USING", "SET", "WHERE", "AS", "PARTITION", "ON", "(", ";"}


@dataclass(slots=True)
class RunState:
    """What a cell is doing. The cell writes it, the thread of the line reads it.

    Args:
        label: the statement in a few words; '' for a query.
    """

    label: str = ""
    began: float = field(default_factory=time.monotonic)
    plans: Sequence[ScanPlan] = ()
    """The scans that were planned so far."""
    spark: Progress | None = None
    starting_since: float | None = None
    """When Spark began to start; None: it is not starting."""
    was_starting: bool = False

    def text(self, now: float) -> str:
        """The line, for example `Reading 24 files · 61 % · 1.2 M rows · 0:07`."""
        if self.starting_since is not None:
            return f"Starting Spark {now - self.starting_since:.0f} s"
        files = len({file.file_name for plan in list(self.plans) for file in plan.files})
        reading = f"Reading {files:,} file{'s' * (files != 1)}" if files else ""
        parts = [self.label, reading] if self.label else [reading or "Running"]
        if self.spark is not None and self.spark.total:
            stage = f"stage {self.spark.stage} " if self.spark.stage > 1 else ""
            parts.append(f"{stage}{self.percent} %")
            if self.spark.rows:
                parts.append(f"{rows_text(self.spark.rows)} rows")
        return " · ".join([*filter(None, parts), elapsed_text(now - self.began)])

    @property
    def percent(self) -> int:
        """The finished tasks of the running stage. Spark adds stages while it works, so there is no total."""
        return 100 * self.spark.done // self.spark.total if self.spark is not None and self.spark.total else 0


def statement_label(text: str) -> str:
    """The statements of a cell in a few words; '' for one query. Reads only the beginning of the text.

    Examples:
        >>> statement_label("INSERT INTO `default`.t SELECT * FROM a")
        'INSERT INTO default.t'
        >>> statement_label("CALL sys.compact(table => 't')")
        'CALL sys.compact'
        >>> statement_label("DROP TABLE t; CREATE TABLE t (id INT)")
        'several statements'
        >>> statement_label("SELECT 1")
        ''
    """
    words: list[str] = []
    complete = ended = False
    for token in _TOKEN.findall(text[:LABEL_FROM]):
        if token.startswith(("--", "/*")):
            continue
        if ended:
            return "several statements"
        ended = token == ";"
        complete = complete or ended or bool(words and token.upper() in _ENDS_LABEL) or len(words) > LABEL_WORDS
        if not complete:
            words.append(token.strip("`"))
    if not words or words[0].upper() in _QUERIES:
        return ""
    label = " ".join(words).replace(" . ", ".")
    return label if len(label) <= LABEL_CHARACTERS else label[: LABEL_CHARACTERS - 1] + "…"


def elapsed_text(seconds: float) -> str:
    """Minutes and seconds, hours if there are any."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def rows_text(rows: int) -> str:
    """A number of rows, short: `950`, `12 k`, `1.2 M`."""
    if rows < 10_000:
        return f"{rows:,}"
    for unit, size in (("k", 1_000), ("M", 1_000_000), ("B", 1_000_000_000)):
        if rows < 1_000 * size or unit == "B":
            return f"{rows / size:,.1f} {unit}" if rows < 10 * size else f"{rows / size:,.0f} {unit}"
    raise AssertionError(rows)


@contextmanager
def run_line(state: RunState, *, show: bool) -> Iterator[None]:
    """Show the line of `state` below the cell while the block runs. It is removed at the end."""
    if not (show and has_front_end()):
        yield
        return
    done, line = threading.Event(), _Line()
    # The kernel finds the cell that an output belongs to in a context variable, which a new thread does not have.
    run = copy_context().run
    watcher = threading.Thread(
        target=run, args=(_update_line_until_done, state, done, line), name="paimon-run-line", daemon=True
    )
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        line.clear()


def run_with_progress(spark: SparkSession, work: Callable[[], T], state: RunState) -> T:
    """Run `work`; an interrupt cancels its jobs and raises `Cancelled`. `state` follows the jobs."""
    from paimon_nb.spark.jobs.cancel import run_cancellable

    def follow(progress: Progress) -> None:
        state.spark = progress

    return run_cancellable(spark, work, on_progress=follow, progress_after_s=AFTER_S)


def _update_line_until_done(state: RunState, done: threading.Event, line: _Line) -> None:
    wait = AFTER_S
    while not done.wait(wait):
        wait = EVERY_S
        # Looked up, not imported: a cell that needs no Spark does not load its modules. They may be half imported by the cell.
        session = sys.modules.get("paimon_nb.spark.runtime.session")
        is_starting = getattr(session, "is_starting", None)
        if is_starting is not None and is_starting():
            state.starting_since = state.starting_since or time.monotonic()
            state.was_starting = True
        elif state.was_starting:
            state.starting_since = None
            with suppress(Exception):  # of Spark, which may stop meanwhile: the cell reports it
                state.spark = _active_jobs() or state.spark
        line.show(state)


def _active_jobs() -> Progress | None:
    """The running jobs of a Spark that started in this cell: no other cell has any."""
    from paimon_nb.spark.jobs.progress import poll_active
    from paimon_nb.spark.runtime.jvm_bridge import active_context

    context = active_context()
    return poll_active(context) if context is not None else None


def tasks_that_go_on(patience_s: float = 2.0) -> int:
    """Number of tasks that run although no job does, after a cell was interrupted: Java cannot stop them. 0 while a stream runs a job."""
    if "pyspark" not in sys.modules:
        return 0
    from paimon_nb.spark.runtime.jvm_bridge import active_context, running_tasks

    context, end = active_context(), time.monotonic() + patience_s
    with suppress(Exception):  # of Spark, which may stop meanwhile
        while context is not None and (found := running_tasks(context)):
            if time.monotonic() >= end:
                return 0 if context.statusTracker().getActiveJobsIds() else found
            time.sleep(0.1)
    return 0


def has_front_end() -> bool:
    """Whether an interactive user is connected. nbconvert, nbclient and nbval send requests without stdin;
    stored outputs must not depend on timing."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return False
    kernel = getattr(get_ipython(), "kernel", None)
    return bool(getattr(kernel, "_allow_stdin", False)) and "PAIMON_NB_QUIET" not in os.environ


class _Line:
    """One line that is updated in place and removed at the end."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._text = ""

    def show(self, state: RunState) -> None:
        text = escape(state.text(time.monotonic()))
        bar = ""
        if state.starting_since is None and state.spark is not None and state.spark.total:
            bar = f'<progress max="100" value="{state.percent}" style="width:120px"></progress> '
        self._update(f'<span role="status" style="font-variant-numeric:tabular-nums">{bar}{text}</span> {CANCEL}')

    def _update(self, text: str) -> None:
        from IPython.display import HTML, display

        if text == self._text:
            return
        self._text = text
        with suppress(RuntimeError):  # the kernel shuts down
            if self._handle is None:
                self._handle = display(HTML(text), display_id=True)
            else:
                self._handle.update(HTML(text))

    def clear(self) -> None:
        """Remove the output; an empty one would stay in the saved notebook."""
        if self._handle is not None:
            from IPython.display import clear_output

            clear_output()
