"""Credentials of requests: the interface of their sources, and when they are renewed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from paimon_nb.base.override import override

if TYPE_CHECKING:
    from collections.abc import Mapping

_HOUR_MS = 3_600_000


class Authorizer(ABC):
    """Headers of a request. Picklable; threads share it."""

    @abstractmethod
    def headers(self, method: str, path: str, params: Mapping[str, str], body: str) -> dict[str, str]:
        """The headers for this request."""

    def renew(self) -> bool:
        """Called when the server does not accept the credentials. Returns whether there may be newer ones now."""
        return False


class Anonymous(Authorizer):
    """No credentials."""

    @override
    def headers(self, method: str, path: str, params: Mapping[str, str], body: str) -> dict[str, str]:
        return {}


def renew_at(expires_ms: int, now_ms: int) -> int:
    """The time from which credentials that were given now are renewed, in epoch milliseconds.

    An hour before they expire, as in Java; of credentials that are valid for less than two hours, at three quarters of
    their time.
    """
    valid = max(0, expires_ms - now_ms)
    return expires_ms - (_HOUR_MS if valid >= 2 * _HOUR_MS else valid // 4)
