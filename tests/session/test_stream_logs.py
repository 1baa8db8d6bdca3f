"""Streaming SELECT of system tables: `$audit_log` and `$binlog` have changes as rows that are added, `$ro` and `$row_tracking` the table's rows."""

from __future__ import annotations

import pyarrow as pa
import pytest
from test_stream_normalize import FROM_1, changes, history
from test_stream_retract import follows

from paimon_nb.base.errors import UnsupportedOperation

__all__ = ["history"]


def test_the_audit_log_goes_on(history):
    """Flink's answers."""
    assert changes(history, f"SELECT * FROM t$audit_log {FROM_1}") == [
        ("+I", "+I", 1, "A", 1), ("+I", "+I", 2, "a", 2), ("+I", "+I", 1, "B", 1), ("+I", "+I", 3, "c", 3),
        ("+I", "+I", 1, "C", 1), ("+I", "-D", 2, "a", 2), ("+I", "+I", 1, "C", 5),
    ]  # fmt: skip
    assert changes(history, f"SELECT k FROM t$audit_log {FROM_1} WHERE rowkind = '-D'") == [("+I", 2)]
    with history.stream("SELECT rowkind, k FROM `t$audit_log`") as live:
        found = iter(live)
        assert sorted(tuple(r.values()) for r in next(found).to_pylist()) == [("+I", "+I", 1), ("+I", "+I", 3)]
        history.table("t").delete("k = 3")
        assert [tuple(r.values()) for r in next(found).to_pylist()] == [("+I", "-D", 3)]


def test_the_binlog_goes_on(wb):
    wb.run("""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1', 'changelog-producer' = 'lookup');
        INSERT INTO t VALUES (1, 'a');
        INSERT INTO t VALUES (1, 'b'), (2, 'c');
        SET 'execution.runtime-mode' = 'streaming'
    """)
    assert changes(wb, f"SELECT * FROM t$binlog {FROM_1}") == [
        ("+I", "+I", [1], ["a"]), ("+I", "+U", [1, 1], ["a", "b"]), ("+I", "+I", [2], ["c"]),
    ]  # fmt: skip


def test_logs_with_sequence_numbers_go_on(wb):
    wb.run("""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING)
            WITH ('bucket' = '1', 'changelog-producer' = 'lookup', 'table-read.sequence-number.enabled' = 'true');
        INSERT INTO t VALUES (1, 'a');
        INSERT INTO t VALUES (1, 'b'), (2, 'c');
        SET 'execution.runtime-mode' = 'streaming'
    """)
    assert changes(wb, f"SELECT * FROM t$binlog {FROM_1}") == [
        ("+I", "+I", 0, [1], ["a"]), ("+I", "+U", 1, [1, 1], ["a", "b"]), ("+I", "+I", 2, [2], ["c"]),
    ]  # fmt: skip
    assert changes(wb, f"SELECT _SEQUENCE_NUMBER, rowkind, v FROM t$audit_log {FROM_1}")[-1] == ("+I", 2, "+I", "c")
    with wb.stream("SELECT * FROM `t$audit_log`") as live:
        assert sorted(tuple(r.values()) for r in next(iter(live)).to_pylist()) == [
            ("+I", "+I", 1, 1, "b"), ("+I", "+I", 2, 2, "c")
        ]  # fmt: skip


def test_the_read_optimized_rows_of_an_append_table_go_on(wb):
    """Flink's answers."""
    wb.run("""
        CREATE TABLE t (k INT, v STRING);
        INSERT INTO t VALUES (1, 'a');
        INSERT INTO t VALUES (2, 'b');
        SET 'execution.runtime-mode' = 'streaming'
    """)
    assert changes(wb, "SELECT * FROM t$ro /*+ OPTIONS('scan.snapshot-id' = '2') */") == [("+I", 2, "b")]
    with wb.stream("SELECT k FROM `t$ro`") as live:
        found = iter(live)
        assert sorted(r["k"] for r in next(found).to_pylist()) == [1, 2]
        wb.table("t").append(pa.table({"k": pa.array([3], pa.int32()), "v": ["c"]}))
        assert [tuple(r.values()) for r in next(found).to_pylist()] == [("+I", 3)]


