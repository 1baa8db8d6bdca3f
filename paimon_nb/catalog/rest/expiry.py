"""When credentials that expire are renewed."""

from __future__ import annotations

_HOUR_MS = 3_600_000


def renew_at(expires_ms: int, now_ms: int) -> int:
    """The time from which credentials that were given now are renewed, in epoch milliseconds.

    An hour before they expire, as in Java; of credentials that are valid for less than two hours, at three quarters of
    their time.
    """
    valid = max(0, expires_ms - now_ms)
    return expires_ms - (_HOUR_MS if valid >= 2 * _HOUR_MS else valid // 4)
