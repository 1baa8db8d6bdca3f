"""Statements that Paimon refuses, and some that it takes: asked of Flink 1.20 with Paimon 1.3.1."""

from __future__ import annotations

import pytest

from paimon_nb.base.errors import (
    BadOptionValue,
    InvalidName,
    PaimonError,
    SnapshotNotFound,
    SqlAnalysisError,
    UnsupportedOperation,
)

BATCH = "SET 'execution.runtime-mode' = 'batch'"


@pytest.fixture
def scene(wb):
    wb.run("""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1');
        CREATE TABLE p (a INT, dt STRING, hh STRING) PARTITIONED BY (dt, hh);
        INSERT INTO t VALUES (1, 'a');
        INSERT INTO p VALUES (1, 'a', '1'), (1, 'a', '2'), (1, 'b', '1')
    """)
    return wb


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["full", "latest-full", "latest", "compacted-full"])
@pytest.mark.parametrize("moment", ["'scan.snapshot-id' = '1'", "'scan.timestamp-millis' = '1'"])
def test_a_mode_without_a_moment_takes_none(scene, mode, moment):
    options = f"'scan.mode' = '{mode}', {moment}"
    with pytest.raises(BadOptionValue, match=r"does not use time travel"):
        scene.run(f"SELECT * FROM t /*+ OPTIONS({options}) */")
    with pytest.raises(BadOptionValue, match=r"does not use time travel"):
        scene.run(f"CREATE TABLE u (a INT) WITH ({options})")
    with pytest.raises(BadOptionValue, match=r"does not use time travel"):
        scene.table("t").stream({"scan.mode": mode, "scan.snapshot-id": "1"})


def test_a_moment_is_read_whatever_mode_the_table_has(scene):
    scene.run("ALTER TABLE t SET ('scan.mode' = 'latest-full'); INSERT INTO t VALUES (2, 'b')")
    assert scene.table("t").to_arrow(snapshot=1).num_rows == 1
    assert scene.run("SELECT * FROM t VERSION AS OF 1").arrow.num_rows == 1


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_a_consumer_needs_an_expiration_time(scene, mode):
    scene.run(f"SET 'execution.runtime-mode' = '{mode}'")
    with pytest.raises(BadOptionValue, match=r"consumer\.expiration-time"):
        scene.run("SELECT * FROM t /*+ OPTIONS('consumer-id' = 'me') */")
    text = "SELECT * FROM t /*+ OPTIONS('consumer-id' = 'me', 'consumer.expiration-time' = '3 h') */"
    result = scene.run(text)
    rows = result.live.collect(timeout_s=30, idle_s=0.1) if mode == "streaming" else result.arrow
    assert rows.num_rows == 1


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("CREATE TABLE u (a INT) WITH ('scan.fallback-branch' = 'nope')", BadOptionValue),
        ("CREATE DATABASE sys", InvalidName),
        ("SHOW PARTITIONS t", UnsupportedOperation),
        ("CALL sys.reset_consumer('t', 'me', 99)", SnapshotNotFound),
        ("CALL sys.fast_forward('t', 'main')", UnsupportedOperation),
        ("CALL sys.compact(`table` => 'p', partition_idle_time => '1 d', order_strategy => 'zorder', order_by => 'a')", SqlAnalysisError),
    ],
)  # fmt: skip
def test_refused(scene, statement, error):
    with pytest.raises(error) as refused:
        scene.run(statement)
    assert refused.value.hint


def test_a_branch_is_not_fast_forwarded_to_itself(scene):
    scene.run("CALL sys.create_branch('t', 'b'); INSERT INTO `t$branch_b` VALUES (2, 'b')")
    for table in ("t$branch_b", "t"):
        if table == "t":
            scene.run("ALTER TABLE t SET ('branch' = 'b')")
        with pytest.raises(UnsupportedOperation, match="itself"):
            scene.run(f"CALL sys.fast_forward('{table}', 'b')")
    scene.run("ALTER TABLE t RESET ('branch'); CALL sys.fast_forward('t', 'b')")
    assert scene.run("SELECT k FROM t").arrow.to_pylist() == [{"k": 2}]


def test_a_level_of_partitions_is_marked_done(scene):
    scene.run("CALL sys.mark_partition_done('p', 'dt=a')")
    table = scene.table("p")
    assert table.store.fs.exists(f"{table.path}/dt=a/_SUCCESS")
    with pytest.raises(PaimonError):
        scene.run("CALL sys.mark_partition_done('p', 'nope=a')")


def test_a_sequence_group_may_name_key_columns(wb):
    wb.run("""
        CREATE TABLE a (k INT PRIMARY KEY NOT ENFORCED, a INT, g INT, b INT)
            WITH ('bucket' = '1', 'merge-engine' = 'partial-update', 'fields.g.sequence-group' = 'a,k');
        CREATE TABLE b (k INT PRIMARY KEY NOT ENFORCED, a INT)
            WITH ('bucket' = '1', 'merge-engine' = 'partial-update', 'fields.k.sequence-group' = 'a')
    """)
    for row in ("(1, 1, 2, 1)", "(1, 2, 1, 2)", "(1, 3, 3, CAST(NULL AS INT))"):
        wb.table("a").append(_rows(wb, "a", row))
    wb.run("INSERT INTO b VALUES (1, 1); INSERT INTO b VALUES (1, 2)")
    assert wb.run("SELECT * FROM a").arrow.to_pylist() == [{"k": 1, "a": 3, "g": 3, "b": 2}]
    assert wb.run("SELECT * FROM b").arrow.to_pylist() == [{"k": 1, "a": 2}]


def _rows(wb, table, text):
    import pyarrow as pa

    values = [None if "NULL" in v else int(v) for v in text.strip("()").replace("(NULL AS INT", "NULL").split(",")]
    schema = wb.table(table).schema.arrow
    return pa.table({f.name: pa.array([v], f.type) for f, v in zip(schema, values, strict=True)})


def test_options_of_external_paths_come_in_any_order(wb, tmp_path):
    wb.run("CREATE TABLE t (a INT)")
    for key, value in (
        ("data-file.external-paths.strategy", "specific-fs"),
        ("data-file.external-paths.specific-fs", "file"),
        ("data-file.external-paths", f"file:{tmp_path}/outside"),
    ):
        wb.run(f"ALTER TABLE t SET ('{key}' = '{value}')")
    wb.run("CREATE TABLE u (a INT)")
    wb.run(f"ALTER TABLE u SET ('data-file.external-paths' = 'file:{tmp_path}/outside')")
    wb.run("ALTER TABLE u SET ('data-file.external-paths.strategy' = 'specific-fs')")


def test_deletion_vectors_are_switched_off_after_a_full_compaction(wb):
    wb.run("""
        CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v INT) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true');
        INSERT INTO t VALUES (1, 1), (2, 2);
        INSERT INTO t VALUES (1, 3)
    """)
    wb.table("t").compact()
    wb.run("ALTER TABLE t SET ('deletion-vectors.enabled' = 'false')")
    wb.run("INSERT INTO t VALUES (2, 9)")
    assert sorted(r["v"] for r in wb.run("SELECT * FROM t").arrow.to_pylist()) == [3, 9]
