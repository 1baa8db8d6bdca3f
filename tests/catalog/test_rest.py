"""The REST catalog against a real server on the loopback, well-behaved and not."""

from __future__ import annotations

import json
import time
from functools import partial

import pyarrow as pa
import pytest
from catalog_kit import at_once, schema
from rest_server import RestServer
from sampling import sampled

from paimon_nb.base.errors import (
    AccessDenied,
    BadOptionValue,
    PaimonError,
    SourceUnavailable,
    TableNotFound,
    TableReplaced,
    UnknownName,
    UnsupportedFormat,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import Catalog, open_catalog
from paimon_nb.catalog.rest import transport
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.table.write.maintenance import branches, tags
from paimon_nb.table.write.maintenance.rollback import rollback_to_snapshot, rollback_to_tag

T = Identifier("d", "t")


@pytest.fixture
def server(tmp_path):
    with RestServer(tmp_path / "w") as running:
        yield running


@pytest.fixture
def waits(monkeypatch) -> list[float]:
    """The pauses between repeated requests, which take no time here."""
    taken: list[float] = []
    monkeypatch.setattr(transport, "sleep", taken.append)
    return taken


def opened(server: RestServer, **more: str) -> Catalog:
    return open_catalog("c", server.options(**more))


@pytest.fixture
def catalog(server, waits) -> Catalog:  # noqa: ARG001  retries do not wait
    made = opened(server)
    made.create_database("d")
    made.create_table(T, schema())
    made.table(T).upsert(rows(1, 2))
    return made


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32()), "v": [f"v{i}" for i in ids]})


def read(server: RestServer, name: Identifier = T) -> list[int]:
    return sorted(opened(server).table(name).to_arrow().column("id").to_pylist())


# -- configuration


def test_the_server_sets_defaults_and_overrides(server):
    server.config["defaults"] = {"table-default.bucket": "3", "table-default.file.format": "orc"}
    server.config["overrides"]["table-default.snapshot.num-retained.max"] = "77"
    catalog = opened(server, **{"table-default.file.format": "avro", "table-default.snapshot.num-retained.max": "5"})
    catalog.create_table(Identifier("default", "t"), schema(options={}))
    made = catalog.table(Identifier("default", "t")).schema.options
    assert {k: made[k] for k in ("file.format", "snapshot.num-retained.max")} == {
        "file.format": "avro",
        "snapshot.num-retained.max": "77",
    }


def test_a_catalog_needs_an_address():
    with pytest.raises(BadOptionValue, match="needs 'uri'"):
        open_catalog("c", {"type": "paimon", "metastore": "rest", "warehouse": "w"})


def test_an_unknown_token_provider_names_the_known_ones(server):
    with pytest.raises(UnknownName, match="token provider 'bearer'") as caught:
        opened(server, **{"token.provider": "bearer"})
    assert "'bear'" in caught.value.hint


# -- lists in pages


def test_lists_of_many_pages_are_whole(server, catalog):
    server.page_size = 7
    for i in range(23):
        catalog.create_database(f"db{i:02}")
    assert catalog.databases() == sorted(["d", "default", *(f"db{i:02}" for i in range(23))])


@pytest.mark.parametrize(
    "pages",
    [
        {"databases": ["a"], "nextPageToken": "a"},
        {"databases": [], "nextPageToken": "a"},
    ],
    ids=["same page", "empty page"],
)
def test_a_list_that_never_ends_is_an_error(server, catalog, pages):
    server.fault("GET", "/databases", "text", times=10**9, body=json.dumps(pages).encode())
    with pytest.raises(SourceUnavailable, match="does not follow the REST protocol"):
        catalog.databases()
    assert server.count("GET", "/databases") < 50


def test_pages_with_ever_new_tokens_and_no_names_end(server, catalog, monkeypatch):
    tokens = iter(range(10**9))
    monkeypatch.setattr(server, "_page", lambda key, _names, _params: {key: [], "nextPageToken": str(next(tokens))})
    with pytest.raises(SourceUnavailable, match="does not end"):
        catalog.databases()
    assert server.count("GET", "/databases") < 50


