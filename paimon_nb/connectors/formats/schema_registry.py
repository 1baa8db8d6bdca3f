"""Client of a schema registry with Confluent's HTTP API: the Avro schemas of messages by their id, and ids of own schemas.

A message begins with a zero byte and the id of its schema in four bytes. Source: Confluent's wire format; Flink's
`ConfluentSchemaRegistryCoder` and its options.
"""

from __future__ import annotations

import base64
import http.client
import json
import struct
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from paimon_nb.base.errors import BadOptionValue, SourceUnavailable
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import remember_secrets
from paimon_nb.connectors.formats.api import MalformedMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

REGISTRY_OPTIONS = (
    "url", "subject", "schema", "basic-auth.credentials-source", "basic-auth.user-info", "bearer-auth.credentials-source",
    "bearer-auth.token",
)  # fmt: skip
_HEADER = struct.Struct(">bI")
_TIMEOUT_S = 10.0
_MAX_BYTES = 8 << 20
_MISSING_S = 20.0
"""How long an id that the registry does not know is looked up again: a registry may answer later than the broker."""
_UNREACHABLE_S = 120.0
_PAUSE_S = 0.5


class _NoRedirect(HTTPRedirectHandler):
    """The user and password of the options are for this server only."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class RegistryConf:
    """Where the registry is. Can be pickled into tasks."""

    urls: tuple[str, ...]
    authorization: str | None = None
    """Value of the header `Authorization`."""

    @staticmethod
    def of(settings: Mapping[str, str], option: str) -> RegistryConf:
        """Parse options with the names of `REGISTRY_OPTIONS`. `option`: name of the URL's option, for errors. Raises BadOptionValue."""
        urls = tuple(u.strip().rstrip("/") for u in settings.get("url", "").split(",") if u.strip())
        if not urls:
            raise BadOptionValue(
                f"option {option!r} is missing", hint="the address of the schema registry, for example http://localhost:8081", option=option
            )  # fmt: skip
        for url in urls:
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
                raise BadOptionValue(
                    f"option {option!r} must be an http or https address without a user",
                    hint="a user and password are 'basic-auth.user-info' = 'user:password'",
                    option=option,
                )
        remember_secrets(settings)
        if user := settings.get("basic-auth.user-info"):
            return RegistryConf(urls, "Basic " + base64.b64encode(user.encode()).decode())
        token = settings.get("bearer-auth.token")
        return RegistryConf(urls, None if token is None else f"Bearer {token}")


_schemas: dict[tuple[tuple[str, ...], int], Any] = {}
"""Parsed schemas of this process. A registry never changes the schema of an id."""
_lock = threading.Lock()


class SchemaRegistry:
    """Schemas by id. Waits for a registry that does not answer, or does not know a schema yet."""

    def __init__(self, conf: RegistryConf, *, patience_s: float = _UNREACHABLE_S) -> None:
        """`patience_s`: how long an unreachable registry is called again."""
        self.conf, self._patience_s = conf, patience_s

    def schema(self, schema_id: int) -> Any:
        """The schema as JSON values.

        Raises:
            SourceUnavailable: the registry does not answer, or refuses the request.
            MalformedMessage: it has no Avro schema of this id.
        """
        key = (self.conf.urls, schema_id)
        with _lock:
            if key in _schemas:
                return _schemas[key]
        answer = self._get(f"/schemas/ids/{schema_id}", f"schema {schema_id}")
        if answer.get("schemaType", "AVRO") != "AVRO":
            raise MalformedMessage(f"schema {schema_id} of the registry is {answer['schemaType']}, not AVRO")
        if answer.get("references"):
            raise MalformedMessage(
                f"schema {schema_id} of the registry refers to other schemas, which is not supported"
            )
        try:
            schema = json.loads(str(answer.get("schema")))
        except ValueError:
            raise MalformedMessage(f"schema {schema_id} of the registry is not JSON") from None
        with _lock:
            return _schemas.setdefault(key, schema)

    def register(self, subject: str, schema: Any) -> int:
        """The id of a schema, which is added to a subject. Raises SourceUnavailable: also if it is not compatible."""
        body = json.dumps({"schema": json.dumps(schema)}).encode()
        return int(self._request(f"/subjects/{quote(subject, safe='')}/versions", body)["id"])

    def _get(self, path: str, what: str) -> dict[str, Any]:
        deadline = time.monotonic() + _MISSING_S
        while True:
            try:
                return self._request(path, None)
            except _NotThere:
                if time.monotonic() > deadline:
                    raise MalformedMessage(f"the schema registry at {self.conf.urls[0]} has no {what}") from None
            time.sleep(_PAUSE_S)

    def _request(self, path: str, body: bytes | None) -> dict[str, Any]:
        deadline = time.monotonic() + self._patience_s
        while True:
            for url in self.conf.urls:
                try:
                    return self._answer(url + path, body)
                except HTTPError as error:
                    with error:
                        detail = _error_text(error)
                    if error.code == 404 and body is None:
                        raise _NotThere from None
                    if error.code < 500 and error.code not in (408, 429):
                        raise self._refused(f"{error.code} {detail}") from None
                    why = f"{error.code} {detail}"
                except (URLError, OSError, http.client.HTTPException) as error:
                    why = str(getattr(error, "reason", error)) or type(error).__name__
                except ValueError:
                    raise self._refused("its answer is not JSON") from None
            if time.monotonic() > deadline:
                raise self._refused(why)
            time.sleep(_PAUSE_S)

    def _answer(self, url: str, body: bytes | None) -> dict[str, Any]:
        headers = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}
        if body is not None:
            headers["Content-Type"] = "application/vnd.schemaregistry.v1+json"
        if self.conf.authorization is not None:
            headers["Authorization"] = self.conf.authorization
        with build_opener(_NoRedirect).open(Request(url, body, headers), timeout=_TIMEOUT_S) as response:
            found = json.loads(response.read(_MAX_BYTES))
        if not isinstance(found, dict):
            raise ValueError("not an object")
        return found

    def _refused(self, why: str) -> SourceUnavailable:
        return SourceUnavailable(
            f"the schema registry at {self.conf.urls[0]} does not answer: {why}",
            hint="check its address and 'basic-auth.user-info'; the messages are read again when it answers",
        )


class _NotThere(Exception):
    """404."""


def _error_text(error: HTTPError) -> str:
    try:
        return str(json.loads(error.read(10_000)).get("message", ""))[:300]
    except (ValueError, AttributeError, OSError):
        return str(error.reason)


def schema_id_of(message: bytes) -> int:
    """The schema id at the start of a message. Raises MalformedMessage."""
    if len(message) < _HEADER.size or message[0]:
        raise MalformedMessage("it does not begin with a zero byte and the id of a schema")
    return int(_HEADER.unpack_from(message)[1])


def with_schema_id(schema_id: int, payload: bytes) -> bytes:
    """A message with its header."""
    return _HEADER.pack(0, schema_id) + payload


HEADER_SIZE = _HEADER.size
