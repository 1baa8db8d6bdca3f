"""What the tests of this folder share."""

from __future__ import annotations

import http.server
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import paimon_nb
from paimon_nb.fs import FileIO, LocalFileIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from paimon_nb.workbench import Workbench


CALLS_OF_WRITERS = ("read", "open", "read_each", "names", "size", "sync_and_put_if_absent", "create")
"""Of an append: each is a moment at which another process may change the table."""
CALLS_OF_MAINTENANCE = ("read", "read_each", "names", "sync_and_put_if_absent", "overwrite", "delete", "delete_each")


class Killed(BaseException):
    """Like kill -9: nothing after it runs."""


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


@contextmanager
def before_call(
    call: int, act: Callable[[], object], kinds: Sequence[str] = CALLS_OF_WRITERS, fs: type[FileIO] = LocalFileIO
) -> Iterator[Callable[[], bool]]:
    """Others act before the call of this number, of these kinds, of a file system. Yields: whether there was such a call."""
    calls = 0

    def counted(work):
        def counting(self, *arguments, **named):
            nonlocal calls
            calls += 1
            if calls == call:
                act()
            return work(self, *arguments, **named)

        return counting

    with pytest.MonkeyPatch.context() as patch:
        for name in kinds:
            patch.setattr(fs, name, counted(getattr(fs, name)))
        yield lambda: calls >= call


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
