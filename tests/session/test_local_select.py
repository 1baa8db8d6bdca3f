"""Queries that only choose rows and columns of a small table: answered without Spark, as Spark answers them."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

if TYPE_CHECKING:
    import paimon_nb

COLUMNS = {
    "k": pa.int32(), "b": pa.bool_(), "s": pa.string(), "n": pa.int64(), "d": pa.decimal128(20, 3), "f": pa.float64(),
    "day": pa.date32(), "at": pa.timestamp("us"), "raw": pa.binary(), "l": pa.list_(pa.int32()),
}  # fmt: skip


def scene(wb: paimon_nb.Workbench, rows: int = 60) -> None:
    """A table with keys, an overwritten half, a change of its schema, and one without keys in partitions."""
    wb.run("""
        CREATE TABLE t (k INT, b BOOLEAN, s STRING, n BIGINT, d DECIMAL(20, 3), f DOUBLE, day DATE, `at` TIMESTAMP(6),
            raw BYTES, l ARRAY<INT>, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '2');
        CREATE TABLE log (p STRING, v INT) PARTITIONED BY (p);
        INSERT INTO log VALUES ('x', 1), ('y', 2), (NULL, 3)
    """)
    for seed, keys in enumerate((range(rows), range(0, rows, 2))):
        wb.table("t").upsert(_rows(random.Random(seed), list(keys)))
    wb.run("ALTER TABLE t ADD COLUMNS (late STRING)")
    wb.table("t").delete("k = 7")


def _rows(random: random.Random, keys: list[int]) -> pa.Table:
    def some(value) -> list:
        return [None if random.random() < 0.2 else value(random.randrange(8)) for _ in keys]

    values = {
        "k": keys, "b": some(lambda i: i > 3), "s": some(lambda i: ["", "a", "B", "b ", "é", "ab%", "_", "Z"][i]),
        "n": some(lambda i: i - 3), "d": some(lambda i: Decimal(i) / 4), "f": some(lambda i: [0.0, -0.0, 1.5, float("nan")][i % 4]),
        "day": some(lambda i: dt.date(2020, 1, 1) + dt.timedelta(i)), "at": some(lambda i: dt.datetime(2020, 1, 1, 0, i)),
        "raw": some(lambda i: bytes([i, 255 - i])), "l": some(lambda i: [i, None]),
    }  # fmt: skip
    return pa.table({name: pa.array(values[name], t) for name, t in COLUMNS.items()})


HERE = [
    "SELECT * FROM t",
    "SELECT s AS name, K, t.d FROM t WHERE k < 20",
    "SELECT s, k, s FROM t",
    "SELECT x.n FROM t AS x WHERE x.n IN (1, 2) AND NOT (s = 'a' OR s IS NULL)",
    "SELECT k FROM t WHERE s LIKE '%b%' OR d >= 1.25",
    "SELECT k FROM t WHERE n NOT BETWEEN -1 AND 2",
    "SELECT k, s FROM t ORDER BY s, n DESC, k",
    "SELECT k, d FROM t ORDER BY d DESC NULLS FIRST, b NULLS LAST, k DESC LIMIT 7",
    "SELECT k AS n FROM t ORDER BY n LIMIT 5 OFFSET 3",
    "SELECT k FROM t ORDER BY raw DESC, `at`, `day`, k",
    "SELECT count(*) FROM t WHERE b",
    "SELECT count(*) FROM t WHERE b IS NOT NULL",
    "SELECT COUNT(*) AS many FROM log",
    "SELECT late, l FROM t WHERE k = 3",
    "SELECT * FROM t VERSION AS OF 1 WHERE k IN (7, 8)",
    "SELECT k FROM t /*+ OPTIONS('scan.snapshot-id' = '2') */ WHERE day > DATE '2020-01-03'",
    "SELECT k FROM t WHERE `at` <= TIMESTAMP '2020-01-01 00:03:00'",
    "SELECT * FROM log WHERE p IS NULL OR p <> 'x'",
    "SELECT snapshot_id, commit_kind FROM t$snapshots ORDER BY snapshot_id DESC LIMIT 2",
    "SELECT `level`, record_count FROM `t$files` WHERE record_count > 5 ORDER BY 1",
    "SELECT rowkind, k FROM t$audit_log WHERE k = 7",
    "SELECT table_name FROM sys.tables WHERE table_name = 'log'",
]
"""Texts that are answered here, or by Spark where it may know better (an order by position, a Boolean alone, a time zone)."""
LEFT_TO_SPARK = (
    "SELECT count(*) FROM t WHERE b",
    "SELECT k FROM t WHERE `at` <= TIMESTAMP '2020-01-01 00:03:00'",
    "SELECT `level`, record_count FROM `t$files` WHERE record_count > 5 ORDER BY 1",
)
SPARKS = [
    "SELECT k + 1 FROM t", "SELECT DISTINCT s FROM t", "SELECT k, * FROM t", "SELECT f FROM t WHERE f > 1", "SELECT k FROM t ORDER BY f",
    "SELECT k FROM t WHERE s = 1", "SELECT max(k) FROM t", "SELECT k FROM t WHERE k = (SELECT 1)", "SELECT a.k FROM t a, t b",
    "SELECT nothing FROM t", "SELECT k FROM t LIMIT 1 + 1", "SELECT * FROM t TABLESAMPLE (1 ROWS)", "SELECT q.a FROM t AS q(a, b)",
]  # fmt: skip
"""Texts that only Spark is asked."""


def answered_here(wb: paimon_nb.Workbench, text: str) -> bool:
    from paimon_nb.session.query.local_select import try_local_select
    from paimon_nb.sql import parse

    (query,) = parse(text)
    return try_local_select(wb.session, query) is not None


def asked_of_spark(wb: paimon_nb.Workbench, text: str) -> pa.Table:
    from paimon_nb.session.query.run_query import run_query
    from paimon_nb.sql import parse

    (query,) = parse(text)
    return run_query(wb.session, query, text, {}).toArrow()


def test_what_is_answered_without_spark(wb):
    scene(wb, 10)
    here = [text for text in [*HERE, *SPARKS] if answered_here(wb, text)]
    assert here == [text for text in HERE if text not in LEFT_TO_SPARK]
    assert wb.run("SELECT s AS name, K FROM t WHERE k = 9").arrow.schema.names == ["name", "K"]
    assert wb.run("SELECT k FROM t ORDER BY k DESC LIMIT 3").arrow.to_pylist() == [{"k": 9}, {"k": 8}, {"k": 6}]
    assert not wb.session.spark_started


@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        ("s NOT LIKE 'H%'", [2, 3]),
        ("NOT s LIKE 'H%'", [2, 3]),
        ("s LIKE 'H%'", [1]),
        ("id NOT IN (1, 2)", [3]),
        ("id NOT BETWEEN 2 AND 3", [1]),
        ("s IS NOT NULL", [1, 2, 3]),
    ],
)
def test_negated_operators(wb, condition, ids):
    wb.run("CREATE TABLE animals (id INT, s STRING); INSERT INTO animals VALUES (1, 'Hen'), (2, 'dog'), (3, 'cat')")
    found = wb.run(f"SELECT id FROM animals WHERE {condition} ORDER BY id").arrow
    assert found["id"].to_pylist() == ids
    assert not wb.session.spark_started


def test_a_large_table_is_looked_into(wb):
    """A few rows, and their number where metadata tells it; for the rest there is Spark."""
    wb.run("CREATE TABLE big (n BIGINT, s STRING)")
    rows = pa.table({"n": range(120_000), "s": [f"text {i}" for i in range(120_000)]})
    wb.table("big").append(rows.slice(0, 70_000))
    wb.table("big").append(rows.slice(70_000))
    few = wb.run("SELECT n, s FROM big LIMIT 3 OFFSET 2").arrow
    assert few.num_rows == 3
    assert all(r["s"] == f"text {r['n']}" for r in few.to_pylist())
    assert wb.run("SELECT count(*) AS c FROM big").arrow.to_pylist() == [{"c": 120_000}]
    texts = ["SELECT * FROM big", "SELECT n FROM big ORDER BY n LIMIT 1", "SELECT n FROM big WHERE n > 5", "SELECT n FROM big LIMIT 50000"]  # fmt: skip
    assert [answered_here(wb, text) for text in texts] == [False] * 4
    wb.run("CREATE TABLE none (n BIGINT)")
    assert [wb.run(f"SELECT {what}").arrow.num_rows for what in ("n FROM big WHERE s = 'x'", "n FROM none", "* FROM none ORDER BY n")] == [0] * 3  # fmt: skip
    assert not wb.session.spark_started


@pytest.mark.spark
def test_names_that_mean_something_else_are_left_alone(swb):
    scene(swb, 4)
    swb.run("CREATE TEMPORARY VIEW v AS SELECT k FROM t")
    assert [answered_here(swb, f"SELECT * FROM {name}") for name in ("v", "nowhere", "t")] == [False, False, True]


@pytest.mark.spark
def test_spark_answers_the_same(swb):
    scene(swb)
    assert swb.spark
    for text in HERE:
        result, theirs = swb.run(text), asked_of_spark(swb, text)
        for ours in [result.frame.toArrow(), *([result.arrow] if text not in LEFT_TO_SPARK else [])]:
            assert ours.schema.names == theirs.schema.names, text
            assert [str(t) for t in ours.schema.types] == [str(t) for t in theirs.schema.types], text
            listed = [list(map(str, pairs(rows))) for rows in (ours, theirs)]
            assert listed[0] == listed[1] if "ORDER BY" in text else sorted(listed[0]) == sorted(listed[1]), text
    swb.spark.range(3).toDF("k").createOrReplaceTempView("t")
    assert swb.run("SELECT * FROM t").arrow is None  # a view of Spark's goes first
    swb.spark.catalog.dropTempView("t")


def pairs(rows: pa.Table) -> list[tuple]:
    """Rows by position: a result may have a name twice."""
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


@pytest.mark.spark
def test_the_frame_of_an_answer_is_that_answer(swb):
    """However the session and the table went on before somebody asked for it."""
    assert swb.spark
    swb.run("CREATE TABLE t (k INT); INSERT INTO t VALUES (1); CREATE DATABASE other; CREATE TABLE other.t (k INT)")
    result = swb.run("SELECT k FROM t")
    swb.run("INSERT INTO t VALUES (2); USE other")
    assert [r.k for r in result.frame.collect()] == result.arrow.column("k").to_pylist() == [1]


def test_a_table_that_lost_its_last_row(wb):
    wb.run("CREATE TABLE t (p STRING, v INT) PARTITIONED BY (p); INSERT INTO t VALUES ('x', 1); TRUNCATE TABLE t")
    assert wb.run("SELECT v FROM t WHERE v > 0").arrow.to_pylist() == []
    assert wb.run("SELECT count(*) AS n FROM t").arrow.to_pylist() == [{"n": 0}]
    assert not wb.session.spark_started
