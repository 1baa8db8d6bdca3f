"""Tables on a real S3 server: the conditional put decides commits, keys come from where users keep them, Spark reads and writes."""

from __future__ import annotations

import uuid
from collections import Counter
from contextlib import suppress

import pyarrow as pa
import pytest
from catalog_kit import schema
from writer_processes import process_context

import paimon_nb
from paimon_nb.base.errors import MissingFile, StoreError
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog
from paimon_nb.fs import open_fs

T = Identifier("default", "t")


@pytest.fixture
def warehouse() -> str:
    return f"s3://lake/{uuid.uuid4().hex}"


# -- publishing


def _write(options: dict[str, str], who: int, commits: int) -> None:
    table = open_catalog("c", options).table(T, {"commit.max-retries": "1000", "write-only": "true"})
    for turn in range(commits):
        table.append(pa.table({"who": pa.array([who], pa.int32()), "turn": pa.array([turn], pa.int32())}))


def _race(options: dict[str, str], writers: int, commits: int) -> None:
    """Each writer is a process of its own, all at one append table."""
    from paimon_nb.format.schema import create_schema
    from paimon_nb.format.types import parse_type

    fields = [(name, parse_type("INT"), None, None) for name in ("who", "turn")]
    catalog = open_catalog("c", options)
    catalog.create_table(T, create_schema(fields, [], [], {"bucket": "-1"}, None))
    context = process_context()
    processes = [context.Process(target=_write, args=(options, who, commits)) for who in range(writers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [p.exitcode for p in processes] == [0] * writers
    table = catalog.table(T)
    rows = Counter((r["who"], r["turn"]) for r in table.to_arrow().to_pylist())
    assert rows == Counter((who, turn) for who in range(writers) for turn in range(commits))
    assert table.store.snapshots.ids() == list(range(1, writers * commits + 1))


def test_four_writers_lose_no_commit(s3, warehouse):
    _race({**s3, "warehouse": warehouse}, 4, 3)


@pytest.mark.nightly
@pytest.mark.parametrize("locked", [False, True], ids=["alone", "with a JDBC lock"])
def test_sixteen_writers_lose_no_commit(s3, warehouse, locked, tmp_path):
    jdbc = {"metastore": "jdbc", "uri": f"jdbc:sqlite:{tmp_path}/c.db", "lock-check-max-sleep": "500 ms"}
    _race({**s3, "warehouse": warehouse, **(jdbc if locked else {})}, 16, 25)


def test_a_lost_reply_is_told_from_a_lost_race(s3, warehouse, monkeypatch):
    fs = open_fs(warehouse, s3)
    path = f"{warehouse}/d/snapshot-1"
    put, seen = type(fs)._put_object, []

    def put_whose_reply_is_lost(self, path, data, token):
        seen.append(put(self, path, data, token))
        return put(self, path, data, token)  # what the client does when no reply came: it asks again

    monkeypatch.setattr(type(fs), "_put_object", put_whose_reply_is_lost)
    assert fs.put_if_absent(path, b"same") is True
    assert fs.put_if_absent(path, b"same") is False
    assert (seen, fs.read(path)) == ([True, False], b"same")


# -- large files


def test_a_large_file_goes_up_in_parts_and_comes_back_by_ranges(s3, warehouse):
    fs = open_fs(warehouse, s3)
    path, block = f"{warehouse}/d/big.bin", bytes(range(256)) * 4096  # 1 MiB
    with fs.create(path) as out:
        for _ in range(37):
            out.write(block)
        assert out.tell() == 37 << 20
        assert not fs.exists(path)
    assert fs.size(path) == 37 << 20
    with fs.open(path) as file:
        file.seek((36 << 20) + 255)
        assert file.read(3) == b"\xff\x00\x01"
    with pytest.raises(FileExistsError):
        fs.write(path, block * 17)
    with suppress(ZeroDivisionError), fs.create(f"{warehouse}/d/other") as out:
        out.write(block * 17)
        raise ZeroDivisionError
    assert [f.name for f in fs.list(f"{warehouse}/d")] == ["big.bin"]
    fs.move(f"{warehouse}/d", f"{warehouse}/e")
    assert [(f.name, f.size) for f in fs.list(f"{warehouse}/e")] == [("big.bin", 37 << 20)]
    assert fs.list(f"{warehouse}/d") == []


@pytest.mark.nightly
def test_more_files_than_one_listing_holds(s3, warehouse):
    fs = open_fs(warehouse, s3)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: fs.overwrite(f"{warehouse}/many/{i:04}", b""), range(1005)))
    assert [f.name for f in fs.list(f"{warehouse}/many")] == [f"{i:04}" for i in range(1005)]
    fs.delete_tree(f"{warehouse}/many")
    assert fs.list(f"{warehouse}/many") == []


# -- keys and errors


@pytest.mark.nightly
def test_wrong_keys_and_buckets_are_told(s3, warehouse):
    with pytest.raises(StoreError, match="bucket 'nowhere-at-all' does not exist") as caught:
        open_fs(warehouse, s3).read("s3://nowhere-at-all/x")
    assert caught.value.hint
    with pytest.raises(MissingFile):
        open_fs(warehouse, s3).read(f"{warehouse}/x")
    silent = open_fs(warehouse, {**s3, "s3.endpoint": "http://127.0.0.1:9"})
    with pytest.raises(StoreError, match=r"127\.0\.0\.1:9"):
        silent.read(f"{warehouse}/x")


def test_keys_come_from_the_environment_where_the_catalog_names_none(s3, warehouse, monkeypatch):
    where = {k: v for k, v in s3.items() if not k.endswith("key")}
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3["s3.access-key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3["s3.secret-key"])
    catalog = open_catalog("c", {**where, "warehouse": warehouse})
    catalog.create_table(T, schema())
    assert open_catalog("c", {**s3, "warehouse": warehouse}).tables("default") == ["t"]


def test_sparks_own_settings_are_used_where_the_catalog_names_none(s3, warehouse):
    conf = {
        "spark.hadoop.fs.s3a.endpoint": s3["s3.endpoint"],
        "spark.hadoop.fs.s3a.access.key": s3["s3.access-key"],
        "spark.hadoop.fs.s3a.secret.key": s3["s3.secret-key"],
        "spark.hadoop.fs.s3a.path.style.access": "true",
    }
    with paimon_nb.connect(warehouse, spark_conf=conf) as wb:
        wb.session.catalog.create_table(T, schema())
        wb.run(f"CREATE CATALOG other WITH ('type' = 'paimon', 'warehouse' = '{warehouse}')")
        assert wb.session.catalog_named("other").tables("default") == ["t"]
        assert not wb.session.spark_started


def test_a_table_is_replaced_in_one_snapshot(s3, warehouse):
    """That removes the rows and has the new schema: between two of them, a failure would leave the old table empty."""
    wb = paimon_nb.connect(warehouse, options=s3)
    wb.run("CREATE TABLE t (a INT)")
    wb.table("t").append(pa.table({"a": pa.array([1], pa.int32())}))
    wb.run("CREATE OR REPLACE TABLE t (b STRING)")
    made = wb.table("t").snapshots().select(["snapshot_id", "schema_id"]).to_pylist()
    assert made == [{"snapshot_id": 1, "schema_id": 0}, {"snapshot_id": 2, "schema_id": 1}]