# -- a server that is busy, slow, broken


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again_after_the_time_it_names(server, catalog, waits, status):
    server.fault("GET", "/databases", "status", times=2, status=status, headers={"Retry-After": "7"})
    assert catalog.databases() == ["d", "default"]
    assert waits == [7.0, 7.0]


def test_a_busy_server_is_asked_again_after_a_date_it_names(server, catalog, waits):
    import email.utils

    at = email.utils.formatdate(time.time() + 30, usegmt=True)
    server.fault("GET", "/databases", "status", status=503, headers={"Retry-After": at})
    assert catalog.databases() == ["d", "default"]
    assert 25 < waits[0] <= 30


def test_pauses_grow(server, catalog, waits):
    server.fault("GET", "/databases", "lose request", times=4)
    assert catalog.databases() == ["d", "default"]
    assert waits == sorted(waits)
    assert 0.1 < waits[0] < waits[3] < 5


def test_a_server_that_stays_busy_is_an_error_with_its_words(server, catalog):
    words = {"message": "maintenance until noon; password=geheim", "code": 503}
    server.fault("GET", "/databases", "status", times=99, status=503, body=json.dumps(words).encode())
    with pytest.raises(SourceUnavailable, match="maintenance until noon") as caught:
        catalog.databases()
    assert "geheim" not in str(caught.value)
    assert server.count("GET", "/databases") == 6


def test_a_server_that_asks_for_an_hour_gets_no_repeat(server, catalog, waits):
    server.fault("GET", "/databases", "status", status=503, headers={"Retry-After": "3600"})
    with pytest.raises(SourceUnavailable):
        catalog.databases()
    assert waits == []


def test_a_post_without_a_reply_is_not_sent_twice(server, catalog):
    server.fault("POST", "/databases", "lose reply", times=9)
    with pytest.raises(SourceUnavailable) as caught:
        catalog.create_database("e")
    assert caught.value.sent is True
    assert (server.count("POST", "/databases"), catalog.databases()) == (2, ["d", "default", "e"])


def test_a_drop_whose_reply_was_lost_is_done(server, catalog):
    server.fault("DELETE", "/tables/t", "lose reply")
    assert catalog.drop_table(T) is True
    assert catalog.tables("d") == []


@pytest.mark.parametrize(
    ("kind", "how"), sampled([("slow", {"seconds": 1.5}), ("drip", {"seconds": 0.1})], 2), ids=["late", "byte by byte"]
)
def test_a_slow_reply_ends_at_the_timeout(server, catalog, kind, how):
    catalog = opened(server, **{"rest.client.read-timeout": "300 ms", "rest.client.connection-timeout": "200 ms"})
    server.fault("POST", "/databases", kind, **how)
    server.faults[-1].method = "GET"
    server.faults[-1].times = 99
    start = time.monotonic()
    with pytest.raises(SourceUnavailable, match="does not answer"):
        catalog.databases()
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    "body",
    [b"<html>proxy</html>", b"[]", b'"text"', b"null", b'{"schema": 5}', b"[" * 100_000, b'{"path": "relative", "schemaId": 0, "schema": {}}',
     b'{"path": "/nowhere", "schemaId": 0, "schema": {}}'],
    ids=["html", "list", "text", "null", "fields", "deep", "relative", "no columns"],
)  # fmt: skip
def test_nonsense_is_the_servers_failure(server, catalog, body):
    server.fault("GET", "/tables/t", "text", times=99, body=body)
    with pytest.raises(PaimonError, match="catalog server") as caught:
        catalog.table(T)
    assert caught.value.hint


