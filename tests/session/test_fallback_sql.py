"""`scan.fallback-branch` in SQL: how it is set up, and what keeps it from breaking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_branch_option import rows

from paimon_nb.base.errors import ColumnNotFound, FixedOption, UnsupportedOperation

if TYPE_CHECKING:
    import paimon_nb


@pytest.fixture
def fallback(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    wb.run("""
        CREATE TABLE t (pt INT NOT NULL, k INT NOT NULL, v STRING) PARTITIONED BY (pt) WITH ('bucket' = '-1');
        CALL sys.create_branch('default.t', 'b');
        ALTER TABLE t SET ('scan.fallback-branch' = 'b');
        INSERT INTO t VALUES (1, 10, 'main');
        INSERT INTO `t$branch_b` VALUES (2, 20, 'branch')
    """)
    return wb


@pytest.mark.parametrize("change", ["delete_branch('t', 'b')", "rename_branch('t', 'b', 'c')", "purge_files('t')"])
def test_the_fallback_branch_stays_as_long_as_it_is_one(fallback, change):
    with pytest.raises(UnsupportedOperation, match=r"scan\.fallback-branch") as refused:
        fallback.run(f"CALL sys.{change}")
    assert "RESET" in refused.value.hint
    assert rows(fallback, "SELECT * FROM t") == [(1, 10, "main"), (2, 20, "branch")]
    fallback.run("ALTER TABLE t RESET ('scan.fallback-branch'); CALL sys.delete_branch('t', 'b')")
    assert rows(fallback, "SELECT * FROM t") == [(1, 10, "main")]


def test_a_branch_without_snapshots_gets_keys_and_buckets_of_its_own(wb):
    """As a fallback branch is set up in Paimon's documentation; rows as Flink answers."""
    wb.run("""
        CREATE TABLE t (pt INT NOT NULL, k INT NOT NULL, v STRING) PARTITIONED BY (pt) WITH ('bucket' = '-1');
        CALL sys.create_branch('default.t', 'pk');
        ALTER TABLE t SET ('scan.fallback-branch' = 'pk');
        ALTER TABLE `t$branch_pk` SET ('primary-key' = 'pt,k', 'bucket' = '2');
        INSERT INTO t VALUES (1, 10, 'apple'), (1, 20, 'banana');
        INSERT INTO `t$branch_pk` VALUES (2, 10, 'cat'), (2, 10, 'dog')
    """)
    assert wb.table("t$branch_pk").primary_keys == ("pt", "k")
    assert rows(wb, "SELECT * FROM t") == [(1, 10, "apple"), (1, 20, "banana"), (2, 10, "dog")]


def test_a_table_without_snapshots_gets_keys_and_buckets(wb):
    wb.run("CREATE TABLE t (k INT, v STRING); ALTER TABLE t SET ('primary-key' = 'k', 'bucket' = '2')")
    wb.run("INSERT INTO t VALUES (1, 'old'), (2, 'b'), (3, 'c'), (4, 'd'); INSERT INTO t VALUES (1, 'new')")
    assert rows(wb, "SELECT * FROM t") == [(1, "new"), (2, "b"), (3, "c"), (4, "d")]
    assert {bucket for (bucket,) in rows(wb, "SELECT bucket FROM `t$files`")} == {0, 1}


def test_keys_are_set_as_long_as_there_is_neither_key_nor_snapshot(wb):
    wb.run("CREATE TABLE t (k INT, p INT, v STRING); ALTER TABLE t SET ('primary-key' = 'k,p', 'partition' = 'p')")
    table = wb.table("t")
    assert (table.primary_keys, table.partition_keys) == (("k", "p"), ("p",))
    assert [f.type.nullable for f in table.schema.fields] == [False, False, True]
    assert not {"primary-key", "partition"} & set(table.options.raw)
    for refused in ("ALTER TABLE t SET ('primary-key' = 'k')", "ALTER TABLE t SET ('partition' = 'k')"):
        with pytest.raises(FixedOption):
            wb.run(refused)
    wb.run("CREATE TABLE u (k INT, v STRING)")
    with pytest.raises(ColumnNotFound):
        wb.run("ALTER TABLE u SET ('primary-key' = 'nope')")
    wb.run("INSERT INTO u VALUES (1, 'a')")
    with pytest.raises(FixedOption):
        wb.run("ALTER TABLE u SET ('primary-key' = 'k')")
