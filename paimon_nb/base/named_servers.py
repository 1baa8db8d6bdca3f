"""The servers that the user of this process has named: in options of a catalog, of a statement, of a call, or in a setting.

Options that are stored in a table may name servers, too: a partition is reported to a web service, Iceberg metadata is registered in a catalog. Whoever
may write the table wrote them. A request to such a server is only sent if the user named it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.redact import redact_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s,;'\"]+")
_PORTS = {"http": 80, "https": 443, "thrift": 9083}
_named: set[tuple[str, int | None]] = set()


def name_servers(options: Mapping[str, object]) -> None:
    """Allow requests to the servers in the values of these options, and in the folders of settings, which the user wrote."""
    for key, value in options.items():
        if not isinstance(value, str):
            continue
        if "://" in value:
            _named.update(filter(None, map(_address, _URL.findall(value))))
        elif key.endswith("conf-dir"):
            _named.add((value, None))


def forget_all() -> None:
    """Forget all servers, as a new process has them."""
    _named.clear()


def check_is_named(url: str, table: object, option: str) -> None:
    """Raise UnsupportedOperation if only a stored option of a table names the server of a URL.

    Args:
        url: one address, or several separated by commas; or a folder with settings that have the address.
        table: its name, for the error.
        option: the key of the table's option.
    """
    for part in url.split(","):
        if (_address(part.strip()) or (part.strip(), None)) not in _named:
            raise UnsupportedOperation(
                f"{table}: no request is sent to {redact_text(part.strip())}: only the table's option {option!r} names this server",
                hint="name it in the catalog option 'allowed-servers', or SET the table's option in this session",
                option=option,
            )


def _address(url: str) -> tuple[str, int | None] | None:
    """Host and port; None for a text that is no URL."""
    try:
        parts = urlsplit(url)
        return (parts.hostname, parts.port or _PORTS.get(parts.scheme.lower())) if parts.hostname else None
    except ValueError:
        return None
