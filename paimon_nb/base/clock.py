"""The wall clock, replaceable by tests."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000  # noqa: E731  a replaceable module value
"""Milliseconds since the epoch. Call as `clock.now_ms()`; tests replace the attribute."""


def local_now_ms() -> int:
    """The local wall clock read as if it were UTC, in ms: Paimon's `_CREATION_TIME` (docs/spec/format.md section 5.3)."""
    now = now_ms()
    offset_s = time.localtime(now / 1000).tm_gmtoff
    return now + offset_s * 1000


def epoch_of_local_ms(local_ms: int) -> int:
    """Milliseconds since the epoch for a value of `local_now_ms`; an hour off where a clock change makes it ambiguous."""
    return local_ms - time.localtime(local_ms / 1000).tm_gmtoff * 1000
