"""Streaming SELECTs that only choose columns and rows of a table: answered without Spark, and as Spark answers."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

import paimon_nb

STREAMING = "SET 'execution.runtime-mode' = 'streaming'"


def scene(wb: paimon_nb.Workbench) -> None:
    wb.run("""
        CREATE TABLE t (k INT, v STRING, `Mixed` BIGINT, c STRING, PRIMARY KEY (k) NOT ENFORCED)
            WITH ('bucket' = '2', 'changelog-producer' = 'lookup');
        CREATE TABLE log (p STRING, n INT) PARTITIONED BY (p);
        INSERT INTO t VALUES (1, 'a', 10, 'x'), (2, 'b', NULL, 'y'), (3, NULL, 30, 'z');
        INSERT INTO t VALUES (1, 'A', 11, 'x'), (4, 'd', 40, NULL);
        INSERT INTO log VALUES ('x', 1), ('y', 2)
    """)
    wb.table("t").delete("k = 2")
    wb.table("log").overwrite(pa.table({"p": ["x"], "n": pa.array([3], pa.int32())}), {"p": "x"})
    wb.run(STREAMING)


def told(wb: paimon_nb.Workbench, text: str) -> list[tuple]:
    return [tuple(r.values()) for r in wb.stream(text).collect(timeout_s=60, idle_s=0.1).to_pylist()]


def test_the_changes_come_in_their_order_and_no_spark_starts(wb):
    scene(wb)
    changes = told(wb, "SELECT v AS name, mixed FROM t /*+ OPTIONS('scan.snapshot-id' = '1') */ AS x WHERE x.k <> 3")
    assert changes == [
        ("+I", "a", 10), ("+I", "b", None),
        ("-U", "a", 10), ("+U", "A", 11), ("+I", "d", 40),
        ("-D", "b", None),
    ]  # fmt: skip
    assert not wb.session.spark_started


def test_it_goes_on_stops_and_begins_elsewhere(wb):
    scene(wb)
    with wb.stream("SELECT k FROM t WHERE k >= 3") as live:
        changes = iter(live)
        assert sorted(next(changes).to_pylist(), key=str) == [{"op": "+I", "k": 3}, {"op": "+I", "k": 4}]
        wb.table("t").delete("k = 3")
        assert next(changes).to_pylist() == [{"op": "-D", "k": 3}]
        assert live.job.progress()[0].behind == 0
        live.seek(4)
        assert next(iter(live)).to_pylist() == [{"op": "+I", "k": 4}]
    assert not live.job.isActive
    assert live.job.status == "CANCELED"


def test_a_stream_that_breaks_says_why(wb):
    scene(wb)
    for _ in range(3):
        wb.run("INSERT INTO log VALUES ('z', 1)")
    with wb.stream("SELECT n FROM log") as live:
        next(iter(live))
        wb.run("DROP TABLE log; CREATE TABLE log (p STRING, n INT)")
        with pytest.raises(paimon_nb.PaimonError) as caught:
            for _ in live:
                pass
    assert caught.value.hint
    assert live.job.status == "FAILED"


SAME = [
    ("SELECT * FROM t", "SELECT k, v, `Mixed`, substr(c, 1) AS c FROM t"),
    ("SELECT K AS id, `Mixed` FROM t WHERE v IS NOT NULL AND NOT (k IN (4, 5))",
     "SELECT k + 0 AS id, `Mixed` FROM t WHERE v IS NOT NULL AND NOT (k IN (4, 5))"),
    ("SELECT v FROM t WHERE c = 'x' OR v LIKE 'd%'", "SELECT concat(v, '') AS v FROM t WHERE c = 'x' OR v LIKE 'd%'"),
    ("SELECT n FROM log /*+ OPTIONS('scan.snapshot-id' = '1') */ WHERE n BETWEEN 1 AND 3",
     "SELECT n + 0 AS n FROM log /*+ OPTIONS('scan.snapshot-id' = '1') */ WHERE n BETWEEN 1 AND 3"),
]  # fmt: skip
"""A text that is answered here and one of the same meaning that Spark answers."""


@pytest.mark.spark
@pytest.mark.nightly
def test_spark_says_the_same(swb):
    scene(swb)
    here = [Counter(told(swb, text)) for text, _ in SAME]
    assert here == [Counter(told(swb, text)) for _, text in SAME]
    assert [sum(changes.values()) for changes in here] == [3, 1, 2, 2]


def test_a_bounded_table_is_read_as_it_is(wb):
    scene(wb)
    result = wb.run("SELECT k, v FROM t /*+ OPTIONS('scan.bounded' = 'true') */")
    assert result.live is None
    assert sorted(result.arrow.column("k").to_pylist()) == [1, 3, 4]
    assert not wb.session.spark_started
