"""A proxy in front of an S3 server: it records each request, delays it, and lets a part of the requests fail."""

from __future__ import annotations

import http.client
import random
import socket
import struct
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FAULTS = ("500", "503", "reset", "reply lost", "reply cut")
"""What a failing request gets: an error status, a reset before the store sees it, or no (whole) reply after the store did the work."""
_ONE_HOP = frozenset({"connection", "expect", "keep-alive", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Request:
    """One request, with the times (seconds of a monotonic clock) at which it came in and its reply went out."""

    method: str
    """GET, PUT ..., or LIST."""
    key: str
    """Key of the object with its bucket; of a LIST its prefix."""
    range: str | None
    started: float
    ended: float
    status: int
    """0: the connection was closed without a reply."""
    sent: int
    """Bytes of the reply's body."""

    @property
    def name(self) -> str:
        return f"{self.method} {self.key.rsplit('/', 1)[-1] or self.key}"


@dataclass
class Requests:
    """The requests of one recording, in the order in which they came in."""

    all: list[Request] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """Length of the longest chain of requests of which each began after the one before had ended."""
        chain, ended = 0, 0.0
        for request in sorted(self.all, key=lambda r: r.ended):
            if request.started >= ended:
                chain, ended = chain + 1, request.ended
        return chain

    @property
    def lists(self) -> int:
        return sum(r.method == "LIST" for r in self.all)

    def at_once(self) -> int:
        """The largest number of requests in flight at the same time."""
        events = sorted([(r.started, 1) for r in self.all] + [(r.ended, -1) for r in self.all])
        most = now = 0
        for _, step in events:
            now += step
            most = max(most, now)
        return most

    def fetched_twice(self) -> list[str]:
        """Keys of objects of which the same bytes were sent more than once."""
        seen: dict[tuple[str, str | None], int] = {}
        for r in self.all:
            if r.method == "GET" and r.status in (200, 206):
                seen[r.key, r.range] = seen.get((r.key, r.range), 0) + 1
        return sorted(key for (key, _), times in seen.items() if times > 1)

    def __repr__(self) -> str:
        start = self.all[0].started if self.all else 0.0
        lines = (
            f"{(r.started - start) * 1000:7.1f} {(r.ended - start) * 1000:7.1f} {r.status:3} {r.sent:8} {r.name}"
            f"{' ' + r.range if r.range else ''}"
            for r in sorted(self.all, key=lambda r: r.started)
        )
        return "\n".join([f"{len(self.all)} requests, {self.depth} deep", *lines])


class S3Proxy:
    """Forwards to `endpoint`. `delay_s` is waited before each request; `fail` of the requests (0 to 1) fail, chosen by `seed`."""

    def __init__(self, endpoint: str, delay_s: float = 0.0, fail: float = 0.0, seed: int = 0) -> None:
        self.upstream = urlsplit(endpoint).netloc
        self.delay_s, self.fail = delay_s, fail
        self.failed: list[str] = []
        """The fault of each request that failed."""
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._recordings: list[Requests] = []
        proxy = self

        class Handler(_Handler):
            owner = proxy

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @contextmanager
    def recording(self) -> Iterator[Requests]:
        """The requests of the block."""
        requests = Requests()
        with self._lock:
            self._recordings.append(requests)
        try:
            yield requests
        finally:
            with self._lock:
                self._recordings.remove(requests)
            requests.all.sort(key=lambda r: r.started)

    def record(self, request: Request) -> None:
        with self._lock:
            for requests in self._recordings:
                requests.all.append(request)

    def next_fault(self) -> str | None:
        with self._lock:
            if self.fail <= 0 or self._random.random() >= self.fail:
                return None
            fault = self._random.choice(FAULTS)
            self.failed.append(fault)
            return fault


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is not worth a line."""


class _Handler(BaseHTTPRequestHandler):
    owner: S3Proxy
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    _upstream: http.client.HTTPConnection | None = None

    def do(self) -> None:
        started = time.monotonic()
        body = self._body()
        fault = self.owner.next_fault()
        if self.owner.delay_s:
            time.sleep(self.owner.delay_s)
        if fault == "reset":
            status, sent = self._drop(), 0
        elif fault in ("500", "503"):
            status, sent = int(fault), self._answer(int(fault), [], _error_body(fault))
        else:
            status, headers, answer = self._forward(body)
            if fault == "reply lost":
                status, sent = self._drop(), 0
            else:
                sent = self._answer(status, headers, answer, cut=fault == "reply cut")
        method, key = _method_and_key(self.command, self.path)
        self.owner.record(Request(method, key, self.headers.get("Range"), started, time.monotonic(), status, sent))
        self.wfile.flush()

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = do  # noqa: N815  the names that the base class looks for

    def handle_expect_100(self) -> bool:
        going_on = super().handle_expect_100()
        self.wfile.flush()  # the client waits for it before it sends the body
        return going_on

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _forward(self, body: bytes) -> tuple[int, Sequence[tuple[str, str]], bytes]:
        headers = {k: v for k, v in self.headers.items() if k.lower() not in _ONE_HOP}
        for last in (False, True):
            connection = self._upstream or http.client.HTTPConnection(self.owner.upstream, timeout=60)
            self._upstream = None
            try:
                connection.request(self.command, self.path, body or None, headers)
                reply = connection.getresponse()
                answer = reply.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                if last:
                    raise
                continue
            if reply.will_close:
                connection.close()
            else:
                self._upstream = connection
            return reply.status, reply.getheaders(), answer
        raise AssertionError

    def _answer(self, status: int, headers: Sequence[tuple[str, str]], body: bytes, *, cut: bool = False) -> int:
        self.send_response_only(status)
        length = str(len(body))
        for name, value in headers:
            if name.lower() == "content-length" and self.command == "HEAD":
                length = value
            elif name.lower() not in (*_ONE_HOP, "content-length"):
                self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", length)
        self.end_headers()
        if self.command == "HEAD":
            return 0
        self.close_connection = self.close_connection or cut
        return self.wfile.write(body[: len(body) // 2] if cut else body)

    def _drop(self) -> int:
        """Close the connection with a reset."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.shutdown(socket.SHUT_RD)
        return 0

    def finish(self) -> None:
        if self._upstream is not None:
            self._upstream.close()
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tests read `recording`."""


def _error_body(status: str) -> bytes:
    code = {"500": "InternalError", "503": "SlowDown"}[status]
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>injected</Message></Error>'.encode()
    )


def _method_and_key(command: str, target: str) -> tuple[str, str]:
    parts = urlsplit(target)
    key = unquote(parts.path).lstrip("/")
    if command == "GET" and "prefix=" in parts.query:
        prefix = next(p for p in parts.query.split("&") if p.startswith("prefix=")).removeprefix("prefix=")
        return "LIST", f"{key.rstrip('/')}/{unquote(prefix)}"
    return command, key
