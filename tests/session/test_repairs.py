"""Faults that later releases of Paimon repaired and that these tables do not have. `tests/interop/paimon_commits.toml` names the changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from paimon_nb.base.errors import BadOptionValue, SchemaMismatch, TagNotFound

if TYPE_CHECKING:
    import paimon_nb


def rows(wb: paimon_nb.Workbench, text: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(r.values()) for r in wb.run(text).arrow.to_pylist()), key=repr)


def test_system_tables_answer_any_condition(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v DOUBLE) WITH ('bucket' = '1'); INSERT INTO t VALUES (1, 1.0), (2, 2.0)"
    )
    wb.run("CALL sys.create_branch('t', 'xb')")
    assert rows(wb, "SELECT snapshot_id FROM `t$snapshots` WHERE snapshot_id IN (1, 99)") == [(1,)]
    assert rows(wb, "SELECT schema_id FROM `t$schemas` WHERE schema_id IN (0, 7)") == [(0,)]
    assert rows(wb, "SELECT branch_name FROM `t$branches` WHERE branch_name > 'a'") == [("xb",)]
    assert rows(wb, "SELECT v FROM `t$binlog`") == [([1.0],), ([2.0],)]
    assert rows(wb, "SELECT k, rowkind FROM `t$binlog`") == [([1], "+I"), ([2], "+I")]
    assert rows(wb, "SELECT * FROM t WHERE k = 1") == [(1, 1.0)]


def test_level_0_of_a_table_with_deletion_vectors_is_listed(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '1', 'deletion-vectors.enabled' = 'true', 'write-only' = 'true')"
    )
    wb.run("INSERT INTO t VALUES (1)")
    assert rows(wb, "SELECT level FROM `t$files`") == [(0,)]
    assert rows(wb, "SELECT record_count FROM `t$partitions`") == [(1,)]


def test_each_partition_begins_with_its_own_dynamic_bucket(wb: paimon_nb.Workbench) -> None:
    wb.run("""CREATE TABLE t (p INT, k INT, PRIMARY KEY (p, k) NOT ENFORCED) PARTITIONED BY (p)
        WITH ('bucket' = '-1', 'dynamic-bucket.target-row-num' = '2')""")
    wb.run("INSERT INTO t VALUES (1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)")
    found = wb.table("t").buckets().to_pylist()
    assert [(b["partition"], b["bucket"], b["record_count"]) for b in found] == [
        ("{1}", 0, 2), ("{1}", 1, 1), ("{2}", 0, 2), ("{2}", 1, 1)
    ]  # fmt: skip


def test_sequence_fields_may_have_blanks(wb: paimon_nb.Workbench) -> None:
    wb.run(
        "CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, a INT, b INT) WITH ('sequence.field' = ' a , b ', 'bucket' = '1')"
    )
    wb.run("INSERT INTO t VALUES (1, 2, 2); INSERT INTO t VALUES (1, 2, 1)")
    assert rows(wb, "SELECT * FROM t") == [(1, 2, 2)]


def test_the_smallest_value_wins_in_descending_order_also_in_one_write(wb: paimon_nb.Workbench) -> None:
    wb.run("""CREATE TABLE t (a STRING PRIMARY KEY NOT ENFORCED, b STRING, c BIGINT) WITH ('sequence.field' = 'c',
        'sequence.field.sort-order' = 'descending', 'bucket' = '1')""")
    wb.run("INSERT INTO t VALUES ('k', 'x', 1), ('k', 'y', 3), ('k', 'z', 2)")
    assert rows(wb, "SELECT * FROM t") == [("k", "x", 1)]


def test_a_pattern_has_names_that_begin_with_others(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT, dt STRING, dt_hour STRING) PARTITIONED BY (dt, dt_hour)")
    wb.run("INSERT INTO t VALUES (1, '2020-01-01', '05')")
    wb.run("CALL sys.expire_partitions('t', '1 d', 'yyyy-MM-dd HH', '$dt $dt_hour')")
    assert rows(wb, "SELECT * FROM t") == []


def test_a_delete_leaves_rows_whose_condition_is_null(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 1), (2, NULL)")
    wb.table("t").delete(where="b > 0")
    assert rows(wb, "SELECT * FROM t") == [(2, None)]


def test_missing_files_of_an_empty_table(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT)")
    assert rows(wb, "CALL sys.remove_unexisting_files('t', true)") == []


def test_a_limit_of_an_increment(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
    assert rows(wb, "SELECT * FROM t /*+ OPTIONS('incremental-between' = '1,2') */ LIMIT 1") == [(2,)]


def test_a_default_must_fit_the_new_type(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT, b STRING DEFAULT 'x')")
    with pytest.raises(SchemaMismatch, match="default 'x'"):
        wb.run("ALTER TABLE t MODIFY b INT")


def test_an_unknown_bucket_key_is_named(wb: paimon_nb.Workbench) -> None:
    with pytest.raises(BadOptionValue, match="column 'z' does not exist"):
        wb.run("CREATE TABLE t (a INT) WITH ('bucket' = '2', 'bucket-key' = 'z')")


def test_a_tag_of_a_branch_is_the_branchs(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT); INSERT INTO t VALUES (1); CALL sys.create_branch('t', 'b')")
    wb.run("INSERT INTO `t$branch_b` VALUES (7); CALL sys.create_tag('t$branch_b', 't1', 1)")
    assert rows(wb, "SELECT * FROM `t$branch_b` /*+ OPTIONS('scan.tag-name' = 't1') */") == [(7,)]
    with pytest.raises(TagNotFound):
        wb.table("t").to_arrow(tag="t1")


def test_columns_are_added_before_the_partition_columns_when_the_table_says_so(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (a INT, dt STRING) PARTITIONED BY (dt) WITH ('add-column-before-partition' = 'true')")
    wb.run("ALTER TABLE t ADD b INT; ALTER TABLE t ADD (c INT, d INT); ALTER TABLE t ADD z INT FIRST")
    assert wb.table("t").schema.names == ("z", "a", "b", "c", "d", "dt")
