"""Runs Spark work that Ctrl-C can cancel: in its own thread and job group."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.cancellation import CancellationToken
from paimon_nb.base.errors import Cancelled, PaimonError
from paimon_nb.spark.errors import paimon_error_of_spark
from paimon_nb.spark.jobs.progress import Progress, poll

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from pyspark.sql import SparkSession

R = TypeVar("R")
POLL_S = 0.2
GRACE_S = 5.0
"""Maximum wait for cancelled work to end."""


def run_cancellable(
    spark: SparkSession,
    work: Callable[[], R],
    *,
    description: str = "paimon_nb",
    on_progress: Callable[[Progress], None] | None = None,
    progress_after_s: float = 0.5,
) -> R:
    """Call `work` in its own thread and wait for the result. A KeyboardInterrupt cancels the Spark jobs that it started.

    Work that is still running after an interrupt, on a busy machine, can no longer commit.

    Args:
        spark: the session that runs the jobs.
        work: the function to call.
        description: the description of the jobs in Spark's UI.
        on_progress: called about every 0.2 s in the caller's thread.
        progress_after_s: seconds before the first call of `on_progress`.

    Raises:
        Cancelled: interrupted. The jobs have ended, or were cancelled and did not end within 5 s.
        PaimonError: a translated error of Spark.
    """
    context = spark.sparkContext
    group = f"paimon-nb-{uuid.uuid4()}"
    future: Future[R] = Future()
    stop = CancellationToken()

    def run_in_job_group() -> None:
        try:
            context.setJobGroup(group, description, interruptOnCancel=True)
            with stop.activate():
                result = work()
            future.set_result(result)
        except BaseException as error:
            future.set_exception(error)

    thread = _inheriting_thread(spark, run_in_job_group)
    thread.start()
    started = time.monotonic()
    try:
        # Not thread.is_alive(): after a KeyboardInterrupt inside join() it returns False while the thread runs.
        while True:
            with suppress(NotYet):
                return future.result(timeout=POLL_S)
            if future.done():
                return future.result()
            if on_progress is not None and time.monotonic() - started >= progress_after_s:
                on_progress(poll(spark, group))
    except KeyboardInterrupt:
        nothing_published = stop.prevent_publishing(GRACE_S)
        _cancel_until_done(spark, group, future)
        raise _interrupt_error(future, nothing_published) from None
    except PaimonError:
        raise
    except Exception as error:
        translated = paimon_error_of_spark(error)
        if translated is None:
            raise
        raise translated from error


def _interrupt_error(future: Future[R], nothing_published: bool) -> Cancelled:
    """The error to raise, by the state of the work: it may have finished before the interrupt, or may still run."""
    if not future.done():
        return Cancelled(
            "interrupted; the work has not stopped yet",
            hint="it will not commit anything" if nothing_published else "check the snapshots before running it again",
            goes_on=True,
        )
    if future.exception() is None:
        return Cancelled("interrupted after the work had finished", hint="its changes are committed")
    return Cancelled("interrupted; the work was cancelled", hint="nothing was committed; run it again")


def _cancel_until_done(spark: SparkSession, group: str, future: Future[R]) -> None:
    """Cancel the job group repeatedly until the work has ended: it may start another job between two calls."""
    deadline = time.monotonic() + GRACE_S
    while not future.done() and time.monotonic() < deadline:
        with suppress(Exception):
            spark.sparkContext.cancelJobGroup(group)
        with suppress(Exception):
            future.result(timeout=POLL_S)


def _inheriting_thread(spark: SparkSession, run_in_job_group: Callable[[], None]) -> threading.Thread:
    from pyspark.util import InheritableThread

    thread = InheritableThread(target=run_in_job_group, session=spark)
    thread.daemon = True
    return thread