@pytest.mark.parametrize("kind", ["object-table", "iceberg-table", "lance-table"])
def test_tables_of_other_kinds_are_refused_by_name(server, catalog, kind):
    fields = [{"id": 0, "name": "a", "type": "INT"}]
    node = {"fields": fields, "partitionKeys": [], "primaryKeys": [], "options": {"type": kind, "path": "/x"}}
    reply = {
        "id": "1",
        "path": f"file://{server.catalog.warehouse}/none",
        "isExternal": False,
        "schemaId": 0,
        "schema": node,
    }
    server.fault("GET", "/tables/t", "text", times=99, body=json.dumps(reply).encode())
    none = {"message": "no snapshot", "code": 404, "resourceType": "SNAPSHOT"}
    server.fault("GET", "/snapshot", "status", times=99, status=404, body=json.dumps(none).encode())
    table = catalog.table(T)
    assert table.schema.names == ("a",)
    with pytest.raises(UnsupportedFormat, match=kind):
        table.to_arrow()
    with pytest.raises(UnsupportedFormat, match=kind):
        table.append(pa.table({"a": pa.array([1], pa.int32())}))


def test_a_format_table_has_its_schema_on_the_server(catalog):
    columns = [("a", parse_type("INT"), None, None), ("p", parse_type("STRING"), None, None)]
    name, options = Identifier("d", "plain"), {"type": "format-table", "file.format": "json"}
    assert catalog.create_table(name, create_schema(columns, ("p",), (), options))
    table = catalog.table(name)
    table.append(pa.table({"a": pa.array([1, 2], pa.int32()), "p": ["x", "y"]}))
    assert catalog.table(name).to_arrow(where="p = 'y'").to_pylist() == [{"a": 2, "p": "y"}]
    assert table.refresh().partition_specs() == [{"p": "x"}, {"p": "y"}]

    with pytest.raises(UnsupportedOperation, match="format table"):
        table.latest_snapshot()


@pytest.mark.usefixtures("waits")
def test_an_address_without_a_server():
    with pytest.raises(SourceUnavailable, match="does not answer"):
        open_catalog("c", {"type": "paimon", "metastore": "rest", "uri": "http://127.0.0.1:9", "warehouse": "w"})


# -- permissions


def test_a_refusal_names_the_table_and_the_servers_words(server, catalog):
    server.denied["d.t"] = "user 'eve' lacks SELECT on t"
    with pytest.raises(AccessDenied, match=r"table d\.t: .*user 'eve' lacks SELECT on t") as caught:
        catalog.table(T)
    assert "owner" in caught.value.hint
    assert catalog.tables("d") == ["t"]


def test_a_refused_commit_leaves_nothing_behind(server, catalog, tmp_path):
    table = catalog.table(T)
    before = {p for p in (tmp_path / "w" / "d.db" / "t").rglob("*") if p.is_file()}
    body = json.dumps({"message": "read only", "code": 403, "resourceType": "TABLE", "resourceName": "t"}).encode()
    server.fault("POST", "/commit", "status", status=403, body=body)
    with pytest.raises(AccessDenied, match="read only"):
        table.upsert(rows(3))
    after = {p for p in (tmp_path / "w" / "d.db" / "t").rglob("*") if p.is_file()}
    assert (after, read(server)) == (before, [1, 2])


def test_what_the_server_cannot_do_is_named(server, catalog):
    server.unsupported.add("POST tables/rename")
    with pytest.raises(UnsupportedOperation, match=r"RENAME TABLE d\.t TO d\.u.*does not support this"):
        catalog.rename_table(T, Identifier("d", "u"))


def test_a_wrong_token_is_refused(server):
    server.token = "right"
    with pytest.raises(AccessDenied, match="does not accept the credentials: the token is not valid") as caught:
        opened(server, token="wrong")
    assert "token" in caught.value.hint
    assert "wrong" not in str(caught.value)


def test_a_token_file_is_read_again_when_the_token_changes(server, tmp_path):
    server.token = "first"
    file = tmp_path / "token"
    file.write_text("first\n")
    options = {k: v for k, v in server.options(**{"token.path": str(file)}).items() if k != "token"}
    catalog = open_catalog("c", options)
    server.token = "second"
    with pytest.raises(AccessDenied):
        catalog.databases()
    file.write_text("second\n")
    assert catalog.databases() == ["default"]


