"""HDFS against a real NameNode: one of many publishes a file, and Spark works on tables there."""

from __future__ import annotations

import pickle
from collections import Counter
from functools import partial

import pytest
from catalog_kit import at_once

import paimon_nb
from paimon_nb.base.errors import MissingFile, StoreError
from paimon_nb.fs import open_fs


@pytest.fixture
def place(hdfs, request) -> str:
    return f"{hdfs}/{request.node.name.partition('[')[0]}"


@pytest.mark.nightly
def test_of_many_one_publishes_and_nothing_half_is_seen(place):
    fs = open_fs(place, {})
    for turn in range(5):
        path = f"{place}/snapshot/snapshot-{turn}"
        others = [pickle.loads(pickle.dumps(fs)) for _ in range(16)]
        done = at_once([partial(other.put_if_absent, path, f"from {i}".encode()) for i, other in enumerate(others)])
        assert sorted(done) == [False] * 15 + [True]
        assert fs.read(path) == f"from {done.index(True)}".encode()
    assert [s.name for s in fs.list(f"{place}/snapshot")] == [f"snapshot-{i}" for i in range(5)]


@pytest.mark.nightly
def test_files_come_change_move_and_go(place):
    fs = open_fs(place, {})
    assert (fs.list(place), fs.exists(f"{place}/a"), fs.delete(f"{place}/a")) == ([], False, False)
    fs.write(f"{place}/d/a", b"x" * 9_000_000)
    assert (fs.size(f"{place}/d/a"), fs.read(f"{place}/d/a")[-3:]) == (9_000_000, b"xxx")
    with fs.open(f"{place}/d/a") as file:
        file.seek(8_999_999)
        assert file.read() == b"x"
    with pytest.raises(FileExistsError):
        fs.create(f"{place}/d/a")
    torn = fs.create(f"{place}/d/torn")
    torn.write(b"half")
    torn.abort()
    fs.overwrite(f"{place}/d/hint", b"1")
    fs.overwrite(f"{place}/d/hint", b"22")
    assert [(s.name, s.size, s.is_dir) for s in fs.list(f"{place}/d")] == [("a", 9_000_000, False), ("hint", 2, False)]
    with pytest.raises(FileExistsError):
        fs.move(f"{place}/d/a", f"{place}/d/hint")
    fs.move(f"{place}/d", f"{place}/e")
    assert (fs.delete_empty_dir(f"{place}/e"), fs.delete(f"{place}/e/a"), fs.delete(f"{place}/e/hint")) == (
        False,
        True,
        True,
    )
    assert (fs.delete_empty_dir(f"{place}/e"), fs.exists(f"{place}/e")) == (True, False)
    with pytest.raises(MissingFile):
        fs.read(f"{place}/e/a")
    fs.delete_tree(place)
    assert fs.exists(place) is False


def test_a_service_that_is_not_there_is_said():
    with pytest.raises(StoreError, match="HDFS could not"):
        open_fs("hdfs://127.0.0.1:1/w", {}).exists("hdfs://127.0.0.1:1/w/t")


@pytest.mark.nightly
@pytest.mark.spark
def test_spark_writes_and_reads_a_table_there(place):
    with paimon_nb.connect(place) as wb:
        wb.run("CREATE TABLE t (id INT, g INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
        wb.run("INSERT INTO t SELECT CAST(id AS INT), CAST(id % 7 AS INT) FROM range(20000)")
        wb.run("INSERT INTO t SELECT CAST(id AS INT), CAST(9 AS INT) FROM range(0, 20000, 100)")
        found = wb.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY g").collect()
    want = Counter(9 if i % 100 == 0 else i % 7 for i in range(20000))
    assert {r.g: r.n for r in found} == want
