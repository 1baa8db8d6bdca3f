"""Runs Spark work with a progress line; an interrupt cancels the jobs."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

    from paimon_nb.spark.jobs.progress import Progress

T = TypeVar("T")
AFTER_S = 0.5
CANCEL = '<button type="button" class="pnb-cancel" style="font:inherit;display:none">Cancel</button>'
"""The JupyterLab extension shows it, handles the click and interrupts the kernel. Elsewhere the notebook's stop button does that."""


def run_with_progress(spark: SparkSession, work: Callable[[], T], *, show: bool) -> T:
    """Run `work`; an interrupt cancels its jobs and raises `Cancelled`."""
    from paimon_nb.spark.jobs.cancel import run

    line = _Line() if show and has_front_end() else None
    try:
        return run(spark, work, on_progress=line.progress if line else None, progress_after_s=AFTER_S)
    finally:
        if line:
            line.clear()


@contextmanager
def spark_start_notice(*, show: bool) -> Iterator[None]:
    """Show "Starting Spark ..." with the elapsed seconds while Spark starts inside the block."""
    if not (show and has_front_end()):
        yield
        return
    done, line = threading.Event(), _Line()
    # The kernel finds the cell that an output belongs to in a context variable, which a new thread does not have.
    run = copy_context().run
    watcher = threading.Thread(target=run, args=(_watch_start, done, line), name="paimon-spark-start", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        line.clear()


def _watch_start(done: threading.Event, line: _Line) -> None:
    began: float | None = None
    while not done.wait(0.1):
        # Looked up, not imported: a cell that needs no Spark does not load its modules. It may be half imported by the cell.
        is_starting = getattr(sys.modules.get("paimon_nb.spark.runtime.session"), "is_starting", None)
        if is_starting is None or not is_starting():
            if began is not None:
                line.update("Spark is ready; running the statement ...")
                return
            continue
        began = began or time.monotonic()
        line.update(f"Starting Spark ... {time.monotonic() - began:.0f} s")


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

    def progress(self, progress: Progress) -> None:
        bar = f'<progress max="{max(1, progress.total)}" value="{progress.done}" style="width:160px"></progress>'
        self.update(f"{bar} {progress} {CANCEL}")

    def update(self, text: str) -> None:
        from IPython.display import HTML, display

        html = HTML(text)
        if text == self._text:
            return
        self._text = text
        if self._handle is None:
            self._handle = display(html, display_id=True)
        else:
            self._handle.update(html)

    def clear(self) -> None:
        """Remove the output; an empty one would stay in the saved notebook."""
        if self._handle is not None:
            from IPython.display import clear_output

            clear_output()
