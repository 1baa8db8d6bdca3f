"""Requests signed for DLF: signatures, keys from files and from the metadata service, keys that expire."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from rest_server import RestServer

from paimon_nb.base import clock
from paimon_nb.base.errors import AccessDenied, BadOptionValue, SourceUnavailable, UnknownName
from paimon_nb.catalog import open_catalog
from paimon_nb.catalog.rest.auth import authorizer_of
from paimon_nb.catalog.rest.dlf import AccessKey, DefaultSigner, OpenApiSigner

KEY = {"dlf.access-key-id": "ak", "dlf.access-key-secret": "sk", "dlf.region": "cn-hangzhou"}


@pytest.fixture
def server(tmp_path):
    with RestServer(tmp_path / "w") as running:
        yield running


def wants(server: RestServer, *keys: AccessKey) -> list[str]:
    """Let the server accept only requests that one of these keys signed. Returns the list of key ids that came."""
    seen: list[str] = []

    def check(method, path, params, headers, body):
        now = dt.datetime.strptime(headers["x-dlf-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=dt.UTC)
        for key in keys:
            expected = DefaultSigner("cn-hangzhou").headers(key, now, method, path, params, body)
            if all(headers[name] == value for name, value in expected.items()):
                seen.append(key.id)
                return True
        return False

    server.check = check
    return seen


def options(server: RestServer, **more: str) -> dict[str, str]:
    return server.options(**{"token.provider": "dlf", "dlf.region": "cn-hangzhou", **more})


def token_file(path, key: AccessKey, expires: dt.datetime) -> None:
    node = {"AccessKeyId": key.id, "AccessKeySecret": key.secret, "SecurityToken": key.security_token}
    path.write_text(json.dumps({**node, "Expiration": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}))


# -- signatures


def test_the_signature_of_paimons_own_test():
    key = AccessKey("access-key-id", "access-key-secret", "securityToken")
    now = dt.datetime(2023, 12, 3, 12, 12, 12, tzinfo=dt.UTC)
    body = '{"name":"database","options":{"a":"b"}}'
    signed = DefaultSigner("cn-hangzhou").headers(
        key, now, "POST", "/v1/paimon/databases", {"k2": "v2", "k1": "v1"}, body
    )
    assert signed["Authorization"] == (
        "DLF4-HMAC-SHA256 Credential=access-key-id/20231203/cn-hangzhou/DlfNext/aliyun_v4_request,"
        "Signature=c72caf1d40b55b1905d891ee3e3de48a2f8bebefa7e39e4f277acc93c269c5e3"
    )


def test_open_api_headers():
    key = AccessKey("ak", "sk", "st")
    now = dt.datetime(2025, 4, 16, 3, 44, 46, tzinfo=dt.UTC)
    signer = OpenApiSigner("dlfnext.cn-beijing.aliyuncs.com")
    first = signer.headers(key, now, "GET", "/v1/config", {"warehouse": "w"}, "")
    second = signer.headers(key, now, "GET", "/v1/config", {"warehouse": "w"}, "")
    assert first["Date"] == "Wed, 16 Apr 2025 03:44:46 GMT"
    assert first["Authorization"].startswith("acs ak:")
    assert first["x-acs-signature-nonce"] != second["x-acs-signature-nonce"]
    assert "Content-MD5" not in first


@pytest.mark.parametrize(
    ("uri", "signer"),
    [
        ("https://cn-hangzhou-vpc.dlf.aliyuncs.com", DefaultSigner("cn-hangzhou")),
        ("https://dlfnext.cn-beijing.aliyuncs.com", OpenApiSigner("dlfnext.cn-beijing.aliyuncs.com")),
        ("http://pre-us-east-1.example.com:80", DefaultSigner("us-east-1")),
    ],
)
def test_the_address_names_region_and_algorithm(uri, signer):
    made = authorizer_of({"token.provider": "dlf", "dlf.access-key-id": "a", "dlf.access-key-secret": "s"}, uri)
    assert made._signer == signer


def test_no_region(server):
    with pytest.raises(BadOptionValue, match="names no region"):
        open_catalog("c", server.options(**{"token.provider": "dlf", **KEY, "dlf.region": ""}))


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({}, BadOptionValue, "needs an access key"),
        ({"dlf.token-loader": "locale_file"}, UnknownName, "local_file"),
        ({"dlf.token-loader": "local_file"}, BadOptionValue, "needs a file"),
        (
            {"dlf.signing-algorithm": "md5", "dlf.access-key-id": "a", "dlf.access-key-secret": "s"},
            UnknownName,
            "openapi",
        ),
        ({"dlf.token-path": "/no/such/file"}, BadOptionValue, "cannot be used"),
    ],
)
def test_wrong_options_say_what_is_missing(server, more, error, words):
    with pytest.raises(error, match=words):
        open_catalog("c", options(server, **more))


# -- a catalog


def test_all_requests_are_signed(server):
    seen = wants(server, AccessKey("ak", "sk", "st"))
    catalog = open_catalog("c", options(server, **KEY, **{"dlf.security-token": "st"}))
    catalog.create_database("a b+%")
    assert catalog.databases() == ["a b+%", "default"]
    assert catalog.tables("a b+%") == []
    assert len(seen) == len(server.requests)


def test_a_wrong_secret_is_refused_and_not_shown(server):
    wants(server, AccessKey("ak", "another"))
    with pytest.raises(AccessDenied) as caught:
        open_catalog("c", options(server, **{**KEY, "dlf.access-key-secret": "very-secret"}))
    assert "very-secret" not in str(caught.value)


def test_a_temporary_key_is_read_again_before_it_expires(server, tmp_path, monkeypatch):
    first, second = AccessKey("one", "s1", "t1"), AccessKey("two", "s2", "t2")
    seen = wants(server, first, second)
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    now = [int(start.timestamp() * 1000)]
    monkeypatch.setattr(clock, "now_ms", lambda: now[0])
    file = tmp_path / "token.json"
    token_file(file, first, start + dt.timedelta(hours=3))
    catalog = open_catalog("c", options(server, **{"dlf.token-path": str(file)}))
    token_file(file, second, start + dt.timedelta(hours=6))
    catalog.databases()
    assert set(seen) == {"one"}
    now[0] += 2 * 3_600_000 + 60_000
    catalog.databases()
    assert seen[-1] == "two"


def test_a_key_that_the_server_rejects_is_read_again(server, tmp_path):
    first, second = AccessKey("one", "s1", "t1"), AccessKey("two", "s2", "t2")
    wants(server, first)
    file = tmp_path / "token.json"
    later = dt.datetime.now(dt.UTC) + dt.timedelta(hours=5)
    token_file(file, first, later)
    catalog = open_catalog("c", options(server, **{"dlf.token-path": str(file)}))
    token_file(file, second, later)
    wants(server, second)
    assert catalog.databases() == ["default"]


def test_the_metadata_service_of_an_instance(server):
    seen = wants(server, AccessKey("ecs", "s", "t"))
    node = {"AccessKeyId": "ecs", "AccessKeySecret": "s", "SecurityToken": "t", "Expiration": "2099-01-01T00:00:00Z"}

    class Metadata(BaseHTTPRequestHandler):
        def do_GET(self):
            body = {"/roles/": "my-role", "/roles/my-role": json.dumps(node)}.get(self.path)
            self.send_response(200 if body else 404)
            self.end_headers()
            self.wfile.write((body or "").encode())

        def log_message(self, *_):
            pass

    service = HTTPServer(("127.0.0.1", 0), Metadata)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{service.server_port}/roles/"
        where = {"dlf.token-loader": "ecs", "dlf.token-ecs-metadata-url": url}
        open_catalog("c", options(server, **where)).databases()
        open_catalog("c", options(server, **where, **{"dlf.token-ecs-role-name": "my-role"})).databases()
        assert set(seen) == {"ecs"}
        with pytest.raises(SourceUnavailable, match="HTTP 404"):
            open_catalog("c", options(server, **where, **{"dlf.token-ecs-role-name": "other"}))
    finally:
        service.shutdown()
        service.server_close()


def test_a_signer_travels_to_other_processes(server):
    wants(server, AccessKey("ak", "sk"))
    catalog = open_catalog("c", options(server, **KEY))
    assert pickle.loads(pickle.dumps(catalog.api)).databases() == ["default"]
