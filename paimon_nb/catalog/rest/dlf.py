"""Requests signed with an access key, as Alibaba Cloud's Data Lake Formation (DLF) asks for.

Source: Paimon `DLFDefaultSigner.java`, `DLFOpenApiSigner.java`, `DLFAuthProvider.java` and the token loaders.
"""

from __future__ import annotations

import base64
import datetime as dt
import email.utils
import hashlib
import hmac
import json
import re
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, unquote_plus, urlsplit

from paimon_nb.base import clock
from paimon_nb.base.errors import BadOptionValue, SourceUnavailable
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import Registry
from paimon_nb.catalog.rest.authorizer import Authorizer, renew_at
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

_REGION = re.compile(r"(?:pre-)?([a-z]+-[a-z]+(?:-\d+)?)")
_READS = 3
_READ_PAUSE_S = 0.2


@dataclass(frozen=True)
class AccessKey:
    """An access key; a temporary one has a security token and a time at which it expires."""

    id: str
    secret: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)
    expires_ms: int | None = None

    @classmethod
    def of(cls, text: str) -> AccessKey:
        """From the JSON of a token file or of the ECS metadata service. Raises ValueError, without the text."""
        try:
            node = json.loads(text)
            id_, secret = str(node["AccessKeyId"]), str(node["AccessKeySecret"])
            token, expires = node.get("SecurityToken"), node.get("Expiration")
            at = dt.datetime.strptime(expires, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=dt.UTC) if expires else None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ValueError("it is not a JSON object with AccessKeyId and AccessKeySecret") from None
        return cls(id_, secret, token or None, int(at.timestamp() * 1000) if at is not None else None)


# -- signatures


class Signer(ABC):
    """One way to sign a request."""

    @abstractmethod
    def headers(
        self, key: AccessKey, now: dt.datetime, method: str, path: str, params: Mapping[str, str], body: str
    ) -> dict[str, str]:
        """The request's headers, `Authorization` among them."""


@dataclass(frozen=True)
class DefaultSigner(Signer):
    """DLF4-HMAC-SHA256, for endpoints inside a virtual private cloud."""

    region: str

    def headers(
        self, key: AccessKey, now: dt.datetime, method: str, path: str, params: Mapping[str, str], body: str
    ) -> dict[str, str]:
        time_text = now.strftime("%Y%m%dT%H%M%SZ")
        signed = {"x-dlf-date": time_text, "x-dlf-content-sha256": "UNSIGNED-PAYLOAD", "x-dlf-version": "v1"}
        if body:
            signed |= {"Content-Type": "application/json", "Content-MD5": _md5(body)}
        if key.security_token is not None:
            signed["x-dlf-security-token"] = key.security_token
        query = "&".join(f"{k.strip()}={quote_plus(v).strip()}" if v else k.strip() for k, v in sorted(params.items()))
        listed = sorted((k.lower(), v.strip()) for k, v in signed.items())
        request = "\n".join([method, path, query, *(f"{k}:{v}" for k, v in listed), "UNSIGNED-PAYLOAD"])
        scope = f"{time_text[:8]}/{self.region}/DlfNext/aliyun_v4_request"
        digest = hashlib.sha256(request.encode()).hexdigest()
        signing_key = f"aliyun_v4{key.secret}".encode()
        for part in scope.split("/"):
            signing_key = hmac.digest(signing_key, part.encode(), "sha256")
        text = f"DLF4-HMAC-SHA256\n{time_text}\n{scope}\n{digest}"
        signature = hmac.new(signing_key, text.encode(), "sha256").hexdigest()
        return {**signed, "Authorization": f"DLF4-HMAC-SHA256 Credential={key.id}/{scope},Signature={signature}"}


@dataclass(frozen=True)
class OpenApiSigner(Signer):
    """HMAC-SHA1 of Alibaba Cloud's open API, for the public `dlfnext` endpoints."""

    host: str

    def headers(
        self, key: AccessKey, now: dt.datetime, method: str, path: str, params: Mapping[str, str], body: str
    ) -> dict[str, str]:
        signed = {
            "Date": email.utils.format_datetime(now, usegmt=True),
            "Accept": "application/json",
            "Host": self.host,
            "x-acs-signature-method": "HMAC-SHA1",
            "x-acs-signature-nonce": f"{uuid.uuid4()}{clock.now_ms()}{threading.get_ident()}",
            "x-acs-signature-version": "1.0",
            "x-acs-version": "2026-01-18",
        }
        if body:
            signed |= {"Content-Type": "application/json", "Content-MD5": _md5(body)}
        if key.security_token is not None:
            signed["x-acs-security-token"] = key.security_token
        return {**signed, "Authorization": f"acs {key.id}:{self.signature(key, signed, method, path, params)}"}

    def signature(
        self, key: AccessKey, signed: Mapping[str, str], method: str, path: str, params: Mapping[str, str]
    ) -> str:
        """The signature over these headers."""
        own = "".join(f"{k}:{v.strip()}\n" for k, v in sorted(signed.items()) if k.startswith("x-acs-"))
        query = "&".join(f"{k}={v}" if v else k for k, v in sorted(params.items()))
        resource = unquote_plus(path) + (f"?{query}" if query else "")
        first = [method, *(signed.get(k, "") for k in ("Accept", "Content-MD5", "Content-Type", "Date"))]
        text = "\n".join(first) + "\n" + own + resource
        return base64.b64encode(hmac.digest(key.secret.encode(), text.encode(), "sha1")).decode()


def _md5(body: str) -> str:
    return base64.b64encode(hashlib.md5(body.encode(), usedforsecurity=False).digest()).decode()


# -- where keys come from


Loader = Callable[[], AccessKey]


