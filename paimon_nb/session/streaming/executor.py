"""Chooses how a streaming statement runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.session.streaming.modes.local import LocalRun
from paimon_nb.session.streaming.modes.recompute import RecomputeRun
from paimon_nb.session.streaming.modes.stateful import StatefulRun
from paimon_nb.session.streaming.modes.stateless import StatelessRun
from paimon_nb.session.streaming.stream_session import runtime_mode, session_copy_for_stream

if TYPE_CHECKING:
    from paimon_nb.session.streaming.modes.stream_run import StreamRun
    from paimon_nb.session.streaming.stream_statement import StreamStatement

__all__ = ["MODES", "runtime_mode", "session_copy_for_stream", "stream_run"]
MODES: tuple[type[StreamRun], ...] = (LocalRun, RecomputeRun, StatelessRun, StatefulRun)
"""The first that takes a statement runs it. With a Spark Connect session the last two run as `ServerRun`."""


def stream_run(statement: StreamStatement) -> StreamRun:
    """The run of a statement, in the mode of its plan; not started."""
    return next(run for mode in MODES if (run := mode.of(statement)) is not None)
