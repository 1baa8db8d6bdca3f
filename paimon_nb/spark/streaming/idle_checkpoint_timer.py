"""Timer for checkpoints without rows: Flink has checkpoints at fixed intervals, Spark's micro-batches only run for new rows."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)
PAUSE_S = 1.0
"""Default interval of checkpoints. Tests may change it."""


class _Running(Protocol):
    @property
    def isActive(self) -> bool: ...  # noqa: N802  Spark's name


def run_checkpoints_until_end(running: _Running, checkpoint: Callable[[], None], pause_s: float) -> None:
    """Call `checkpoint` periodically in a separate thread until a stream ends.

    An error is logged. The stream continues, and the next call tries again.

    Args:
        running: the streaming query.
        checkpoint: the function to call.
        pause_s: seconds between two calls.
    """

    def checkpoint_until_end() -> None:
        pause = threading.Event()
        while not pause.wait(pause_s):
            with suppress(Exception):  # the JVM has ended, and the stream with it
                if running.isActive:
                    _run_checkpoint(checkpoint)
                    continue
            return

    threading.Thread(target=checkpoint_until_end, name="paimon-checkpoints", daemon=True).start()


def _run_checkpoint(checkpoint: Callable[[], None]) -> None:
    try:
        checkpoint()
    except Exception as error:
        log.warning("a checkpoint without rows failed: %s", error)