@dataclass(frozen=True)
class FileLoader:
    """A file with the key as JSON, which another program renews."""

    path: str

    def __call__(self) -> AccessKey:
        for attempt in range(_READS):
            try:
                return AccessKey.of(Path(self.path).expanduser().read_text())
            except (OSError, ValueError) as error:
                why = (error.strerror or "it cannot be read") if isinstance(error, OSError) else str(error)
            if attempt < _READS - 1:
                time.sleep(_READ_PAUSE_S)  # it may be replaced just now
        raise BadOptionValue(
            f"the token file {self.path} cannot be used: {why}",
            hint="'dlf.token-path' names a JSON file with AccessKeyId, AccessKeySecret, SecurityToken and Expiration",
            option=opt.DLF_TOKEN_PATH.key,
        )


@dataclass(frozen=True)
class EcsLoader:
    """The metadata service of an ECS instance, for the role that the instance has."""

    url: str
    role: str | None

    def __call__(self) -> AccessKey:
        role = self.role or self._fetch_text("").strip()
        try:
            return AccessKey.of(self._fetch_text(role))
        except ValueError as error:
            raise self._unusable_error(str(error)) from None

    def _fetch_text(self, path: str) -> str:
        import httpx

        try:
            reply = httpx.get(self.url.rstrip("/") + "/" + path, timeout=10, verify=self.url.startswith("https:"))
        except httpx.HTTPError as error:
            raise self._unusable_error(str(error) or type(error).__name__) from None
        if reply.status_code != 200:
            raise self._unusable_error(f"HTTP {reply.status_code}")
        return reply.text

    def _unusable_error(self, why: str) -> SourceUnavailable:
        return SourceUnavailable(
            f"the ECS metadata service at {self.url} gives no access key: {why}",
            hint="check 'dlf.token-ecs-metadata-url', and that the instance has a RAM role",
            server=self.url,
        )


def _file_loader(options: TableOptions) -> Loader:
    path = options.get(opt.DLF_TOKEN_PATH)
    if not path:
        raise BadOptionValue(
            "token loader 'local_file' needs a file", hint="add 'dlf.token-path'", option="dlf.token-path"
        )
    return FileLoader(path)


def _ecs_loader(options: TableOptions) -> Loader:
    return EcsLoader(options.get(opt.DLF_TOKEN_ECS_METADATA_URL), options.get(opt.DLF_TOKEN_ECS_ROLE_NAME))


LOADERS: Registry[Callable[[TableOptions], Loader]] = Registry(
    "DLF token loader", {"local_file": _file_loader, "ecs": _ecs_loader}
)


# -- the authorizer


class Dlf(Authorizer):
    """Signs requests; loads a temporary key again before it expires, and when the server rejects it."""

    def __init__(self, signer: Signer, key: AccessKey | None, loader: Loader | None) -> None:
        self._signer, self._key, self._loader = signer, key, loader
        self._renew_ms: int | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def headers(self, method: str, path: str, params: Mapping[str, str], body: str) -> dict[str, str]:
        now = dt.datetime.fromtimestamp(clock.now_ms() // 1000, dt.UTC)
        return self._signer.headers(self._valid_key(), now, method, path, params, body)

    def renew(self) -> bool:
        if self._loader is None:
            return False
        with self._lock:
            before, self._key = self._key, None
        return self._valid_key() != before

    def _valid_key(self) -> AccessKey:
        with self._lock:
            due = self._renew_ms is not None and clock.now_ms() >= self._renew_ms
            if self._key is None or due:
                assert self._loader is not None
                self._key = self._loader()
                expires = self._key.expires_ms
                self._renew_ms = renew_at(expires, clock.now_ms()) if expires is not None else None
            return self._key


def dlf_authorizer(options: Mapping[str, str], uri: str) -> Authorizer:
    """The authorizer of `token.provider` = dlf.

    Raises: BadOptionValue: neither a key nor a loader is named, or the region is missing. UnknownName: no such loader or
        signing algorithm.
    """
    dlf_options = TableOptions(options)
    host = urlsplit(uri).netloc
    algorithm = dlf_options.get(opt.DLF_SIGNING_ALGORITHM) or ("openapi" if "dlfnext" in host.lower() else "default")
    signer = SIGNERS.find(algorithm)(dlf_options, host)
    loader_name = dlf_options.get(opt.DLF_TOKEN_LOADER) or (
        "local_file" if dlf_options.get(opt.DLF_TOKEN_PATH) else None
    )
    if loader_name:
        return Dlf(signer, None, LOADERS.find(loader_name)(dlf_options))
    key, secret = dlf_options.get(opt.DLF_ACCESS_KEY_ID), dlf_options.get(opt.DLF_ACCESS_KEY_SECRET)
    if not key or not secret:
        raise BadOptionValue(
            "token.provider 'dlf' needs an access key",
            hint="add 'dlf.access-key-id' and 'dlf.access-key-secret', 'dlf.token-path', or 'dlf.token-loader' = 'ecs'",
            option=opt.DLF_ACCESS_KEY_ID.key,
        )
    return Dlf(signer, AccessKey(key, secret, dlf_options.get(opt.DLF_SECURITY_TOKEN)), None)


def _default_signer(options: TableOptions, host: str) -> Signer:
    found = _REGION.search(host)
    region = options.get(opt.DLF_REGION) or (found[1] if found else None)
    if region is None:
        raise BadOptionValue(
            f"the address {host!r} names no region to sign requests for",
            hint="add 'dlf.region', for example 'cn-hangzhou'",
            option=opt.DLF_REGION.key,
        )
    return DefaultSigner(region)


SIGNERS: Registry[Callable[[TableOptions, str], Signer]] = Registry(
    "DLF signing algorithm", {"default": _default_signer, "openapi": lambda options, host: OpenApiSigner(host)}
)