def test_a_token_file_must_be_there(server, tmp_path):
    with pytest.raises(BadOptionValue, match="cannot be read"):
        opened(server, **{"token.provider": "bear", "token.path": str(tmp_path / "none")})


def test_headers_of_the_options_are_sent(server):
    seen = []
    server.check = lambda _method, _path, _params, headers, _body: seen.append(headers.get("X-Team")) or True
    opened(server, **{"header.X-Team": "lake"}).databases()
    assert set(seen) == {"lake"}


# -- commits


@pytest.mark.parametrize("kind", ["lose reply", "lose request"])
@pytest.mark.parametrize("times", [1, 3])
def test_a_lost_reply_to_a_commit_is_neither_lost_nor_doubled(server, catalog, kind, times):
    server.fault("POST", "/commit", kind, times=times)
    catalog.table(T).upsert(rows(3))
    assert (read(server), opened(server).table(T).snapshots().num_rows) == ([1, 2, 3], 2)


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"success": "yes"}', b'{"success": false}'])
def test_a_lying_reply_to_a_commit(server, catalog, body):
    """The commit is asked again until the files show who won."""
    server.fault("POST", "/commit", "text", body=body)
    catalog.table(T).upsert(rows(3))
    assert (read(server), opened(server).table(T).snapshots().num_rows) == ([1, 2, 3], 2)


@pytest.mark.usefixtures("tmp_path")
def test_a_commit_without_any_reply_says_that_it_is_unknown(server, catalog):
    server.fault("POST", "/commit", "lose request", times=99)
    with pytest.raises(SourceUnavailable, match="whether the commit was published is unknown") as caught:
        catalog.table(T).upsert(rows(3))
    assert caught.value.sent is True
    assert "commit user" in caught.value.hint
    assert read(server) == [1, 2]


@pytest.mark.usefixtures("catalog")
def test_commits_of_many_writers_all_arrive(server):
    def write(me: int) -> int:
        table = opened(server).table(T)
        for turn in range(5):
            table.upsert(rows(100 + me * 10 + turn))
        return 5

    done = at_once([partial(write, i) for i in range(4)])
    assert done == [5] * 4
    assert len(read(server)) == 2 + 20


def test_a_table_that_was_made_again_takes_no_old_commit(server, catalog):
    old = catalog.table(T)
    catalog.drop_table(T)
    catalog.create_table(T, schema())
    with pytest.raises(TableReplaced):
        old.upsert(rows(7))
    assert read(server) == []


def test_the_latest_snapshot_is_the_servers(server, catalog):
    """Without the endpoint the files say it, as with servers of Paimon 1.1."""
    server.unsupported.update({"GET databases/*/tables/*/snapshot", "GET databases/*/tables/*/snapshots/*"})
    catalog.table(T).upsert(rows(3))
    assert read(server) == [1, 2, 3]


def test_the_server_lists_the_partitions_of_commits(server, catalog):
    name = Identifier("d", "p")
    fields = [("id", "INT NOT NULL", None, None), ("dt", "STRING NOT NULL", None, None)]
    catalog.create_table(name, create_schema(fields, ["dt"], ["id", "dt"], {"bucket": "1"}, None))
    table = catalog.table(name)
    table.upsert(pa.table({"id": pa.array([1, 2], pa.int32()), "dt": ["a", "b"]}))
    table.upsert(pa.table({"id": pa.array([3], pa.int32()), "dt": ["a"]}))
    for _ in ("listed", "from the manifests"):
        found = {
            p["spec"]["dt"]: (p["recordCount"], p["fileCount"], p["totalBuckets"]) for p in catalog.partitions(name)
        }
        assert found == {"a": (2, 2, 1), "b": (1, 1, 1)}
        server.unsupported.add("GET databases/*/tables/*/partitions")
    server.unsupported.clear()
    now = time.time() * 1000
    assert all(now - 60_000 < p["lastFileCreationTime"] <= now for p in catalog.partitions(name))


