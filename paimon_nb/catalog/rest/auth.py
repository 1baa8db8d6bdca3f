"""Authentication of requests: a bearer token, or Alibaba Cloud DLF's signature. Source: Paimon `rest/auth/`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.override import override
from paimon_nb.base.registry import Registry
from paimon_nb.catalog.rest.authorizer import Anonymous, Authorizer
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class BearerToken(Authorizer):
    """A fixed token."""

    def __init__(self, token: str) -> None:
        self._token = token

    @override
    def headers(self, method: str, path: str, params: Mapping[str, str], body: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"}


class BearerTokenFile(Authorizer):
    """The token that a file holds. Read again when the file changes, and when the server rejects the token."""

    def __init__(self, path: str) -> None:
        self._path = Path(path).expanduser()
        self._token, self._stamp = "", (0, 0)
        self._read_token()

    @override
    def headers(self, method: str, path: str, params: Mapping[str, str], body: str) -> dict[str, str]:
        self._read_token()
        return {"Authorization": f"Bearer {self._token}"}

    def renew(self) -> bool:
        before, self._stamp = self._token, (0, 0)
        self._read_token()
        return self._token != before

    def _read_token(self) -> None:
        try:
            stat = self._path.stat()
            stamp = (stat.st_mtime_ns, stat.st_ino)
            if stamp != self._stamp:
                token = self._path.read_text().strip()
                if token or not self._token:  # a file that is being replaced may be empty for a moment
                    self._token, self._stamp = token, stamp
        except OSError as error:
            if not self._token:
                raise BadOptionValue(
                    f"the token file {self._path} cannot be read: {error.strerror}",
                    hint="'token.path' names the file that holds the bearer token",
                    option=opt.TOKEN_PATH.key,
                ) from None


def _bearer_authorizer(options: Mapping[str, str], uri: str) -> Authorizer:
    catalog_options = TableOptions(options)
    token, path = catalog_options.get(opt.TOKEN), catalog_options.get(opt.TOKEN_PATH)
    if token:
        return BearerToken(token)
    if path:
        return BearerTokenFile(path)
    raise BadOptionValue(
        "token.provider 'bear' needs a token",
        hint="add 'token' = '...', or 'token.path' = '/path/of/a/file'",
        option=opt.TOKEN.key,
    )


def _dlf_authorizer(options: Mapping[str, str], uri: str) -> Authorizer:
    from paimon_nb.catalog.rest.dlf import dlf_authorizer

    return dlf_authorizer(options, uri)


PROVIDERS: Registry[Callable[[Mapping[str, str], str], Authorizer]] = Registry(
    "token provider", {"bear": _bearer_authorizer, "dlf": _dlf_authorizer}
)


def authorizer_of(options: Mapping[str, str], uri: str) -> Authorizer:
    """The authorizer that `token.provider` names; anonymous without one.

    Raises: UnknownName: no such provider. BadOptionValue: one of its options is missing.
    """
    provider = TableOptions(options).get(opt.TOKEN_PROVIDER)
    return PROVIDERS.find(provider)(options, uri) if provider else Anonymous()
