"""The session of a stream: a copy that later statements of the user do not affect."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paimon_nb.options import parse_duration_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.session.core.session import Session

_MODE = "execution.runtime-mode"
CHECKPOINT_INTERVAL = "execution.checkpointing.interval"


@contextmanager
def runtime_mode(session: Session, mode: str) -> Iterator[None]:
    """Run the block's statements in 'batch' or 'streaming' mode."""
    before = session.settings.get(_MODE)
    session.settings[_MODE] = mode
    try:
        yield
    finally:
        if before is None:
            session.settings.pop(_MODE, None)
        else:
            session.settings[_MODE] = before


def session_copy_for_stream(session: Session, spark: Any = None) -> Session:
    """A copy of the session for a stream: later USE and SET do not affect it. Its queries run in batch mode."""
    forked = copy.copy(session)
    forked.settings = dict(session.settings)
    if _MODE in forked.settings:  # an unset mode stays unset: setting it selects Flink's semantics
        forked.settings[_MODE] = "batch"
    forked.views, forked.temporary, forked.catalogs = (
        dict(session.views),
        dict(session.temporary),
        dict(session.catalogs),
    )
    forked._spark = session.spark if spark is None else spark
    return forked


def checkpoint_interval_ms(session: Session) -> int:
    """The time between the starts of two micro-batches, milliseconds."""
    configured = session.settings.get(CHECKPOINT_INTERVAL)
    return 200 if configured is None else int(parse_duration_ms(str(configured)))