def test_partitions_are_marked_as_done_on_the_server(server, catalog):
    from paimon_nb.table.write.maintenance import mark_partitions_done

    name = Identifier("d", "p")
    fields = [("id", "INT NOT NULL", None, None), ("dt", "STRING NOT NULL", None, None)]
    options = {"bucket": "1", "partition.mark-done-action": "success-file,mark-event"}
    catalog.create_table(name, create_schema(fields, ["dt"], ["id", "dt"], options, None))
    table = catalog.table(name)
    table.upsert(pa.table({"id": pa.array([1, 2], pa.int32()), "dt": ["a=b", "c"]}))
    [path] = mark_partitions_done(table.store, [{"dt": "a=b"}])
    assert path.endswith("_SUCCESS")
    assert {p["spec"]["dt"]: p["done"] for p in catalog.partitions(name)} == {"a=b": True, "c": False}
    server.unsupported.add("POST databases/*/tables/*/partitions/mark")
    mark_partitions_done(table.store, [{"dt": "c"}])
    assert {p["spec"]["dt"]: p["done"] for p in catalog.partitions(name)} == {"a=b": True, "c": False}


# -- tags, branches, rollback


@pytest.mark.parametrize("server_has_tags", [True, False])
def test_tags(server, catalog, server_has_tags):
    if not server_has_tags:
        server.unsupported.update(
            f"{m} databases/*/tables/*/tags{e}" for m in ("GET", "POST", "DELETE") for e in ("", "/*")
        )
    store = catalog.table(T).store
    tags.create_tag(store, "one", retained_ms=3_600_000)
    catalog.table(T).upsert(rows(3))
    tags.rename_tag(store, "one", "first")
    tagged = opened(server).table(T)
    assert tagged.tags().column("tag_name").to_pylist() == ["first"]
    assert tagged.store.tags.get("first").retained_ms == 3_600_000
    assert sorted(tagged.to_arrow(tag="first").column("id").to_pylist()) == [1, 2]
    tags.replace_tag(store, "first", 2)
    assert sorted(opened(server).table(T).to_arrow(tag="first").column("id").to_pylist()) == [1, 2, 3]
    tags.delete_tag(store, "first")
    assert opened(server).table(T).tags().num_rows == 0


def test_a_tag_that_only_the_server_knows_is_read(server, catalog, tmp_path):
    store = catalog.table(T).store
    tags.create_tag(store, "one")
    (tmp_path / "w" / "d.db" / "t" / "tag" / "tag-one").rename(tmp_path / "tag-one")
    found = json.loads((tmp_path / "tag-one").read_text())
    reply = {"tagName": "one", "snapshot": found, "tagCreateTime": 1_700_000_000_000, "tagTimeRetained": "PT24H"}
    server.fault("GET", "/tags/one", "text", times=99, body=json.dumps(reply).encode())
    server.fault("GET", "/tags", "text", times=99, body=b'{"tags": ["one"]}')
    store = opened(server).table(T).store
    assert (store.tags.names(), store.tags.get("one").retained_ms) == (["one"], 86_400_000)


def test_branches(server, catalog):
    store = catalog.table(T).store
    tags.create_tag(store, "one")
    branches.create_branch(store, "b", "one")
    branch = opened(server).table(Identifier("d", "t", "b"))
    branch.upsert(rows(9))
    assert (read(server), read(server, Identifier("d", "t", "b"))) == ([1, 2], [1, 2, 9])
    branches.rename_branch(store, "b", "c")
    assert opened(server).table(T).branches().column("branch_name").to_pylist() == ["c"]
    branches.fast_forward(store, "c")
    assert read(server) == [1, 2, 9]
    branches.delete_branch(store, "c")
    assert opened(server).table(T).branches().num_rows == 0


def test_rollback(server, catalog):
    table = catalog.table(T)
    tags.create_tag(table.store, "one")
    table.upsert(rows(3))
    table.upsert(rows(4))
    rollback_to_snapshot(catalog.table(T).store, 2)
    assert read(server) == [1, 2, 3]
    rollback_to_tag(catalog.table(T).store, "one")
    assert read(server) == [1, 2]
    catalog.table(T).upsert(rows(5))
    assert read(server) == [1, 2, 5]


