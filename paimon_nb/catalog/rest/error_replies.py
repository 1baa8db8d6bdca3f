"""Turns a server's error replies into the product's errors, with the server's own words."""

from __future__ import annotations

import json

from paimon_nb.base.errors import (
    AccessDenied,
    AlreadyExists,
    BranchNotFound,
    DatabaseNotFound,
    PaimonError,
    SnapshotNotFound,
    SourceUnavailable,
    TableNotFound,
    TagNotFound,
    UnknownName,
    UnsupportedOperation,
)
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_text

_MAX_WORDS = 500
_NOT_FOUND: dict[str, type[PaimonError]] = {
    "DATABASE": DatabaseNotFound,
    "TABLE": TableNotFound,
    "SNAPSHOT": SnapshotNotFound,
    "TAG": TagNotFound,
    "BRANCH": BranchNotFound,
}
NOT_IMPLEMENTED = (405, 406, 501)


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An error reply."""

    status: int
    message: str
    resource_type: str = ""
    """DATABASE, TABLE, SNAPSHOT and others; of a catalog of Iceberg, the class of its exception; '' if the server does not say."""
    resource_name: str = ""
    request_id: str | None = None

    @classmethod
    def of(cls, status: int, body: bytes, request_id: str | None) -> ErrorReply:
        """From the reply's body. A body that is not an ErrorResponse is not shown: it may hold anything."""
        try:
            node = json.loads(body)
        except (ValueError, RecursionError):
            node = None
        if not isinstance(node, dict):
            return cls(status, "", request_id=request_id)
        if isinstance(node.get("error"), dict):
            node = node["error"]  # as a REST catalog of Iceberg answers
        message, kind, name, code = (node.get(k) for k in ("message", "resourceType", "resourceName", "code"))
        kind = kind or node.get("type")
        return cls(
            code if isinstance(code, int) and 400 <= code < 600 else status,  # a gateway may answer with its own
            redact_text(message)[:_MAX_WORDS] if isinstance(message, str) else "",
            kind if isinstance(kind, str) else "",
            name if isinstance(name, str) else "",
            request_id,
        )

    @property
    def is_unknown_path(self) -> bool:
        """Whether the server does not have this function: 405, 406, 501, or a 404 that names no missing resource."""
        return self.status in NOT_IMPLEMENTED or (self.status == 404 and not self.resource_type)

    def error(self, server: str, about: str, missing: str = "") -> PaimonError:
        """The typed error.

        Args:
            server: address of the server.
            about: what the request was for, such as `table db.t`.
            missing: the resource type that a 404 means if the reply names none; '' if every server has it named.
        """
        words = f": {self.message}" if self.message else f" (HTTP {self.status})"
        if self.request_id:
            words += f" [request {self.request_id}]"
        facts = {"status": self.status, "server": server}
        match self.status:
            case 400:
                return UnsupportedOperation(
                    f"{about}: the catalog server rejects the request{words}",
                    hint="change the statement as the server says",
                    **facts,
                )
            case 401:
                return AccessDenied(
                    f"{about}: the catalog server at {server} does not accept the credentials{words}",
                    hint="check 'token.provider' and its options: 'token', 'token.path' or 'dlf.*'",
                    **facts,
                )
            case 403:
                return AccessDenied(
                    f"{about}: the catalog server refuses access{words}",
                    hint="ask the owner of the catalog for the privilege",
                    **facts,
                )
            case 409:
                return AlreadyExists(
                    f"{about}: exists already{words}",
                    hint="add IF NOT EXISTS, or choose another name",
                    name=self.resource_name,
                    **facts,
                )
            case _ if self.is_unknown_path and not (missing and self.status == 404):
                return UnsupportedOperation(
                    f"{about}: the catalog server at {server} does not support this{words}",
                    hint="use a newer server, or do it where the server supports it",
                    **facts,
                )
            case 404:
                kind = _NOT_FOUND.get(self.resource_type or missing, UnknownName)
                name = self.resource_name or about
                return kind(
                    f"{about}: not found by the catalog server{words}", hint="check the name", name=name, **facts
                )
        return SourceUnavailable(
            f"{about}: the catalog server at {server} failed{words}",
            hint="try again later; the server's log says why"
            if self.status != 429
            else "the server is busy; try again later",
            **facts,
        )
