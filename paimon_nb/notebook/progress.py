"""Work in a Spark job group with a progress line and an interrupt that ends the job."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimon_nb.spark.runtime.progress import Progress

T = TypeVar("T")
AFTER_S = 0.5
CANCEL = '<button type="button" class="pnb-cancel" style="font:inherit">cancel</button>'
"""Our JupyterLab extension hears its click and interrupts the kernel; elsewhere the notebook's own button does."""


def run_watched(spark: SparkSession, work: Callable[[], T], *, show: bool) -> T:
    """Run `work`; an interrupt cancels its jobs and raises `Cancelled`."""
    from paimon_nb.spark.runtime.cancel import run

    line = _Line() if show and has_front_end() else None
    try:
        return run(spark, work, on_progress=line.update if line else None, progress_after_s=AFTER_S)
    finally:
        if line:
            line.clear()


def has_front_end() -> bool:
    """Whether a person looks on. nbconvert, nbclient and nbval say in each request that nobody could answer a question;
    what they store must not depend on time."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return False
    kernel = getattr(get_ipython(), "kernel", None)
    return bool(getattr(kernel, "_allow_stdin", False)) and "PAIMON_NB_QUIET" not in os.environ


class _Line:
    """One line that is written over, and gone at the end."""

    def __init__(self) -> None:
        self._handle: Any = None

    def update(self, progress: Progress) -> None:
        from IPython.display import HTML, display

        bar = f'<progress max="{max(1, progress.total)}" value="{progress.done}" style="width:160px"></progress>'
        html = HTML(f"{bar} {progress} {CANCEL}")
        if self._handle is None:
            self._handle = display(html, display_id=True)
        else:
            self._handle.update(html)

    def clear(self) -> None:
        """Leave nothing behind: an empty output would stay in the saved notebook."""
        if self._handle is not None:
            from IPython.display import clear_output

            clear_output()