def test_an_external_tables_files_decide(server, catalog):
    server.external.add("d.t")
    catalog.table(T).upsert(rows(3))
    assert (read(server), server.count("POST", "/commit")) == ([1, 2, 3], 1)


# -- databases


@pytest.mark.usefixtures("server")
def test_properties_of_databases(catalog):
    catalog.create_database("e", properties={"comment": "sales", "owner-team": "x"})
    catalog.alter_database("e", {"owner-team": "y"})
    found = catalog.database_properties("e")
    assert {k: found[k] for k in ("comment", "owner-team", "owner")} == {
        "comment": "sales",
        "owner-team": "y",
        "owner": "owner",
    }
    assert found["location"].endswith("e.db")


def test_a_default_database_that_cannot_be_made_is_no_obstacle(server):
    server.catalog.drop_database("default")
    server.denied["default"] = "nobody"
    opened(server).create_database("e")
    assert opened(server).tables("e") == []


# -- storage tokens


@pytest.mark.usefixtures("catalog")
def test_storage_tokens_are_renewed_before_they_expire(server, monkeypatch):
    from paimon_nb.base import clock

    now = [1_800_000_000_000]
    monkeypatch.setattr(clock, "now_ms", lambda: now[0])
    server.storage_token = lambda: ({"s3.access-key": str(now[0])}, now[0] + 7_200_000)
    server.config["overrides"]["data-token.enabled"] = "true"
    table = opened(server).table(T)
    count = partial(server.count, "GET", "/token")
    assert (len(table.to_arrow()), count()) == (2, 1)
    now[0] += 3_000_000
    assert (len(table.to_arrow()), count()) == (2, 1)
    now[0] += 700_000  # less than an hour is left
    assert (len(table.to_arrow()), count()) == (2, 2)
    table.upsert(rows(3))
    assert (read(server), count()) == ([1, 2, 3], 3)


@pytest.mark.usefixtures("catalog")
def test_a_refused_storage_token_names_the_table(server):
    server.config["overrides"]["data-token.enabled"] = "true"
    body = json.dumps({"message": "no data access", "code": 403, "resourceType": "TABLE"}).encode()
    server.fault("GET", "/token", "status", times=9, status=403, body=body)
    with pytest.raises(AccessDenied, match=r"storage token of table d\.t: .*no data access"):
        opened(server).table(T)


@pytest.mark.usefixtures("server")
def test_names_on_the_server_are_told_where_one_is_wrong(catalog):
    with pytest.raises(TableNotFound, match=r"no table d\.tt") as caught:
        catalog.table(Identifier("d", "tt"))
    assert "'t'" in caught.value.hint


@pytest.mark.usefixtures("tmp_path")
def test_storage_tokens_open_the_store(s3):
    """The catalog has no keys for the store: they come with the table's token, also in other processes."""
    import pickle
    import uuid

    with RestServer(f"s3://lake/{uuid.uuid4().hex}", s3) as server:
        server.storage_token = lambda: (dict(s3), int(time.time() * 1000) + 900_000)
        server.config["overrides"]["data-token.enabled"] = "true"
        catalog = opened(server)
        catalog.create_table(Identifier("default", "t"), schema())
        table = catalog.table(Identifier("default", "t"))
        table.upsert(rows(1, 2))
        table.upsert(rows(3))
        assert read(server, Identifier("default", "t")) == [1, 2, 3]
        assert not any(key.startswith("s3.") for key in catalog.options)
        assert pickle.loads(pickle.dumps(table.store)).latest().id == 2


def test_a_column_that_can_never_be_written_is_refused_before_the_server_is_asked(catalog):
    blob = create_schema(
        [("id", "INT", None, None), ("picture", "ARRAY<ROW<x BLOB>>", None, None)],
        options={"row-tracking.enabled": "true", "data-evolution.enabled": "true"},
    )
    with pytest.raises(UnsupportedFormat, match="'picture' cannot be ARRAY<ROW<"):
        catalog.create_table(Identifier("d", "pictures"), blob)
    assert catalog.tables("d") == ["t"]
