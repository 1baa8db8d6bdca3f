"""Incremental clustering: levels, rows in their order and snapshots as real Paimon makes them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue

if TYPE_CHECKING:
    from pathlib import Path

BATCHES = ([(3, 1), (1, 2), (2, 0)], [(0, 3), (3, 3)], [(1, 1), (2, 2)], [(0, 0)], [(5, 5), (1, 0)], [(4, 4)], [(2, 1)])
OPTIONS = {
    "bucket": "-1", "clustering.columns": "a,b", "clustering.strategy": "zorder", "clustering.incremental": "true",
    "num-sorted-run.compaction-trigger": "3",
}  # fmt: skip
FULL = 4
"""The batch after which all is sorted."""
A, C = "APPEND", "COMPACT"

# Answers of Flink 1.20 with Paimon 1.3.1 to these statements. Per batch (partition, level, rows) of the files.
JAVA_FILES = [
    [(0, 3)], [(0, 2), (0, 3)], [(3, 7)], [(0, 1), (3, 7)], [(3, 10)], [(0, 1), (3, 10)], [(3, 12)],
]  # fmt: skip
JAVA_ROWS = [(0, 0), (1, 0), (1, 1), (0, 3), (1, 2), (2, 0), (2, 1), (3, 1), (2, 2), (3, 3), (4, 4), (5, 5)]
JAVA_KINDS = [A, A, A, C, A, A, C, A, A, C]
JAVA_HISTORY = [
    [("{0}", 0, 1), ("{1}", 3, 2)], [("{0}", 0, 1), ("{0}", 0, 1), ("{1}", 3, 3)], [("{0}", 3, 3), ("{1}", 3, 4)],
    [("{0}", 0, 1), ("{0}", 3, 3), ("{1}", 3, 4)], [("{0}", 3, 4), ("{1}", 3, 6)],
    [("{0}", 0, 1), ("{0}", 3, 4), ("{1}", 3, 6)], [("{0}", 3, 6), ("{1}", 3, 6)],
]  # fmt: skip


def made(root: Path, columns: str = "a INT, b INT", by: str = "", spark=None, **more: str) -> paimon_nb.Workbench:
    wb = paimon_nb.connect(str(root), spark=spark)
    said = ", ".join(f"'{k}' = '{v}'" for k, v in {**OPTIONS, **more}.items())
    wb.run(f"CREATE TABLE t ({columns}) {by} WITH ({said})")
    return wb


def compact(wb: paimon_nb.Workbench, number: int, more: str = "") -> None:
    full = ", compact_strategy => 'full'" if number == FULL else ""
    wb.run(f"CALL sys.compact(`table` => 't'{full}{more})")


def files(wb: paimon_nb.Workbench) -> list[tuple]:
    names = ["partition", "level", "record_count", "min_sequence_number", "max_sequence_number", "file_source"]
    rows = wb.run("SELECT * FROM `t$files`").arrow.select(names).to_pylist()
    return sorted(tuple(r.values()) for r in rows)


def test_levels_rows_and_snapshots_are_javas(tmp_path: Path) -> None:
    wb = made(tmp_path)
    for number, batch in enumerate(BATCHES):
        wb.run(f"INSERT INTO t VALUES {', '.join(map(str, batch))}")
        compact(wb, number)
        assert files(wb) == [("{}", level, n, 0, n - 1, A) for level, n in JAVA_FILES[number]], number
    rows = wb.table("t").to_arrow()
    assert list(zip(*(c.to_pylist() for c in rows.columns), strict=True)) == JAVA_ROWS
    kinds = wb.run("SELECT commit_kind FROM `t$snapshots` ORDER BY snapshot_id").arrow.column(0).to_pylist()
    assert kinds == JAVA_KINDS
    assert not wb.session.spark_started


def test_partitions_left_alone_are_sorted_when_they_have_been_idle(tmp_path: Path) -> None:
    idle = {"clustering.history-partition.idle-to-full-sort": "1 ms"}
    wb = made(tmp_path, "a INT, b INT, p INT", "PARTITIONED BY (p)", **idle)
    for number, batch in enumerate(BATCHES):
        wb.run(f"INSERT INTO t VALUES {', '.join(str((a, b, a % 2)) for a, b in batch)}")
        compact(wb, number, ", partitions => 'p=0'")
        assert [f[:3] for f in files(wb)] == JAVA_HISTORY[number], number
    assert sorted(r["a"] for r in wb.table("t").to_arrow().to_pylist()) == sorted(a for b in BATCHES for a, _ in b)


def test_partitions_are_read_in_order_if_the_table_says_so(tmp_path: Path) -> None:
    wb = made(tmp_path, "a INT, p INT", "PARTITIONED BY (p)", **{"clustering.columns": "a"})
    wb.run("INSERT INTO t VALUES (1, 3), (1, 2)")
    wb.run("INSERT INTO t VALUES (2, 1), (2, 3)")
    wb.run("ALTER TABLE t SET ('scan.plan-sort-partition' = 'true')")
    assert [tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist()] == [(2, 1), (1, 2), (1, 3), (2, 3)]


def test_nothing_is_due_until_the_columns_change(tmp_path: Path) -> None:
    wb = made(tmp_path)
    for batch in BATCHES[:3]:
        wb.run(f"INSERT INTO t VALUES {', '.join(map(str, batch))}")
    wb.run("CALL sys.compact(`table` => 't', compact_strategy => 'full')")
    said = wb.run("CALL sys.compact(`table` => 't', compact_strategy => 'full')")
    assert said.notes == ["nothing to compact in default.t"]
    wb.run("ALTER TABLE t SET ('clustering.columns' = 'b')")
    wb.run("CALL sys.compact(`table` => 't', compact_strategy => 'full')")
    assert [r["b"] for r in wb.table("t").to_arrow().to_pylist()] == [0, 1, 1, 2, 2, 3, 3]


def test_no_columns_are_asked_for(tmp_path: Path) -> None:
    wb = made(tmp_path, **{"clustering.columns": ""})
    wb.run("INSERT INTO t VALUES (1, 2)")
    with pytest.raises(BadOptionValue, match=r"no 'clustering\.columns'"):
        wb.run("CALL sys.compact(`table` => 't')")


@pytest.mark.spark
def test_deleted_rows_and_their_vectors_go(tmp_path: Path, spark) -> None:
    wb = made(tmp_path, spark=spark, **{"deletion-vectors.enabled": "true"})
    for batch in BATCHES[:3]:
        wb.run(f"INSERT INTO t VALUES {', '.join(map(str, batch))}")
    wb.run("DELETE FROM t WHERE a = 3")
    assert wb.run("SELECT * FROM `t$table_indexes`").arrow.num_rows == 1
    wb.run("CALL sys.compact(`table` => 't')")
    assert files(wb) == [("{}", 3, 5, 0, 4, A)]
    assert wb.run("SELECT * FROM `t$table_indexes`").arrow.num_rows == 0
    assert wb.table("t").to_arrow().to_pylist() == [
        {"a": a, "b": b} for a, b in ((1, 1), (0, 3), (1, 2), (2, 0), (2, 2))
    ]


IN_A_BUCKET = {"bucket": "1", "bucket-key": "a", "bucket-append-ordered": "false", "clustering.strategy": "order", "clustering.columns": "b"}  # fmt: skip


def test_a_bucket_is_clustered_after_the_write_that_makes_it_due(tmp_path: Path) -> None:
    wb = made(tmp_path, "a INT, b STRING", **IN_A_BUCKET)
    found = []
    for a, b in enumerate("98765", 1):
        wb.run(f"INSERT INTO t VALUES ({a}, '{b}')")
        found.append((wb.table("t").store.latest().id, [(f[1], f[2]) for f in files(wb)]))
    assert found == [(1, [(0, 1)]), (2, [(0, 1), (0, 1)]), (4, [(3, 3)]), (5, [(0, 1), (3, 3)]), (7, [(3, 5)])]
    assert wb.table("t").to_arrow().column("a").to_pylist() == [5, 4, 3, 2, 1]


def test_buckets_are_clustered_by_themselves_when_a_call_says_so(tmp_path: Path) -> None:
    wb = made(tmp_path, "a INT, b STRING", **{**IN_A_BUCKET, "bucket": "3", "write-only": "true"})
    for rows in (range(20, 30), range(10, 20), range(10)):
        wb.run("INSERT INTO t VALUES " + ", ".join(f"({n}, '{n:02}')" for n in rows))
    before = sorted(wb.table("t").to_arrow().column("a").to_pylist())
    compact(wb, FULL)
    buckets = wb.table("t").system("files").to_pylist()
    assert sorted((f["bucket"], f["level"]) for f in buckets) == [(0, 3), (1, 3), (2, 3)]
    after = wb.table("t").to_arrow().column("b").to_pylist()
    assert sorted(map(int, after)) == before
    assert sum(x > y for x, y in pairwise(after)) == 2  # sorted in each bucket
    compact(wb, FULL)
    assert wb.table("t").store.latest().id == 4
