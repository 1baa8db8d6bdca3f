"""Flink's checkpoints come whether there are rows or not, Spark's micro-batches only with rows: here is the clock between them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

log = logging.getLogger(__name__)
PAUSE_S = 1.0
"""Between two checkpoints, where nothing else is asked for. Replaceable by tests that do not want to wait for any, or for long."""


class _Running(Protocol):
    @property
    def isActive(self) -> bool: ...  # noqa: N802  Spark's name


def run_with_timer(running: _Running, checkpoint: Callable[[], None], pause_s: float) -> None:
    """Call `checkpoint` each so many seconds, in a thread of its own, as long as a stream runs.

    What goes wrong is logged: the stream goes on, and the next call tries again.
    """

    def clock() -> None:
        pause = threading.Event()
        while not pause.wait(pause_s):
            with suppress(Exception):  # a JVM that is gone has no streams
                if running.isActive:
                    _try(checkpoint)
                    continue
            return

    threading.Thread(target=clock, name="paimon-checkpoints", daemon=True).start()


def _try(checkpoint: Callable[[], None]) -> None:
    try:
        checkpoint()
    except Exception as error:
        log.warning("a checkpoint without rows was left out: %s", error)
