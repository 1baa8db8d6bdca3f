"""What the tests of this folder share."""

from __future__ import annotations

import http.server
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from paimon_nb.workbench import Workbench


@dataclass(frozen=True)
class Place:
    """A catalog that several sessions of a test open."""

    kind: str
    options: Mapping[str, str]

    @classmethod
    def of(cls, kind: str, folder: Path, request: pytest.FixtureRequest) -> Place:
        """An empty catalog of a kind that `catalog_options` knows."""
        from catalog_kit import catalog_options

        return cls(kind, catalog_options(kind, folder, request))

    def open(self, **more: Any) -> Workbench:
        options = {k: v for k, v in self.options.items() if k not in ("type", "warehouse")}
        return paimon_nb.connect(self.options["warehouse"], options=options, **more)


class Listener(http.server.ThreadingHTTPServer):
    """A web server of an attacker: notes each request. Stop it with `shutdown`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Noted)
        self.requests: list[str] = []
        self.connections = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def get_request(self) -> tuple[Any, Any]:
        found = super().get_request()
        self.connections += 1
        return found

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Noted(http.server.BaseHTTPRequestHandler):
    server: Listener

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"result": "SUCCESS"}')

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass
