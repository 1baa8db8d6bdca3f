"""The option `branch` of a hint, of a reader and of the table itself: the branch is read and written as `t$branch_b` is."""

from __future__ import annotations

import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import BranchNotFound

ON_BRANCH = "/*+ OPTIONS('branch' = 'b1') */"


@pytest.fixture
def branched(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    """Main has the row 1, branch b1 the rows 3 and 5, which it got in two snapshots."""
    wb.run("""
        CREATE TABLE t (a INT, b INT) WITH ('row-tracking.enabled' = 'true', 'file-index.bloom-filter.columns' = 'b');
        INSERT INTO t VALUES (1, 2);
        CALL sys.create_branch('default.t', 'b1');
        INSERT INTO `t$branch_b1` VALUES (3, 4);
        INSERT INTO `t$branch_b1` VALUES (5, 6);
        CALL sys.create_tag('default.t$branch_b1', 'tag1', 1);
        CALL sys.reset_consumer('default.t$branch_b1', 'reader', 2);
        ANALYZE TABLE `t$branch_b1` COMPUTE STATISTICS;
        ALTER TABLE `t$branch_b1` SET ('snapshot.time-retained' = '5 h')
    """)
    return wb


def rows(wb: paimon_nb.Workbench, text: str) -> list[tuple[object, ...]]:
    return sorted((tuple(r.values()) for r in wb.run(text).arrow.to_pylist()), key=repr)


@pytest.mark.spark
def test_a_hint_reads_the_branch(branched):
    assert rows(branched, f"SELECT * FROM t {ON_BRANCH}") == [(3, 4), (5, 6)]
    assert rows(branched, f"SELECT * FROM t {ON_BRANCH} WHERE a = 5") == [(5, 6)]
    assert rows(branched, "SELECT * FROM t /*+ OPTIONS('branch' = 'b1', 'scan.snapshot-id' = '1') */") == [(3, 4)]
    assert rows(branched, "SELECT * FROM `t$branch_b1` /*+ OPTIONS('branch' = 'main') */") == [(1, 2)]
    with pytest.raises(BranchNotFound):
        branched.run("SELECT * FROM t /*+ OPTIONS('branch' = 'b2') */")


@pytest.mark.parametrize(
    "system",
    sampled(["audit_log", "binlog", "ro", "files", "snapshots", "tags", "schemas", "options", "manifests", "partitions", "buckets",
     "consumers", "statistics", "file_indexes", "file_key_ranges", "row_tracking"], 3),
)  # fmt: skip
def test_a_hint_reads_system_tables_of_the_branch(branched, system):
    hinted = rows(branched, f"SELECT * FROM `t${system}` {ON_BRANCH}")
    assert hinted == rows(branched, f"SELECT * FROM `t$branch_b1${system}`")
    assert hinted != rows(branched, f"SELECT * FROM `t${system}`")


def test_a_hint_writes_the_branch(branched):
    branched.run(f"INSERT INTO t {ON_BRANCH} VALUES (7, 8)")
    assert rows(branched, "SELECT * FROM t") == [(1, 2)]
    assert rows(branched, "SELECT * FROM `t$branch_b1`") == [(3, 4), (5, 6), (7, 8)]


def test_a_hint_streams_the_branch(branched):
    branched.run("SET 'execution.runtime-mode' = 'streaming'")
    changes = branched.stream(f"SELECT a FROM t {ON_BRANCH}").collect(timeout_s=30, idle_s=0.1)
    assert changes.to_pylist() == [{"op": "+I", "a": 3}, {"op": "+I", "a": 5}]


def test_a_stored_option_leads_to_the_branch_until_it_is_reset(branched):
    branched.run("ALTER TABLE t SET ('branch' = 'b1')")
    assert rows(branched, "SELECT * FROM t") == [(3, 4), (5, 6)]
    branched.run("ALTER TABLE t RESET ('branch')")
    assert rows(branched, "SELECT * FROM t") == [(1, 2)]


@pytest.mark.spark
def test_spark_reads_the_branch(branched, spark):
    wb = paimon_nb.connect(branched.session.catalog.warehouse, spark=spark)
    assert wb.sql(f"SELECT a + 1 FROM t {ON_BRANCH}").collect() == [(4,), (6,)]
    assert sorted(wb.spark.read.format("paimon").option("branch", "b1").table("t").collect()) == [(3, 4), (5, 6)]
