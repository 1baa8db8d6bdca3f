"""HTTP requests to a catalog server: signed, bounded in time and size, repeated where a repeat is safe. Knows no resource."""

from __future__ import annotations

import email.utils
import json
import os
import random
import threading
import time
from dataclasses import field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import remember_secrets
from paimon_nb.catalog.rest.error_replies import ErrorReply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx

    from paimon_nb.catalog.rest.authorizer import Authorizer

sleep: Callable[[float], None] = time.sleep
"""Replaceable by tests that count retries instead of waiting for them."""

_MAX_REPEATS = 5
_FIRST_WAIT_S = 0.2
_MAX_WAIT_S = 60.0
"""Longest single wait; a server that asks for more gets no repeat."""
_MAX_REPLY_BYTES = 256 << 20
_BUSY = (429, 503)


class Refused(Exception):
    """The server answered with an error status."""

    def __init__(self, refusal: ErrorReply, repeated: bool) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal
        self.repeated = repeated
        """Whether an earlier request may have been carried out: it got no reply."""


class NoReply(Exception):
    """No complete reply came: the connection broke, time ran out, or the reply is too large."""

    def __init__(self, why: str, *, sent: bool) -> None:
        super().__init__(why)
        self.sent = sent
        """Whether the server may have received the request."""


@dataclass(frozen=True)
class Timeouts:
    """In seconds."""

    connect: float = 10.0
    read: float = 60.0
    """From the request to the last byte of the reply."""


def encode(name: str) -> str:
    """A name as a path segment, in the form encoding that Paimon's servers decode."""
    return quote_plus(name, safe="*-._")


@dataclass
class Transport:
    """Requests to one server. Picklable: each process opens its own connections. Threads may share it."""

    uri: str
    authorizer: Authorizer = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeouts: Timeouts = Timeouts()
    _clients: dict[int, httpx.Client] = field(default_factory=dict, repr=False, compare=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_clients", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _clients={}, _lock=threading.Lock())

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Any = None,
        repeatable: bool,
        about: str,
    ) -> Any:
        """The reply's JSON; None for an empty reply.

        Args:
            repeatable: whether a request without a reply may be sent again. A busy server (429, 503) and a connection
                that could not be opened are always tried again.
            about: what the request is for, in messages.

        Raises:
            Refused: an error status.
            SourceUnavailable: no reply, or a reply that is not JSON. Facts: `sent`, whether the server may have carried
                the request out.
        """
        data = json.dumps(body, ensure_ascii=False).encode() if body is not None else b""
        repeats, renewed, unanswered = 0, False, False
        while True:
            try:
                status, headers, reply = self._request_once(method, path, params or {}, data)
            except NoReply as error:
                unanswered = unanswered or error.sent
                if repeats >= _MAX_REPEATS or (error.sent and not repeatable):
                    raise SourceUnavailable(
                        f"{about}: the catalog server at {self.uri} does not answer: {error}",
                        hint="check 'uri' and that the server runs; 'rest.client.read-timeout' is the time it gets",
                        server=self.uri,
                        sent=unanswered,
                    ) from None
                wait: float | None = None
            else:
                if 200 <= status < 300:
                    return self._parse_json(reply, about)
                if status == 401 and not renewed and self.authorizer.renew():
                    renewed = True
                    continue
                refused = Refused(ErrorReply.of(status, reply, _request_id(headers)), unanswered)
                fails = status >= 500 and status != 501 and repeatable
                wait = _retry_after(headers) if status in _BUSY else None
                if repeats >= _MAX_REPEATS or not (status in _BUSY or fails) or (wait or 0) > _MAX_WAIT_S:
                    raise refused
            sleep(wait if wait is not None else _FIRST_WAIT_S * 2**repeats * random.uniform(0.75, 1.25))
            repeats += 1

    def _request_once(
        self, method: str, path: str, params: Mapping[str, str], data: bytes
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of one exchange. Raises NoReply."""
        import httpx

        signed = self.authorizer.headers(method, path, params, data.decode())
        headers = {"Accept": "application/json", **self.headers, **signed}
        remember_secrets({**headers, **{f"header.{k}": v for k, v in self.headers.items()}})
        if data:
            headers.setdefault("Content-Type", "application/json")
        deadline = time.monotonic() + self.timeouts.connect + self.timeouts.read
        try:
            with self._client().stream(
                method, self.uri + path, params=dict(params) or None, content=data or None, headers=headers
            ) as reply:
                parts, size = [], 0
                for part in reply.iter_bytes():
                    parts.append(part)
                    size += len(part)
                    if size > _MAX_REPLY_BYTES:
                        raise NoReply(f"its reply is larger than {_MAX_REPLY_BYTES >> 20} MB", sent=True)
                    if time.monotonic() > deadline:
                        raise NoReply(f"its reply did not end within {self.timeouts.read:g} s", sent=True)
                return reply.status_code, reply.headers, b"".join(parts)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NoReply(_failure_text(error, self.timeouts.connect), sent=False) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise NoReply(
                _failure_text(error, self.timeouts.read), sent=not isinstance(error, httpx.InvalidURL)
            ) from None

    def _parse_json(self, reply: bytes, about: str) -> Any:
        if not reply.strip():
            return None
        try:
            return json.loads(reply)
        except (ValueError, RecursionError):
            # The reply is not quoted: it may hold credentials.
            raise SourceUnavailable(
                f"{about}: the reply of the catalog server at {self.uri} is not JSON",
                hint="check that 'uri' is the address of a REST catalog",
                server=self.uri,
                sent=True,
            ) from None

    def _client(self) -> httpx.Client:
        """This process's connections: they must not be shared across a fork."""
        import httpx

        with self._lock:
            client = self._clients.get(os.getpid())
            if client is None:
                times = httpx.Timeout(self.timeouts.read, connect=self.timeouts.connect)
                # Loading the certificates takes longer than the requests of a statement.
                client = self._clients[os.getpid()] = httpx.Client(timeout=times, verify=self.uri.startswith("https:"))
            return client


def _failure_text(error: Exception, seconds: float) -> str:
    import httpx

    if isinstance(error, httpx.TimeoutException):
        return f"no reply within {seconds:g} s"
    return str(error) or type(error).__name__


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: a number or a date."""
    text = headers.get("Retry-After", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - time.time()
        except ValueError:
            return None
    return seconds if 0 <= seconds < float("inf") else None


def _request_id(headers: Mapping[str, str]) -> str | None:
    """The server's name for the request, which finds it in the server's log."""
    return next((v for k, v in headers.items() if "request-id" in k.lower()), None)
