"""Runs Spark work so that Ctrl-C ends it: in a worker thread, under a job group that an interrupt cancels."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.cancellation import CancellationToken
from paimon_nb.base.errors import Cancelled, PaimonError
from paimon_nb.spark.errors import translate
from paimon_nb.spark.jobs.progress import Progress, poll

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

R = TypeVar("R")
POLL_S = 0.2
GRACE_S = 5.0
"""How long an interrupt waits for the work to end before it gives the prompt back."""


def run(
    spark: SparkSession,
    work: Callable[[], R],
    *,
    description: str = "paimon_nb",
    on_progress: Callable[[Progress], None] | None = None,
    progress_after_s: float = 0.5,
) -> R:
    """Call `work` in a thread of its own and wait; a KeyboardInterrupt cancels exactly the jobs that it started.

    Work that hears it late, on a busy machine, publishes nothing after that.

    Args:
        on_progress: called about every 0.2 s from the caller's thread once `progress_after_s` have gone by.

    Raises:
        Cancelled: interrupted; the jobs have ended or were told to within 5 s. PaimonError: translated from Spark's.
    """
    context = spark.sparkContext
    group = f"paimon-nb-{uuid.uuid4()}"
    future: Future[R] = Future()
    stop = CancellationToken()

    def body() -> None:
        try:
            context.setJobGroup(group, description, interruptOnCancel=True)
            with stop.activate():
                result = work()
            future.set_result(result)
        except BaseException as error:
            future.set_exception(error)

    thread = _thread(spark, body)
    thread.start()
    started = time.monotonic()
    try:
        # A Future, not thread.is_alive(): after a KeyboardInterrupt inside join() that says False while the work runs.
        while True:
            with suppress(NotYet):
                return future.result(timeout=POLL_S)
            if future.done():
                return future.result()
            if on_progress is not None and time.monotonic() - started >= progress_after_s:
                on_progress(poll(spark, group))
    except KeyboardInterrupt:
        nothing_published = stop.cancel(GRACE_S)
        _cancel(spark, group, future)
        raise _interrupted(future, nothing_published) from None
    except PaimonError:
        raise
    except Exception as error:
        translated = translate(error)
        if translated is None:
            raise
        raise translated from error


def _interrupted(future: Future[R], nothing_published: bool) -> Cancelled:
    """What became of the work: an interrupt may come too late, and some work hears it late."""
    if not future.done():
        return Cancelled(
            "interrupted; the work has not stopped yet",
            hint="it will not commit anything" if nothing_published else "check the snapshots before running it again",
        )
    if future.exception() is None:
        return Cancelled("interrupted after the work had finished", hint="its changes are committed")
    return Cancelled("interrupted; the work was cancelled", hint="nothing was committed; run it again")


def _cancel(spark: SparkSession, group: str, future: Future[R]) -> None:
    """Cancel the group until the work has ended: a job may start between two looks."""
    deadline = time.monotonic() + GRACE_S
    while not future.done() and time.monotonic() < deadline:
        with suppress(Exception):
            spark.sparkContext.cancelJobGroup(group)
        with suppress(Exception):
            future.result(timeout=POLL_S)


def _thread(spark: SparkSession, body: Callable[[], None]) -> threading.Thread:
    from pyspark.util import InheritableThread

    thread = InheritableThread(target=body, session=spark)
    thread.daemon = True
    return thread
