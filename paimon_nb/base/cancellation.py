"""Cancellation token: after cancellation nothing more is published. Knows nothing of tables."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from paimon_nb.base.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Iterator


class CancellationToken:
    """Shared by a worker thread and the thread that waits for it."""

    def __init__(self) -> None:
        self._publish_lock = threading.Lock()
        self.cancelled = False

    def prevent_publishing(self, patience_s: float) -> bool:
        """Request cancellation; waits for a publish that is in progress.

        Args:
            patience_s: maximum wait in seconds.

        Returns:
            True: nothing is published any more. False: a publish was still in progress when the time was over.
        """
        in_time = self._publish_lock.acquire(timeout=patience_s)
        self.cancelled = True
        if in_time:
            self._publish_lock.release()
        return in_time

    @contextmanager
    def activate(self) -> Iterator[None]:
        """Context: `active_token` of this thread is this token."""
        before = active_token.set(self)
        try:
            yield
        finally:
            active_token.reset(before)

    @contextmanager
    def defer_cancel_while_publishing(self) -> Iterator[None]:
        """Context in which a snapshot is published; `cancel` waits for its end. Raises Cancelled: cancellation was requested before."""
        with self._publish_lock:
            if self.cancelled:
                raise Cancelled("cancelled before publishing", hint="the table is unchanged; run the statement again")
            yield


active_token: ContextVar[CancellationToken | None] = ContextVar("cancellation token", default=None)
"""The token of this thread, which a publish checks; None: it cannot be cancelled."""
