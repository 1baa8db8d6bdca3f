"""The wall clock, replaceable by tests."""

from __future__ import annotations

import datetime as dt
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{2}))?")

now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000  # noqa: E731  a replaceable module value
"""Milliseconds since the epoch. Call as `clock.now_ms()`; tests replace the attribute."""
monotonic_s: Callable[[], float] = time.monotonic
"""Seconds of a clock that never goes back. Call as `clock.monotonic_s()`; tests replace the attribute."""


def local_now_ms() -> int:
    """The local wall clock read as if it were UTC, in ms: Paimon's `_CREATION_TIME` (docs/spec/format.md section 5.3)."""
    now = now_ms()
    offset_s = time.localtime(now / 1000).tm_gmtoff
    return now + offset_s * 1000


def epoch_of_local_ms(local_ms: int) -> int:
    """Milliseconds since the epoch for a value of `local_now_ms`; an hour off where a clock change makes it ambiguous."""
    return local_ms - time.localtime(local_ms / 1000).tm_gmtoff * 1000


def local_zone_name() -> str:
    """The machine's time zone as Java finds it: the variable TZ, or the file that /etc/localtime points to; else UTC."""
    name = os.environ.get("TZ", "").removeprefix(":")
    if name:
        return name
    try:
        _, found, name = str(Path("/etc/localtime").resolve(strict=True)).partition("zoneinfo/")
    except OSError:
        return "UTC"
    return name if found else "UTC"


def zone_of(name: str) -> dt.tzinfo | None:
    """A time zone by its name or offset: 'Europe/Berlin', '+02:00', 'GMT+2', 'Z'; None: not known."""
    if name in ("Z", "UTC", "GMT"):
        return dt.UTC
    offset = _OFFSET.fullmatch(name)
    if offset:
        sign, hours, minutes = offset.groups()
        delta = dt.timedelta(hours=int(hours), minutes=int(minutes or 0))
        return dt.timezone(-delta if sign == "-" else delta)
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        return None