def test_rows_with_their_ids_go_on(wb):
    """Flink's answers."""
    wb.run("""
        CREATE TABLE t (id INT, v STRING) WITH ('row-tracking.enabled' = 'true');
        CREATE TABLE plain (id INT);
        INSERT INTO t VALUES (1, 'a'), (2, 'b');
        INSERT INTO t VALUES (3, 'c');
        SET 'execution.runtime-mode' = 'streaming'
    """)
    assert changes(wb, "SELECT * FROM t$row_tracking /*+ OPTIONS('scan.snapshot-id' = '2') */") == [
        ("+I", 3, "c", 2, 2)
    ]
    with wb.stream("SELECT _ROW_ID, v FROM `t$row_tracking` WHERE _ROW_ID > 0") as live:
        found = iter(live)
        assert sorted(tuple(r.values()) for r in next(found).to_pylist()) == [("+I", 1, "b"), ("+I", 2, "c")]
        wb.table("t").append(pa.table({"id": pa.array([4], pa.int32()), "v": ["d"]}))
        assert [tuple(r.values()) for r in next(found).to_pylist()] == [("+I", 3, "d")]
    with pytest.raises(UnsupportedOperation, match="has no row tracking"):
        wb.run("SELECT * FROM plain$row_tracking")


def test_read_optimized_rows_of_keys_are_no_stream(wb):
    """The job fails in Flink, too."""
    wb.run("""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1');
        INSERT INTO t VALUES (1, 'a');
        CALL sys.compact('t');
        SET 'execution.runtime-mode' = 'streaming'
    """)
    with pytest.raises(UnsupportedOperation, match=r"t\$ro cannot be read as a stream"):
        wb.run("SELECT * FROM t$ro")
    wb.run("SET 'execution.runtime-mode' = 'batch'")
    assert wb.run("SELECT * FROM t$ro").arrow.to_pylist() == [{"k": 1, "v": "a"}]


@pytest.mark.spark
def test_logs_are_kept_in_a_table(swb):
    swb.run("""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1', 'changelog-producer' = 'lookup');
        CREATE TABLE log (kind STRING, k INT, v STRING);
        CREATE TABLE pairs (kind STRING, vs ARRAY<STRING>);
        INSERT INTO t VALUES (1, 'a')
    """)
    text = "INSERT INTO log SELECT rowkind, k, upper(v) FROM t$audit_log"
    follows(
        swb,
        text,
        "log",
        [
            ("SHOW TABLES", [("+I", 1, "A")]),
            ("INSERT INTO t VALUES (1, 'b')", [("+I", 1, "A"), ("+U", 1, "B"), ("-U", 1, "A")]),
        ],
    )
    text = f"INSERT INTO pairs SELECT rowkind, v FROM t$binlog {FROM_1}"
    follows(swb, text, "pairs", [("SHOW TABLES", [("+I", ["a"]), ("+U", ["a", "b"])])])


@pytest.mark.nightly
@pytest.mark.spark
def test_row_ids_are_kept_in_a_table(swb):
    swb.run("""
        CREATE TABLE t (id INT, v STRING) WITH ('row-tracking.enabled' = 'true');
        CREATE TABLE ids (id BIGINT, v STRING);
        INSERT INTO t VALUES (1, 'a'), (2, 'b')
    """)
    text = "INSERT INTO ids SELECT _ROW_ID, upper(v) FROM t$row_tracking"
    follows(
        swb, text, "ids",
        [("SHOW TABLES", [(0, "A"), (1, "B")]), ("INSERT INTO t VALUES (3, 'c')", [(0, "A"), (1, "B"), (2, "C")])],
    )  # fmt: skip


@pytest.mark.nightly
@pytest.mark.spark
def test_sequence_numbers_are_kept_in_a_table(swb):
    swb.run("""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING)
            WITH ('bucket' = '1', 'changelog-producer' = 'lookup', 'table-read.sequence-number.enabled' = 'true');
        CREATE TABLE log (n BIGINT, kind STRING, v STRING);
        CREATE TABLE pairs (n BIGINT, kind STRING, vs ARRAY<STRING>);
        INSERT INTO t VALUES (1, 'a')
    """)
    text = "INSERT INTO log SELECT _SEQUENCE_NUMBER, rowkind, upper(v) FROM t$audit_log"
    changed = [(0, "+I", "A"), (0, "-U", "A"), (1, "+U", "B")]
    follows(swb, text, "log", [("SHOW TABLES", [(0, "+I", "A")]), ("INSERT INTO t VALUES (1, 'b')", changed)])
    text = "INSERT INTO pairs SELECT _SEQUENCE_NUMBER, rowkind, transform(v, x -> upper(x)) FROM t$binlog"
    begun = [(1, "+I", ["B"])]
    follows(
        swb, text, "pairs", [("SHOW TABLES", begun), ("INSERT INTO t VALUES (1, 'c')", [*begun, (2, "+U", ["B", "C"])])]
    )
