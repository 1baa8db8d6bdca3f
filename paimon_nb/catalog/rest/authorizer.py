"""What a source of credentials does for requests."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from paimon_nb.base.override import override

if TYPE_CHECKING:
    from collections.abc import Mapping


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
