"""A stop that work hears at its last moment: once it was asked for, nothing more is published. Knows nothing of tables."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from paimon_nb.base.errors import Cancelled


class CancellationToken:
    """Shared by work in a thread of its own and by whoever waits for it."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self.cancelled = False

    def cancel(self, patience_s: float) -> bool:
        """Ask for the stop; waits for what is being published right now.

        Args:
            patience_s: how long, in seconds.

        Returns:
            True: nothing is published any more. False: something was still being published when the time was over.
        """
        in_time = self._turn.acquire(timeout=patience_s)
        self.cancelled = True
        if in_time:
            self._turn.release()
        return in_time

    @contextmanager
    def activate(self) -> Iterator[None]:
        """Inside it, in this thread, `publishing` asks this stop."""
        before = _active.set(self)
        try:
            yield
        finally:
            _active.reset(before)

    @contextmanager
    def _publishing(self) -> Iterator[None]:
        with self._turn:
            if self.cancelled:
                raise Cancelled(
                    "interrupted before it was published", hint="nothing of it is in the table; run it again"
                )
            yield


_active: ContextVar[CancellationToken | None] = ContextVar("stop", default=None)


@contextmanager
def publishing() -> Iterator[None]:
    """Around the moment that makes work visible. Raises Cancelled: a stop was asked for before."""
    stop = _active.get()
    if stop is None:
        yield
    else:
        with stop._publishing():
            yield
